// traffic SETTINGS ITERATIONS STREAM...    simulates a kernel's traffic and prints its cycles
//
// A STREAM is r or w (reads, writes in order) or R or W (at random), and the number of its array, from 0.
// Output: cycles, and for each bank the counts of column commands, activates and turnarounds:
//   CYCLES READS WRITES ACTIVATES TURNAROUNDS READS WRITES ...

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel.h"

using namespace sluice;

namespace {

Stream stream_of(const std::string& word) {
  Stream stream;
  const int kind = std::tolower(word.at(0));
  if (kind != 'r' && kind != 'w') throw std::runtime_error("a stream is r, w, R or W and a number, not " + word);
  stream.write = kind == 'w';
  stream.random = word[0] != kind;
  stream.array = std::stoull(word.substr(1));
  return stream;
}

/// A memory of which every byte may be accessed; untouched pages take no space.
class WholeMemory {
 public:
  explicit WholeMemory(uint64_t bytes) : contents_(memfd_create("contents", 0)), control_(memfd_create("control", 0)) {
    ControlPage page{};
    page.size = sizeof page, page.version = ControlPage::kVersion;
    page.allocation_count = 1;
    page.allocations[0] = {0, bytes};
    if (contents_ < 0 || control_ < 0 || ftruncate(contents_, static_cast<off_t>(bytes)) != 0 ||
        write(control_, &page, sizeof page) != static_cast<ssize_t>(sizeof page)) {
      throw std::runtime_error("cannot make a memory of " + std::to_string(bytes) + " bytes");
    }
  }
  int contents() const { return contents_; }
  int control() const { return control_; }

 private:
  int contents_, control_;
};

void run(int argc, char** argv) {
  const Settings settings(argv[1]);
  std::vector<Stream> streams;
  for (int i = 3; i < argc; i++) streams.push_back(stream_of(argv[i]));
  const WholeMemory whole(settings.address_map().end());
  SharedMemory memory(whole.contents(), whole.control());
  Kernel kernel(settings, memory, streams);
  std::printf("%llu", static_cast<unsigned long long>(kernel.run(std::stoull(argv[2]))));
  for (size_t bank = 0; bank < kernel.banks(); bank++) {
    const MemoryCounts& c = kernel.counts(bank);
    for (const uint64_t count : {c.reads, c.writes, c.activates, c.turnarounds}) {
      std::printf(" %llu", static_cast<unsigned long long>(count));
    }
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SETTINGS ITERATIONS STREAM...\n", argv[0]);
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
