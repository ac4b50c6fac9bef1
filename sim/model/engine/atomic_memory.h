// The unit that executes all atomic operations: rtl_lib/lsu/atomic_memory.py, atomic_lookup.py, atomic_words.py.
#pragma once
#include <unordered_map>

#include "atomic.h"

namespace sluice {

/// An operation on its way. `miss`: its word is fetched; `leaves`: another one is evicted for it.
struct AtomicStep {
  bool valid = false, clean = false, miss = false, leaves = false;
  u64 word = 0, place = 0;
  size_t unit = 0;
};

/// Where words are, or will be: a table of the last word of each place, of which those that miss are requested.
class AtomicLookup {
 public:
  explicit AtomicLookup(Clock& clock) : reads(clock, 2, 1), queue(clock, kQueue, 1), wanted(clock, kFills) {}
  /// One cycle; `next` is what has come, and is taken if it returns true. `gone`: an evicted word is in memory.
  bool step(const AtomicStep& next, bool gone);
  /// No place holds a word any more. The table is only cleared, place by place, when the epochs are used up.
  void forget() {
    table_.clear();
    if (epoch_ == kEpochs) epoch_ = 1, busy_ = kPlaces;
    else epoch_++;
  }
  bool busy() const { return busy_ != 0; }
  void commit() { busy_ -= busy_ != 0; }
  AtomicStep pop();

  static constexpr u32 kQueue = 32, kFills = 64, kLeaving = 64, kPlaces = 256, kEpochs = 63;
  Fifo reads, queue;
  Credits wanted;
  std::deque<AtomicStep> steps;  ///< in the queue

 private:
  static u64 key(u64 word, u64 place) { return place | (word & 63) << 8; }
  std::unordered_map<u64, u64> table_;  ///< word by place
  std::deque<u64> departing_;
  AtomicStep asked_, found_, done_;
  bool here_ = false, replaces_ = false, blocked_ = false;
  u64 old_ = 0;
  u32 epoch_ = 1, busy_ = 0;
};

class AtomicMemory final : public ReadUnit, public WriteUnit {
 public:
  AtomicMemory(Clock& clock, std::vector<AtomicUnit*> units)
      : WriteUnit(clock, 1, 1, 0), clock_(clock), units_(std::move(units)), nothing_(clock, 1, 1), cut_(clock, 2, 1), lookup_(clock),
        fills_(clock, AtomicLookup::kFills, 2), dirty_(clock, AtomicLookup::kPlaces, 2), owners_(clock, 32, 1),
        marks_(clock, AtomicLookup::kLeaving, 2), places_(AtomicLookup::kPlaces), last_(units_.size() - 1) {}
  Fifo& requests() override { return nothing_; }
  bool response() const override { return false; }
  void take() override {}
  void flush() override {}
  void arrive() override { fills_.push(0); }
  bool asks() const override { return lookup_.reads.head(); }
  Burst asked() const override { return {lookup_.reads.front(), 1}; }
  void pass() override { lookup_.reads.pop(); }
  void confirm() override { acked_ = true; }
  /// A word that is written back is offered to the memory in the cycle in which its operation comes to it.
  void evaluate() override;
  void commit() override;

 private:
  static constexpr u64 kPatience = 16, kLongest = 2048;
  /// What is known of a place: its word, whether that is changed, and whether it is among those to be written.
  struct Place {
    u64 word = 0;
    bool changed = false, listed = false;
  };
  bool settled() const { return !read_.valid && !kept_.valid && !now_.valid && dirty_.empty() && owners_.empty(); }
  bool sends() const { return kept_.valid && (kept_.clean || kept_.miss) && places_[kept_.place].changed; }
  void pace(bool settled, bool empty, bool cleans);
  /// Words that the stages move, and the operation that is done, if any.
  const AtomicStep* move(bool hold, bool clean);
  void compute(const AtomicStep& done);
  AtomicStep begin(bool hold, bool clean);
  bool merge(bool open);

  Clock& clock_;
  const std::vector<AtomicUnit*> units_;
  Fifo nothing_, cut_;
  std::deque<AtomicStep> merged_;  ///< in `cut_`
  AtomicLookup lookup_;
  Fifo fills_, dirty_, owners_, marks_;
  std::vector<Place> places_;
  AtomicStep read_, kept_, now_, moved_;
  size_t last_;
  bool standing_ = false, offered_ = false, sent_ = false, acked_ = false, stale_ = false, gone_ = false, fresh_ = false;
  u64 under_way_ = 0, changed_ = 0, cleaned_ = 0, sent_words_ = 0, arrived_ = 0;
  u64 age_ = 0, quiet_ = 0, overdue_ = 0;
};

}  // namespace sluice
