// An AXI4 slave for one memory channel.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../dram/burst_memory.h"
#include "pin.h"
#include "random.h"
#include "shared_memory.h"

namespace sluice {

/// Ports of one AXI4 master of the design. Sizes, burst types and ids may be missing.
struct AxiPins {
  Pin arvalid, arready, araddr, arlen, arsize, arburst, arid;
  Pin rvalid, rready, rdata, rresp, rlast, rid;
  Pin awvalid, awready, awaddr, awlen, awsize, awburst, awid;
  Pin wvalid, wready, wdata, wstrb, wlast;
  Pin bvalid, bready, bresp, bid;
};

/// Rules
/// 1. Responses come in the order of the requests, in each direction; outputs change only after a clock edge.
/// 2. A write's data reaches the memory when its response is first offered, a read's data is read when it is first
///    offered: a design that needs an order between the two must wait for the response, as AXI requires.
/// 3. Bursts enter the memory at its pace; if it has one port, reads and writes alternate burst by burst.
/// 4. A beat outside every buffer is answered with SLVERR (beyond the memory's end: DECERR), never written, and
///    reported; so is a burst that violates AXI's rules (size, type, 4 KiB, WLAST), and an access that the host makes
///    fail.
/// 5. With a seed other than 0 every channel stalls at random and responses are late at random.
class AxiMemory {
 public:
  /// A `bank` of the memory mapped by `map`; `port` is the number of its port among those of all memories.
  AxiMemory(const AxiPins& pins, std::unique_ptr<BurstMemory> behind, double period_ns, const AddressMap& map, uint32_t bank,
            uint32_t port, SharedMemory& memory);

  void reset(uint32_t seed);
  /// Before a clock edge: samples the design's settled outputs and decides the responses.
  void sample(uint64_t cycle);
  /// After the edge: drives the responses.
  void drive();

  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t bytes_written() const { return bytes_written_; }
  /// Whether no burst is in flight.
  bool quiet() const { return reads_.empty() && writes_.empty() && !read_.valid && !response_.valid; }
  const MemoryCounts& counts() const { return behind_->counts(); }

 private:
  struct Burst {
    uint64_t address = 0;  ///< in this bank
    unsigned beats = 0, id = 0;
    bool broken = false;    ///< violates AXI's rules: answered with an error
    unsigned next = 0;      ///< next beat to offer (read) or to receive (write)
    uint64_t to_push = 0;   ///< memory bursts not yet passed to the memory
    uint64_t pushed = 0;
    uint64_t outstanding = 0;  ///< memory bursts not finished (write)
    Tick not_before = 0;       ///< earliest response
    std::vector<uint8_t> data, strobes;  ///< of the beats received (write)
  };
  struct Answer {
    bool valid = false;
    unsigned id = 0;
    Response response = Response::kOkay;
    bool last = false;
  };
  static constexpr size_t kWaiting = 4;       ///< bursts not yet in the memory, each direction
  static constexpr size_t kOutstanding = 128;  ///< bursts without a response, each direction
  static constexpr unsigned kIncrementing = 1;
  static constexpr Tick kPending = INT64_MAX;

  void run_memory();
  void feed();
  void feed(Direction direction);
  bool can_feed(Direction direction) const;
  void feed_read();
  void feed_write();
  void settle(const std::vector<Finished>& finished);

  void accept_read(uint64_t cycle);
  void accept_write(uint64_t cycle);
  void accept_data(uint64_t cycle);
  Burst open_burst(const Pin& address, const Pin& length, const Pin& size, const Pin& type, const Pin& id,
                   uint64_t cycle);
  Tick lateness();
  bool beat_arrived(const Burst& burst) const;
  uint64_t bursts_needed(const Burst& burst) const;
  void offer_read(uint64_t cycle);
  void offer_response(uint64_t cycle);
  Response judge_read(uint64_t local, uint64_t cycle);
  bool in_bank(uint64_t local) const { return local + width_ <= map_.bank_bytes; }
  uint64_t global(uint64_t local) const { return map_.global(bank_, local); }
  Response commit(const Burst& burst, uint64_t cycle);
  Response commit_beat(const Burst& burst, unsigned beat, uint64_t cycle);
  void choose_readies();

  AxiPins pins_;
  const AddressMap map_;
  const uint32_t bank_, port_;
  SharedMemory& memory_;
  std::unique_ptr<BurstMemory> behind_;
  const unsigned width_;  ///< bytes a beat
  const double ticks_per_cycle_;
  const Tick latency_;

  double time_ = 0;  ///< ticks since the start, fractions included
  Tick next_feed_ = 0;
  Direction feeding_ = kRead;
  std::vector<Finished> finished_;

  std::deque<Burst> reads_, writes_;
  size_t reads_pushed_ = 0, writes_pushed_ = 0;  ///< bursts at the front that have completely entered the memory
  size_t receiving_ = 0;                         ///< index of the write burst whose data comes next
  std::deque<Tick> read_ready_;                  ///< by sequence number from read_base_
  uint64_t read_base_ = 0;
  std::deque<uint64_t> write_owner_;  ///< burst number, by sequence number from write_base_
  uint64_t write_base_ = 0, first_write_ = 0;

  bool ar_ready_ = false, aw_ready_ = false, w_ready_ = false;
  Answer read_, response_;
  std::vector<uint8_t> read_data_;
  bool read_changed_ = false;
  uint64_t bytes_read_ = 0, bytes_written_ = 0;
  StallSource ar_stall_, aw_stall_, w_stall_, r_stall_, b_stall_;
  Random late_;
  bool random_ = false;
};

}  // namespace sluice
