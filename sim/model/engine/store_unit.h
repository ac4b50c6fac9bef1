// A store unit: adjacent stores are combined into words, words into bursts. rtl_lib/lsu/{store,pipelined}.py.
#pragma once
#include <deque>

#include "burst.h"
#include "loop.h"

namespace sluice {

class Fence;

class StoreUnit final : public Server {
 public:
  StoreUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : bursts(clock, 2, 1), words(clock, kWords, 1), clock_(clock), plan_(plan), base_(base),
        requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        builder_(static_cast<u64>(plan.align / plan.word_bytes)) {}

  Fifo& requests() override { return requests_; }
  bool response() const override { return true; }
  void take() override {}
  /// The memory has written a burst.
  void confirm() { confirming_++; }
  bool idle() const { return requests_.empty() && !held_ && !builder_.open() && waiting_.empty(); }

  Fifo bursts, words;
  bool drained = false, over = false;  ///< no store is on its way; none will come any more
  u64 accesses = 0, word_count = 0, burst_count = 0;

  /// A fence is offered in this cycle; of several the one that was served least recently is taken.
  void ask_fence(Fence* fence) {
    if (!offered_ || standing_ == fence || (standing_ == nullptr && served_ == offered_)) offered_ = fence;
  }
  Fence* accepted_fence() const { return accepted_; }
  Fence* answered_fence() const { return answered_; }

  void evaluate() { plan_.pipelined ? pass_on() : gather(); }
  void commit() {
    answered_ = nullptr;
    if (!waiting_.empty() && waiting_.front().since <= clock_.now) {
      answered_ = waiting_.front().fence;
      if (answered_) waiting_.pop_front();
      else if (confirmed_) waiting_.pop_front(), confirmed_--;
    }
    if (sent_ || accepted_) waiting_.push_back({clock_.now + 1, accepted_});
    sent_ = false;
    standing_ = accepted_ ? nullptr : offered_;
    if (accepted_) served_ = accepted_;
    offered_ = nullptr;
    confirmed_ += confirming_;
    confirming_ = 0;
  }

 private:
  /// A burst or a fence that is not over, and the cycle from which it may be.
  struct Waiting {
    u64 since;
    Fence* fence;
  };
  static constexpr u32 kWords = 32;  ///< room for words
  u64 next_word() const {
    return (base_ + *reinterpret_cast<const u64*>(requests_.front()) - 1) / static_cast<u64>(plan_.word_bytes);
  }

  /// A store is offered to the memory in the cycle after it was taken; the next is taken when its word has moved.
  void pass_on() {
    drained = !requests_.head();
    if (drained || !words.empty() || !bursts.can_push() || waiting_.size() >= static_cast<size_t>(plan_.outstanding)) return;
    const u64 word = next_word();
    requests_.pop();
    words.push(word);
    send({word, 1});
    accesses++;
  }

  void gather() {
    const bool any = requests_.head(), had = held_, fence = offered_ != nullptr;
    drained = !any;
    const bool quiet = age_ == static_cast<u64>(plan_.patience) || (over && !any);
    const u64 store = any ? next_word() : 0;
    const bool joins = any && had && store == word_;
    const bool leaves = had && (fence || (any ? !joins : quiet)) && words.can_push();
    const bool place = waiting_.size() < static_cast<size_t>(plan_.outstanding), room = bursts.can_push() && place;
    accepted_ = fence && !had && !builder_.open() && place ? offered_ : nullptr;
    Burst goes;
    const bool leaving = builder_.step(leaves, word_, !had && (quiet || fence), false, room, goes);
    if (goes.words) send(goes);
    if (leaving) words.push(word_), held_ = false;
    if (any && !fence && (!had || joins || leaving)) {
      requests_.pop();
      accesses++;
      held_ = true, word_ = store, age_ = 0;
    } else if (!quiet) {
      age_++;
    }
    if (held_ || builder_.open()) clock_.move();
  }

  void send(const Burst& burst) {
    bursts.push(packed(burst));
    sent_ = true;
    burst_count++, word_count += burst.words;
  }

  Clock& clock_;
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_;
  BurstBuilder builder_;
  bool held_ = false, sent_ = false;
  u64 word_ = 0, age_ = 0, confirmed_ = 0, confirming_ = 0;
  std::deque<Waiting> waiting_;
  Fence *offered_ = nullptr, *standing_ = nullptr, *served_ = nullptr, *accepted_ = nullptr, *answered_ = nullptr;
};

}  // namespace sluice
