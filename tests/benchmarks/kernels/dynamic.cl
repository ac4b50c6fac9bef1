// Dynamic programming and string matching.

__kernel void nw(__global const int *restrict first, __global const int *restrict second, __global const int *restrict score,
                 __global int *restrict t, int penalty, int n)
{
    int w = n + 1;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int match = t[(i - 1) * w + j - 1] + score[first[i - 1] * 4 + second[j - 1]];
            int down = t[(i - 1) * w + j] - penalty;
            int right = t[i * w + j - 1] - penalty;
            t[i * w + j] = max(match, max(down, right));
        }
}

__kernel void lcs(__global const uchar *restrict a, __global const uchar *restrict b, __global int *restrict length, int n)
{
    int row[129];
    for (int j = 0; j <= n; j++)
        row[j] = 0;
    for (int i = 0; i < n; i++) {
        int corner = 0;
        for (int j = 0; j < n; j++) {
            int above = row[j + 1];
            if (a[i] == b[j])
                row[j + 1] = corner + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            corner = above;
        }
    }
    length[0] = row[n];
}

__kernel void edit_distance(__global const uchar *restrict a, __global const uchar *restrict b, __global int *restrict out, int n)
{
    int row[129];
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];
            int best = min(min(row[j - 1], above) + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
            row[j] = best;
        }
    }
    out[0] = row[n];
}

__kernel void viterbi(__global const uchar *restrict seen, __global const int *restrict start, __global const int *restrict step,
                      __global const int *restrict emit, __global int *restrict cost, int length)
{
    for (int s = 0; s < 16; s++)
        cost[s] = start[s] + emit[s * 16 + seen[0]];
    for (int t = 1; t < length; t++)
        for (int s = 0; s < 16; s++) {
            int best = 1 << 28;
            for (int p = 0; p < 16; p++) {
                int c = cost[(t - 1) * 16 + p] + step[p * 16 + s];
                if (c < best)
                    best = c;
            }
            cost[t * 16 + s] = best + emit[s * 16 + seen[t]];
        }
}

__kernel void knapsack(__global const int *restrict weight, __global const int *restrict value, __global int *restrict best,
                       int items, int capacity)
{
    for (int c = 0; c <= capacity; c++)
        best[c] = 0;
    for (int i = 0; i < items; i++)
        for (int c = capacity; c >= weight[i]; c--)
            best[c] = max(best[c], best[c - weight[i]] + value[i]);
}

__kernel void floyd_warshall(__global int *restrict d, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}

__kernel void kmp(__global const uchar *restrict pattern, __global const uchar *restrict text, __global int *restrict matches,
                  int m, int n)
{
    int next[16];
    next[0] = 0;
    int k = 0;
    for (int q = 1; q < m; q++) {
        while (k > 0 && pattern[k] != pattern[q])
            k = next[k - 1];
        if (pattern[k] == pattern[q])
            k++;
        next[q] = k;
    }
    int found = 0, q = 0;
    for (int i = 0; i < n; i++) {
        while (q > 0 && pattern[q] != text[i])
            q = next[q - 1];
        if (pattern[q] == text[i])
            q++;
        if (q >= m) {
            found++;
            q = next[q - 1];
        }
    }
    matches[0] = found;
}
