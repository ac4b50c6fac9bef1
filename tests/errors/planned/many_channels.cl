channel int c[100000];
__kernel void p(int n) { for(int i=0;i<n;i++) write_channel_intel(c[i%100000],i); }
__kernel void r(__global int *restrict a,int n){ for(int i=0;i<n;i++) a[i]=read_channel_intel(c[i%100000]); }
