// The machines of kernels that run at the same time, on one memory and joined by channels.
#pragma once
#include "machine.h"

namespace sluice {

class System {
 public:
  System(BoardMemory& memory, Tick age, const std::vector<ChannelPlan>& channels) : memory_(clock_, memory, age) {
    for (const ChannelPlan& plan : channels) channels_.push_back(std::make_unique<Channel>(clock_, plan));
  }
  void add(const MachinePlan& plan, const std::vector<Rows>& records, Outcomes* outcomes, const u64* bases, u64 start, bool endless,
           Dispatcher* dispatcher = nullptr) {
    (endless ? endless_ : awaited_).push_back(machines_.size());
    remembers_ = remembers_ || (endless && !plan.units.empty());
    machines_.push_back(std::make_unique<Machine>(plan, records, outcomes, bases, clock_, memory_, channels_, start, dispatcher));
  }
  /// So many compute units, which share the `groups` of a launch.
  void add_units(const MachinePlan& plan, const std::vector<Rows>& records, Outcomes* outcomes, const u64* bases, u64 start, u64 units,
                 u64 groups) {
    Outcomes* const asked = plan.groups.outcomes < 0 ? nullptr : outcomes + plan.groups.outcomes;
    dispatchers_.push_back(std::make_unique<Dispatcher>(clock_, groups, asked));
    for (u64 k = 0; k < units; k++) add(plan, records, outcomes, bases, start, false, dispatchers_.back().get());
  }
  /// Runs all launches to their ends, and endless ones until they rest, or stops where the record is to be written once more,
  /// or to be continued: then it is called again. It gives up if nothing moves for a long time, or after `limit` cycles.
  /// `complete`: the record has all that can be known.
  enum Status { kGaveUp, kOver, kCorrected, kStarved };
  Status run(u64 limit, bool complete);
  Machine& machine(size_t number) { return *machines_[number]; }
  u64 held(size_t channel) const { return channels_[channel]->held(); }

 private:
  static constexpr u64 kIdle = 1 << 20;  ///< cycles without any movement that are a deadlock
  static constexpr u64 kRest = 1 << 12;  ///< such cycles after which endless launches have done all that they can
  bool foresee();
  void move();
  bool over();
  bool idle(u64 most) const { return clock_.now - clock_.moved > most; }

  bool begun_ = false;
  bool prepared_ = false;   ///< for the cycle that is to be done
  bool remembers_ = false;  ///< an endless launch accesses memory
  bool rests_ = false;      ///< all others have ended
  Clock clock_;
  Memory memory_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Dispatcher>> dispatchers_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<size_t> awaited_, endless_;  ///< machines
};

}  // namespace sluice
