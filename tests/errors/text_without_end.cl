__kernel void k(__global int *restrict a)
{
    printf("the first);
}
