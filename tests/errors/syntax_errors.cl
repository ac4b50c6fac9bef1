typedef struct { int a float b; } Pair;
__kernel void one(__global int *a) {
    int x = 3
    int y = 4;
    a[0] = x + ;
    for (int i = 0; i < 3 i++) { a[i] = y; }
    if (x > 1 { a[1] = 2; } else a[1] = 3;
    flaot z = 2;
    while (x) { x--; a[2] = (x; }
    a[3] = y;
}
__kernel void two(__global int *a, int) {
    a[0] = 1;;
    do { a[0]++; } while (a[0] < 5)
    switch (a[0]) { case 1 a[1] = 2; }
    asm("nop");
    a[1] = ?;
}
__kernel three(__global int a[) { }
__kernel void four(__global int *a) { Pair p; p.a = 1; a[0] = p.a; }
