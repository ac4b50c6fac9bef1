channel int c;
channel int grid[2][3];
channel float *bad;
channel int first = 3;
channel int open[];
channel int deep __attribute__((depth(-1)));
channel int wide __attribute__((width(8)));
struct Holder { __global int *p; };
channel struct Holder holders;
__kernel void k(__global int *a, __global float *f, write_only pipe int out) {
    int n = c;
    c = 3;
    n = read_channel_intel(n);
    n = read_channel_intel(grid[1]);
    n = read_channel_intel(grid[1][3]);
    n = read_channel_intel(grid[1][f[0]]);
    n = read_channel_intel(c, 1);
    write_channel_intel(c);
    write_channel_intel(c, a);
    n = write_channel_intel(c, 1);
    n = read_channel_nb_intel(c, n);
    n = read_channel_nb_intel(c, f);
    write_pipe(out, f);
    write_pipe(out, 1);
    n = read_pipe(c, &n);
    n = peek_channel_intel(c);
    n = get_pipe_num_packets(out);
    n = get_pipe_max_packets(out);
    n = get_pipe_max_packets(c);
}
void helper(channel float p) { c = p; }
__kernel void passes(channel int p) { helper(c); }
__kernel void image(read_only image2d_t i) { }
