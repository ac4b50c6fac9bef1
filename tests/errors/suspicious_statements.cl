channel int c;
__kernel void reads(__global int *a, int n, int not_warned) {
  int alone, table[4], set = n, assigned, shadowed = 1, given = a[0];
  int taken = read_channel_intel(c), index = get_global_id(0); // their values have effects
  assigned = 3;
  { int shadowed = 2; a[0] = shadowed; }
  for (int i = 0; n > 0; n--) a[1]++;
  a[2] = sizeof(given); int spare __attribute__((unused)) = n; __attribute__((__unused__)) int others, more[2]; // meant
}
__kernel void writes(int n) {
  write_channel_intel(c, n);
}
__kernel void bodies(__global int *a, int n) {
  if (n > 0);
    a[0] = 1;
  for (int i = 0; i < n; i++);
    a[1] = 1;
  while (a[2] > n) ;
  { a[2] = 1; }
  if (n == 1); else a[3] = 1; // meant
  if (n == 2)
    ;
  if (n == 3) { }
  if (n == 4) /* nothing */;
  for (int i = 0; i < n; i++);
  while (a[5] > 0);
  a[4] = 1;
}
__kernel void endless(__global int *a, int n) {
  if (n > 5) { for (;;) a[1]++; a[0] = 1; }
  while (1) { if (a[2] > n) continue; for (;;) { break; } }
  a[3] = 1;
}
__kernel void ends(__global int *a, int n) { // not warned
  for (;;) { if (a[0] > n) break; a[0]++; }
  do { if (a[1]) goto out; } while (1);
out:
  a[2] = 1;
  while (n) ;
  do { a[4] = 1; } while (0);
  a[3] = 1;
}
