// A module of the user that waits by ready and valid: rtl_lib/arith/waiting.py. When it answers is known to it alone; the replay
// takes the latency that its library gives.
#pragma once
#include <deque>

#include "loop.h"

namespace sluice {

class WaitingModule final : public Server {
 public:
  WaitingModule(Clock& clock, const ModulePlan& plan, const OperationPlan& operation)
      : clock_(clock), plan_(plan), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return !since_.empty() && since_.front() <= clock_.now; }
  void take() override {
    since_.pop_front();
    left_ = true;
    clock_.move();
  }
  /// After the loops: operands enter while fewer than the module holds are inside, as the cycle began.
  void evaluate() {
    if (requests_.head() && since_.size() + left_ < plan_.capacity) {
      requests_.pop();
      since_.push_back(clock_.now + plan_.latency);
    }
    if (!since_.empty()) clock_.move();
    left_ = false;
  }

 private:
  Clock& clock_;
  const ModulePlan& plan_;
  Fifo requests_;
  std::deque<u64> since_;  ///< of what is inside: the cycle from which the result is on offer
  bool left_ = false;
};

}  // namespace sluice
