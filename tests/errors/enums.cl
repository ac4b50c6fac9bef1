enum Colour { RED = 1, GREEN = RED + 1, BLUE = 1 << 40 };
enum Colour2 { LIGHT = n, RED };
__kernel void k(__global int *o) { enum Colour c = GREEN; GREEN = 3; o[0] = c + &GREEN; }
