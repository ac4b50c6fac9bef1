// Queues and credits of the replay: what one side does in a cycle, the other sees in the next.
#pragma once
#include <cstdint>
#include <vector>

namespace sluice {

using u64 = uint64_t;
using u32 = uint32_t;

/// Time of the replay, in cycles of the kernel, and when anything last moved.
struct Clock {
  u64 now = 1, moved = 1;
  u64 corrected = 0;  ///< when a call last did what the record does not assume
  u64 starved = 0;    ///< when a loop last waited for rows that the record does not have yet
  void move() { moved = now; }
};

/// First in, first out, as rtl_lib/mem/fifo.py: an item is on offer `latency` cycles after its push at the earliest. A
/// producer that cannot stop reserves room long before it pushes (rtl_lib/credits.py).
class Fifo {
 public:
  Fifo(Clock& clock, u32 depth, u32 latency) : clock_(clock), depth_(depth), latency_(latency), credits_(depth), items_(depth) {}

  bool available() const { return credits_ > (returned_at_ == clock_.now ? returned_ : 0); }
  void reserve() { credits_--; }
  void give_back() {
    if (returned_at_ != clock_.now) returned_at_ = clock_.now, returned_ = 0;
    returned_++, credits_++;
  }
  bool can_push() const { return level() < depth_; }
  void push(u64 value) {
    items_[tail_] = {value, clock_.now + latency_};
    tail_ = tail_ + 1 == depth_ ? 0 : tail_ + 1;
    count_++;
    pushed_at_ = clock_.now;
    clock_.move();
  }
  /// An item that is there as the run begins.
  void put() { items_[tail_] = {0, 0}, tail_ = tail_ + 1 == depth_ ? 0 : tail_ + 1, count_++; }
  bool head() const { return count_ && items_[head_].since <= clock_.now; }
  u64 front() const { return items_[head_].value; }
  u64 pop() {
    const u64 value = items_[head_].value;
    head_ = head_ + 1 == depth_ ? 0 : head_ + 1;
    count_--;
    popped_at_ = clock_.now;
    give_back();
    clock_.move();
    return value;
  }
  /// Items inside as the cycle began.
  u32 level() const { return count_ - (pushed_at_ == clock_.now) + (popped_at_ == clock_.now); }
  bool popped() const { return popped_at_ == clock_.now; }
  bool empty() const { return level() == 0; }
  bool drained() const { return count_ == 0; }  ///< also of what was pushed in this cycle

 private:
  struct Item {
    u64 value, since;
  };
  Clock& clock_;
  const u32 depth_, latency_;
  u32 credits_, count_ = 0, head_ = 0, tail_ = 0, returned_ = 0;
  u64 pushed_at_ = 0, popped_at_ = 0, returned_at_ = 0;
  std::vector<Item> items_;
};

/// Credits that several parts give back in one cycle.
class Credits {
 public:
  Credits(Clock& clock, u32 limit) : clock_(clock), limit_(limit), credits_(limit) {}
  bool available() const { return known() > 0; }
  bool plenty(u32 several) const { return known() >= several; }
  bool idle() const { return known() == limit_ && !(taken_at_ == clock_.now); }
  void take() { credits_--, taken_at_ = clock_.now; }
  void give() {
    if (returned_at_ != clock_.now) returned_at_ = clock_.now, returned_ = 0;
    returned_++, credits_++;
  }

 private:
  u32 known() const { return credits_ - (returned_at_ == clock_.now ? returned_ : 0); }
  Clock& clock_;
  const u32 limit_;
  u32 credits_, returned_ = 0;
  u64 returned_at_ = 0, taken_at_ = 0;
};

}  // namespace sluice
