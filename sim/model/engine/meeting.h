// Barriers: rtl_lib/barrier.py.
#pragma once
#include "fence.h"

namespace sluice {

/// Answers the work-items of a group once its last one has come, and once the stores of the group are in memory.
class Meeting final : public Server, public Asker {
 public:
  Meeting(Clock& clock, const OperationPlan& operation)
      : requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)), waiting_(clock, kMostWaiting, 1) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return free_ != 0; }
  void take() override { taken_ = true; }

  /// Each complete group waits for the fence.
  void wait_for(Fence* fence) {
    fence_ = fence;
    fence->serve(this);
  }
  bool asks() const override { return requests_.head() && last() && waiting_.can_push(); }
  void accepted() override { waiting_.push(come()); }

  /// After the loops: what is released is seen in the next cycle.
  void evaluate() {
    u64 freed = 0;
    if (fence_ && waiting_.head() && fence_->response()) {
      fence_->take();
      freed = waiting_.pop();
    }
    if (requests_.head() && !(fence_ && last())) {
      const bool complete = last();
      const u64 number = come();
      if (complete) freed = number;
    }
    free_ += freed;
    free_ -= taken_;
    taken_ = false;
  }

 private:
  static constexpr u32 kMostWaiting = 8;
  /// A request is the column of a row: 2 for the last work-item of a group, 1 for others.
  bool last() const { return *reinterpret_cast<const u64*>(requests_.front()) == 2; }
  /// Accept a work-item; returns its number in the group.
  u64 come() {
    const bool complete = last();
    const u64 number = earlier_ + 1;
    requests_.pop();
    earlier_ = complete ? 0 : number;
    return number;
  }

  Fifo requests_, waiting_;  ///< `waiting_`: complete groups, how many they are
  Fence* fence_ = nullptr;
  u64 earlier_ = 0, free_ = 0;
  bool taken_ = false;
};

}  // namespace sluice
