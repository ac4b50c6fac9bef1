// A store unit: adjacent stores are combined into words, words into bursts. rtl_lib/lsu/{store,pipelined}.py.
#pragma once
#include <algorithm>
#include <deque>

#include "burst.h"
#include "fenced.h"
#include "loop.h"

namespace sluice {

class StoreUnit : public Server, public Fenced, public WriteUnit {
 public:
  StoreUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : WriteUnit(clock, 2, kWords, 1), clock_(clock), plan_(plan), base_(base),
        requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        builder_(static_cast<u64>(plan.align / plan.word_bytes)) {}

  Fifo& requests() override { return requests_; }
  bool response() const override { return true; }
  void take() override {}
  /// The memory has written a burst.
  void confirm() override { confirming_++; }
  u32 queued() const override { return requests_.level() - requests_.popped(); }
  bool taken() const override { return requests_.popped(); }
  virtual bool idle() const { return requests_.empty() && held_.empty() && !builder_.open() && waiting_.empty(); }

  bool drained = false, over = false;  ///< no store is on its way; none will come any more
  bool hurry = false;                  ///< an access waits for the open burst
  u64 accesses = 0, word_count = 0, burst_count = 0;

  virtual void evaluate() {
    drained = !requests_.head();
    plan_.pipelined ? pass_on(offered_ != nullptr) : gather(offered_ != nullptr, over);
  }
  /// Stores that have come to memory in this cycle.
  u64 retired() const { return retired_; }
  void commit() {
    answered_ = nullptr;
    retired_ = 0;
    if (!waiting_.empty() && waiting_.front().since <= clock_.now) {
      answered_ = waiting_.front().fence;
      if (answered_) waiting_.pop_front();
      else if (confirmed_) retired_ = waiting_.front().stores, waiting_.pop_front(), confirmed_--;
    }
    if (sent_ || accepted_) waiting_.push_back({clock_.now + 1, accepted_, sent_});
    sent_ = 0;
    end_turn();
    confirmed_ += confirming_;
    confirming_ = 0;
  }

 protected:
  /// The store on offer, if any, and the word that it writes.
  virtual bool any_store() const { return requests_.head(); }
  virtual u64 next_word() const {
    return (base_ + *reinterpret_cast<const u64*>(requests_.front()) - 1) / static_cast<u64>(plan_.word_bytes);
  }
  virtual void accept_store() { requests_.pop(), accesses++; }

  /// One cycle of the open words, the oldest first, and the open burst, with a `fence` on offer, or with no store to come.
  void gather(bool fence, bool ends) {
    const bool any = any_store(), had = !held_.empty();
    const bool quiet = age_ == static_cast<u64>(plan_.patience) || ((ends || hurry) && !any);
    const u64 store = any ? next_word() : 0;
    const bool full = plan_.counted && count_ == kMostCounted - 1, many = plan_.counted && builder_.open() && stores_ >= kMostCounted;
    const bool joins = any && !full && std::find(held_.begin(), held_.end(), store) != held_.end();
    const bool crowded = held_.size() >= static_cast<size_t>(std::max(1, plan_.kept));
    const bool leaves = had && (fence || (any ? !joins && crowded : quiet)) && words.can_push();
    const u64 oldest = had ? held_.front() : 0;
    const bool place = waiting_.size() < static_cast<size_t>(plan_.outstanding), room = bursts.can_push() && place;
    accepted_ = fence && !had && !builder_.open() && place ? offered_ : nullptr;
    Burst goes;
    const bool leaving = builder_.step(leaves, oldest, (!had && (quiet || fence)) || many, false, room, goes);
    if (goes.words) send(goes, stores_), stores_ = 0;
    if (leaving) words.push(oldest), held_.pop_front(), stores_ += count_, count_ = 0;
    if (any && !fence && (!crowded || joins || leaving)) {
      accept_store();
      if (!joins) held_.push_back(store);
      age_ = 0, count_++;
    } else if (!quiet) {
      age_++;
    }
    if (!held_.empty() || builder_.open()) clock_.move();
  }

  Clock& clock_;
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_;

 private:
  /// A burst of stores or a fence that is not over, and the cycle from which it may be.
  struct Waiting {
    u64 since;
    Fence* fence;
    u64 stores;
  };
  static constexpr u32 kWords = 32;         ///< room for words
  static constexpr u64 kMostCounted = 128;  ///< stores of a burst from which on no more join, where they are counted

  /// A store is offered to the memory in the cycle after it was taken; the next, or a `fence`, is taken when its word has
  /// moved.
  void pass_on(bool fence) {
    const bool moved = words.empty(), place = waiting_.size() < static_cast<size_t>(plan_.outstanding);
    accepted_ = fence && moved && place ? offered_ : nullptr;
    if (fence || drained || !moved || !place || !bursts.can_push()) return;
    const u64 word = next_word();
    accept_store();
    words.push(word);
    send({word, 1}, 1);
  }

  void send(const Burst& burst, u64 stores) {
    bursts.push(packed(burst));
    sent_ = stores;
    burst_count++, word_count += burst.words;
  }

  BurstBuilder builder_;
  std::deque<u64> held_;  ///< the words that stores may join, the oldest first
  u64 age_ = 0, confirmed_ = 0, confirming_ = 0;
  u64 count_ = 0, stores_ = 0, sent_ = 0, retired_ = 0;  ///< stores: of the word, of the open burst, sent, come to memory
  std::deque<Waiting> waiting_;
};

}  // namespace sluice
