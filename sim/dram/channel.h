// One DRAM channel with its controller, at the level of commands.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "burst_memory.h"
#include "timing.h"

namespace sluice {

enum class Command { kActivate, kPrecharge, kRead, kWrite, kRefresh };

/// Controller and DRAM of one channel.
///
/// Rules
/// 1. Reads and writes wait in separate queues, of `queue` bursts each; has_room() says whether push() is allowed.
/// 2. Column commands go to open rows, the oldest first, in one direction for `batch` commands or until that
///    direction is empty; then the direction changes.
/// 3. After `row_hit_cap` column commands an open row gets no more while a burst for another row of its bank
///    waits in the same direction.
/// 4. At most one row command (activate, precharge) and one column command a tick, never before the timing
///    of the device allows it.
/// 5. Rows that the other direction needs are opened in banks that the current direction does not need.
/// 6. All banks are closed and refreshed every tREFI.
///
/// Burst addresses map, lowest first, to bank group, column, bank, row.
class DramChannel final : public BurstMemory {
 public:
  explicit DramChannel(const DramTiming& timing);

  bool has_room(Direction direction) const override {
    return queues_[direction].size() < static_cast<size_t>(timing_.queue);
  }
  uint64_t push(Direction direction, uint64_t address) override;
  void advance(Tick now, std::vector<Finished>& finished) override;

  double tick_ns() const override { return timing_.tck_ns; }
  unsigned burst_bytes() const override { return static_cast<unsigned>(timing_.burst_bytes()); }
  /// The controller takes bursts no faster than the data bus moves them: of DDR memory it runs at a quarter of the clock.
  Tick entry_ticks() const override { return timing_.burst_ticks(); }
  bool two_ports() const override { return false; }
  Tick latency() const override { return std::llround(timing_.controller_latency_ns / timing_.tck_ns); }
  /// Called with every command; for tests that check the device's rules.
  std::function<void(Command, Tick, int bank, int64_t row)> observer;

 private:
  static constexpr Tick kNever = std::numeric_limits<Tick>::max();
  static constexpr Tick kLongAgo = -(Tick{1} << 30);
  static constexpr int64_t kClosed = -1;

  struct Request {
    uint64_t sequence;
    int bank;
    int group;
    int64_t row;
  };
  struct Bank {
    int64_t row = kClosed;
    int hits = 0;                           ///< column commands since the row was opened
    std::array<int, 2> pending_hits{0, 0};  ///< queued bursts for the open row, by direction
    std::array<int, 2> pending{0, 0};       ///< all queued bursts, by direction
    Tick activated = kLongAgo, precharged = kLongAgo;
    Tick last_read = kLongAgo, write_end = kLongAgo;
  };
  enum class Refresh { kIdle, kClosing, kRunning };

  void tick(Tick now, std::vector<Finished>& finished);
  bool refresh(Tick now);
  void choose_direction();
  bool issue_column(Tick now, std::vector<Finished>& finished);
  bool issue_row(Tick now);
  bool issue_row(Tick now, Direction direction, uint32_t& banks_seen);
  bool open_or_close(Tick now, const Request& request, Direction direction);
  void activate(Tick now, const Request& request);
  void precharge(Tick now, int bank);

  bool capped(const Bank& bank, Direction direction) const;
  Tick column_bus_ready(Direction direction) const;
  Tick column_ready(const Request& request, Direction direction) const;
  Tick activate_ready(const Request& request) const;
  Tick precharge_ready(const Bank& bank) const;
  void note(Command command, Tick now, int bank, int64_t row) {
    if (observer) observer(command, now, bank, row);
  }
  /// True when `ready` has passed; otherwise schedules another check then.
  bool due(Tick ready, Tick now) {
    if (ready <= now) return true;
    if (ready < wake_) wake_ = ready;
    return false;
  }

  const DramTiming timing_;
  std::array<std::vector<Request>, 2> queues_;  ///< oldest first
  std::array<uint64_t, 2> next_sequence_{0, 0};
  std::vector<Bank> banks_;
  std::vector<Tick> group_column_, group_activate_, group_write_;  ///< last of each, by bank group
  std::array<Tick, 4> recent_activates_;  ///< circular buffer of the last four
  int oldest_activate_ = 0;
  Tick last_activate_ = kLongAgo, last_column_ = kLongAgo, last_read_ = kLongAgo, last_write_ = kLongAgo;
  Direction direction_ = kRead;
  int batch_count_ = 0;
  Refresh refresh_ = Refresh::kIdle;
  Tick next_refresh_, refresh_end_ = 0;
  Tick done_ = -1;  ///< last tick that was run
  Tick wake_ = 0;   ///< nothing can happen before this tick
};

}  // namespace sluice
