// Runs the simulation of a whole system (soc.py --simulation) behind a pseudo terminal, which takes the place of the
// board's serial port: its name is printed, and the simulation runs until standard input ends. The Ethernet of a board
// that has one is a socket, whose address is printed in a second line.
//
//   simulator CYCLES_OF_A_BIT [LOSE]     LOSE: every so manieth datagram is lost

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "Vdesign.h"
#ifdef WITH_ETHERNET
#include "network.hpp"
#endif
#include "verilated.h"

namespace {

constexpr int CYCLES_BETWEEN_LOOKS = 500;
constexpr int DATA_BITS = 8;
constexpr uint64_t RESET = 16, BEGIN = 64; // cycles of the reset, and until the serial line is in use
// cycles without a byte after which the simulation runs only now and then: the host is at work elsewhere
constexpr uint64_t IDLE = 2'000'000;
constexpr int IDLE_MS = 5;

// Sends bytes to the system, a start bit, eight bits and a stop bit each.
class Sender {
public:
    explicit Sender(int cycles) : cycles(cycles) {}
    void push(uint8_t byte) { bytes.push_back(byte); }
    size_t waiting() const { return bytes.size(); }

    int level() {
        if (bit < 0) {
            if (bytes.empty())
                return 1;
            frame = bytes.front() << 1 | 1 << (DATA_BITS + 1);
            bytes.pop_front();
            bit = left = 0;
        }
        int now = frame >> bit & 1;
        if (++left == cycles) {
            left = 0;
            if (++bit == DATA_BITS + 2)
                bit = -1;
        }
        return now;
    }

private:
    int cycles, bit = -1, left = 0, frame = 0;
    std::deque<uint8_t> bytes;
};

// Takes bytes from the system; a bit is sampled in its middle.
class Receiver {
public:
    explicit Receiver(int cycles) : cycles(cycles) {}

    // The byte that has just ended, or -1.
    int look(int level) {
        if (bit < 0) {
            if (!level)
                bit = 0, left = cycles + cycles / 2, value = 0;
            return -1;
        }
        if (--left)
            return -1;
        left = cycles;
        if (bit == DATA_BITS) {
            bit = -1;
            return value;
        }
        value |= level << bit++;
        return -1;
    }

private:
    int cycles, bit = -1, left = 0, value = 0;
};

int open_terminal() {
    int host = posix_openpt(O_RDWR | O_NOCTTY);
    if (host < 0 || grantpt(host) || unlockpt(host)) {
        perror("pseudo terminal");
        exit(1);
    }
    // held open here, so that the terminal outlives the programs that use it
    int line = open(ptsname(host), O_RDWR | O_NOCTTY);
    termios mode;
    tcgetattr(line, &mode);
    cfmakeraw(&mode);
    tcsetattr(line, TCSANOW, &mode);
    fcntl(host, F_SETFL, O_NONBLOCK);
    printf("%s\n", ptsname(host));
    fflush(stdout);
    return host;
}

bool ended() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

} // namespace

int main(int count, char** words) {
    int cycles = count > 1 ? atoi(words[1]) : 0;
    if (cycles < 4) {
        fprintf(stderr, "usage: simulator CYCLES_OF_A_BIT (at least 4)\n");
        return 2;
    }
    VerilatedContext context;
    Vdesign soc{&context};
    Sender sender(cycles);
    Receiver receiver(cycles);
    std::deque<uint8_t> out;
    int terminal = open_terminal();
#ifdef WITH_ETHERNET
    Network network(count > 2 ? unsigned(atoi(words[2])) : 0);
#endif
    uint64_t quiet = 0;
    soc.rst = 1;
    soc.serial_rx = 1;
    for (uint64_t cycle = 0;; cycle++) {
        if (cycle == RESET)
            soc.rst = 0;
        if (cycle % CYCLES_BETWEEN_LOOKS == 0) {
            if (ended())
                return 0;
            while (!out.empty() && write(terminal, &out.front(), 1) == 1)
                out.pop_front();
            uint8_t bytes[256];
            ssize_t read_now = sender.waiting() < sizeof bytes ? read(terminal, bytes, sizeof bytes) : 0;
            for (ssize_t k = 0; k < read_now; k++)
                sender.push(bytes[k]);
            bool came = read_now > 0;
#ifdef WITH_ETHERNET
            came |= network.take();
#endif
            if (came)
                quiet = 0;
            if (quiet > IDLE) {
#ifdef WITH_ETHERNET
                pollfd inputs[] = {{terminal, POLLIN, 0}, {network.descriptor(), POLLIN, 0}};
#else
                pollfd inputs[] = {{terminal, POLLIN, 0}};
#endif
                poll(inputs, sizeof inputs / sizeof *inputs, IDLE_MS);
            }
        }
        soc.serial_rx = cycle < BEGIN || sender.level();
#ifdef WITH_ETHERNET
        int arrives = cycle < BEGIN ? -1 : network.byte();
        soc.eth_sink_valid = arrives >= 0;
        soc.eth_sink_data = arrives >= 0 ? uint8_t(arrives) : 0;
#endif
        soc.clk = 1;
#ifdef SYNC2X
        soc.sync2x_clk = 1;
        soc.eval();
        soc.sync2x_clk = 0;
        soc.eval();
        soc.clk = 0;
        soc.sync2x_clk = 1;
        soc.eval();
        soc.sync2x_clk = 0;
#else
        soc.eval();
        soc.clk = 0;
#endif
        soc.eval();
        quiet++;
#ifdef WITH_ETHERNET
        if (network.look(soc.eth_source_valid, soc.eth_source_data))
            quiet = 0;
#endif
        if (int byte = receiver.look(cycle < BEGIN || soc.serial_tx); byte >= 0) {
            out.push_back(byte);
            quiet = 0;
        }
    }
}
