// The constant cache, and the loads through it: rtl_lib/lsu/constant.py.
#pragma once
#include <unordered_map>
#include <vector>

#include "load_unit.h"

namespace sluice {

/// A load's port to the cache: one lookup at a time, and a queue of answers.
class ConstantLoadUnit final : public ReadUnit {
 public:
  ConstantLoadUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : clock_(clock), plan_(plan), base_(base), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        answers_(clock, static_cast<u32>(plan.depth), static_cast<u32>(plan.depth) > kShallow ? 2 : 1) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return answers_.head(); }
  void take() override { answers_.pop(); }
  void evaluate() override {}
  void commit() override {}
  void arrive() override {}
  void flush() override {}
  bool asks() const override { return false; }
  Burst asked() const override { return {}; }
  void pass() override {}

  u64 kept() const { return static_cast<u64>(plan_.kept); }
  u64 fill() const { return static_cast<u64>(plan_.ahead); }
  u64 word() const { return held_; }
  /// Whether the load waits for its word to be fetched.
  bool waits() const { return busy_ && looked_ && !hit_; }
  /// One cycle. `holds` says whether the cache has a word, `puts` whether the word's place is written in this cycle,
  /// `served` whether the word waited for was fetched.
  template <class Holds, class Puts>
  void look_up(Holds holds, Puts puts, bool served) {
    const bool done = busy_ && looked_ && hit_ && answers_.can_push(), waited = waits();
    if (done) answers_.push(0);
    if (requests_.head() && (!busy_ || done)) {
      held_ = (base_ + *reinterpret_cast<const u64*>(requests_.pop()) - 1) / static_cast<u64>(plan_.word_bytes);
      busy_ = true, accesses++;
      look(holds, puts);
    } else if (done) {
      busy_ = looked_ = false;
    } else if (busy_ && !looked_) {
      look(holds, puts);
    } else if (served && waited) {
      looked_ = false;
    }
    if (busy_) clock_.move();
  }

 private:
  static constexpr u32 kShallow = 32;  ///< a deeper queue is a block RAM
  template <class Holds, class Puts>
  void look(Holds holds, Puts puts) {
    hit_ = holds(held_), looked_ = !puts(held_);
  }

  Clock& clock_;
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_, answers_;
  bool busy_ = false, looked_ = false, hit_ = false;
  u64 held_ = 0;
};

/// Fetches missing words one after the other, each with its block, in rotation among the loads. It is empty as the launches
/// begin.
class ConstantCache final : public ReadUnit {
 public:
  ConstantCache(Clock& clock, std::vector<ConstantLoadUnit*> loads)
      : loads_(std::move(loads)), size_(loads_.front()->kept()), fill_(loads_.front()->fill()), nothing_(clock, 1, 1), clock_(clock) {}
  Fifo& requests() override { return nothing_; }
  bool response() const override { return false; }
  void take() override {}
  void arrive() override { arrived_++; }
  void flush() override {}
  bool asks() const override { return state_ == kAsk; }
  Burst asked() const override { return {wanted_ / fill_ * fill_, fill_}; }
  void pass() override { passed_ = true, loads_[owner_]->words += fill_, loads_[owner_]->burst_count++; }

  void evaluate() override {
    const bool puts = puts_;
    size_t next = loads_.size();
    for (size_t n = 0; n < loads_.size() && next == loads_.size(); n++)
      if (loads_[(after_ + n) % loads_.size()]->waits()) next = (after_ + n) % loads_.size();
    const u64 next_word = next < loads_.size() ? loads_[next]->word() : 0;
    for (ConstantLoadUnit* load : loads_)
      load->look_up([&](u64 word) { return holds(word); }, [&](u64 word) { return puts && word % size_ == put_ % size_; },
                    puts && load->word() == put_);
    if (puts) words_[put_ % size_] = put_;
    starts_ = state_ == kIdle && next < loads_.size();
    if (starts_) owner_ = next, wanted_ = next_word, after_ = next + 1;
    if (state_ != kIdle) clock_.move();
  }
  void commit() override {
    puts_ = false;
    if (state_ == kPut) {
      state_ = kIdle;
    } else if (starts_) {
      state_ = kAsk;
    } else if (passed_) {
      state_ = kWait, coming_ = wanted_ / fill_ * fill_;
    } else if (state_ == kWait && arrived_) {
      arrived_--, puts_ = true, put_ = coming_++;
      if (coming_ % fill_ == 0) state_ = kPut;
    }
    passed_ = starts_ = false;
  }

 private:
  enum State { kIdle, kAsk, kWait, kPut };
  bool holds(u64 word) const {
    const auto found = words_.find(word % size_);
    return found != words_.end() && found->second == word;
  }

  const std::vector<ConstantLoadUnit*> loads_;
  const u64 size_, fill_;
  Fifo nothing_;
  Clock& clock_;
  State state_ = kIdle;
  std::unordered_map<u64, u64> words_;  ///< by place
  size_t owner_ = 0, after_ = 0;
  u64 wanted_ = 0, coming_ = 0, put_ = 0;  ///< `coming_`: the word that arrives next; `put_`: the one that is put now
  u64 arrived_ = 0;
  bool passed_ = false, puts_ = false, starts_ = false;
};

}  // namespace sluice
