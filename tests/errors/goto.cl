__kernel void f(__global int *a, int n) {
again:
  a[0] = n--;
  if (n > 0) goto again;
  if (n < 0) goto inside;
  a[1] = ({ int x = n; inside: x++; x; });
  goto nowhere;
}
__kernel void unknown(__global int *a, int n) {
  if (n > 9) goto midle;
middle:
  a[2] = n;
}
__kernel void twice(__global int *a) {
same: a[0] = 1;
same: a[1] = 2;
  a[2] = ({ int x = a[3]; goto same; x; });
}
