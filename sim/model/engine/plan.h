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

enum class Kind { kLoop, kAccess, kFence, kHazard, kCall, kMeet, kModule };

struct RegionPlan;

struct OperationPlan {
  Kind kind;
  int push, depth, latency;
  bool joins;
  bool always;              ///< a request is made for every token
  int column;               ///< in the rows of the record
  int number;               ///< of the loop among the regions, or of the unit
};

/// A load inside a level, whose unit may hold it: where its address is given, and its column in the rows of the record.
struct HeldPlan {
  int stage, column, number;
};

struct WindowPlan {
  Point until;
  int most;
  bool undecided, between, dropped_inside;
  int ahead;  ///< -1: does not compare numbers of tokens
  /// Of groups: the column that says whether a token is the first of its group, behind which stands whether it is the last; else -1.
  int group;
  bool begins(const u64* row) const { return group < 0 || row[group] != 0; }
  bool ends(const u64* row) const { return group < 0 || row[group + 1] != 0; }
};

struct LevelPlan {
  int depth;
  bool elastic;
  int bypass_depth, bypass_latency;
  Point ready;
  int spacing;
  int whole, last;  ///< tokens of a group, all of which must have room, else 0; column of the last of a group
  std::vector<WindowPlan> windows;
  std::vector<OperationPlan> row;
  std::vector<HeldPlan> held;
};

struct RegionPlan {
  int record;  ///< number of the loop in the record
  int slots, entries;
  bool speculative;
  bool apart;  ///< invocations are not interleaved
  int exit_latency;
  Point decide, again;
  int again_delay;
  int ring;  ///< of a barrier loop: groups inside at most, else 0
  bool overtaking;
  int returned_latency, result_latency;
  std::vector<LevelPlan> levels;
};

struct UnitPlan {
  bool store;
  int lanes;  ///< of an access of several adjacent elements, else 0
  bool descending, counted, constant;
  int word_bytes, depth, pending;
  int kept;  ///< words: of a cache, or those that stores join at a time
  bool reads_ahead, next_word, pipelined;
  int outstanding, patience, align;
  int ahead;   ///< of a load inside a level: words that it requests ahead; of a constant: words of a block; else 0
  int atomic;  ///< 1 of an atomic operation, 2 of one that changes nothing, else 0
  bool registered;  ///< of a cached load: its lookup takes a cycle more
  u64 shared;  ///< the number of the cache that several loads share, else 0
};

/// The stores that a hazard unit watches at one operation, whose fate is known at a point of a region, by a column of its
/// rows. `port`: a port of memory on the chip, where a store that is made is in memory in the next cycle; `unit`: of the
/// store among the units, else -1. `on_chip`: what is compared are slots, which are written by then. `per_word`: places in
/// a word if the table keeps them by words, else 0.
struct StoresPlan {
  int entries, per_word;
  bool certain, port, on_chip;
  int unit;
  int region;
  Point point;
  int column;
};

/// What an answer of a finder says of a row: the columns of loads that are not made if it is a hit, and of places in slots.
struct AnswerPlan {
  std::vector<int> loads, slots;
};

struct HazardPlan {
  bool finds;
  int column;               ///< of the first access in the rows
  int inside;               ///< bits of an address within the largest access
  std::vector<u64> asks;    ///< for each access that waits, a bit for each of the stores
  std::vector<u64> bases;   ///< addresses of the buffers of these accesses, and of the stores
  std::vector<StoresPlan> stores;
  std::vector<u64> loads;             ///< units that wait for the hazard
  std::vector<AnswerPlan> answers;    ///< of a finder: of each access and store it asks for, then the slot of each store
};

/// A fence waits for the stores of units, and makes others forget what they loaded; `pending` may be under way.
struct FencePlan {
  int pending;
  std::vector<u64> stores, loads;
};

/// A call on an end of a channel, the number of which is `channel`; `group` has the calls that are served in rotation, in the
/// order of `turn`. `loads` forget what they keep after it.
struct CallPlan {
  u64 channel;
  bool writes, answers;
  int group, turn;
  int outcomes;  ///< of a call that does not block: the number of its place among those of the record; else -1
  std::vector<u64> loads;
};

/// A call that is made in the cycle in which its token passes a stage; it has its end of the channel to itself.
struct PassingPlan {
  u64 channel;
  bool writes;
  int region;
  Point point;
  int column, outcomes;
};

/// A barrier, and the number of the fence that complete groups wait for; -1: none.
struct MeetPlan {
  int fence;
};

/// A module that waits: cycles from operands to result, and the most operands inside of it.
struct ModulePlan {
  u64 latency, capacity;
};

/// Ports that tokens of several levels use, so many cycles after they enter. Reservations reach `length` cycles ahead.
struct BookingPlan {
  struct Use {
    int port, cycle;
    bool operator==(const Use& other) const { return port == other.port && cycle == other.cycle; }
  };
  struct User {
    int region, level, ahead, spacing;
    std::vector<Use> uses;
  };
  int length;
  std::vector<User> users;
};

/// A kernel of several compute units: the region of which an invocation has the work-items of a group; 0: the top itself, as a
/// group is one work-item. `settling` are the cycles from the start to the first row. -1: it has one unit. `outcomes`: the number
/// of their units among those of the record, if the kernel asks for them, else -1.
struct GroupsPlan {
  int region, settling, outcomes;
};

struct MachinePlan {
  GroupsPlan groups;
  std::vector<UnitPlan> units;
  std::vector<FencePlan> fences;
  std::vector<HazardPlan> hazards;
  std::vector<CallPlan> calls;
  std::vector<PassingPlan> passing;
  std::vector<MeetPlan> meets;
  std::vector<ModulePlan> modules;
  std::vector<BookingPlan> bookings;
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
    read(w.until), read(w.most), read(w.undecided), read(w.between), read(w.dropped_inside), read(w.ahead), read(w.group);
  }
  void read(OperationPlan& o) {
    read(o.kind), read(o.push), read(o.depth), read(o.latency), read(o.joins), read(o.always), read(o.column), read(o.number);
  }
  void read(HeldPlan& h) { read(h.stage), read(h.column), read(h.number); }
  void read(LevelPlan& l) {
    read(l.depth), read(l.elastic), read(l.bypass_depth), read(l.bypass_latency), read(l.ready), read(l.spacing), read(l.whole), read(l.last);
    read(l.windows), read(l.row), read(l.held);
  }
  void read(RegionPlan& r) {
    read(r.record), read(r.slots), read(r.entries), read(r.speculative), read(r.apart), read(r.exit_latency), read(r.decide), read(r.again);
    read(r.again_delay), read(r.ring), read(r.overtaking), read(r.returned_latency), read(r.result_latency), read(r.levels);
  }
  void read(UnitPlan& u) {
    read(u.store), read(u.lanes), read(u.descending), read(u.counted), read(u.constant), read(u.word_bytes), read(u.depth), read(u.pending), read(u.kept), read(u.reads_ahead), read(u.next_word), read(u.pipelined);
    read(u.outstanding), read(u.patience), read(u.align), read(u.ahead), read(u.atomic), read(u.registered), read(u.shared);
  }
  void read(StoresPlan& s) {
    read(s.entries), read(s.per_word), read(s.certain), read(s.port), read(s.on_chip), read(s.unit), read(s.region);
    read(s.point), read(s.column);
  }
  void read(AnswerPlan& a) { read(a.loads), read(a.slots); }
  void read(HazardPlan& h) {
    read(h.finds), read(h.column), read(h.inside), read(h.asks), read(h.bases), read(h.stores), read(h.loads), read(h.answers);
  }
  void read(CallPlan& c) {
    read(c.channel), read(c.writes), read(c.answers), read(c.group), read(c.turn), read(c.outcomes), read(c.loads);
  }
  void read(PassingPlan& p) {
    read(p.channel), read(p.writes), read(p.region), read(p.point), read(p.column), read(p.outcomes);
  }
  void read(FencePlan& f) { read(f.pending), read(f.stores), read(f.loads); }
  template <class T>
  void read(std::vector<T>& list) {
    list.resize(static_cast<size_t>(number()));
    for (T& one : list) read(one);
  }
  void read(MeetPlan& m) { read(m.fence); }
  void read(ModulePlan& m) { read(m.latency), read(m.capacity); }
  void read(BookingPlan::Use& u) { read(u.port), read(u.cycle); }
  void read(BookingPlan::User& u) { read(u.region), read(u.level), read(u.ahead), read(u.spacing), read(u.uses); }
  void read(BookingPlan& b) { read(b.length), read(b.users); }
  void read(GroupsPlan& g) { read(g.region), read(g.settling), read(g.outcomes); }
  void read(MachinePlan& m) {
    read(m.groups), read(m.units), read(m.fences), read(m.hazards), read(m.calls), read(m.passing), read(m.meets), read(m.modules), read(m.bookings), read(m.regions);
  }

 private:
  const int64_t* next_;
};

}  // namespace sluice
