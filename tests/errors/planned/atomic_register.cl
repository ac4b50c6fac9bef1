__kernel void counted(__global int *restrict o, int n) {
    __local int count;
    count = 0;
    for (int i = 0; i < n; i++) atomic_add(&count, o[i]);
    o[0] = count;
}
