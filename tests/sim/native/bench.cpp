// Drives the memory model without a design, for tests/sim/test_dram.py.
//
//   bench SETTINGS random COUNT                  GB/s of COUNT random 64-byte reads on one channel
//   bench SETTINGS commands COUNT SEED           every command of mixed traffic: name tick bank row

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../../sim/runtime/random.h"
#include "../../../sim/runtime/settings.h"

using namespace sluice;

namespace {

constexpr unsigned kWord = 64;

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
  } else {
    return 2;
  }
}
