// Load unit inside a level, which stands still while a word is not here: rtl_lib/lsu/stepping_load.py.
#pragma once
#include "load_unit.h"

namespace sluice {

/// An access is looked up in two steps of its level; in the third it takes its word if it is not that of the access before.
/// Words behind the one in use are requested: when half of them are left, all others.
class SteppingLoadUnit final : public ReadUnit, public Stepping {
 public:
  SteppingLoadUnit(Clock& clock, const UnitPlan& plan, u64 base)
      : bursts_(clock, 2, 1), clock_(clock), plan_(plan), base_(base), places_(2 * static_cast<u64>(plan.ahead)),
        builder_(static_cast<u64>(plan.align / plan.word_bytes)), free_(places_), none_(clock, 1, 1) {}

  bool ready() const override { return !needs_ || (!waits() && drops_ == 0 && arrived_ != 0); }
  void step(u64 place) override { stepped_ = true, given_ = place; }

  Fifo& requests() override { return none_; }
  bool response() const override { return false; }
  void take() override {}
  void arrive() override { arriving_++; }
  void flush() override { flushed_ = true; }
  bool asks() const override { return bursts_.head(); }
  Burst asked() const override { return unpacked(bursts_.front()); }
  void pass() override { bursts_.pop(); }

  void evaluate() override {
    begins_ = needs_ && waits();
    const bool takes = needs_ && stepped_;
    dropped_ = drops_ && arrived_, gone_ = takes || dropped_;
    const u64 ahead = static_cast<u64>(plan_.ahead);
    const bool offered = runs_ && filling_ && !begins_ && free_ && wanted_ != ahead + 1;
    Burst goes;
    const bool accepted = builder_.step(offered, next_, !offered, free_ == places_, bursts_.can_push(), goes);
    if (goes.words) bursts_.push(packed(goes)), burst_count++, words += goes.words;
    filling_ = begins_ || (filling_ && wanted_ < ahead) || wanted_ <= ahead / 2;
    free_ += gone_, free_ -= accepted;
    if (begins_) drops_ = wanted_, wanted_ = 0, runs_ = true, next_ = word_;
    else wanted_ += accepted, wanted_ -= takes, next_ += accepted;
    drops_ -= dropped_;
    if (begins_ || gone_ || accepted || builder_.open()) clock_.move();
  }

  void commit() override {
    arrived_ += arriving_, arrived_ -= gone_;
    arriving_ = 0;
    if (stepped_) {
      const bool fresh = looked_up_ && (anew_ || looked_up_ != used_ + 1);
      needs_ = fresh, jumps_ = anew_ || looked_up_ != used_ + 2, begun_ = false, word_ = looked_up_ - 1;
      if (looked_up_) used_ = looked_up_ - 1;
      looked_up_ = given_ ? 1 + (base_ + given_ - 1) / static_cast<u64>(plan_.word_bytes) : 0;
      anew_ = stale_ || flushed_;
      accesses += given_ != 0;
    } else if (begins_) {
      begun_ = true;
    }
    if (stepped_ && given_) stale_ = false;
    else if (flushed_) stale_ = true;
    stepped_ = flushed_ = gone_ = begins_ = false;
  }

 private:
  bool waits() const { return jumps_ && !begun_; }

  Fifo bursts_;
  Clock& clock_;
  const UnitPlan& plan_;
  const u64 base_, places_;
  BurstBuilder builder_;
  u64 free_, arrived_ = 0, arriving_ = 0, drops_ = 0, wanted_ = 0, next_ = 0;
  u64 given_ = 0;                 ///< place of the access that is given in this step; 0: none
  u64 looked_up_ = 0, used_ = 0;  ///< 1 + its word a step later, 0: none; the word of the access before
  u64 word_ = 0;                  ///< two steps later
  bool anew_ = false, needs_ = false, jumps_ = false, begun_ = false, stale_ = true;
  bool stepped_ = false, flushed_ = false, begins_ = false, gone_ = false, dropped_ = false;
  bool runs_ = false, filling_ = false;
  Fifo none_;  ///< requests come from the level itself
};

}  // namespace sluice
