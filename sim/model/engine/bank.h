// One bank of global memory: the queues of the interconnect, the AXI master, the AXI port (sim/runtime/axi_memory.cpp), and
// the memory of the simulated board itself (sim/dram).
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "../../dram/burst_memory.h"
#include "load_unit.h"
#include "store_unit.h"

namespace sluice {

/// A burst on its way through a bank.
struct Transfer {
  size_t port = 0;       ///< of the units of its direction
  u64 turn = 0;          ///< of a write: its number among those of its port
  u64 address = 0, words = 0;
  u64 to_push = 0, pushed = 0, next = 0, outstanding = 0;
  Tick not_before = 0;
  u64 moved = 0;  ///< of a write: the cycle in which all words are there; 0: not yet
};

/// The memory behind a port, which outlives the launches: what is open, when it refreshes, and what it has served.
struct BankMemory {
  explicit BankMemory(std::unique_ptr<BurstMemory> of, double period_ns) : memory(std::move(of)), ticks_per_cycle(period_ns / memory->tick_ns()) {}
  std::unique_ptr<BurstMemory> memory;
  const double ticks_per_cycle;
  Tick cycles = 0;       ///< of the kernel's clock since the board was started
  double time = 0;       ///< the same in ticks, as the board adds it up, rounding included
  Tick next_feed = 0;
  int feeding = kRead;   ///< the direction of the burst that entered last
  u64 entered[2] = {0, 0};
};

/// Rules of the AXI port: bursts enter the memory at its pace; with one port reads and writes alternate burst by burst;
/// responses come in order; a write enters when all its data has arrived.
class Bank {
 public:
  /// `age`: cycles that the board has been running as the replay begins; negative if it is started later.
  Bank(Clock& clock, BankMemory& state, u64 word_bytes, Tick age)
      : reads(clock, 3, 2), writes(clock, 3, 2), begun(clock, 2, 1), clock_(clock), state_(state), behind_(state.memory.get()),
        word_bytes_(word_bytes), age_(age), latency_(behind_->latency()), read_base_(state.entered[kRead]), write_base_(state.entered[kWrite]) {}

  Fifo reads, writes, begun;  ///< of transfers: chosen; begun: writes whose words move, or did

  Transfer* fresh() {
    if (spare_.empty()) {
      pool_.push_back(std::make_unique<Transfer>());
      spare_.push_back(pool_.back().get());
    }
    Transfer* made = spare_.back();
    spare_.pop_back();
    *made = {};
    return made;
  }

  /// One cycle: `arrive` is told of each word that is on the port in the next cycle, `confirm` of each burst written.
  template <class Arrive, class Confirm>
  void evaluate(Arrive arrive, Confirm confirm) {
    for (const int direction : {kRead, kWrite}) {
      if (!ready_[direction] || !asking_[direction]) continue;
      bursts_[direction].push_back(asking_[direction]);
      asking_[direction] = nullptr;
    }
    run_memory();
    answer(arrive, confirm);
    for (const int direction : {kRead, kWrite}) {
      const size_t held = bursts_[direction].size();
      ready_[direction] = held - pushed_[direction] < kWaiting && held < kOutstanding;
      Fifo& fifo = direction == kRead ? reads : begun;
      if (!asking_[direction] && fifo.head()) asking_[direction] = reinterpret_cast<Transfer*>(fifo.pop());
      if (asking_[direction] || held) clock_.move();
    }
  }

 private:
  static constexpr size_t kWaiting = 4, kOutstanding = 128;  ///< bursts not yet in the memory; without a response

  u64 bursts_of(u64 address, u64 bytes) const {
    const u64 burst = behind_->burst_bytes();
    return (address + bytes - 1) / burst - address / burst + 1;
  }

  /// The memory catches up with the replay; it may be ahead of it if the launch before has left it so.
  void run_memory() {
    finished_.clear();
    while (state_.cycles < age_ + static_cast<Tick>(clock_.now)) {
      state_.cycles++, state_.time += state_.ticks_per_cycle;
      const Tick now = static_cast<Tick>(state_.time);
      for (; state_.next_feed <= now; state_.next_feed += behind_->entry_ticks()) {
        behind_->advance(state_.next_feed, finished_);
        feed();
      }
      behind_->advance(now, finished_);
    }
    for (const Finished& done : finished_) settle(done);
  }

  /// What a launch before has left under way answers to nobody.
  void settle(const Finished& done) {
    if (done.direction == kRead) {
      if (done.sequence >= read_base_) read_ready_[done.sequence - read_base_] = done.when + latency_;
    } else if (done.sequence >= write_base_) {
      Transfer* burst = write_owner_[done.sequence - write_base_];
      burst->outstanding--;
      burst->not_before = std::max(burst->not_before, done.when + latency_);
    }
  }

  Transfer* front(int direction) const {
    return pushed_[direction] < bursts_[direction].size() ? bursts_[direction][pushed_[direction]] : nullptr;
  }
  bool can_feed(int direction) const {
    const Transfer* burst = front(direction);
    return burst && behind_->has_room(static_cast<Direction>(direction)) &&
           (direction == kRead || (burst->moved && burst->moved <= clock_.now));
  }
  void feed() {
    if (behind_->two_ports()) {
      for (const int direction : {kRead, kWrite})
        if (can_feed(direction)) feed(direction);
      return;
    }
    const Transfer* current = front(state_.feeding);
    const int first = current && current->pushed ? state_.feeding : 1 - state_.feeding;
    if (can_feed(first)) feed(first);
    else if (can_feed(1 - first)) feed(1 - first);
  }
  void feed(int direction) {
    state_.feeding = direction;
    Transfer* burst = front(direction);
    if (!burst->pushed) burst->to_push = burst->outstanding = bursts_of(burst->address, burst->words * word_bytes_);
    behind_->push(static_cast<Direction>(direction), burst->address + burst->pushed * behind_->burst_bytes());
    state_.entered[direction]++;
    if (direction == kRead) read_ready_.push_back(kPending);
    else write_owner_.push_back(burst);
    if (++burst->pushed == burst->to_push) pushed_[direction]++;
  }

  /// At most a word and a confirmation go back.
  template <class Arrive, class Confirm>
  void answer(Arrive arrive, Confirm confirm) {
    const Tick now = static_cast<Tick>(state_.time);
    if (!bursts_[kRead].empty() && arrived(*bursts_[kRead].front(), now)) {
      Transfer* burst = bursts_[kRead].front();
      const u64 local = burst->address + burst->next * word_bytes_, dram = behind_->burst_bytes(), end = local + word_bytes_;
      const bool last = ++burst->next == burst->words;
      const u64 used_up = (last ? (end + dram - 1) / dram : end / dram) - local / dram;
      read_ready_.erase(read_ready_.begin(), read_ready_.begin() + static_cast<long>(used_up));
      read_base_ += used_up;
      arrive(*burst);
      if (last) retire(kRead);
    }
    if (bursts_[kWrite].empty() || !pushed_[kWrite]) return;
    Transfer* burst = bursts_[kWrite].front();
    if (burst->outstanding || burst->not_before > now) return;
    write_owner_.erase(write_owner_.begin(), write_owner_.begin() + static_cast<long>(burst->pushed));
    write_base_ += burst->pushed;
    confirm(*burst);
    retire(kWrite);
  }
  bool arrived(const Transfer& burst, Tick now) const {
    const u64 needed = bursts_of(burst.address + burst.next * word_bytes_, word_bytes_);
    if (read_ready_.size() < needed) return false;
    return std::all_of(read_ready_.begin(), read_ready_.begin() + static_cast<long>(needed), [now](Tick t) { return t <= now; });
  }
  void retire(int direction) {
    spare_.push_back(bursts_[direction].front());
    bursts_[direction].pop_front();
    pushed_[direction]--;
  }

  static constexpr Tick kPending = INT64_MAX;
  Clock& clock_;
  BankMemory& state_;
  BurstMemory* const behind_;
  const u64 word_bytes_;
  const Tick age_, latency_;
  bool ready_[2] = {false, false};
  Transfer* asking_[2] = {nullptr, nullptr};
  std::deque<Transfer*> bursts_[2];
  size_t pushed_[2] = {0, 0};
  std::vector<Finished> finished_;
  std::deque<Tick> read_ready_;
  std::deque<Transfer*> write_owner_;
  u64 read_base_, write_base_;
  std::vector<std::unique_ptr<Transfer>> pool_;
  std::vector<Transfer*> spare_;
};

}  // namespace sluice
