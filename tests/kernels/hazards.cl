/* Loads that may or may not meet stores of earlier iterations. `n` is at most 64, `a` has 160 elements. */
#define ARGS __global int *restrict a, __global const int *restrict at, int n

__kernel void indirect(ARGS) {
  for (int i = 0; i < n; i++) a[at[i]] += i;
}

__kernel void mirrored(ARGS) {
  for (int i = 0; i < n; i++) a[n - i] = a[i];
}

__kernel void sometimes(ARGS) {
  for (int i = 0; i < n; i++) {
    int place = at[i];
    int v = a[place];
    if (v > 30) a[place ^ 1] = v - 3;
  }
}

__kernel void first_the_store(ARGS) {
  for (int i = 0; i < n; i++) {
    int place = at[i];
    a[place] = i;
    a[i + 80] = a[(place + 5) & 63];
  }
}

__kernel void two_loads(ARGS) {
  for (int i = 0; i < n; i++) a[(i * 3) & 63] = a[at[i]] + a[at[n - 1 - i]];
}

__kernel void chained_loads(ARGS) {
  for (int i = 0; i < n; i++) a[at[i]] = a[a[at[i]] & 63] + 1;
}

__kernel void nested(ARGS) {
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < n; j++) a[(at[i] + j) & 63] = a[(at[j] * 2) & 63] + j;
}

__kernel void nested_and_conditional(ARGS) {
  for (int i = 0; i < n; i++)
    if (at[i] & 1)
      for (int j = 0; j < (i & 7); j++) {
        int v = a[at[j]];
        if (v & 1) a[(at[i] + j) & 63] = v + i;
      }
}

__kernel void bytes_of_words(__global int *restrict a, __global const int *restrict at, int n) {
  __global uchar *b = (__global uchar *)a;
  for (int i = 0; i < n; i++) b[at[i]] = b[(at[i] * 5) & 63] + b[i];
}

__kernel void left_early(ARGS) {
  int last = -1;
  for (int i = 0; i < n; i++) {
    int v = a[at[i]];
    if (v == 61) break;
    a[at[i]] = v + 1;
    last = i;
  }
  a[100] = last;
}

__kernel void stores_in_another_order(ARGS) {  // the first load meets only the second store
  for (int i = 0; i < n; i++) {
    int place = at[i] & 15;
    int odd = a[2 * place + 1], any = a[at[n - 1 - i]];
    if (odd + any > 40) a[2 * place] = any + i;
    a[2 * (place & 7) + 1] = odd - any;
  }
}

__kernel void scattered_twice(ARGS) {  // nothing is read: the stores take turns
  for (int i = 0; i < n; i++) {
    a[at[i]] = i;
    a[80 + at[n - 1 - i]] = -i;
  }
}

__kernel void scattered_where_they_meet(ARGS) {
  for (int i = 0; i < n; i++) {
    int v = at[i];
    if (v > 30) a[v & 7] = i;
    a[at[n - 1 - i] & 7] = v;
    if (v & 1) a[(v >> 1) & 7] = v - 1;
  }
}

__kernel void either_end(ARGS) {  // one store for both
  int low = 0, high = 79;
  for (int i = 0; i < n; i++) {
    int v = at[i];
    if (v & 1) a[low++] = v;
    else a[high--] = v;
  }
}

__kernel void swapped(ARGS) {
  for (int i = 0; i < n; i++) {
    int p = at[i], q = at[(i * 7 + 3) & 63], held = a[p];
    a[p] = a[q];
    a[q] = held;
  }
}

__kernel void butterflies(ARGS) {
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < n / 2; i++) {
      int low = ((i >> s) << (s + 1)) | (i & ((1 << s) - 1)), high = low + (1 << s);
      int u = a[low], v = a[high];
      a[low] = u + v;
      a[high] = u - v;
    }
}

__kernel void relaxed_edges(ARGS) {  // the condition needs what is read, the address does not
  for (int i = 0; i < n; i++) {
    int way = a[at[i]] + 3;
    if (way < a[80 + at[n - 1 - i]]) a[80 + at[n - 1 - i]] = way;
  }
}

__kernel void bubbles(ARGS) {  // the next iteration reads what was stored, or else what was read
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n - 1 - i; j++)
      if (a[j] > a[j + 1]) {
        int held = a[j];
        a[j] = a[j + 1];
        a[j + 1] = held;
      }
}

__kernel void reversed(ARGS) {  // halves that never meet
  for (int i = 0; i < n / 2; i++) {
    int v = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = v + at[i];
  }
}
