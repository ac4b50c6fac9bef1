// Traffic like that of a kernel, through AXI ports into the memory model, without a design.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../runtime/axi_memory.h"
#include "../runtime/settings.h"

namespace sluice {

/// Signals of one AXI port of 64-byte words, driven by a program.
struct Wires {
  static constexpr unsigned kWord = 64;
  uint64_t arvalid = 0, arready = 0, araddr = 0, arlen = 0, rvalid = 0, rready = 1;
  uint64_t awvalid = 0, awready = 0, awaddr = 0, awlen = 0, wvalid = 0, wready = 0, bvalid = 0, bready = 1;
  uint8_t rdata[kWord] = {}, wdata[kWord] = {}, wstrb[kWord / 8] = {};

  AxiPins pins();
};

struct Burst {
  size_t bank;
  uint64_t address;  ///< in the bank
  unsigned words;
};

/// The access of a kernel in every iteration: a word of an array in order, or a random one.
struct Stream {
  bool write = false, random = false;
  uint64_t array = 0;                 ///< arrays are kArray bytes apart
  uint64_t requested = 0, passed = 0;  ///< words requested from (sent to) the memory, words the kernel used (made)
  std::deque<Burst> order;            ///< reads: bursts in flight, oldest first
  std::vector<uint64_t> arrived;      ///< reads: words that came from each bank and are not yet used
  Burst next{};                       ///< the next request
};

/// A kernel that uses a word of every stream in a cycle, as soon as all have arrived.
///
/// Each bank has a request path and a return path of its own, which the streams use in rotation, and a stream's words
/// are used in the order of the requests. Sequential streams request 16 words at a time, random ones one.
class Kernel {
 public:
  static constexpr uint64_t kArray = uint64_t{1} << 30;

  Kernel(const Settings& settings, SharedMemory& memory, std::vector<Stream> streams);
  /// Runs that many iterations; returns the cycles.
  uint64_t run(uint64_t iterations);
  size_t banks() const { return banks_.size(); }
  const MemoryCounts& counts(size_t bank) const { return banks_[bank]->memory->counts(); }

 private:
  struct Bank {
    Wires wires;
    std::unique_ptr<AxiMemory> memory;
    std::deque<size_t> owners;  ///< stream of each word to come
    uint64_t words_to_send = 0;
    size_t turn = 0, write_turn = 0;
    bool ar_ready = false, aw_ready = false, w_ready = false, r_valid = false;  ///< as driven before this edge
  };

  void handshake(size_t bank);
  bool iterate();
  void plan(Stream& stream);
  void offer(size_t bank);
  void offer_read(size_t bank, size_t who);
  void offer_write(size_t bank, size_t who);

  const AddressMap map_;
  std::vector<std::unique_ptr<Bank>> banks_;
  std::vector<Stream> streams_;
  Random random_{7};
};

}  // namespace sluice
