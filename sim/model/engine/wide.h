// Accesses of several lanes that begin at any lane of a word and may end in the next one: rtl_lib/lsu/{wide_load,
// wide_store}.py.
#pragma once
#include "load_unit.h"
#include "store_unit.h"

namespace sluice {

/// The words of one access: the one in which lane 0 lies and the one behind, and which of them its lanes need.
struct WideAccess {
  u64 word;
  bool wants[2];

  /// `cell`: as hls/emulate/trace.h has it.
  WideAccess(const UnitPlan& plan, u64 base, const u64* cell) {
    const u64 bytes = static_cast<u64>(plan.word_bytes);
    word = (base + cell[0] - kLaneZero) / bytes;
    wants[0] = cell[1] && (base + cell[1] - 1) / bytes == word;
    wants[1] = cell[2] && (base + cell[2] - 1) / bytes != word;
  }

 private:
  static constexpr u64 kLaneZero = 1ull << 48;  ///< TRACE_LANE_ZERO
};

/// The words that an access needs and that are not kept are requested one after the other; of those that came, the last
/// of each parity is kept.
class WideLoadUnit final : public LoadUnit {
 public:
  WideLoadUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : LoadUnit(clock, plan, operation, base),
        accesses_(clock, static_cast<u32>(plan.depth), static_cast<u32>(plan.depth) > kShallow ? 2 : 1) {}
  bool response() const override { return cut_; }
  void take() override { taken_ = true, clock_.move(); }

  void evaluate() override {
    if (flushed_) known_[0] = known_[1] = kept_[0] = kept_[1] = false;
    const u64 before = accesses;  // the inner unit counts words
    gather();
    const bool room = accesses_.can_push(), first = due(0), second = due(1);
    request_ = busy_ && (first || second) && ((first && second) || room);
    number_ = first ? word_ : word_ + 1;
    asked_ = false;
    LoadUnit::evaluate();
    accesses = before;
    const bool ends = busy_ && room && !(first && second) && (asked_ || !(first || second));
    if (ends) accesses_.push(static_cast<u64>(first || half_) | static_cast<u64>(second) << 1);
    const bool accepts = requests_.head() && (!busy_ || ends);
    const bool latest_known[2] = {known_[0], known_[1]};
    const u64 latest[2] = {latest_[0], latest_[1]};
    if (asked_) known_[number_ & 1] = true, latest_[number_ & 1] = number_, half_ = first && second;
    else if (ends) half_ = false;
    if (accepts) begin(latest_known, latest);
    busy_ = accepts || (busy_ && !ends);
    if (busy_) clock_.move();
  }

  void commit() override {
    LoadUnit::commit();
    taken_ = false;
  }

 protected:
  bool any_request() const override { return request_ && !asked_; }
  u64 requested_word() const override { return number_; }
  void accept_request() override { asked_ = true; }

 private:
  static constexpr u32 kShallow = 32;  ///< a deeper queue is a block RAM
  bool due(int k) const { return wants_[k] && !kept_[k] && (k || !half_); }

  void begin(const bool* known, const u64* latest) {
    const WideAccess access(plan_, base_, cell());
    requests_.pop();
    accesses++;
    word_ = access.word;
    for (const int k : {0, 1}) {
      const u64 mine = word_ + static_cast<u64>(k);
      wants_[k] = access.wants[k];
      kept_[k] = asked_ && (number_ & 1) == (mine & 1) ? number_ == mine : known[mine & 1] && latest[mine & 1] == mine;
    }
  }

  /// Receives the words of each access, and cuts it out of them in the cycle after.
  void gather() {
    const bool cuts = !cut_ || taken_, room = accesses_.head() && (!gathered_ || cuts);
    const u64 comes = room ? accesses_.front() : 0;
    const bool first = (comes & 1) && !got_, second = comes & 2, word = LoadUnit::response();
    const bool takes = (first || second) && word;
    const bool whole = room && !(first && second) && (word || !(first || second));
    if (takes) LoadUnit::take();
    if (whole) accesses_.pop(), got_ = false;
    else if (takes) got_ = true;
    if (cuts) cut_ = gathered_;
    gathered_ = whole || (gathered_ && !cuts);
  }

  Fifo accesses_;                ///< which of its words each access waits for
  bool busy_ = false, half_ = false, request_ = false, asked_ = false;
  bool wants_[2] = {}, kept_[2] = {}, known_[2] = {};
  u64 word_ = 0, number_ = 0, latest_[2] = {};
  bool got_ = false, gathered_ = false, cut_ = false, taken_ = false;
};

/// The second part of a store waits for the first part of the next one.
class WideStoreUnit final : public StoreUnit {
 public:
  using StoreUnit::StoreUnit;
  bool idle() const override { return StoreUnit::idle() && !turned_ && !waiting_; }

  void evaluate() override {
    const bool fence = offered_ != nullptr, busy = turned_ || waiting_, fits = !waiting_ || same_;
    const bool any = parts_[0].any || waiting_;
    leaves_ = turned_ && fits;
    on_offer_ = leaves_ ? any : waiting_;
    moved_ = false;
    drained = !requests_.head();
    gather(fence && !busy, over && !busy);
    const bool leaves = fits && (moved_ || !any), goes = turned_ && leaves;
    const bool accepts = requests_.head() && !fence && (!turned_ || leaves);
    Part coming[2] = {};
    if (accepts) {
      split(coming);
      same_ = coming[0].word == (turned_ ? parts_[1].word : kept_);
    }
    if (goes) waiting_ = parts_[1].any, kept_ = parts_[1].word;
    else if (moved_ && !leaves_) waiting_ = false;
    if (accepts) parts_[0] = coming[0], parts_[1] = coming[1];
    turned_ = accepts || (turned_ && !leaves);
    if (turned_ || waiting_) clock_.move();
  }

 protected:
  bool any_store() const override { return on_offer_ && !moved_; }
  u64 next_word() const override { return leaves_ ? parts_[0].word : kept_; }
  void accept_store() override { moved_ = true; }

 private:
  struct Part {
    u64 word;
    bool any;
  };
  void split(Part* parts) {
    const WideAccess access(plan_, base_, reinterpret_cast<const u64*>(requests_.pop()));
    accesses++;
    for (const int k : {0, 1}) parts[plan_.descending ? 1 - k : k] = {access.word + static_cast<u64>(k), access.wants[k]};
  }

  Part parts_[2] = {};
  u64 kept_ = 0;
  bool turned_ = false, waiting_ = false, same_ = false, leaves_ = false, on_offer_ = false, moved_ = false;
};

}  // namespace sluice
