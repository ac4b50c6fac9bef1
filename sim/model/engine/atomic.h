// Atomic operations on the board's memory: rtl_lib/lsu/atomic.py.
#pragma once
#include "fenced.h"
#include "load_unit.h"

namespace sluice {

/// One operation of a kernel: its requests to the unit that serves all, and its answers.
class AtomicUnit final : public Server, public Fenced, public Renewed {
 public:
  static constexpr u32 kAnswers = 32;  ///< operations that may be under way
  AtomicUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : changes(plan.atomic == 1), plan_(plan), base_(base),
        requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)), answers_(clock, kAnswers, 1), room_(clock, kAnswers) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return answers_.head(); }
  void take() override { answers_.pop(), room_.give(), under_way_--; }
  /// Requests do not wait in a queue of their own: what was answered is what a fence asks for.
  u32 queued() const override { return 0; }
  bool taken() const override { return false; }
  void flush() override { flushed_ = true; }

  /// As the unit that serves all sees it.
  bool offers() const { return requests_.head() && room_.available(); }
  bool waits() const { return requests_.head(); }
  u64 accept() {
    room_.take(), under_way_++, accesses++;
    return (base_ + *reinterpret_cast<const u64*>(requests_.pop()) - 1) / static_cast<u64>(plan_.word_bytes);
  }
  void answer() { answers_.push(0); }
  bool fenced() const { return offered_ != nullptr; }
  bool flushed() {
    const bool found = flushed_;
    flushed_ = false;
    return found;
  }
  /// One cycle of its fences, if no changed word is left in the unit (`settled`).
  void answer_fence(bool settled) {
    answered_ = asked_;
    accepted_ = settled && !asked_ ? offered_ : nullptr;
    asked_ = accepted_;
    end_turn();
  }
  /// One cycle of what is owed to memory: `changed` says that it has changed a word, after which `listed` places have to be written; so
  /// many have been `cleaned`; of `sent` words so many have `arrived`.
  void note_owed(bool changed, u64 listed, u64 cleaned, u64 sent, u64 arrived) {
    if (changed) held_ = true, mark_ = listed;
    else if (held_ && cleaned >= mark_) held_ = false, away_ = true, sent_ = sent;
    else if (away_ && arrived >= sent_) away_ = false;
  }
  bool idle() const { return !held_ && !away_ && !under_way_; }

  const bool changes;  ///< what it reads
  u64 accesses = 0;

 private:
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_, answers_;
  Credits room_;
  u32 under_way_ = 0;
  Fence* asked_ = nullptr;
  bool flushed_ = false, held_ = false, away_ = false;
  u64 mark_ = 0, sent_ = 0;
};

}  // namespace sluice
