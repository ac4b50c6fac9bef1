// The work-groups of a launch, given to free compute units: rtl_lib/dispatch.py.
#pragma once
#include <vector>

#include "outcomes.h"

namespace sluice {

class Dispatcher {
 public:
  /// `asked` are the units of the groups, if the kernel asks for them, else null.
  Dispatcher(Clock& clock, u64 groups, Outcomes* asked) : clock_(clock), asked_(asked), left_(groups) {}
  /// One more unit; `waiting` is its queue of groups.
  size_t add(Fifo* waiting) {
    units_.push_back({waiting, 0, false});
    return units_.size() - 1;
  }
  /// All work-items of one of the unit's groups have entered; the next cycle knows.
  void entered(size_t unit) { units_[unit].entered = true; }
  /// One cycle: the unit with the fewest groups that still enter gets the next one.
  void evaluate() {
    for (Unit& unit : units_) unit.running -= unit.entered, unit.entered = false;
    Unit* chosen = nullptr;
    for (Unit& unit : units_)
      if (left_ && unit.running < kAhead && (!chosen || unit.running < chosen->running)) chosen = &unit;
    if (chosen) {
      left_--;
      chosen->waiting->push(++given_);
      const auto unit = static_cast<size_t>(chosen - units_.data());
      if (asked_ && !asked_->settle_unit(given_, unit)) clock_.corrected = clock_.now;
      chosen->running++;
    }
  }
  /// No group is left to give, and every one has been taken. To be asked as the next cycle begins.
  bool empty() const {
    for (const Unit& unit : units_)
      if (!unit.waiting->empty()) return false;
    return !left_;
  }

 private:
  static constexpr u64 kAhead = 2;
  struct Unit {
    Fifo* waiting;
    u64 running;  ///< groups of which not all work-items have entered
    bool entered;
  };
  Clock& clock_;
  Outcomes* const asked_;
  std::vector<Unit> units_;
  u64 left_, given_ = 0;
};

}  // namespace sluice
