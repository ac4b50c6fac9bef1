__kernel void f(__global int *a, int n) {
  switch (n) { int late = 4; case 1: late = n; a[7] = late; }
}
