// Loads on whose condition a recurrence depends, two loads of one address, and elements whose index is carried.
#define ARGS __global const int *restrict w, __global const int *restrict h, __global int *restrict out, int n

__kernel void least_sum(ARGS) {  // h[i] is loaded before it is known whether it is wanted
  int best = 1000;
  for (int i = 0; i < n; i++)
    if (w[i] < best) best = w[i] + (h[i] & 7);
  out[0] = best;
}

__kernel void least_looked_up(ARGS) {  // one load of w[h[i]], and of h[i]
  int best = 1000;
  for (int i = 0; i < n; i++)
    if (w[h[i]] < best) best = w[h[i]];
  out[0] = best;
}

__kernel void greatest_at(ARGS) {  // the element of the carried index is carried
  int best = 0;
  for (int i = 1; i < n; i++)
    if (w[i] > w[best]) best = i;
  out[0] = best;
}

__kernel void greatest_of_other(ARGS) {  // what is selected is loaded where it is selected
  int best = 0;
  for (int i = 0; i < n; i++)
    if (h[i] > w[best]) best = i;
  out[0] = best;
}

__kernel void greatest_in_rows(ARGS) {
  for (int r = 0; r < 4; r++) {
    int best = 0;
    for (int i = 1; i < n / 4; i++)
      if (w[r * (n / 4) + i] > w[r * (n / 4) + best]) best = i;
    out[r] = best;
  }
}

__kernel void chain(ARGS) {  // two early loads, the second of an address that the first gives
  int best = 1000;
  for (int i = 0; i < n; i++)
    if (w[i] < best) best = w[i] + (w[h[i]] & 3);
  out[0] = best;
}

__kernel void used_elsewhere(ARGS) {  // a value that matters where the load is off: 0
  int best = 1000, sum = 0;
  for (int i = 0; i < n; i++) {
    int x = 0;
    if (w[i] < best) x = h[i];
    sum += x;
    if (w[i] < best) best = w[i] + (x & 7);
  }
  out[0] = best;
  out[1] = sum;
}

__kernel void in_part(ARGS) {  // a part of the condition stays
  int best = 1000;
  for (int i = 0; i < n; i++)
    if (w[i] & 1 && w[i] < best) best = w[i] - (h[i] & 1);
  out[0] = best;
}

__kernel void inside(ARGS) {  // where the load is not wanted, its address is outside of every buffer
  int best = 1000;
  for (int i = 0; i < n; i++) {
    int at = w[i] < 500 ? h[i] : h[i] + 100000;
    if (w[i] < 500 && w[i] < best) best = w[i] + (w[at] & 3);
  }
  out[0] = best;
}

__kernel void until_found(ARGS) {  // in a loop that issues iterations before it is known that they run
  int best = 1000, i = 0;
  while (i < n && w[i] != 77) {
    if (w[i] < best) best = w[i] + (h[i] & 3);
    i++;
  }
  out[0] = best;
  out[1] = i;
}

__kernel void while_stored(ARGS) {  // what is stored between two loads of one address
  int best = 1000;
  for (int i = 0; i < n; i++) {
    int x = out[h[i]];
    out[h[i]] = x + w[i];
    if (x < best) best = out[h[i]];
  }
  out[0] = best;
}
