__kernel void k(__global int *o, int n) {
  int half = 3;
  float bool;
  int x = uint(3);
  o[0] = half + x;
}
void event_t(int x) {}
struct uchar { int a; };
