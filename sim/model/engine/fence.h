// Fences: rtl_lib/lsu/fence.py.
#pragma once
#include <vector>

#include "fenced.h"
#include "load_unit.h"

namespace sluice {

/// What asks a fence in place of a level: a barrier.
class Asker {
 public:
  virtual ~Asker() = default;
  virtual bool asks() const = 0;
  virtual void accepted() = 0;
};

/// Answers when all stores before a request are in memory: those in queues as well as those already accepted.
class Fence final : public Server {
 public:
  Fence(Clock& clock, const FencePlan& plan, const OperationPlan& operation)
      : clock_(clock), plan_(plan), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)) {}
  Fifo& requests() override { return requests_; }
  bool response() const override {
    for (const Asked& one : asked_)
      if (one.answers == 0) return false;
    return true;
  }
  void take() override {
    taken_ = true;
    for (Renewed* load : loads_) load->flush();
    clock_.move();
  }
  const FencePlan& plan() const { return plan_; }
  void serve(Asker* asker) { asker_ = asker; }
  void watch(Fenced* store) { asked_.push_back({store, store->add_fence(this), 0, 0, false}); }
  void invalidate(Renewed* load) { loads_.push_back(load); }

  /// Before the units move: what is asked of them in this cycle.
  void ask() {
    for (Asked& one : asked_)
      if (one.asking && one.left == 0) one.store->ask_fence(one.turn);
  }
  /// After the units have moved.
  void commit() {
    bool free = waiting_ != plan_.pending;
    for (const Asked& one : asked_) free = free && !one.asking;
    const bool accept = free && (asker_ ? asker_->asks() : requests_.head());
    for (Asked& one : asked_) {
      if (accept) {
        one.left = one.store->queued();
        one.asking = true;
      } else if (one.asking) {
        if (one.left) one.left -= one.store->taken();
        else if (one.store->accepted_fence() == this) one.asking = false;
      }
      one.answers += static_cast<u32>(one.store->answered_fence() == this) - static_cast<u32>(taken_);
    }
    if (accept) {
      if (asker_) asker_->accepted();
      else requests_.pop();
    }
    waiting_ += static_cast<int>(accept) - static_cast<int>(taken_);
    if (waiting_) clock_.move();
    taken_ = false;
  }

 private:
  struct Asked {
    Fenced* store;
    size_t turn;  ///< its number among those that ask the store
    u32 left, answers;
    bool asking;
  };
  Clock& clock_;
  const FencePlan& plan_;
  Fifo requests_;
  std::vector<Asked> asked_;
  std::vector<Renewed*> loads_;
  Asker* asker_ = nullptr;
  int waiting_ = 0;
  bool taken_ = false;
};

}  // namespace sluice
