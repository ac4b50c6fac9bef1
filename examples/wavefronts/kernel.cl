// Dense tables of which each place needs others before it: blocks are taken in an order in which those are there.
#pragma OPENCL FP_CONTRACT OFF

#define BLOCK 16

// The best alignment of two sequences: a block of scores is filled along its diagonals. The host goes along the diagonals of blocks.
__attribute__((reqd_work_group_size(BLOCK, 1, 1)))
__kernel void nw(__global const int *restrict similar, __global int *restrict scores, int width, int gap, int first, int diagonal)
{
    __local int score[BLOCK + 1][BLOCK + 1], match[BLOCK][BLOCK];
    int x = get_local_id(0);
    int block_x = first + (int)get_group_id(0), block_y = diagonal - block_x;
    int corner = block_y * BLOCK * width + block_x * BLOCK;  // the place before the block's first in both directions
    for (int y = 0; y < BLOCK; y++)
        match[y][x] = similar[corner + (y + 1) * width + x + 1];
    if (x == 0)
        score[0][0] = scores[corner];
    score[x + 1][0] = scores[corner + (x + 1) * width];
    score[0][x + 1] = scores[corner + x + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int m = 0; m < BLOCK; m++) {
        if (x <= m) {
            int column = x + 1, row = m - x + 1;
            int across = score[row - 1][column - 1] + match[row - 1][column - 1];
            score[row][column] = max(across, max(score[row][column - 1], score[row - 1][column]) - gap);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int m = BLOCK - 2; m >= 0; m--) {
        if (x <= m) {
            int column = x + BLOCK - m, row = BLOCK - x;
            int across = score[row - 1][column - 1] + match[row - 1][column - 1];
            score[row][column] = max(across, max(score[row][column - 1], score[row - 1][column]) - gap);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int y = 0; y < BLOCK; y++)
        scores[corner + (y + 1) * width + x + 1] = score[y + 1][x + 1];
}

// A matrix becomes the product of a lower and an upper triangular one, in its own place. First the block on the diagonal,
__attribute__((reqd_work_group_size(BLOCK, 1, 1)))
__kernel void lud_diagonal(__global float *restrict m, int size, int begin)
{
    __local float block[BLOCK][BLOCK];
    int x = get_local_id(0);
    int corner = begin * size + begin;
    for (int i = 0; i < BLOCK; i++)
        block[i][x] = m[corner + i * size + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < BLOCK - 1; i++) {
        if (x > i) {
            for (int j = 0; j < i; j++)
                block[x][i] -= block[x][j] * block[j][i];
            block[x][i] /= block[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x > i)
            for (int j = 0; j < i + 1; j++)
                block[i + 1][x] -= block[i + 1][j] * block[j][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 1; i < BLOCK; i++)
        m[corner + i * size + x] = block[i][x];
}

// then those beside it and below it: half of a group solves for columns, the other half for rows,
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

// last all that is right of and below these, in which one block of each is taken off
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
