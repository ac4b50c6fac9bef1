__kernel void k(__global int *a, int n) {
    #pragma loop_fuse
    for (int i = 0; i < n; i++) a[i] = 1;
    #pragma loop_fuse depth(2) independent
    { for (int i = 0; i < n; i++) a[i] = 1; }
    #pragma loop_fuse
    a[0] = 3;
    #pragma nofusion
    { a[0] = 2; }

}
