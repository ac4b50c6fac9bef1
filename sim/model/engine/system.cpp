#include "system.h"

namespace sluice {

bool System::run(u64 limit) {
  memory_.connect();
  for (bool over = false; !over;) {
    for (const auto& machine : machines_) machine->evaluate();
    for (const auto& machine : machines_) machine->offer();
    for (const auto& machine : machines_) machine->call();
    memory_.evaluate();
    memory_.commit();
    for (const auto& machine : machines_) machine->commit();
    for (const auto& channel : channels_) channel->commit();
    clock_.now++;
    over = true;
    for (const auto& machine : machines_) over = machine->ended() && over;
    if (clock_.now - clock_.moved > kIdle || clock_.now > limit) return over;
  }
  return true;
}

}  // namespace sluice
