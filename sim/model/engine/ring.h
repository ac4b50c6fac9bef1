// Barrier loops, in which the work-items of a group circulate together: rtl_lib/barrier_loop.py, and rtl_lib/exit_buffer.py.
#pragma once
#include <deque>
#include <vector>

#include "header.h"

namespace sluice {

/// Columns of a row in the record of such a loop: whether it is the last work-item of its group, and its next iteration.
constexpr int kLastOfGroup = 1, kNextRow = 2;

class Ring {
 public:
  Ring(Clock& clock, const RegionPlan& plan, Header& header, const Rows& rows)
      : clock_(clock), plan_(plan), header_(header), rows_(rows), inside_(clock, static_cast<u32>(plan.ring)),
        exits_(plan.overtaking ? static_cast<size_t>(plan.ring) : 1) {}

  /// As a cycle begins: which token is on offer, a new one or one that has returned.
  void offer() {
    again_ = chosen_ ? kept_ : returned();
    valid_ = again_ ? returned() : header_.requests.head() && (chosen_ || inside_.available());
  }
  bool peek(Token& token) const {
    if (!valid_) return false;
    if (again_) token = {returned_.front().row, 0, returned_.front().place, false, false, false, false};
    else token = {rows_.data + (header_.requests.front() - 1) * rows_.width, 0, tail_, true, false, false, false};
    return true;
  }
  void take(const Token& token) {
    issued_ = true, last_ = token.row[kLastOfGroup] != 0;
    if (again_) {
      returned_.pop_front();
    } else {
      header_.requests.pop();
      header_.started++;
      if (begins_) inside_.take(), count_++;
      if (last_) tail_ = tail_ + 1 == static_cast<u64>(plan_.ring) ? 0 : tail_ + 1;
    }
    header_.note_issue();
  }
  /// The token is at the end of the last level: it begins another iteration, or leaves.
  void pass(const Token& token) {
    const auto latency = [this](int cycles) { return clock_.now + static_cast<u64>(cycles); };
    if (token.row[0] == 0) returned_.push_back({rows_.data + (token.row[kNextRow] - 1) * rows_.width, token.entry, latency(plan_.returned_latency)});
    else exits_[plan_.overtaking ? token.entry : 0].push_back({token.row, token.entry, latency(plan_.result_latency)});
    clock_.move();
  }
  bool response() const { return !exits_[head_].empty() && exits_[head_].front().since <= clock_.now; }
  void take_result() {
    const bool last = exits_[head_].front().row[kLastOfGroup] != 0;
    exits_[head_].pop_front();
    clock_.move();
    if (!last) return;
    inside_.give(), left_ = true;
    if (plan_.overtaking) head_ = head_ + 1 == exits_.size() ? 0 : head_ + 1;
  }
  void commit() {
    header_.observe(count_ != 0 || issued_);
    if (valid_) chosen_ = !(issued_ && last_), kept_ = again_;
    if (issued_) begins_ = last_;
    count_ -= left_;
    issued_ = left_ = false;
  }

 private:
  struct Waiting {
    const u64* row;
    u64 place, since;
  };
  bool returned() const { return !returned_.empty() && returned_.front().since <= clock_.now; }

  Clock& clock_;
  const RegionPlan& plan_;
  Header& header_;
  const Rows& rows_;
  Credits inside_;
  std::deque<Waiting> returned_;
  std::vector<std::deque<Waiting>> exits_;  ///< results; of each position if groups overtake each other
  size_t head_ = 0;
  u64 tail_ = 0, count_ = 0;  ///< position of the next group, groups inside
  bool chosen_ = false, kept_ = false, begins_ = true;
  bool valid_ = false, again_ = false, issued_ = false, last_ = false, left_ = false;
};

}  // namespace sluice
