// Loops inside loops over arrays on the chip: what one invocation of the inner loop stores, the next one reads or stores again.
#define ARGS __global const int *restrict a, __global int *restrict out, int n, int m

__kernel void column_sums(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[j] += a[(i * m + j) & 255];
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

__kernel void float_column_sums(ARGS)
{
    float s[64];
    for (int j = 0; j < 64; j++)
        s[j] = j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[j] += 0.5f * a[(i * m + j) & 255];
    for (int j = 0; j < 64; j++)
        out[j] = as_int(s[j]);
}

__kernel void knapsack(ARGS)
{
    int best[64];
    for (int j = 0; j < 64; j++)
        best[j] = 0;
    for (int i = 0; i < n; i++) {
        int weight = a[2 * i & 255] & 7, value = a[2 * i + 1 & 255];
        for (int j = m; j >= weight; j--)
            best[j] = max(best[j], best[j - weight] + value);
    }
    for (int j = 0; j < 64; j++)
        out[j] = best[j];
}

__kernel void edit_distance(ARGS)
{
    int row[64];
    for (int j = 0; j < 64; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = i - 1, left = i, mine = a[i & 255] & 3;
        for (int j = 1; j <= m; j++) {
            int up = row[j];
            int least = min(min(left, up) + 1, diagonal + (mine != (a[j + 64 & 255] & 3)));
            diagonal = up;
            row[j] = least;
            left = least;
        }
    }
    for (int j = 0; j < 64; j++)
        out[j] = row[j];
}

__kernel void answer_in_between(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = j * 5 & 63;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[j + i & 63] = a[s[j]] & 63;
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

__kernel void butterflies(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = a[j];
    for (int i = 0; i < n; i++) {
        int step = 1 << (i % 5);
        for (int j = 0; j < m; j++) {
            int low = (j / step * 2 * step + j % step) & 63, high = (low + step) & 63;
            int x = s[low], y = s[high];
            s[low] = x + y;
            s[high] = x - y;
        }
    }
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

__kernel void ends_late(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = a[j] & 15;
    for (int i = 0; i < n; i++) {
        int j = i & 31;
        while (j < m && s[j] != 0) {
            s[j] = (s[j] + i) & 15;
            j++;
        }
        out[64 + (i & 63)] = j;
    }
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

__kernel void three_deep(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < m; j++)
                s[j + k & 63] = s[j] * 3 + a[i + k & 255];
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

__kernel void stores_first(ARGS)
{
    int s[64], total = 0;
    for (int j = 0; j < 64; j++)
        s[j] = j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            s[j] = a[i + j & 255];
            total += s[(j + 1) & 63] * (j + 3);
        }
    for (int j = 0; j < 64; j++)
        out[j] = s[j] + total;
}

__kernel void histogram_of_rows(ARGS)
{
    uint h[64];
    for (int j = 0; j < 64; j++)
        h[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            h[a[i + j * 3 & 255] & 63]++;
    for (int j = 0; j < 64; j++)
        out[j] = h[j];
}

__kernel void bubbles(ARGS)
{
    int s[64];
    for (int j = 0; j < 64; j++)
        s[j] = a[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j + 1 < m; j++)
            if (s[j] > s[j + 1]) {
                int t = s[j];
                s[j] = s[j + 1];
                s[j + 1] = t;
            }
    for (int j = 0; j < 64; j++)
        out[j] = s[j];
}

// 30 rows with an II of more than one: ten of them take turns, and none is left over
__kernel void thirty_rows(ARGS)
{
    for (int i = 0; i < 30; i++) {
        float s = n;
        for (int j = 0; j < 40; j++)
            s += 0.5f * a[(i * m + j) & 255];
        out[i] = as_int(s);
    }
}
