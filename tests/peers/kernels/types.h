// T is the element, LANES how many of them a word of the buffers' RAMs holds: -DT=int -DLANES=8
#pragma OPENCL FP_CONTRACT OFF
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if LANES == 1
#define WORD T
#else
#define WORD JOIN(T, LANES)
#endif
