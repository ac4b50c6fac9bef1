__kernel void k(__global int *a, int n) {
    #pragma loop_fuse depth(0)
    { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; }
    #pragma loop_fuse depth()
    { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; }
    #pragma loop_fuse dependent
    { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; }
    #pragma loop_fuse independent
    #pragma loop_fuse
    { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; }
    #pragma loop_fuse depth(n)
    { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; }
}
