// A cache that the same load of several copies of a kernel uses: rtl_lib/lsu/{shared_cache,shared_lookup}.py.
#pragma once
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "load_unit.h"

namespace sluice {

/// Places in order of allocation: where the words are that may be used.
struct SharedPlaces {
  std::unordered_map<u64, u64> hints;
  u64 allocated = 0, arrived = 0, in_date = 0;
  bool holds(u64 word) const {
    const auto found = hints.find(word);
    return found != hints.end() && allocated - 1 - found->second < in_date;
  }
};

/// A load's port to the cache: two stages of lookup, a queue of accesses that wait for their words, and room for all
/// answers.
class SharedLoadUnit final : public ReadUnit {
 public:
  SharedLoadUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : plan_(plan), clock_(clock), base_(base), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        answers_(clock, static_cast<u32>(plan.depth), queue_latency()) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return held_ || answers_.head() || direct(); }
  void take() override {
    if (held_) held_ = false;
    else if (answers_.head()) answers_.pop();
    else answered_ = false;
    leaving_ = true, clock_.move();
  }
  void evaluate() override {}
  void commit() override {}
  void arrive() override {}
  void flush() override {}
  bool asks() const override { return false; }
  Burst asked() const override { return {}; }
  void pass() override {}

  u64 cache() const { return plan_.shared; }
  const UnitPlan& plan() const { return plan_; }

  /// Whether an access has been looked up, whether it hits, and its word.
  bool found() const { return !finding_.empty() && finding_.front().when <= clock_.now && waiting_.size() < static_cast<size_t>(plan_.depth); }
  u64 word() const { return finding_.front().word; }
  /// Whether no place that the oldest access needs is overwritten soon.
  bool near(const SharedPlaces& places) const {
    return waiting_.empty() || waiting_.front().since > clock_.now || places.allocated - waiting_.front().at < static_cast<u64>(plan_.pending) - kSlack;
  }
  /// The answer that was read in the cycle before, unless it has been taken: it was offered at once if none was waiting.
  void answer() {
    if (answered_ && direct()) held_ = true;
    else if (answered_) answers_.push(0);
    answered_ = false;
  }
  /// The access that was looked up goes to the queue; `number` is that of its word.
  void queue(const SharedPlaces& places, u64 number) {
    waiting_.push_back({clock_.now + queue_latency(), number, places.allocated});
    finding_.pop_front();
    accesses++, clock_.move();
  }
  /// The lookup of this cycle; it stands while the access at its end does.
  void look_up() {
    if (!finding_.empty() && finding_.front().when <= clock_.now) {
      for (size_t k = 1; k < finding_.size(); k++) finding_[k].when++;
    } else if (requests_.head() && inside_ < static_cast<u64>(plan_.depth)) {
      finding_.push_back({clock_.now + 2, (base_ + *reinterpret_cast<const u64*>(requests_.pop()) - 1) / static_cast<u64>(plan_.word_bytes)});
      inside_++;
    }
    if (!finding_.empty()) clock_.move();
  }
  /// The end of a cycle: the oldest access is read if its word is here.
  void end(const SharedPlaces& places) {
    inside_ -= leaving_, leaving_ = false;
    was_held_ = held_;
    if (waiting_.empty() || waiting_.front().since > clock_.now || waiting_.front().number >= places.arrived) return;
    waiting_.pop_front();
    answered_ = true, clock_.move();
  }

 private:
  struct Finding {
    u64 when, word;
  };
  struct Waiting {
    u64 since, number, at;
  };
  static constexpr u64 kSlack = 4;
  static constexpr int kShallow = 32;  ///< a deeper queue is a block RAM
  bool direct() const { return answered_ && !was_held_ && answers_.empty(); }
  u32 queue_latency() const { return plan_.depth > kShallow ? 2 : 1; }

  const UnitPlan& plan_;
  Clock& clock_;
  const u64 base_;
  Fifo requests_, answers_;
  std::deque<Finding> finding_;
  std::deque<Waiting> waiting_;
  u64 inside_ = 0;
  bool leaving_ = false, answered_ = false;
  bool held_ = false, was_held_ = false;  ///< an answer was offered at once, and not taken; as the cycle began
};

/// Fetches what some load misses, one word a cycle, for all. It is empty as the launches begin.
class SharedCache final : public ReadUnit {
 public:
  SharedCache(Clock& clock, std::vector<SharedLoadUnit*> loads)
      : bursts_(clock, 2, 1), nothing_(clock, 1, 1), clock_(clock), loads_(std::move(loads)), plan_(loads_.front()->plan()),
        builder_(static_cast<u64>(plan_.align / plan_.word_bytes)), owner_(loads_.front()) {}
  Fifo& requests() override { return nothing_; }
  bool response() const override { return false; }
  void take() override {}
  void flush() override {}
  void arrive() override { arriving_++; }
  bool asks() const override { return bursts_.head(); }
  Burst asked() const override { return unpacked(bursts_.front()); }
  void pass() override { bursts_.pop(), known_owner_->burst_count++; }

  void evaluate() override {
    known_owner_ = owner_;
    const bool close = age_ == kPatience, urgent = places_.allocated == places_.arrived, was_open = builder_.open();
    const bool near = std::all_of(loads_.begin(), loads_.end(), [this](const SharedLoadUnit* load) { return load->near(places_); });
    size_t chosen = loads_.size();
    for (size_t n = 0; n < loads_.size() && chosen == loads_.size(); n++) {
      const size_t k = (after_ + n) % loads_.size();
      if (loads_[k]->found() && !places_.holds(loads_[k]->word())) chosen = k;
    }
    const bool asks = room_ && chosen < loads_.size();
    const u64 word = asks ? loads_[chosen]->word() : 0;
    Burst goes;
    const bool accepted = builder_.step(asks, word, close, urgent, bursts_.can_push(), goes);
    if (goes.words) bursts_.push(packed(goes));
    for (size_t k = 0; k < loads_.size(); k++) {
      loads_[k]->answer();
      if (loads_[k]->found()) {
        if (accepted && k == chosen) loads_[k]->queue(places_, places_.allocated);
        else if (places_.holds(loads_[k]->word())) loads_[k]->queue(places_, places_.hints[loads_[k]->word()]);
      }
      loads_[k]->look_up();
    }
    if (accepted) place(word, chosen);
    if (accepted || !was_open) age_ = 0;
    else if (!close) age_++;
    if (was_open) clock_.move();
    room_ = near;
  }

  void commit() override {
    for (SharedLoadUnit* load : loads_) load->end(places_);
    places_.arrived += arriving_, arriving_ = 0;
  }

 private:
  static constexpr u64 kPatience = 4;  ///< cycles that an open burst waits for another word
  void place(u64 word, size_t chosen) {
    places_.hints[word] = places_.allocated++;
    places_.in_date = std::min(places_.in_date + 1, static_cast<u64>(plan_.kept - plan_.pending));
    owner_ = loads_[chosen], owner_->words++;
    after_ = chosen + 1;
  }

  Fifo bursts_, nothing_;
  Clock& clock_;
  const std::vector<SharedLoadUnit*> loads_;
  const UnitPlan& plan_;
  BurstBuilder builder_;
  SharedPlaces places_;
  SharedLoadUnit *owner_, *known_owner_ = nullptr;  ///< of the last word that was allocated; before this cycle
  size_t after_ = 0;
  u64 age_ = 0, arriving_ = 0;
  bool room_ = true;
};

}  // namespace sluice
