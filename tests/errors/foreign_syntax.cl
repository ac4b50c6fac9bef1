class Pair { public: int x; int get() { return x; } };
void add(int &sum, int x) { sum += x; }
int twice(int x, int by = 2) { return x * by; }

__kernel void values(__global int *restrict a, int n)
{
    int r{3};
    Pair p;
    int &first = a[0];
    auto x = a[0];
    for (int i{0}; i < n; i++)
        a[i] = i;
    for (int y : a)
        a[0] += y;
    auto square = [](int x) { return x * x; };
    int *q = new int[16];
    delete[] q;
    a[0] = tools::one();
    a[1] = twice<int>(3);
    try {
        a[1] = 2;
    } catch (...) {
    }
}
