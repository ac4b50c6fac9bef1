#ifndef WAITING
#define WAITING
#define ONE 1
uint gcd(uint a, uint b);
uint square(uint a);
#endif
