__kernel void k(__global int *a, float x, float4 v) {
    printf();
    printf(a);
    printf("%d %d\n", 1);
    printf("%d\n", x);
    printf("%f\n", a[0]);
    printf("%s\n", "text");
    printf("%s\n", 3);
    printf("%p\n", a);
    printf("%v4f\n", x);
    printf("%d%q\n", 1);
    printf("100%\n");
    printf("%v4f %d\n", v, 3);
}
