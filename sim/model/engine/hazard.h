// Run-time comparison of accesses with earlier stores: rtl_lib/lsu/hazard.py.
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "loop.h"

namespace sluice {

/// The places of those stores of one operation that are not yet in memory; the oldest leaves when its fate is known and it
/// is not made, or in memory.
class StoreTable {
 public:
  StoreTable(const StoresPlan& plan) : plan_(plan) {}
  bool room() const { return count_ < static_cast<size_t>(plan_.entries) - 1; }
  /// Numbers of the entries that hold one of the places; counted through all stores.
  void match(const std::vector<u64>& places, std::vector<u64>& found) const {
    found.clear();
    for (size_t k = 0; k < entries_.size(); k++)
      if (std::find(places.begin(), places.end(), entries_[k]) != places.end()) found.push_back(gone_ + k);
  }
  bool occupied(u64 number) const { return number >= gone_; }

  void enter(u64 place) { entering_ = true, place_ = place; }
  /// A token has come to the point where it makes the store, or not.
  void tell(bool made) {
    telling_ = !plan_.certain, made_ = made;
    retiring_ += plan_.port && made;  // in memory in the next cycle
  }
  void retire(u64 stores) { retiring_ += stores; }

  void commit() {
    const bool known = plan_.certain || !fates_.empty();
    const bool made = plan_.certain || (known && fates_.front());
    const bool leaves = !entries_.empty() && known && (!made || done_ > 0);
    done_ += retiring_;
    if (leaves) {
      done_ -= made;
      entries_.pop_front(), gone_++;
      if (!plan_.certain) fates_.pop_front();
    }
    if (telling_) fates_.push_back(made_);
    if (entering_) entries_.push_back(place_);
    count_ = entries_.size();
    retiring_ = 0;
    telling_ = entering_ = false;
  }

 private:
  const StoresPlan& plan_;
  std::deque<u64> entries_;  ///< places, the oldest first
  std::deque<bool> fates_;   ///< whether the oldest are made
  size_t count_ = 0;
  u64 gone_ = 0, done_ = 0, retiring_ = 0, place_ = 0;
  bool entering_ = false, telling_ = false, made_ = false;
};

/// Passes tokens in program order, each when no store of an earlier token that is in flight has a place that it compares.
/// A request is the row's cells: of each access the place plus 1, 0 if it is off; those that ask first, then the stores.
class HazardUnit final : public Server {
 public:
  HazardUnit(Clock& clock, const HazardPlan& plan, const OperationPlan& operation)
      : clock_(clock), plan_(plan), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)) {
    for (const StoresPlan& stores : plan.stores) tables.emplace_back(stores);
    masks_.resize(tables.size()), still_.resize(tables.size());
  }
  Fifo& requests() override { return requests_; }
  bool response() const override { return offered_; }
  void take() override { taken_ = true, clock_.move(); }

  std::vector<StoreTable> tables;  ///< of each store

  /// The end of a cycle, when it is known whether the response was taken.
  void commit() {
    bool conflict = false, room = true;
    for (const auto& rest : still_) conflict = conflict || !rest.empty();
    for (const StoreTable& table : tables) room = room && table.room();
    const bool leaves = held_ && !conflict && (!offered_ || taken_);
    const bool moves = compared_ && (!held_ || leaves);
    const bool takes = requests_.head() && (!compared_ || moves) && room;
    for (size_t k = 0; k < tables.size(); k++) {
      keep(k, masks_[k]);
      if (moves) still_[k] = masks_[k];
      else keep(k, still_[k]);
    }
    if (takes) accept();
    for (StoreTable& table : tables) table.commit();
    if (compared_ || held_ || takes) clock_.move();
    offered_ = leaves || (offered_ && !taken_);
    held_ = moves || (held_ && !leaves);
    compared_ = takes || (compared_ && !moves);
    taken_ = false;
  }

 private:
  void keep(size_t table, std::vector<u64>& entries) const {
    entries.erase(std::remove_if(entries.begin(), entries.end(), [&](u64 one) { return !tables[table].occupied(one); }),
                  entries.end());
  }
  u64 place(const u64* cells, size_t number) const {
    return (plan_.bases[number] + cells[number] - 1) >> plan_.inside;
  }
  void accept() {
    const u64* cells = reinterpret_cast<const u64*>(requests_.pop());
    std::vector<u64> places;
    for (size_t k = 0; k < tables.size(); k++) {
      places.clear();
      for (size_t n = 0; n < plan_.asks.size(); n++)
        if (cells[n] && plan_.asks[n] >> k & 1) places.push_back(place(cells, n));
      tables[k].match(places, masks_[k]);
    }
    for (size_t k = 0; k < tables.size(); k++)
      if (cells[plan_.asks.size() + k]) tables[k].enter(place(cells, plan_.asks.size() + k));
  }

  Clock& clock_;
  const HazardPlan& plan_;
  Fifo requests_;
  std::vector<std::vector<u64>> masks_, still_;  ///< entries that the two tokens inside wait for, by table
  bool compared_ = false, held_ = false, offered_ = false, taken_ = false;
};

}  // namespace sluice
