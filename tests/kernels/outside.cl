// Kernels as public repositories hold them, small.

// both sides of the `if` store to one place, which the next iteration reads
#define MOST 16
__kernel void common_subsequence(__global const uchar *a, __global const uchar *b, __global int *length, int n, int m)
{
    int dp[MOST + 1][MOST + 1];
    for (int i = 0; i <= n; i++)
        dp[i][0] = 0;
    for (int j = 0; j <= m; j++)
        dp[0][j] = 0;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            if (a[i - 1] == b[j - 1])
                dp[i][j] = dp[i - 1][j - 1] + 1;
            else
                dp[i][j] = dp[i - 1][j] > dp[i][j - 1] ? dp[i - 1][j] : dp[i][j - 1];
        }
    }
    length[0] = dp[n][m];
}

// two sorted halves become one; the store of each side of the `if` may be read by no load of the other side
__kernel void merged(__global const int *restrict in, __global int *restrict out, int middle, int n)
{
    int buffer[2][64];
    for (int i = 0; i < n; i++)
        buffer[0][i] = in[i];
    for (int from = 0; from < 2; from++) {
        int i = 0, j = middle;
        for (int k = 0; k < n; k++) {
            if (i < middle && (j >= n || buffer[from][i] <= buffer[from][j])) {
                buffer[1 - from][k] = buffer[from][i];
                i++;
            } else {
                buffer[1 - from][k] = buffer[from][j];
                j++;
            }
        }
    }
    for (int i = 0; i < n; i++)
        out[i] = buffer[0][i];
}

// the letter of the text is read under a condition, in a loop, and behind it
__kernel void found_pattern(__global const char *restrict text, __global const char *restrict pattern, __global int *restrict hits, int n, int m)
{
    char p[8];
    int fail[8];
    for (int i = 0; i < m; i++)
        p[i] = pattern[i];
    fail[0] = -1;
    int k = -1;
    for (int i = 1; i < m; i++) {
        while (k >= 0 && p[k + 1] != p[i])
            k = fail[k];
        if (p[k + 1] == p[i])
            k++;
        fail[i] = k;
    }
    int q = -1, found = 0;
    for (int i = 0; i < n; i++) {
        while (q >= 0 && p[q + 1] != text[i])
            q = fail[q];
        if (p[q + 1] == text[i])
            q++;
        if (q == m - 1) {
            hits[found++] = i - m + 1;
            q = fail[q];
        }
    }
    hits[found] = -1;
}

// a count that goes through three loops
__kernel void triangles(__global const int *restrict start, __global const int *restrict next, __global int *restrict count, int n)
{
    int total = 0;
    for (int u = 0; u < n; u++) {
        for (int e = start[u]; e < start[u + 1]; e++) {
            int v = next[e];
            int i = start[u], j = start[v];
            while (i < start[u + 1] && j < start[v + 1]) {
                int a = next[i], b = next[j];
                if (a == b) {
                    total++;
                    i++;
                    j++;
                } else if (a < b)
                    i++;
                else
                    j++;
            }
        }
    }
    *count = total;
}

// sum, product, difference, and greatest of a nest, of which two are looked at on the way
__kernel void nested_sums(__global const int *restrict a, __global int *restrict out, int n, int m)
{
    int sum = 5, greatest = -100, less = 3, watched = 0, above = 0, reset = 1;
    uint product = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            int x = a[i * m + j];
            sum += x;
            greatest = max(greatest, x);
            less -= x > 0 ? 1 : x;
            product *= (uint)x | 1;
            watched += x;
            above += watched > 40;
            reset += x & 3;
        }
        reset ^= i;
    }
    out[0] = sum;
    out[1] = greatest;
    out[2] = less;
    out[3] = product;
    out[4] = watched;
    out[5] = reset;
    out[6] = above;
}

// where the letter is the one before it, the letter before is kept: either way it is this letter
__kernel void run_lengths(__global const uchar *restrict in, __global uchar2 *restrict out, __global int *restrict count, int n)
{
    int m = 0;
    uchar now = in[0], run = 1;
    for (int i = 1; i < n; i++) {
        uchar c = in[i];
        if (c == now && run < 7)
            run++;
        else {
            out[m++] = (uchar2)(run, now);
            now = c;
            run = 1;
        }
    }
    out[m++] = (uchar2)(run, now);
    count[0] = m;
}

// the row before is needed last in each place's greatest of four
#define CELLS 6
__kernel void alignment(__global const char *restrict query, __global const char *restrict text, __global short *restrict best, int n)
{
    char q[CELLS];
    short before[CELLS + 1], now[CELLS + 1];
    #pragma unroll
    for (int i = 0; i < CELLS; i++)
        q[i] = query[i];
    #pragma unroll
    for (int i = 0; i <= CELLS; i++)
        before[i] = 0;
    short top = 0;
    for (int j = 0; j < n; j++) {
        char c = text[j];
        now[0] = 0;
        #pragma unroll
        for (int i = 1; i <= CELLS; i++) {
            short s = before[i - 1] + (short)(q[i - 1] == c ? 3 : -1);
            short down = before[i] - 2, right = now[i - 1] - 2;
            s = max(s, down);
            s = max(s, right);
            s = max(s, (short)0);
            now[i] = s;
            top = max(top, s);
        }
        #pragma unroll
        for (int i = 0; i <= CELLS; i++)
            before[i] = now[i];
    }
    best[0] = top;
}

// a sum over neighbours of each work-item
__kernel void neighbours(__global const uchar *restrict a, __global uchar *restrict b, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1), n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            n += a[(y + dy + h) % h * w + (x + dx + w) % w];
        }
    b[y * w + x] = n == 3 || (a[y * w + x] && n == 2);
}

// loops whose end the memory tells, in a loop that waits for them
__kernel void words(__global const char *restrict s, __global ushort2 *restrict found, __global int *restrict count, int n)
{
    int i = 0, m = 0;
    while (i < n) {
        while (i < n && s[i] == ' ')
            i++;
        if (i >= n)
            goto done;
        int begin = i;
        while (i < n && s[i] != ' ')
            i++;
        found[m++] = (ushort2)(begin, i - begin);
    }
done:
    *count = m;
}

// the state decides, and is decided by, every letter
__kernel void numbers(__global const char *restrict s, __global int *restrict verdict, int n)
{
    int state = 0, good = 0, every = 0, states = 0;
    for (int i = 0; i < n; i++) {
        char c = s[i];
        states = states * 7 + state;
        bool digit = c >= '0' && c <= '9';
        if (c == ' ') {
            good += state == 1 || state == 2 || state == 4;
            state = 0;
            if (++every == n / 4)
                every = 0;
            continue;
        }
        switch (state) {
        case 0: state = digit || c == '-' ? 1 : 5; break;
        case 1: if (c == '.') { state = 2; break; }
        case 2: state = digit ? state : (c == 'e' ? 3 : 5); break;
        case 3:
        case 4: state = digit ? 4 : 5; break;
        default: state = 5;
        }
    }
    verdict[0] = good;
    verdict[1] = state;
    verdict[2] = every;
    verdict[3] = states;
}

// a tile filled by one loop with counters of rows and columns
__kernel void flattened(__global const int *restrict a, __global int *restrict out, int rows, int cols)
{
    int tile[10][10];
    for (int loc = 0, i = 0, j = 0; loc < rows * cols; loc++, j++) {
        if (j == cols) {
            i++;
            j = 0;
        }
        tile[i][j] = a[loc];
    }
    for (int k = 0; k < rows * cols; k++)
        out[k] = tile[rows - 1 - k / cols][cols - 1 - k % cols];
}

// nested loops written as one, with narrow counters that come round one after the other
__kernel void virtual_counters(__global int *restrict out, int n, uchar xs, uchar ys, uchar zs)
{
    uchar x = 0, y = 0, z = 0;
    ushort passes = 0;
    for (int i = 0; i < n; i++) {
        out[i] = x + y * 256 + z * 65536 + passes * 1000;
        if (x == xs - 1 && y == ys - 1) {
            if (z == zs - 1) {
                z = 0;
                passes++;
            } else
                z++;
        }
        if (x == xs - 1) {
            if (y == ys - 1)
                y = 0;
            else
                y++;
        }
        if (x == xs - 1)
            x = 0;
        else
            x++;
    }
}

// rows of strips: the row counts where the column comes round, and ends the loop
__kernel void strips(__global const int *restrict a, __global int *restrict out, int cols, int rows)
{
    int x = 0, y = 0;
    do {
        int at = x + y * cols;
        if (y < rows)
            out[at] = a[at] * 3 - (x == 0);
        x = x < 40 - 8 ? x + 8 : 0;
        y = x == 0 ? y + 1 : y;
    } while (y < rows);
}

// a place in memory that unrolled copies add to
__kernel void partial_sums(__global const float *restrict a, __global float *restrict out, int n)
{
    float sums[512];
    for (int j = 0; j < n; j++)
        sums[j * 64] = j;
    for (int j = 0; j < n; j++) {
        #pragma unroll
        for (int k = 0; k < 8; k++)
            sums[j * 64] += a[j * 8 + k];
        sums[j * 64] /= 3;
    }
    for (int k = 0; k < n; k++)
        out[k] = sums[k * 64];
}

// a window that moves on from row to row
__kernel void window_rows(__global const int *restrict a, __global int *restrict out, int rows, int cols)
{
    int window[7] = {0};
    for (int r = 0; r < rows; r++) {
        int bias = r & 1 ? 3 : -1;
        for (int c = 0; c < cols; c++) {
            window[6] = a[r * cols + c];
            out[r * cols + c] = window[0] - 2 * window[3] + window[6] + bias;
            #pragma unroll
            for (int k = 0; k < 6; k++)
                window[k] = window[k + 1];
        }
    }
}

// where to write to next moves on, too
__kernel void positions(__global const int *restrict a, __global int *restrict found, __global int *restrict count, int rows, int cols)
{
    int at = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (a[i * cols + j] > 5)
                found[at++] = i * 1000 + j;
    count[0] = at;
}

// sums of products in a small array, by one loop whose counters begin anew: an element comes back after 16 iterations
__kernel void outer_products(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    float acc[4][4] = {{0.0f}};
    int i = 0, j = 0, k = 0;
    for (int at = 0; at < 16 * n; at++) {
        acc[i][j] += a[4 * k + i] * b[4 * k + j];
        if (++j == 4) {
            j = 0;
            if (++i == 4) {
                i = 0;
                k++;
            }
        }
    }
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++)
            c[4 * row + column] = acc[row][column];
}

// the same by a nest in which nothing asks for one loop, and with an array too large for registers
__kernel void tile_products(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    float acc[12][12];
    for (int at = 0; at < 144; at++)
        acc[at / 12][at % 12] = 1.0f;
    for (int k = 0; k < n; k++)
        #pragma unroll 1
        for (int i = 0; i < 12; i++)
            #pragma unroll 1
            for (int j = 0; j < 12; j++)
                acc[i][j] += a[k + i] * b[k + j];
    for (int at = 0; at < 144; at++)
        c[at] = acc[at / 12][at % 12];
}

// four gates of a cell take turns
__kernel void gates(__global const float *restrict w, __global const float *restrict x, __global float *restrict out, int n)
{
    float acc[4] = {0.0f};
    for (int k = 0; k < n; k++)
        #pragma unroll 1
        for (int gate = 0; gate < 4; gate++)
            acc[gate] += w[4 * k + gate] * x[k];
    out[0] = acc[0] * acc[1] + acc[2] * acc[3];
}

// the program knows that a place comes back after eight iterations at the earliest
__kernel void promised(__global const uchar *restrict place, __global const float *restrict x, __global float *restrict out, int n)
{
    float acc[16] = {0.0f};
    #pragma ivdep array(acc) safelen(8)
    for (int i = 0; i < n; i++)
        acc[place[i] & 15] += x[i];
    for (int k = 0; k < 16; k++)
        out[k] = acc[k];
}
