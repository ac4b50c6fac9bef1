// Dense tables in which each element depends on others: blocks are computed in wavefronts.
#pragma OPENCL FP_CONTRACT OFF

#define BLOCK 16

// The best alignment of two sequences: each work-item fills a row of scores, one column behind the row above, so a group fills a
// block skewed to the left, and is idle only at the ends of the table. The host iterates over wavefronts of independent blocks.
__attribute__((reqd_work_group_size(BLOCK, 1, 1)))
__kernel void nw(__global const int *restrict similar, __global int *restrict scores, int width, int gap, int first, int wave)
{
    // scores of the row above in each step, as its row computes them: row 0 comes from the block above
    __local int above[BLOCK + 1][BLOCK + 1], match[BLOCK][BLOCK];
    int x = get_local_id(0);
    int block_y = first + (int)get_group_id(0), begin = (wave - 2 * block_y) * BLOCK;
    int row = block_y * BLOCK + x + 1, before = max(begin - x, 0);
    for (int step = 0; step < BLOCK; step++) {
        int column = begin + step - x + 1;
        if (column > 0 && column < width)
            match[x][step] = similar[row * width + column];
    }
    if (begin + x + 1 < width)
        above[x][0] = scores[block_y * BLOCK * width + begin + x + 1];
    if (x > 0 && begin > 0)
        above[0][x] = scores[(row - 1) * width + begin - x + 1];
    int left = scores[row * width + before], across = scores[(row - 1) * width + before];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < BLOCK; step++) {
        int column = begin + step - x + 1;
        if (column > 0 && column < width) {
            int up = above[step][x];
            left = max(across + match[x][step], max(left, up) - gap);
            across = up;
            above[step + 1][x + 1] = left;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int step = 0; step < BLOCK; step++) {
        int column = begin + step - x + 1;
        if (column > 0 && column < width)
            scores[row * width + column] = above[step + 1][x + 1];
    }
}

// In-place LU decomposition: a matrix becomes the product of a lower and an upper triangular one. First the diagonal block,
__attribute__((reqd_work_group_size(BLOCK, 1, 1)))
__kernel void lud_diagonal(__global float *restrict m, int size, int begin)
{
    __local float block[BLOCK][BLOCK];
    int x = get_local_id(0);
    __global float *row = m + (begin + x) * size + begin;
    for (int i = 0; i < BLOCK / 4; i++)
        vstore4(vload4(i, row), i, block[x]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < BLOCK - 1; i++) {
        if (x > i) {
            float factor = block[x][i] / block[i][i];
            block[x][i] = factor;
            for (int y = i + 1; y < BLOCK; y++)
                block[x][y] -= factor * block[i][y];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < BLOCK / 4; i++)
        vstore4(vload4(i, block[x]), i, row);
}

// then those to its right and below it: half of a group solves for columns, the other half for rows,
__attribute__((reqd_work_group_size(2 * BLOCK, 1, 1)))
__kernel void lud_perimeter(__global float *restrict m, int size, int begin)
{
    __local float diagonal[BLOCK][BLOCK], right[BLOCK][BLOCK], below[BLOCK][BLOCK];
    int x = get_local_id(0) % BLOCK;
    bool low = get_local_id(0) < BLOCK;
    int corner = begin * size + begin;
    int far = ((int)get_group_id(0) + 1) * BLOCK;
    if (low) {
        for (int i = 0; i < BLOCK; i++)
            diagonal[i][x] = m[corner + i * size + x];
        for (int i = 0; i < BLOCK; i++)
            right[i][x] = m[corner + far + i * size + x];
    } else {
        for (int i = 0; i < BLOCK; i++)
            below[i][x] = m[corner + (far + i) * size + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (low) {
        for (int i = 1; i < BLOCK; i++)
            for (int j = 0; j < i; j++)
                right[i][x] -= diagonal[i][j] * right[j][x];
    } else {
        for (int i = 0; i < BLOCK; i++) {
            for (int j = 0; j < i; j++)
                below[x][i] -= below[x][j] * diagonal[j][i];
            below[x][i] /= diagonal[i][i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (low) {
        for (int i = 1; i < BLOCK; i++)
            m[corner + far + i * size + x] = right[i][x];
    } else {
        for (int i = 0; i < BLOCK; i++)
            m[corner + (far + i) * size + x] = below[i][x];
    }
}

// last all blocks to the right of and below these, from which the products of these are subtracted
__attribute__((reqd_work_group_size(BLOCK, BLOCK, 1)))
__kernel void lud_internal(__global float *restrict m, int size, int begin)
{
    __local float right[BLOCK][BLOCK], below[BLOCK][BLOCK];
    int x = get_local_id(0), y = get_local_id(1);
    int row = begin + ((int)get_group_id(1) + 1) * BLOCK, column = begin + ((int)get_group_id(0) + 1) * BLOCK;
    right[y][x] = m[(begin + y) * size + column + x];
    below[y][x] = m[(row + y) * size + begin + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int i = 0; i < BLOCK; i++)
        sum += below[y][i] * right[i][x];
    m[(row + y) * size + column + x] -= sum;
}
