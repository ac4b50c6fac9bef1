// Loops whose end an array on the chip, or arithmetic, decides: the next iterations start before that is known.
#define ARGS __global const int *restrict a, __global int *restrict out, int n
#define SIZE 128

__kernel void find(ARGS) {  // once a run
  int s[SIZE];
  for (int i = 0; i < SIZE; i++) s[i] = a[i];
  int j = 0;
  while (j < SIZE - 1 && s[j] != n) j++;
  out[0] = j;
}

__kernel void shift_up(ARGS) {  // stores behind the decision
  int s[SIZE + 1];
  for (int i = 0; i < SIZE; i++) s[i] = a[i];
  int j = SIZE - 1;
  while (j >= 0 && s[j] > n) {
    s[j + 1] = s[j];
    j--;
  }
  s[j + 1] = n;
  for (int i = 0; i < SIZE; i++) out[i] = s[i];
}

__kernel void insertion_sort(ARGS) {  // an invocation waits for the stores of the one before, and for nothing in itself
  int s[SIZE];
  for (int i = 0; i < SIZE; i++) {
    int v = a[i] ^ n, j = i - 1;
    while (j >= 0 && s[j] > v) {
      s[j + 1] = s[j];
      j--;
    }
    s[j + 1] = v;
  }
  for (int i = 0; i < SIZE; i++) out[i] = s[i];
}

__kernel void probe(ARGS) {  // places of a hash table are taken while they are looked for
  int table[256];
  for (int i = 0; i < 256; i++) table[i] = -1;
  for (int i = 0; i < SIZE; i++) {
    int key = a[i] * 3, at = key * 7 + n & 255;
    while (table[at] != -1 && table[at] != key) at = at + 1 & 255;
    table[at] = key;
    out[i] = at;
  }
}

__kernel void count_words(ARGS) {  // leaves in the middle, with a store in front of it
  int s[SIZE];
  for (int i = 0; i < SIZE; i++) s[i] = a[i];
  int words = 0;
  for (int i = 0; i < SIZE; i++) {
    out[i] = words;
    if (s[i] == n) break;
    words += s[i] > 5;
  }
  out[SIZE] = words;
}

__kernel void match(ARGS) {  // an inner loop that the outer one waits for
  int s[SIZE], best = 0;
  for (int i = 0; i < SIZE; i++) s[i] = a[i];
  for (int i = 0; i < SIZE && best < 4; i++) {
    int k = 0;
    while (i + k + 1 < SIZE && s[i + k] <= s[i + k + 1]) k++;
    best = best + k > 6 ? best + 1 : best;
    out[i] = best * 128 + k;
  }
}

__kernel void float_steps(ARGS) {  // decided by arithmetic alone
  float x = 0.0f;
  int steps = 0;
  while (native_sqrt(x) * x < (float)(n * n) && steps < 60) {
    x += 3.0f;
    steps++;
    out[steps] = steps * n;
  }
  out[0] = steps;
}

__kernel void compare_global(ARGS) {  // memory decides, and arithmetic behind it
  int i = 0;
  while (i < 60 && (a[i] * a[i] + n) % 11 != 3) {
    out[i] = a[i];
    i++;
  }
  out[61] = i;
}

__kernel void search_twice(ARGS) {  // what runs on from the first loop reads what is stored for the second one
  int s[SIZE];
  for (int i = 0; i < SIZE; i++) s[i] = a[i];
  int j = 0, k = 0;
  while (j < SIZE - 1 && s[j] != n) j++;
  s[j] = -5;
  while (k < SIZE - 1 && s[k] != -5) {
    s[k] = k;
    k++;
  }
  for (int i = 0; i < SIZE; i++) out[i] = s[i] + k;
}

__kernel void taken_over(ARGS) {  // one value takes over another, which a loop inside gives, behind the decision
  short given = 1, taken = 2;
  for (int i = 0; a[i] != n; i++) {
    short before = given;
    given = taken;
    taken = before;
    for (int j = i; j < (n & 3); j++) given -= a[j] * i;
  }
  out[0] = taken;
  out[1] = given;
}

__kernel void left_by_do(ARGS) {  // the next value is what a loop inside leaves, of which copies take place under conditions
  short v = n;
  int i = 0, j = 0;
  while (i++ < 11) {
    if ((v ^ a[i]) & 1) break;
#pragma unroll 3
    do {
      out[6] = v++;
    } while (++j < (a[0] & 7));
  }
  out[3] = v;
  out[4] = i;
  out[5] = j;
}
