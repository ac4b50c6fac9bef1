// The places of stores that are not yet in memory: rtl_lib/lsu/{hazard,inflight_words}.py.
#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "plan.h"

namespace sluice {

/// Entries of places, which are numbered through all stores; the oldest leaves when its stores are over.
class PlaceTable {
 public:
  explicit PlaceTable(const StoresPlan& of) : plan(of) {}
  virtual ~PlaceTable() = default;
  bool room() const { return size() < static_cast<size_t>(plan.entries) - 1; }
  /// Numbers of the entries that hold one of the places.
  void match(const std::vector<u64>& places, std::vector<u64>& found) const {
    found.clear();
    for (size_t k = 0; k < size(); k++)
      if (std::any_of(places.begin(), places.end(), [&](u64 place) { return holds(k, place); })) found.push_back(gone_ + k);
  }
  /// A token has come whose access waits for the places.
  virtual void ask(const std::vector<u64>& places) = 0;
  virtual void enter(u64 place) { entering_ = true, place_ = place; }
  /// The number of the entry in which the place that enters in this cycle is.
  virtual u64 at(u64 place) const = 0;
  /// A token has come to the point where it makes the store, or not.
  virtual void tell(bool made) = 0;
  virtual void commit() = 0;
  bool occupied(u64 number) const { return number >= gone_; }
  /// The slot of the place that enters: the entry of the circular buffer, and the place in its word.
  u64 slot(u64 place) const {
    const u64 many = static_cast<u64>(std::max(1, plan.per_word));
    return at(place) % static_cast<u64>(plan.entries) * many + place % many;
  }
  void retire(u64 stores) { retiring_ += stores; }

  const StoresPlan& plan;

 protected:
  virtual size_t size() const = 0;
  /// Whether entry `k`, from the oldest, is one of that place.
  virtual bool holds(size_t k, u64 place) const = 0;

  u64 gone_ = 0, done_ = 0, retiring_ = 0, place_ = 0;
  bool entering_ = false;
};

/// An entry for each store; it leaves when its fate is known and it is not made, or in memory.
class StoreTable final : public PlaceTable {
 public:
  using PlaceTable::PlaceTable;
  void ask(const std::vector<u64>&) override {}
  u64 at(u64) const override { return gone_ + entries_.size(); }
  void tell(bool made) override {
    telling_ = !plan.certain, made_ = made && !plan.on_chip;
    retiring_ += plan.port && made_;  // in memory in the next cycle
  }

  void commit() override {
    const bool known = plan.certain || !fates_.empty();
    const bool made = plan.certain || (known && fates_.front());
    const bool leaves = !entries_.empty() && known && (!made || done_ > 0);
    done_ += retiring_;
    if (leaves) {
      done_ -= made;
      entries_.pop_front(), gone_++;
      if (!plan.certain) fates_.pop_front();
    }
    if (telling_) fates_.push_back(made_);
    if (entering_) entries_.push_back(place_);
    retiring_ = 0;
    telling_ = entering_ = false;
  }

 private:
  size_t size() const override { return entries_.size(); }
  bool holds(size_t k, u64 place) const override { return entries_[k] == place; }

  std::deque<u64> entries_;  ///< places, the oldest first
  std::deque<bool> fates_;   ///< whether the oldest are made
  bool telling_ = false, made_ = false;
};

/// An entry for consecutive stores to one word, all of which are made; it leaves when they are in memory.
class WordTable final : public PlaceTable {
 public:
  using PlaceTable::PlaceTable;
  /// No store joins an entry for which an access waits.
  void ask(const std::vector<u64>& places) override {
    waited_ = grows_ && std::any_of(places.begin(), places.end(), [&](u64 place) { return newest_.holds(place); });
  }
  u64 at(u64 place) const override { return opened_ - (grows_ && word(place) == newest_.word && !waited_); }
  void tell(bool) override {}

  void commit() override {
    const u64 newest = opened_ - 1;  // number of the newest entry before this cycle; below gone_ if it has left
    const bool joins = entering_ && grows_ && word(place_) == newest_.word && !waited_, opens = entering_ && !joins;
    const bool leaves = known_ && done_ >= due_ && !(joins && newest == gone_);
    const u64 then = leaves ? gone_ + 1 : gone_;
    const bool there = then - gone_ < entries_.size();
    const u64 due = there ? entries_[then - gone_].count : 0;
    done_ += retiring_ - (leaves ? due_ : 0);
    due_ = due, known_ = there && !(joins && newest == then);
    if (joins) {
      add(newest_), add(entries_.back());
      grows_ = newest_.count < static_cast<u64>(plan.per_word);
    } else if (opens) {
      newest_ = {word(place_), {}, 0};
      add(newest_);
      grows_ = true, opened_++;
    } else if (waited_ || (leaves && gone_ == newest)) {
      grows_ = false;
    }
    if (leaves) entries_.pop_front(), gone_++;
    if (opens) entries_.push_back(newest_);
    retiring_ = 0;
    entering_ = waited_ = false;
  }

 private:
  struct Entry {
    u64 word = 0;
    std::vector<u64> places;
    u64 count = 0;
    bool holds(u64 place) const { return std::find(places.begin(), places.end(), place) != places.end(); }
  };
  size_t size() const override { return entries_.size(); }
  bool holds(size_t k, u64 place) const override { return entries_[k].holds(place); }
  u64 word(u64 place) const { return place / static_cast<u64>(plan.per_word); }
  void add(Entry& entry) const { entry.places.push_back(place_), entry.count++; }

  std::deque<Entry> entries_;
  Entry newest_;        ///< a copy of the newest entry, also when that has left
  u64 opened_ = 0;      ///< entries so far
  u64 due_ = 0;         ///< stores of the oldest entry, looked up a cycle ahead
  bool grows_ = false, waited_ = false, known_ = false;
};

}  // namespace sluice
