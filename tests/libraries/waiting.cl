#include "waiting.h"
uint gcd(uint a, uint b)
{
    while (b) {
        uint rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint square(uint a)
{
    return a * a + ONE;
}
