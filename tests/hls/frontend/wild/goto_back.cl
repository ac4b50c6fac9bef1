// gotos that lead backwards and make loops
int gcd(int x, int y) {
    x = abs(x) + 1; y = abs(y) + 1;
again:
    if (x == y) goto done;
    if (x > y) { x -= y; goto again; }
    y -= x;
    goto again;
done:
    return x;
}
int count(int x) {
    int steps = 0;
next: x = x & 1 ? 3 * x + 1 : x >> 1; steps++;
    if (x > 1) goto next;
    return steps;
}
int nested(int n) {
    int i = 0, j, s = 0;
outer:
    j = 0;
inner:
    s += i * j++;
    if (j == 3) goto outer_end;
    if (j < n) goto inner;
outer_end:
    if (++i < n) goto outer;
    return s;
}
int overlapping(int n) {
    int x = 0, k = 0;
one: x += 3;
two: x ^= n; k++;
    if (k < 3) goto two;
    if (x & 1) { if (k < 9) goto one; }
    if (k < n) goto two;
    if (k < 11) goto one;
    return x * 16 + k;
}
int inside(__global const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int tries = 0;
retry:
        s += a[i] & 7;
        for (int j = 0; j < 4; j++) { if (s % 5 == j && tries < 3) { tries++; s += j; goto retry; } if (s == 11) break; }
        switch (s % 4) { case 1: s++; break; case 2: if (tries++ < 5) goto retry; break; case 3: if (i == 2) continue; s += 2; }
        if (s > 90) break;
        if (s & 8) continue;
        if (tries++ < 2) goto retry;
        s += 100 * i;
    }
    return s;
}
int early(int n) { int k = 0; top: k += n; if (k > 30) return k; if (k < 0) goto out; goto top; out: return -1; }

KERNEL {
    o[0] = gcd(a[0], a[1]); o[1] = gcd(n * 6, n * 4); o[2] = count(n + 19); o[3] = nested(n - 2); o[4] = nested(1);
    o[5] = overlapping(n); o[6] = overlapping(n * 2); o[7] = inside(a, n); o[8] = inside(a + 7, 3 * n); o[9] = early(n);
    int i = 0;
loop:
    o[10 + i] = a[i] * 2; i++;
    if (i < 40) goto loop;
}
