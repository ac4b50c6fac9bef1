int mac3(int a, int b)
{
    int sum = b;
    for (int k = 0; k < 3; k++)
        sum += a;
    return sum;
}

float larger(float x, float y)
{
    int a = as_int(x), b = as_int(y);
    int first = (a < 0) != (b < 0) ? a < 0 : (a < 0) != ((a & 0x7fffffff) < (b & 0x7fffffff));
    return first ? y : x;
}
