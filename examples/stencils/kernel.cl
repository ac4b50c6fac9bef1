// Stencils: work-groups process overlapping tiles, several time steps before they write.
#pragma OPENCL FP_CONTRACT OFF

#define TILE 16

// Heat in a chip: each step moves a point towards its neighbours, the ambient temperature and what its power adds. A tile loses
// a rim with every step, as values outside of it are unknown; so tiles overlap by twice the number of steps.
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
__kernel void hotspot(__global const float *restrict power, __global const float *restrict from, __global float *restrict to,
                      int rows, int columns, int steps, float to_side, float to_above, float outside, float to_outside, float heats)
{
    __local float heat[TILE][TILE], gain[TILE][TILE], next[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int useful = TILE - 2 * steps;
    int left = useful * (int)get_group_id(0) - steps, top = useful * (int)get_group_id(1) - steps;
    int column = left + x, row = top + y;
    bool here = row >= 0 && row < rows && column >= 0 && column < columns;
    if (here) {
        heat[y][x] = from[row * columns + column];
        gain[y][x] = power[row * columns + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // beyond the border of the chip the border's values are repeated
    int west = column > 0 ? x - 1 : x, east = column < columns - 1 ? x + 1 : x;
    int north = row > 0 ? y - 1 : y, south = row < rows - 1 ? y + 1 : y;
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = here && x > i && x < TILE - 1 - i && y > i && y < TILE - 1 - i;
        if (computed) {
            float t = heat[y][x];
            next[y][x] = t + heats * (gain[y][x] + (heat[south][x] + heat[north][x] - 2.0f * t) * to_above
                                      + (heat[y][east] + heat[y][west] - 2.0f * t) * to_side + (outside - t) * to_outside);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == steps - 1)
            break;
        if (computed)
            heat[y][x] = next[y][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        to[row * columns + column] = next[y][x];
}

#define WIDTH 256

// The cheapest path from the top row of a grid to each point of the bottom row: a group takes a piece of a row several rows down
__attribute__((reqd_work_group_size(WIDTH, 1, 1)))
__kernel void pathfinder(__global const int *restrict walls, __global const int *restrict from, __global int *restrict to,
                         int columns, int first, int steps)
{
    __local int before[WIDTH], after[WIDTH];
    int x = get_local_id(0);
    int useful = WIDTH - 2 * steps;
    int left = useful * (int)get_group_id(0) - steps;
    int column = left + x;
    bool here = column >= 0 && column < columns;
    if (here)
        before[x] = from[column];
    barrier(CLK_LOCAL_MEM_FENCE);
    int west = column > 0 ? x - 1 : x, east = column < columns - 1 ? x + 1 : x;
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = here && x > i && x < WIDTH - 1 - i;
        if (computed) {
            int best = min(before[x], min(before[west], before[east]));
            after[x] = best + walls[(first + i) * columns + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == steps - 1)
            break;
        if (computed)
            before[x] = after[x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        to[column] = after[x];
}

// Speckles are smoothed away, edges stay: the difference of a point from its neighbours determines how much of them it takes
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
__kernel void srad_weights(__global const float *restrict image, __global float4 *restrict gradients,
                           __global float *restrict weights, int rows, int columns, float variance)
{
    __local float tile[TILE][TILE], above[TILE], below[TILE], before[TILE], behind[TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    int here = row * columns + column;
    tile[y][x] = image[here];
    // the halo of the tile; beyond the border of the image the border's values are repeated
    if (y == 0)
        above[x] = image[row == 0 ? here : here - columns];
    if (y == TILE - 1)
        below[x] = image[row == rows - 1 ? here : here + columns];
    if (x == 0)
        before[y] = image[column == 0 ? here : here - 1];
    if (x == TILE - 1)
        behind[y] = image[column == columns - 1 ? here : here + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    float own = tile[y][x];
    float n = (y == 0 ? above[x] : tile[y - 1][x]) - own;
    float s = (y == TILE - 1 ? below[x] : tile[y + 1][x]) - own;
    float w = (x == 0 ? before[y] : tile[y][x - 1]) - own;
    float e = (x == TILE - 1 ? behind[y] : tile[y][x + 1]) - own;
    float slope = (n * n + s * s + w * w + e * e) / (own * own);
    float curve = (n + s + w + e) / own;
    float across = 1.0f + 0.25f * curve;
    float q = (0.5f * slope - 0.0625f * curve * curve) / (across * across);
    float weight = 1.0f / (1.0f + (q - variance) / (variance * (1.0f + variance)));
    gradients[here] = (float4)(n, s, w, e);
    weights[here] = clamp(weight, 0.0f, 1.0f);
}

__attribute__((reqd_work_group_size(TILE, TILE, 1)))
__kernel void srad_update(__global float *restrict image, __global const float4 *restrict gradients,
                          __global const float *restrict weights, int rows, int columns, float rate)
{
    __local float tile[TILE][TILE], below[TILE], behind[TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    int here = row * columns + column;
    tile[y][x] = weights[here];
    if (y == TILE - 1)
        below[x] = weights[row == rows - 1 ? here : here + columns];
    if (x == TILE - 1)
        behind[y] = weights[column == columns - 1 ? here : here + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 g = gradients[here];
    float own = tile[y][x];
    float south = y == TILE - 1 ? below[x] : tile[y + 1][x], east = x == TILE - 1 ? behind[y] : tile[y][x + 1];
    image[here] += rate * (own * g.s0 + south * g.s1 + own * g.s2 + east * g.s3);
}
