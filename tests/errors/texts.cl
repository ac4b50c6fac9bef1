// texts and characters that stand for nothing
__constant char path[] = "C:\path";
__kernel void texts(__global int *a) {
    char name[4] = "\400";
    printf("\y %d\n", a[0]);
    printf("%s\n", "\z");
    a[0] = '\q';
    a[1] = "text";
}
