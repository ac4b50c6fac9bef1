inline kernel void old(a, b) int a; int b; { }
int f(int a, int a) { return a; }
int g(int, ...) { return 1; }
__kernel void k(__global int *o, int n, int n) {
    int x; int x;
    int f(int);
    o = 1;
    typedef float real;
    real r = 1; real = 3;
    undefined_type t;
}
int values[3] = { 1, 2, 3 };
typedef int text; __constant char c = "text";
