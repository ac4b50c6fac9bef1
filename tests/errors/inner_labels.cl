__kernel void f(__global int *a, int n) {
  switch (n) {
    int early = 3;
  case 0: do { a[0] = n;
  case 1: a[1] = n;
  case 0: a[2] = n + early; } while (--n > 0);
  default: if (n) { default: a[3] = 1; }
  }
  switch (n) { case 1: a[4] = ({ case 2: a[5]; }); }
  if (n) { case 3: a[6] = 1; }
  switch (n) { int late = 4; case 1: a[7] = late; }
}
