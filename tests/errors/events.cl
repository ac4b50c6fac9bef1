// event_t is declared in functions only, and not in memory that others share
__global event_t lasting;
__constant event_t fixed;
struct holder { event_t inside; };
channel event_t passed;
event_t give(event_t e) { return e; }
__kernel void k(__global int *a, event_t e, __global event_t *buffer) {
    static event_t kept;
    __local event_t shared[2];
    event_t allowed[2] = { 0 }, *first = allowed;
    wait_group_events(1, first);
}
