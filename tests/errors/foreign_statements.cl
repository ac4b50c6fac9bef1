__kernel void values(__global int *restrict a, int n)
{
    values<<<1, 64>>>(a, n);
    [[intel::initiation_interval(1)]] for (int i = 0; i < n; i++)
        a[i] = 2;
    bool both = a[0] and a[1];
    int b == 3;
    string name = "abc";
    dim3 grid(4, 4);
    int inner(int x) { return x; }
    a[2] = 4;
}

__kernel void control(__global int *restrict a, int n)
{
    if (n == 1)
        a[0] = 1;
    elif (n == 2)
        a[0] = 2;
    if (n == 3) then
        a[0] = 3;
    for (int i = 0, i < n, i++)
        a[i] = 3;
    a[3] = std::max(a[0], a[1]);
}
