// The machine of one kernel: its loops, its units, and its calls on channels.
#pragma once
#include <memory>
#include <vector>

#include "booking.h"
#include "channel.h"
#include "dispatcher.h"
#include "hazard.h"
#include "loop.h"
#include "meeting.h"
#include "memory.h"
#include "module.h"

namespace sluice {

/// What a run of the machine showed of one loop.
struct LoopFigures {
  u64 iterations, invocations;
  u64 busy, starts;  ///< cycles in which it was running, and stretches of them
};

class Machine {
 public:
  /// `records` are the rows of each loop in the record; `bases` the address of each unit's buffer; the kernel's first row
  /// comes in cycle `start`. A compute unit gets its rows from the `dispatcher` that its launch has.
  Machine(const MachinePlan& plan, std::vector<Rows> records, Outcomes* outcomes, const u64* bases, Clock& clock, Memory& memory,
          const std::vector<std::unique_ptr<Channel>>& channels, u64 start, Dispatcher* dispatcher);
  /// The record as it is now.
  void renew(const std::vector<Rows>& records);
  /// One cycle, in this order: what is on offer; what calls in passing do, as often as the record assumes something else; the
  /// loops; the calls, once all have been offered; after the memory.
  void prepare();
  bool foresee();
  void evaluate();
  void offer() const;
  void call();
  void commit();
  /// Whether the kernel has ended. To be asked as the next cycle begins.
  bool ended();

  LoopFigures figures(size_t region) const;
  const KernelUnits& units() const { return units_; }

  u64 issued = 0;  ///< cycles in which an innermost loop, or a kernel without loops, issued
  u64 cycles = 0;  ///< from the first row to the end; 0 before that

 private:
  Loop* build(size_t region, u32 depth, u32 latency);
  Server* server(const OperationPlan& plan);
  Server* call(const OperationPlan& plan);
  Server* meeting(const OperationPlan& plan);
  /// Tells hazard units of stores, and units of hazard units, once all exist.
  void connect();
  /// The rows that begin in this cycle.
  void begin();
  /// Takes what leaves the top; whether nothing is inside, and nothing will come.
  bool passed();
  /// Stores that come to memory leave the tables, and what loads keep may be older.
  void retire();
  void renew();

  const MachinePlan& plan_;
  std::vector<Rows> records_;
  Outcomes* const outcomes_;
  Clock& clock_;
  Memory& memory_;
  const std::vector<std::unique_ptr<Channel>>& channels_;
  const u64 start_;
  Dispatcher* const dispatcher_;
  size_t unit_ = 0;   ///< its number among those of the dispatcher
  u64 finished_ = 0;  ///< rows of the top that have ended
  KernelUnits units_;
  std::vector<std::unique_ptr<Comparison>> hazards_;
  /// A store whose unit reports to a table of a hazard unit when it is in memory.
  struct Watched {
    StoreUnit* store;
    Comparison* hazard;
    PlaceTable* table;
    const std::vector<u64>* loads;
  };
  std::vector<Watched> watched_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::unique_ptr<PassingCall>> passing_;
  std::vector<Level*> passed_;  ///< levels with such calls
  std::vector<std::unique_ptr<Meeting>> meetings_;
  std::vector<std::unique_ptr<WaitingModule>> modules_;
  std::vector<std::unique_ptr<Booking>> bookings_;
  std::vector<std::unique_ptr<CallGroup>> groups_;
  std::vector<std::unique_ptr<Loop>> loops_;  ///< by region
  std::vector<const Header*> innermost_;
};

}  // namespace sluice
