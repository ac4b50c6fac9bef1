int mac3(int a, int b);
float larger(float x, float y);
