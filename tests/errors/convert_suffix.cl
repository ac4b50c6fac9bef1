__kernel void f(__global uchar *a, float x) {
  a[0] = convert_uchar_sat(x);
  a[1] = convert_int_rte(x);
  a[2] = as_short(x);
  a[3] = convert_uchar4(x);
}
