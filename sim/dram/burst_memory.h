// The interface between an AXI port and its memory: bursts go in, and finish some time later.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sluice {

using Tick = int64_t;

enum Direction { kRead = 0, kWrite = 1 };

/// A finished burst: its data is on the bus (read) or in the array (write) at `when`.
struct Finished {
  Direction direction;
  uint64_t sequence;  ///< as returned by push()
  Tick when;
};

/// Counts of a memory since the start.
struct MemoryCounts {
  uint64_t reads = 0, writes = 0;  ///< bursts; of a DRAM, column commands
  uint64_t activates = 0, precharges = 0, refreshes = 0;
  uint64_t turnarounds = 0;  ///< changes of direction
};

class BurstMemory {
 public:
  virtual ~BurstMemory() = default;
  virtual bool has_room(Direction direction) const = 0;
  /// Takes the burst that holds byte `address`; returns its sequence number (counted per direction from 0).
  virtual uint64_t push(Direction direction, uint64_t address) = 0;
  /// Runs all ticks up to and including `now`; appends finished bursts to `finished`.
  virtual void advance(Tick now, std::vector<Finished>& finished) = 0;

  virtual double tick_ns() const = 0;
  virtual unsigned burst_bytes() const = 0;
  /// Ticks between two accepted bursts.
  virtual Tick entry_ticks() const = 0;
  /// Whether a read and a write may be accepted together.
  virtual bool two_ports() const = 0;
  /// Ticks added to the latency of every response.
  virtual Tick latency() const = 0;
  const MemoryCounts& counts() const { return counts_; }

 protected:
  MemoryCounts counts_;
};

/// Memory that accepts a word every `word_ns`, at any address, and responds `latency_ns` later: static memory with a
/// read port and a write port, or an AXI bridge with one port, where both directions share the rate. Block RAM is such
/// a memory with two ports, words of a clock period and no latency.
class PortMemory final : public BurstMemory {
 public:
  PortMemory(double word_ns, double latency_ns, unsigned ports, unsigned word_bytes)
      : word_ns_(word_ns), latency_(std::llround(latency_ns / word_ns)), ports_(ports), word_bytes_(word_bytes) {}

  bool has_room(Direction) const override { return true; }
  uint64_t push(Direction direction, uint64_t) override {
    entered_[direction]++;
    (direction == kRead ? counts_.reads : counts_.writes)++;
    return entered_[direction] - 1;
  }
  void advance(Tick now, std::vector<Finished>& finished) override {
    for (const Direction direction : {kRead, kWrite}) {
      for (; finished_[direction] < entered_[direction]; finished_[direction]++) {
        finished.push_back({direction, finished_[direction], now});
      }
    }
  }
  double tick_ns() const override { return word_ns_; }
  unsigned burst_bytes() const override { return word_bytes_; }
  Tick entry_ticks() const override { return 1; }
  bool two_ports() const override { return ports_ == 2; }
  Tick latency() const override { return latency_; }

 private:
  double word_ns_;
  Tick latency_;
  unsigned ports_;
  unsigned word_bytes_;
  std::array<uint64_t, 2> entered_{0, 0}, finished_{0, 0};
};

}  // namespace sluice
