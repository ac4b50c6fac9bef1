#include "system.h"

#include <algorithm>

namespace sluice {

System::Status System::run(u64 limit, bool complete) {
  if (!begun_) memory_.connect(), begun_ = true;
  for (;;) {
    if (!foresee()) return kCorrected;
    move();
    const bool ended = over(), late = clock_.now > limit;
    if (clock_.corrected == clock_.now - 1) return kCorrected;
    if (rests_) {
      if (idle(kRest) || late) return kOver;
    } else if (ended && endless_.empty()) {
      return kOver;
    } else if (ended) {
      rests_ = true;
      clock_.move();
    } else if (idle(kIdle) || late) {
      return kGaveUp;
    } else if (clock_.starved == clock_.now - 1 && !complete) {
      return kStarved;
    }
  }
}

/// Whether all calls in passing of this cycle do what the record assumes.
bool System::foresee() {
  if (!prepared_)
    for (const auto& machine : machines_) machine->prepare();
  prepared_ = true;
  for (const auto& machine : machines_)
    if (!machine->foresee()) return false;
  return true;
}

void System::move() {
  prepared_ = false;
  for (const auto& machine : machines_) machine->evaluate();
  for (const auto& machine : machines_) machine->offer();
  for (const auto& machine : machines_) machine->call();
  for (const auto& channel : channels_) channel->serve();
  if (!rests_ || remembers_) {
    memory_.evaluate();
    memory_.commit();
  }
  for (const auto& machine : machines_) machine->commit();
  for (const auto& channel : channels_) channel->commit();
  clock_.now++;
}

bool System::over() {
  bool all = true;  // each is asked in every cycle
  for (const size_t number : awaited_) all = machines_[number]->ended() && all;
  return all;
}

}  // namespace sluice
