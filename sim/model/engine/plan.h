// The machine of a kernel as numbers, written by hls/model/replay/machine.py in the order of the fields here.
#pragma once
#include <vector>

#include "fifo.h"

namespace sluice {

/// Level and stage; level -1: none.
struct Point {
  int level = -1, stage = 0;
  bool operator==(const Point& other) const { return level == other.level && stage == other.stage; }
};

enum class Kind { kLoop, kAccess, kFence, kHazard };

struct RegionPlan;

struct OperationPlan {
  Kind kind;
  int push, depth, latency;
  bool joins;
  int column;               ///< in the rows of the record
  int number;               ///< of the loop among the regions, or of the unit
};

struct WindowPlan {
  Point until;
  int most;
  bool undecided, between, dropped_inside;
  int ahead;  ///< -1: does not compare numbers of tokens
};

struct LevelPlan {
  int depth;
  bool elastic;
  int bypass_depth, bypass_latency;
  Point ready;
  int spacing;
  std::vector<WindowPlan> windows;
  std::vector<OperationPlan> row;
};

struct RegionPlan {
  int record;  ///< number of the loop in the record
  int slots, entries;
  bool speculative;
  int exit_latency;
  Point decide, again;
  int again_delay;
  std::vector<LevelPlan> levels;
};

struct UnitPlan {
  bool store;
  int word_bytes, depth, pending, kept;
  bool reads_ahead, pipelined;
  int outstanding, patience, align;
};

/// The stores that a hazard unit watches at one operation, whose fate is known at a point of a region, by a column of its
/// rows. `port`: a port of memory on the chip, where a store that is made is in memory in the next cycle.
struct StoresPlan {
  int entries;
  bool certain, port;
  int region;
  Point point;
  int column;
};

struct HazardPlan {
  int inside;               ///< bits of an address within the largest access
  std::vector<u64> asks;    ///< for each access that waits, a bit for each of the stores
  std::vector<u64> bases;   ///< addresses of the buffers of these accesses, and of the stores
  std::vector<StoresPlan> stores;
};

/// A fence waits for the stores of units, and makes others forget what they loaded; `pending` may be under way.
struct FencePlan {
  int pending;
  std::vector<u64> stores, loads;
};

struct MachinePlan {
  std::vector<UnitPlan> units;
  std::vector<FencePlan> fences;
  std::vector<HazardPlan> hazards;
  std::vector<RegionPlan> regions;  ///< the first is the kernel's top
};

/// Reads numbers one after the other.
class Reader {
 public:
  explicit Reader(const int64_t* numbers) : next_(numbers) {}
  int64_t number() { return *next_++; }
  template <class T>
  void read(T& field) {
    field = static_cast<T>(number());
  }
  void read(Point& point) { read(point.level), read(point.stage); }
  void read(WindowPlan& w) {
    read(w.until), read(w.most), read(w.undecided), read(w.between), read(w.dropped_inside), read(w.ahead);
  }
  void read(OperationPlan& o) {
    read(o.kind), read(o.push), read(o.depth), read(o.latency), read(o.joins), read(o.column), read(o.number);
  }
  void read(LevelPlan& l) {
    read(l.depth), read(l.elastic), read(l.bypass_depth), read(l.bypass_latency), read(l.ready), read(l.spacing);
    read(l.windows), read(l.row);
  }
  void read(RegionPlan& r) {
    read(r.record), read(r.slots), read(r.entries), read(r.speculative), read(r.exit_latency), read(r.decide), read(r.again);
    read(r.again_delay), read(r.levels);
  }
  void read(UnitPlan& u) {
    read(u.store), read(u.word_bytes), read(u.depth), read(u.pending), read(u.kept), read(u.reads_ahead), read(u.pipelined);
    read(u.outstanding), read(u.patience), read(u.align);
  }
  void read(StoresPlan& s) {
    read(s.entries), read(s.certain), read(s.port), read(s.region), read(s.point), read(s.column);
  }
  void read(HazardPlan& h) { read(h.inside), read(h.asks), read(h.bases), read(h.stores); }
  void read(FencePlan& f) { read(f.pending), read(f.stores), read(f.loads); }
  template <class T>
  void read(std::vector<T>& list) {
    list.resize(static_cast<size_t>(number()));
    for (T& one : list) read(one);
  }
  void read(MachinePlan& m) { read(m.units), read(m.fences), read(m.hazards), read(m.regions); }

 private:
  const int64_t* next_;
};

}  // namespace sluice
