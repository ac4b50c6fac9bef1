// The other end of the Ethernet of a simulated system: datagrams of a socket on this machine become frames and back.

#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

class Network {
public:
    // ``lose``: every so manieth datagram is lost, in both directions together; 0 for none.
    explicit Network(unsigned lose) : lose(lose) {
        socket_ = ::socket(AF_INET, SOCK_DGRAM, 0);
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_addr.s_addr = htonl(0x7F000002); // a host answers at the port that it asks, at 127.0.0.1
        socklen_t size = sizeof own;
        if (socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&own), size) ||
            getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size)) {
            perror("socket");
            exit(1);
        }
        fcntl(socket_, F_SETFL, O_NONBLOCK);
        printf("127.0.0.2:%d\n", ntohs(own.sin_port));
        fflush(stdout);
    }

    // Take what hosts have sent; whether there was something.
    bool take() {
        std::array<uint8_t, 2048> data;
        bool some = false;
        socklen_t size = sizeof peer;
        for (ssize_t count; (count = recvfrom(socket_, data.data(), data.size(), 0,
                                              reinterpret_cast<sockaddr*>(&peer), &size)) >= 0;) {
            some = true;
            if (!lost())
                send(datagram({data.begin(), data.begin() + count}));
        }
        return some;
    }

    int descriptor() const { return socket_; }

    // The byte that the system receives in this cycle, or -1.
    int byte() {
        if (gap > 0) {
            gap--;
            return -1;
        }
        if (frames.empty())
            return -1;
        uint8_t value = frames.front()[sent++];
        if (sent == frames.front().size()) {
            frames.pop_front();
            sent = 0;
            gap = GAP;
        }
        return value;
    }

    // What the system sends in this cycle; whether a frame has ended.
    bool look(bool valid, uint8_t value) {
        if (valid) {
            coming.push_back(value);
            return false;
        }
        if (coming.empty())
            return false;
        handle(coming);
        coming.clear();
        return true;
    }

private:
    using Bytes = std::vector<uint8_t>;
    static constexpr int GAP = 24; // cycles between frames: preamble, check sum and pause of a real one
    static constexpr size_t ETHERNET = 14, IP = 20, UDP = 8, SHORTEST = 60;
    static constexpr uint8_t ARP_TYPE = 6, ARP_REPLY = 2, UDP_PROTOCOL = 17;

    bool lost() { return lose && ++datagrams % lose == 0; }

    void send(Bytes frame) {
        if (frame.size() < SHORTEST)
            frame.resize(SHORTEST);
        frames.push_back(std::move(frame));
    }

    static void put(Bytes& to, const Bytes& what) { to.insert(to.end(), what.begin(), what.end()); }
    static void put(Bytes& to, unsigned value) { put(to, Bytes{uint8_t(value >> 8), uint8_t(value)}); }

    Bytes header(unsigned type) const {
        Bytes frame = board_mac;
        put(frame, host_mac);
        put(frame, type);
        return frame;
    }

    // A datagram to the board, in IP in a frame.
    Bytes datagram(const Bytes& data) const {
        Bytes ip{0x45, 0};
        put(ip, unsigned(IP + UDP + data.size()));
        put(ip, Bytes{0, 0, 0x40, 0, 64, UDP_PROTOCOL, 0, 0});
        put(ip, host_ip);
        put(ip, board_ip);
        uint32_t sum = 0;
        for (size_t k = 0; k < IP; k += 2)
            sum += ip[k] << 8 | ip[k + 1];
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = ~(sum + (sum >> 16));
        ip[10] = uint8_t(sum >> 8);
        ip[11] = uint8_t(sum);
        Bytes frame = header(0x0800);
        put(frame, ip);
        put(frame, PORT);
        put(frame, PORT);
        put(frame, unsigned(UDP + data.size()));
        put(frame, 0u);
        put(frame, data);
        return frame;
    }

    void handle(const Bytes& frame) {
        if (frame.size() < ETHERNET + IP + UDP || frame[12] != 8)
            return;
        if (frame[13] == ARP_TYPE) { // who has our address?
            board_mac.assign(&frame[22], &frame[28]);
            board_ip.assign(&frame[28], &frame[32]);
            host_ip.assign(&frame[38], &frame[42]);
            Bytes answer = header(0x0806);
            put(answer, Bytes{0, 1, 8, 0, 6, 4, 0, ARP_REPLY});
            put(answer, host_mac);
            put(answer, host_ip);
            put(answer, board_mac);
            put(answer, board_ip);
            send(answer);
        } else if (frame[13] == 0 && frame[ETHERNET + 9] == UDP_PROTOCOL && !lost()) {
            size_t begin = ETHERNET + IP + UDP, size = (frame[ETHERNET + IP + 4] << 8 | frame[ETHERNET + IP + 5]) - UDP;
            if (begin + size <= frame.size())
                sendto(socket_, &frame[begin], size, 0, reinterpret_cast<sockaddr*>(&peer), sizeof peer);
        }
    }

    static constexpr unsigned PORT = 1234; // of Etherbone, in the board
    unsigned lose;
    uint64_t datagrams = 0;
    int socket_, gap = 0;
    sockaddr_in peer{};
    std::deque<Bytes> frames;
    size_t sent = 0;
    Bytes coming;
    // LiteX's addresses of a board; a host's
    Bytes board_mac{0x10, 0xe2, 0xd5, 0, 0, 0}, host_mac{2, 0, 0, 0, 0, 1};
    Bytes board_ip{192, 168, 1, 50}, host_ip{192, 168, 1, 100};
};
