// The header of a loop, and its exit: rtl_lib/loop.py and rtl_lib/exit_buffer.py.
#pragma once
#include <deque>
#include <vector>

#include "plan.h"

namespace sluice {

/// The rows of a loop in the record of a run: `width` numbers each, the first 1 at an invocation's last iteration. Behind
/// the `count` of them nothing happens: the launch has not ended.
struct Rows {
  const u64* data = nullptr;
  u64 width = 1, count = 0;
  /// The record assumes what calls did, so rows may be added, or another one may be the last of an invocation.
  bool grows = false;
  bool unfinished = false;  ///< the newest row is not complete
  const u64* end() const { return data + count * width; }
  const u64* known() const { return unfinished && count ? end() - width : end(); }
};

/// One iteration on its way. A `vain` one was issued after the last of its invocation.
struct Token {
  const u64* row = nullptr;
  u32 slot = 0;
  u64 entry = 0;
  bool first = false, vain = false, last = false, epoch = false;
};

/// Starts invocations while a slot and an exit entry are free, before running slots; these in order of readiness.
class Header {
 public:
  Header(Clock& clock, const RegionPlan& plan, u32 depth, u32 latency, const Rows& rows)
      : requests(clock, depth, latency), clock_(clock), plan_(plan), rows_(rows), slots_(plan.slots), over_(plan.slots) {
    for (u32 k = 0; k < static_cast<u32>(plan.slots); k++) free_.push_back(k);
  }

  Fifo requests;
  u64 issued = 0, started = 0, last_issue = 0;
  bool ended = false;        ///< the last token of an invocation is known in this cycle
  u64 busy = 0, starts = 0;  ///< cycles in which an invocation is running, and stretches of them

  bool marks() const { return plan_.speculative && plan_.slots > 1; }

  /// Whether a token is on offer, and which.
  bool peek(Token& token) {
    const bool alone = !plan_.apart || free_.size() == slots_.size();
    if (!free_.empty() && alone && !held_ && requests.head() && started - retired_ < static_cast<u64>(plan_.entries)) {
      const u64* row = rows_.data + (requests.front() - 1) * rows_.width;
      if (rows_.grows && row >= rows_.known()) return starve();
      token = {row, free_.front(), started, true, false, false, epoch_};
      return true;
    }
    if (ready_.empty() || over_[ready_.front()]) return false;
    const Slot& slot = slots_[ready_.front()];
    if (rows_.grows) return peek_growing(slot, token);
    const bool vain = slot.row[0] != 0;
    if (!vain && slot.row + rows_.width == rows_.end()) return false;
    held_ = true;
    token = {vain ? slot.row : slot.row + rows_.width, ready_.front(), slot.entry, false, vain, false, epoch_};
    return true;
  }
  /// The level has accepted the token on offer.
  void take(const Token& token) {
    if (token.first) {
      requests.pop();
      free_.pop_front();
      started++;
    } else {
      ready_.pop_front();
      held_ = false;
      popped_ = true;
    }
    slots_[token.slot] = {token.row, token.first ? token.row : slots_[token.slot].first, token.entry};
    note_issue();
  }
  void note_issue() {
    issued++;
    last_issue = clock_.now;
    clock_.move();
  }
  /// Whether an invocation is running in this cycle.
  void observe(bool running) {
    busy += running;
    starts += running && !running_;
    running_ = running;
  }
  /// The next token of the slot may come, unless this one is behind the end of its invocation.
  void again(const Token& token) {
    if (plan_.speculative && !marks() && token.epoch != epoch_) return;
    later_.push_back({clock_.now + static_cast<u64>(plan_.again_delay), token.slot});
  }
  void done(u32 slot) { done_.push_back(slot), ended = true; }
  void retire() { retiring_++; }

  void commit() {
    observe(free_.size() < slots_.size());
    retired_ += retiring_;
    retiring_ = 0;
    if (later_.empty() && done_.empty() && !marks()) return;
    again_.clear();
    for (size_t k = 0; k < later_.size();) {
      if (later_[k].when <= clock_.now) {
        again_.push_back(later_[k].slot);
        later_.erase(later_.begin() + static_cast<long>(k));
      } else {
        k++;
      }
    }
    if (!later_.empty()) clock_.move();
    if (marks()) {
      free_ended();
    } else if (plan_.speculative && !done_.empty()) {
      epoch_ = !epoch_;
      again_.clear(), later_.clear(), ready_.clear();
      held_ = false;
    }
    for (const u32 slot : again_) ready_.push_back(slot);
    if (!marks()) free_.insert(free_.end(), done_.begin(), done_.end());
    done_.clear();
  }

 private:
  struct Slot {
    const u64 *row = nullptr, *first = nullptr;
    u64 entry = 0;
  };
  struct Later {
    u64 when;
    u32 slot;
  };

  bool starve() {
    clock_.starved = clock_.now;
    return false;
  }
  /// The next token, where the last one of an invocation may turn out to be another: those in vain have the rows behind it.
  bool peek_growing(const Slot& slot, Token& token) {
    const u64* row = slot.row + rows_.width;
    if (row >= rows_.known() && !passed_last(slot)) return starve();
    held_ = true;
    token = {row, ready_.front(), slot.entry, false, false, false, epoch_};
    return true;
  }
  bool passed_last(const Slot& slot) const {
    const u64* row = slot.row < rows_.end() ? slot.row : rows_.end() - rows_.width;
    for (; row >= slot.first; row -= rows_.width)
      if (row[0]) return true;
    return false;
  }

  /// The slot whose turn it is, if its invocation has ended, takes no further part; and mark the slots of those that end
  /// in this cycle.
  void free_ended() {
    if (!popped_ && !ready_.empty() && over_[ready_.front()]) {  // one leaves the queue in a cycle
      over_[ready_.front()] = false;
      free_.push_back(ready_.front());
      ready_.pop_front();
      held_ = false;
      clock_.move();
    }
    for (const u32 slot : done_) over_[slot] = true;
    popped_ = false;
  }

  Clock& clock_;
  const RegionPlan& plan_;
  const Rows& rows_;
  std::vector<Slot> slots_;
  std::vector<bool> over_;
  std::deque<u32> free_, ready_;
  std::vector<u32> again_, done_;
  std::vector<Later> later_;
  bool held_ = false, epoch_ = false, running_ = false, popped_ = false;
  u64 retired_ = 0, retiring_ = 0;
};

/// Results wait here for their turn: the order in which their invocations started.
class Exit {
 public:
  Exit(Clock& clock, const RegionPlan& plan, Header& header)
      : clock_(clock), header_(header), latency_(static_cast<u64>(plan.exit_latency)), since_(static_cast<size_t>(plan.entries)) {}
  void write(u64 entry) {
    since_[entry % since_.size()] = clock_.now + latency_;
    clock_.move();
  }
  bool response() const {
    const u64 since = since_[next_ % since_.size()];
    return since && since <= clock_.now;
  }
  void take() {
    since_[next_++ % since_.size()] = 0;
    header_.retire();
    clock_.move();
  }

 private:
  Clock& clock_;
  Header& header_;
  const u64 latency_;
  u64 next_ = 0;
  std::vector<u64> since_;  ///< by entry: the cycle from which the result is on offer; 0: none
};

}  // namespace sluice
