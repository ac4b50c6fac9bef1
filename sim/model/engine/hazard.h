// Run-time comparison of accesses with earlier stores: rtl_lib/lsu/{hazard,store_finder}.py.
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "loop.h"
#include "place_table.h"

namespace sluice {

/// What compares the places that tokens access with those of stores in flight. A request is the row's cells: of each access
/// the place plus 1, 0 if it is off; those that ask first, then the stores.
class Comparison : public Server {
 public:
  Comparison(Clock& clock, const HazardPlan& plan, const OperationPlan& operation)
      : clock_(clock), plan_(plan), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)) {
    for (const StoresPlan& stores : plan.stores) {
      if (stores.per_word) tables.push_back(std::make_unique<WordTable>(stores));
      else tables.push_back(std::make_unique<StoreTable>(stores));
    }
  }
  Fifo& requests() override { return requests_; }
  bool response() const override { return offered_; }
  void take() override { taken_ = true, clock_.move(); }
  /// Whether a token waits for stores to come to memory.
  virtual bool waits() const = 0;
  /// The end of a cycle, when it is known whether the response was taken.
  virtual void commit() = 0;
  /// The record was written once more: what was completed in it is to be completed again.
  virtual void complete_again() {}

  std::vector<std::unique_ptr<PlaceTable>> tables;  ///< of each store

 protected:
  bool room() const {
    return std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table->room(); });
  }
  u64 place(const u64* cells, size_t number) const {
    return (plan_.bases[number] + cells[number] - 1) >> plan_.inside;
  }

  Clock& clock_;
  const HazardPlan& plan_;
  Fifo requests_;
  bool offered_ = false, taken_ = false;
};

/// Passes tokens in program order, each when no store of an earlier token that is in flight has a place that it compares.
class HazardUnit final : public Comparison {
 public:
  HazardUnit(Clock& clock, const HazardPlan& plan, const OperationPlan& operation)
      : Comparison(clock, plan, operation), masks_(tables.size()), still_(tables.size()) {}
  bool waits() const override {
    return held_ && std::any_of(still_.begin(), still_.end(), [](const auto& rest) { return !rest.empty(); });
  }
  void commit() override {
    const bool leaves = held_ && !waits() && (!offered_ || taken_);
    const bool moves = compared_ && (!held_ || leaves);
    const bool takes = requests_.head() && (!compared_ || moves) && room();
    for (size_t k = 0; k < tables.size(); k++) {
      keep(k, masks_[k]);
      if (moves) still_[k] = masks_[k];
      else keep(k, still_[k]);
    }
    if (takes) accept();
    for (const auto& table : tables) table->commit();
    if (compared_ || held_ || takes) clock_.move();
    offered_ = leaves || (offered_ && !taken_);
    held_ = moves || (held_ && !leaves);
    compared_ = takes || (compared_ && !moves);
    taken_ = false;
  }

 private:
  void keep(size_t table, std::vector<u64>& entries) const {
    entries.erase(std::remove_if(entries.begin(), entries.end(), [&](u64 one) { return !tables[table]->occupied(one); }),
                  entries.end());
  }
  void accept() {
    const u64* cells = reinterpret_cast<const u64*>(requests_.pop());
    std::vector<u64> places;
    for (size_t k = 0; k < tables.size(); k++) {
      places.clear();
      for (size_t n = 0; n < plan_.asks.size(); n++)
        if (cells[n] && plan_.asks[n] >> k & 1) places.push_back(place(cells, n));
      tables[k]->match(places, masks_[k]);
      tables[k]->ask(places);
    }
    for (size_t k = 0; k < tables.size(); k++)
      if (cells[plan_.asks.size() + k]) tables[k]->enter(place(cells, plan_.asks.size() + k));
  }

  std::vector<std::vector<u64>> masks_, still_;  ///< entries that the two tokens inside wait for, by table
  bool compared_ = false, held_ = false;
};

/// Tells each token, two cycles later, which stores in flight wrote the places that it reads: completes its row, as the
/// emulator finds no store in flight.
class StoreFinder final : public Comparison {
 public:
  using Comparison::Comparison;
  bool waits() const override { return requests_.head() && !room(); }
  void complete_again() override {
    for (const auto& [cell, number] : completed_) *cell = number;
  }
  void commit() override {
    const bool goes = !offered_ || taken_, takes = requests_.head() && goes && room();
    if (takes) accept();
    for (const auto& table : tables) table->commit();
    if (goes) offered_ = compared_, compared_ = takes;
    if (compared_ || takes) clock_.move();
    taken_ = false;
  }

 private:
  /// The newest store to a place.
  struct Newest {
    size_t table;
    u64 entry, slot;
  };
  void accept() {
    u64* cells = reinterpret_cast<u64*>(requests_.pop());
    u64* row = cells - plan_.column;
    size_t answer = 0;
    for (size_t n = 0; n < plan_.asks.size(); n++) {
      const auto found = cells[n] ? newest_.find(place(cells, n)) : newest_.end();
      for (size_t k = 0; k < tables.size(); k++) {
        if (!(plan_.asks[n] >> k & 1)) continue;
        const bool hit = found != newest_.end() && found->second.table == k && tables[k]->occupied(found->second.entry);
        if (hit) {
          for (const int load : plan_.answers[answer].loads) complete(row + load, 0);
          for (const int slot : plan_.answers[answer].slots) complete(row + slot, found->second.slot + 1);
        }
        answer++;
      }
    }
    for (size_t k = 0; k < tables.size(); k++) {
      const bool stores = cells[plan_.asks.size() + k] != 0;
      const u64 to = stores ? place(cells, plan_.asks.size() + k) : 0, slot = tables[k]->slot(to);
      for (const int cell : plan_.answers[answer + k].slots) complete(row + cell, slot + 1);
      if (!stores) continue;
      newest_[to] = {k, tables[k]->at(to), slot};
      tables[k]->enter(to);
    }
  }

  void complete(u64* cell, u64 number) {
    *cell = number;
    completed_.push_back({cell, number});
    if (completed_.size() > kRemembered) completed_.pop_front();
  }

  static constexpr size_t kRemembered = 1 << 16;  ///< more than the tokens inside have
  std::unordered_map<u64, Newest> newest_;
  std::deque<std::pair<u64*, u64>> completed_;
  bool compared_ = false;
};

}  // namespace sluice
