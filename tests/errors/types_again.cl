typedef unsigned int uint;
typedef unsigned char uchar, ushort;
typedef float float4;
typedef struct { int a; } bool;
__kernel void k(__global uint *a) { a[0] = (uchar)a[1]; }
