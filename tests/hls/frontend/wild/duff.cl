// labels of a switch inside its other statements
void send(int *to, __global const int *from, int count) {
    int n = (count + 7) / 8, k = 0;
    switch (count % 8) {
    case 0: do { to[k++] = *from++;
    case 7:      to[k++] = *from++;
    case 6:      to[k++] = *from++;
    case 5:      to[k++] = *from++;
    case 4:      to[k++] = *from++;
    case 3:      to[k++] = *from++;
    case 2:      to[k++] = *from++;
    case 1:      to[k++] = *from++;
            } while (--n > 0);
    }
}
int branches(int x, int y) {
    int s = 0;
    switch (x) {
        int hidden;
    case 1: s += 1;
        if (y > 3) {
            s += 10;
    case 2: s += 100;
        } else {
            s += 1000;
    case 3: s += 10000;
            if (s & 4) break;
        }
        hidden = s * 2;
        s += hidden & 3;
    case 4 ... 6: s ^= 5; break;
    default: { s -= 3; case 9: s -= 7; }
    }
    return s;
}
int loops(int x, int n) {
    int s = 1, i = 2;
    switch (x) {
    case 0:
        for (i = 0; i < n; i++) {
            s += i;
            if (s > 40) break;
            while (s & 1) {
                s += 3;
    case 1:     s = s * 2 + 1;
                if (s > 100) break;
                if (s % 3 == 0) continue;
    case 2:     s--;
            }
    default: s += 5;
        }
        s += 1000;
    }
    return s * 8 + i;
}
int machine(__global const int *a, int n) {
    int state = 0, found = 0;
    for (int i = 0; i < n; i++) switch (state) { while (1) {
        case 0: if (a[i] > 0) { state = 1; break; } found += 1; break;
        case 1: if (a[i] < 0) { state = 2; break; } found += 100;
        case 2: found += 10000; state = 0; }
    }
    return found;
}
int before(int x) { switch (x) { int t; case 1: t = 5; return t; case 8: t = 6; default: t = 3; return t + x; } }

KERNEL {
    int m[20] = { 0 };
    send(m, a, n + 8); for (int i = 0; i < 20; i++) o[i] = m[i];
    for (int i = 0; i < 10; i++) { o[20 + i] = branches(i, n); o[30 + i] = branches(i, i); o[40 + i] = loops(i, n); }
    o[50] = machine(a, n * 4); o[51] = before(n) + before(1); send(m, a + 3, 1); o[52] = m[0];
}
