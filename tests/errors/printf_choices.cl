#define BIT(b) (n >> b & 1 ? "1" : "0")
__kernel void k(__global int *a, int n) {
    printf("%s%s%s%s%s%s\n", BIT(5), BIT(4), BIT(3), BIT(2), BIT(1), BIT(0));
    printf("%s%s%s%s%s%s%s\n", BIT(6), BIT(5), BIT(4), BIT(3), BIT(2), BIT(1), BIT(0));
    printf(n ? "%s %s\n" : "%s, %s\n", n == 1 ? "one" : n == 2 ? "two" : "many", a[0] ? "a" : "b");
    a[0] = n;
}
