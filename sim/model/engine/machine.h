// A kernel's whole machine: its loops, its units, and the memory behind them.
#pragma once
#include <memory>
#include <vector>

#include "hazard.h"
#include "loop.h"
#include "memory.h"

namespace sluice {

/// What a run of the machine showed of one loop.
struct LoopFigures {
  u64 iterations, invocations;
  u64 busy, starts;  ///< cycles in which it was running, and stretches of them
};

class Machine {
 public:
  /// `records` are the rows of each loop in the record; `bases` the address of each unit's buffer.
  Machine(const MachinePlan& plan, const std::vector<Rows>& records, const u64* bases, const Board* board, u64 age);
  /// Runs the launch; the cycles from the top's entry to the end, 0 if nothing moves for a long time, or after `limit`.
  u64 run(u64 limit);
  LoopFigures figures(size_t region) const;
  /// Cycles in which an innermost loop, or a kernel without loops, issued.
  u64 issued() const { return issued_; }
  const Memory& memory() const { return memory_; }

 private:
  Loop* build(size_t region, u32 depth, u32 latency);
  Server* server(const OperationPlan& plan);
  /// Tells hazard units of stores, and units of hazard units, once all exist.
  void connect();
  /// Stores that come to memory leave the tables, and what loads keep may be older.
  void retire();

  static constexpr u64 kIdle = 1 << 20;  ///< cycles without any movement that are a deadlock
  const MachinePlan& plan_;
  const std::vector<Rows>& records_;
  Clock clock_;
  Memory memory_;
  std::vector<std::unique_ptr<Comparison>> hazards_;
  /// A store whose unit reports to a table of a hazard unit when it is in memory.
  struct Watched {
    StoreUnit* store;
    Comparison* hazard;
    PlaceTable* table;
    const std::vector<u64>* loads;
  };
  std::vector<Watched> watched_;
  std::vector<std::unique_ptr<Loop>> loops_;  ///< by region
  std::vector<const Header*> innermost_;
  u64 issued_ = 0;
};

}  // namespace sluice
