// Drives the memory model without a design, for tests/sim/test_dram.py.
//
//   bench SETTINGS random COUNT                  GB/s of COUNT random 64-byte reads on one channel
//   bench SETTINGS commands COUNT SEED           every command of mixed traffic: name tick bank row
//   bench SETTINGS streams READS WRITES WORDS    GB/s of a kernel that moves 64 bytes a cycle and stream
//
// The kernel of `streams` has arrays a, b, c ... of 1 GiB; where banks are not interleaved, a and c lie in the first,
// b and d in the second. A single output is d, two are c and d. Requests are bursts of 16 words, each stream has up to
// 256 words under way, and each bank has request and return paths of its own, as the interconnect has.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../../../sim/runtime/axi_memory.h"
#include "../../../sim/runtime/settings.h"

using namespace sluice;

namespace {

constexpr unsigned kWord = 64, kBurst = 16, kUnderWay = 256, kWriteBuffer = 128;
constexpr uint64_t kArray = uint64_t{1} << 30;

double random_reads(const DramTiming& timing, uint64_t count) {
  DramChannel channel(timing);
  Random random(7);
  std::vector<Finished> finished;
  uint64_t issued = 0, done = 0;
  Tick now = 0;
  for (; done < count; now++) {
    while (issued < count && channel.has_room(kRead)) {
      channel.push(kRead, uint64_t{random.next()} * kWord % (uint64_t{1} << 32));
      issued++;
    }
    finished.clear();
    channel.advance(now, finished);
    done += finished.size();
  }
  return static_cast<double>(count * kWord) / (static_cast<double>(now) * timing.tck_ns);
}

void print_commands(const DramTiming& timing, uint64_t count, uint32_t seed) {
  static const char* const names[] = {"activate", "precharge", "read", "write", "refresh"};
  DramChannel channel(timing);
  channel.observer = [](Command command, Tick now, int bank, int64_t row) {
    std::printf("%s %lld %d %lld\n", names[static_cast<int>(command)], static_cast<long long>(now), bank,
                static_cast<long long>(row));
  };
  Random random(seed);
  std::vector<Finished> finished;
  uint64_t address = 0;
  for (Tick now = 0; count > 0; now++) {
    // Runs of neighbours with jumps between them: row hits as well as conflicts, and idle times.
    const Direction direction = random.below(3) == 0 ? kWrite : kRead;
    address = random.below(8) == 0 ? uint64_t{random.next()} % (1u << 26) * kWord : address + kWord;
    if (random.below(3) == 0 && now % 4096 > 512 && channel.has_room(direction)) {
      channel.push(direction, address);
      count--;
    }
    channel.advance(now, finished);
  }
}

/// Storage for the ports of one AXI master, played by this program instead of a design.
struct Wires {
  uint64_t arvalid = 0, arready = 0, araddr = 0, arlen = 0, rvalid = 0, rready = 1;
  uint64_t awvalid = 0, awready = 0, awaddr = 0, awlen = 0, wvalid = 0, wready = 0, bvalid = 0, bready = 1;
  uint8_t rdata[kWord] = {}, wdata[kWord] = {}, wstrb[kWord / 8] = {};

  AxiPins pins() {
    const auto pin = [](uint64_t& wire) { return Pin(&wire, sizeof wire); };
    AxiPins p;
    p.arvalid = pin(arvalid), p.arready = pin(arready), p.araddr = pin(araddr), p.arlen = pin(arlen);
    p.rvalid = pin(rvalid), p.rready = pin(rready), p.rdata = Pin(rdata, sizeof rdata);
    p.awvalid = pin(awvalid), p.awready = pin(awready), p.awaddr = pin(awaddr), p.awlen = pin(awlen);
    p.wvalid = pin(wvalid), p.wready = pin(wready), p.wdata = Pin(wdata, sizeof wdata);
    p.wstrb = Pin(wstrb, sizeof wstrb), p.bvalid = pin(bvalid), p.bready = pin(bready);
    return p;
  }
};

struct Burst {
  size_t bank;
  uint64_t address;
  unsigned words;
};

struct Stream {
  bool write = false;
  size_t array = 0;
  uint64_t requested = 0, passed = 0;      ///< words asked of (given to) the memory, words the kernel used (made)
  std::deque<Burst> order;                 ///< reads: bursts under way, oldest first
  std::vector<uint64_t> arrived;           ///< reads: words that came from each bank and are not yet used
};

class Kernel {
 public:
  Kernel(const Settings& settings, SharedMemory& memory, unsigned reads, unsigned writes)
      : map_(memory.map()), interleaved_(map_.interleave_bytes < map_.bank_bytes) {
    for (size_t bank = 0; bank < map_.banks; bank++) {
      banks_.push_back(std::make_unique<Bank>());
      banks_[bank]->memory = std::make_unique<AxiMemory>(banks_[bank]->wires.pins(), settings.memory(kWord),
                                                         settings.period_ns(), bank, memory);
    }
    for (unsigned i = 0; i < reads + writes; i++) {
      Stream stream;
      stream.write = i >= reads;
      stream.array = !stream.write ? i : writes == 1 ? 3 : 2 + i - reads;
      stream.arrived.resize(map_.banks);
      streams_.push_back(stream);
    }
  }

  uint64_t run(uint64_t words) {
    uint64_t cycles = 0;
    for (uint64_t iterations = 0; iterations < words; cycles++) {
      for (auto& bank : banks_) bank->memory->sample(cycles);
      for (size_t bank = 0; bank < banks_.size(); bank++) handshake(bank);
      for (auto& bank : banks_) bank->memory->drive();
      iterations += iterate();
      for (size_t bank = 0; bank < banks_.size(); bank++) offer(bank);
    }
    return cycles;
  }

 private:
  struct Bank {
    Wires wires;
    std::unique_ptr<AxiMemory> memory;
    std::deque<size_t> owners;  ///< stream of each word to come
    uint64_t words_to_send = 0;
    size_t turn = 0, write_turn = 0;
    bool ar_ready = false, aw_ready = false, w_ready = false;  ///< as driven before this edge
    uint64_t r_valid = 0;
  };

  void handshake(size_t number) {
    Bank& bank = *banks_[number];
    Wires& w = bank.wires;
    if (w.arvalid && bank.ar_ready) w.arvalid = 0;
    if (w.awvalid && bank.aw_ready) w.awvalid = 0;
    if (w.wvalid && bank.w_ready) bank.words_to_send--;
    if (bank.r_valid) {
      streams_[bank.owners.front()].arrived[number]++;
      bank.owners.pop_front();
    }
  }

  /// One iteration of the kernel, when every input has come and every output has room.
  unsigned iterate() {
    for (Stream& s : streams_) {
      if (s.write ? s.passed - s.requested >= kWriteBuffer : s.order.empty() || s.arrived[s.order.front().bank] == 0)
        return 0;
    }
    for (Stream& s : streams_) {
      s.passed++;
      if (s.write) continue;
      Burst& oldest = s.order.front();
      s.arrived[oldest.bank]--;
      if (--oldest.words == 0) s.order.pop_front();
    }
    return 1;
  }

  Burst next(const Stream& s) const {
    const uint64_t offset = s.requested * kWord;
    if (!interleaved_) return {s.array % map_.banks, s.array / map_.banks * kArray + offset, kBurst};
    const uint64_t global = s.array * kArray + offset;
    const uint64_t piece = global / map_.interleave_bytes;
    return {piece % map_.banks, piece / map_.banks * map_.interleave_bytes + global % map_.interleave_bytes, kBurst};
  }

  /// Offers the bank the next read and write burst, streams taking turns.
  void offer(size_t number) {
    Bank& bank = *banks_[number];
    Wires& w = bank.wires;
    for (size_t k = 0; k < streams_.size() && !w.arvalid; k++) offer_read(number, (bank.turn + k) % streams_.size());
    for (size_t k = 0; k < streams_.size() && !w.awvalid; k++) {
      offer_write(number, (bank.write_turn + k) % streams_.size());
    }
    w.wvalid = bank.words_to_send > 0;
    bank.ar_ready = w.arready, bank.aw_ready = w.awready, bank.w_ready = w.wready, bank.r_valid = w.rvalid;
  }

  void offer_read(size_t number, size_t who) {
    Stream& s = streams_[who];
    if (s.write || s.requested + kBurst - s.passed > kUnderWay || next(s).bank != number) return;
    Bank& bank = *banks_[number];
    const Burst burst = next(s);
    bank.wires.arvalid = 1, bank.wires.araddr = burst.address, bank.wires.arlen = kBurst - 1;
    s.order.push_back(burst);
    s.requested += kBurst;
    bank.owners.insert(bank.owners.end(), kBurst, who);
    bank.turn = who + 1;
  }

  void offer_write(size_t number, size_t who) {
    Stream& s = streams_[who];
    if (!s.write || s.passed - s.requested < kBurst || next(s).bank != number) return;
    Bank& bank = *banks_[number];
    bank.wires.awvalid = 1, bank.wires.awaddr = next(s).address, bank.wires.awlen = kBurst - 1;
    s.requested += kBurst;
    bank.words_to_send += kBurst;
    bank.write_turn = who + 1;
  }

  const AddressMap map_;
  const bool interleaved_;
  std::vector<std::unique_ptr<Bank>> banks_;
  std::vector<Stream> streams_;
};

double streams(const Settings& settings, unsigned reads, unsigned writes, uint64_t words) {
  const AddressMap map = settings.address_map();
  const int contents = memfd_create("contents", 0), control = memfd_create("control", 0);
  ControlPage page{};
  page.size = sizeof page, page.version = ControlPage::kVersion;
  page.allocation_count = 1;
  page.allocations[0] = {0, map.banks * map.bank_bytes};
  if (ftruncate(contents, static_cast<off_t>(map.banks * map.bank_bytes)) != 0 ||
      write(control, &page, sizeof page) != static_cast<ssize_t>(sizeof page)) {
    std::perror("bench");
    std::exit(1);
  }
  SharedMemory memory(contents, control, map);
  Kernel kernel(settings, memory, reads, writes);
  const uint64_t cycles = kernel.run(words);
  return static_cast<double>((reads + writes) * words * kWord) / (static_cast<double>(cycles) * settings.period_ns());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Settings settings(argv[1]);
  const std::string mode = argv[2];
  const auto number = [&](int i) { return i < argc ? std::strtoull(argv[i], nullptr, 0) : 0; };
  if (mode == "random") {
    std::printf("%.3f\n", random_reads(settings.dram(), number(3)));
  } else if (mode == "commands") {
    print_commands(settings.dram(), number(3), static_cast<uint32_t>(number(4)));
  } else if (mode == "streams") {
    std::printf("%.3f\n", streams(settings, static_cast<unsigned>(number(3)), static_cast<unsigned>(number(4)), number(5)));
  } else {
    return 2;
  }
}
