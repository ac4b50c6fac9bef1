typedef pixel row;
constant weight_t table[2] = {1, 2};
channel packet_t stream;
struct pair { first_t a; second_t *b; };
inline void set(cell_t *at, index_t i) { *at = (cell_t)i; }
result_t twice(int a) { return 2 * a; }
__kernel void k(__global sample_t *a, const int n)
{
    __private vec_t lanes[4];
    for (counter_t i = 0; i < n; i++) {
        flaot z = (wide_t)a[i];
        a[i] = z;
    }
    vec_t one;
    int sum = n sum;
}
