__kernel void hotspot3d(__global const float *restrict from, __global const float *restrict power, __global float *restrict to,
                        int columns, int rows, int layers, float step) {
  int layer = columns * rows;
  for (int z = 1; z < layers - 1; z++)
    for (int y = 1; y < rows - 1; y++)
      for (int x = 1; x < columns - 1; x++) {
        int c = (z * rows + y) * columns + x;
        float around = from[c - 1] + from[c + 1] + from[c - columns] + from[c + columns] + from[c - layer] + from[c + layer];
        to[c] = from[c] + step * (power[c] + around - 6.0f * from[c]);
      }
}

__kernel void back_propagation(__global const float *restrict delta, __global const float *restrict layer,
                               __global float *restrict weight, __global float *restrict before, int inputs, int outputs) {
  for (int j = 0; j < outputs; j++)
    for (int k = 0; k < inputs; k++) {
      int at = k * outputs + j;
      float change = 0.3f * delta[j] * layer[k] + 0.3f * before[at];
      weight[at] += change;
      before[at] = change;
    }
}
