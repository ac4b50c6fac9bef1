__kernel void f(__global int *a, int n) {
again:
  a[0] = n--;
  if (n > 0) goto again;
  if (n < 0) goto inside;
  for (int i = 0; i < n; i++) {
  inside:
    a[i] = 0;
  }
  goto nowhere;
}
__kernel void two_ways_in(__global int *a, int n) {
  if (n > 3) goto middle;
top:
  a[1] = n;
middle:
  a[2] = n--;
  if (n) goto top;
  if (n > 9) goto midle;
}
__kernel void twice(__global int *a) {
same: a[0] = 1;
same: a[1] = 2;
  a[2] = ({ int x = a[3]; goto same; x; });
}
