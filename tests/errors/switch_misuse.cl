__kernel void k(__global int *o, float x, int n) {
    switch (x) { case 1: o[0] = 1; }
    switch (n) { o[0] = 2; case 1: o[0] = 1; }
    switch (n) { case n: o[0] = 1; break; case 1.5f: break; }
    switch (n) { case 1: if (n) { case 2: o[0] = 1; } }
    switch (n) { default: break; default: o[0] = 1; }
    case 3: o[0] = 4;
    continue;
}
