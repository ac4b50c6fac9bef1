#include "system.h"

#include <algorithm>

namespace sluice {

bool System::run(u64 limit) {
  memory_.connect();
  do {
    step();
    if (clock_.now - clock_.moved > kIdle || clock_.now > limit) return over();
  } while (!over());
  if (endless_.empty()) return true;
  rests_ = true;
  for (clock_.move(); clock_.now - clock_.moved < kRest && clock_.now <= limit; step(), over()) continue;
  return true;
}

void System::step() {
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
