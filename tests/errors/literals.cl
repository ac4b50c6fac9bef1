__kernel void f(__global long *a) {
  a[0] = 99999999999999999999;
  a[1] = 1ll;
  a[2] = 'ab';
  a[3] = "text";
}
