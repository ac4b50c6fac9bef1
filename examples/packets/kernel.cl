// Reads packets from the network as they arrive, sends those to low ports back, and reports each to another kernel.

#define FIRST 1
#define LAST 2
#define LOWEST_OTHER_PORT 1024

struct word {
    uint data;   // of a packet's first word: source port, destination port; else payload
    uint flags;  // FIRST, LAST: of a packet
};
struct summary {
    uint ports;
    ushort words;
    ushort check;  // sum of the payload, 16 bits at a time, in ones' complement
};

channel struct word from_wire __attribute__((depth(16))) __attribute__((io("eth_in")));
channel struct word to_wire __attribute__((depth(16))) __attribute__((io("eth_out")));
channel struct summary seen __attribute__((depth(64)));

ushort folded(uint sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

__attribute__((max_global_work_dim(0)))
__attribute__((autorun))
__kernel void parser(void)
{
    uint ports = 0;
    uint sum = 0;  // of up to 65,535 halves it cannot overflow
    ushort words = 0;
    bool back = false;
    while (1) {
        struct word w = read_channel_intel(from_wire);
        bool first = w.flags & FIRST;
        if (first) {
            ports = w.data;
            words = 0;
            sum = 0;
            back = (w.data & 0xffff) < LOWEST_OTHER_PORT;
            w.data = w.data << 16 | w.data >> 16;
        } else {
            sum += (w.data & 0xffff) + (w.data >> 16);
        }
        words++;
        if (back)
            write_channel_intel(to_wire, w);
        if (w.flags & LAST) {
            struct summary s;
            s.ports = ports;
            s.words = words;
            s.check = folded(sum);
            write_channel_intel(seen, s);
        }
    }
}

__kernel void log_packets(__global struct summary *restrict out, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = read_channel_intel(seen);
}
