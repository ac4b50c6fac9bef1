// A region of the plan at work: its levels, the queues between them, and the operations behind each level.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "outcomes.h"
#include "ring.h"

namespace sluice {

/// What answers the requests of an operation: a loop, a unit, a fence, a hazard unit.
class Server {
 public:
  virtual ~Server() = default;
  virtual Fifo& requests() = 0;
  virtual bool response() const = 0;
  virtual void take() = 0;
};

/// A load unit that is part of a level: the level moves only while the unit is ready, and tells it of each step.
class Stepping {
 public:
  virtual ~Stepping() = default;
  virtual bool ready() const = 0;
  /// The place of the access that is given in this step: an address behind that of its buffer and 1, or 0 for none.
  virtual void step(u64 place) = 0;
};

/// rtl_lib/invocation_window.py: tokens enter once those of earlier invocations that they depend on have left.
class InvocationWindow {
 public:
  InvocationWindow(u32 limit, u32 ahead) : limit_(limit), ahead_(ahead) {}
  bool available(bool first) const {
    const u32 behind = entered_ > ahead_ ? entered_ - (ahead_ + 1) : 0;
    const u32 allowed = first ? behind : earlier_ > entered_ ? earlier_ : entered_;
    return inside_ <= allowed && inside_ != limit_;
  }
  void take(bool first) { taking_ = true, first_ = first; }
  void give() { giving_++; }
  void commit() {
    inside_ += static_cast<u32>(taking_) - giving_;
    if (taking_) {
      const u32 most = limit_ + ahead_ + 1, behind = entered_ > ahead_ ? entered_ - (ahead_ + 1) : 0;
      if (first_) earlier_ = behind;
      entered_ = first_ ? 1 : entered_ == most ? most : entered_ + 1;
    }
    taking_ = false, giving_ = 0;
  }

 private:
  const u32 limit_, ahead_;
  u32 inside_ = 0, entered_ = 0, earlier_ = 0, giving_ = 0;
  bool taking_ = false, first_ = false;
};

struct Window {
  Window(Clock& clock, const WindowPlan& of) : plan(of), credits(clock, static_cast<u32>(of.most)),
      tokens(static_cast<u32>(of.most), static_cast<u32>(of.ahead < 0 ? 0 : of.ahead)) {}
  const WindowPlan& plan;
  Credits credits;
  InvocationWindow tokens;

  bool admits(const Token& token) const {
    const bool first = token.first;
    if (!plan.begins(token.row)) return true;
    if (plan.ahead >= 0) return tokens.available(first);
    return credits.available() && (!plan.between || !first || credits.idle());
  }
  void take(const Token& token) {
    if (!plan.begins(token.row)) return;
    plan.ahead >= 0 ? tokens.take(token.first) : credits.take();
  }
  void give() { plan.ahead >= 0 ? tokens.give() : credits.give(); }
  void commit() {
    if (plan.ahead >= 0) tokens.commit();
  }
};

class PlaceTable;

/// A store whose fate a table of a hazard unit learns when a token passes `point`, by a `column` of its row.
struct Told {
  Point point;
  int column;
  PlaceTable* table;
};

class Loop;

/// One level: a token enters, advances a stage every enabled cycle, and leaves into the boundary or the exit.
class Level {
 public:
  Level(Loop& loop, int index);
  void prepare();
  void evaluate();
  void commit();
  void announce(u32 slot) { set_.push_back(slot); }
  /// Whether a token is at the entry that may enter, if ports are free.
  bool wants();
  /// Before the cycle: finds what the calls in passing do in it; false if the record assumed something else of one.
  bool foresee();

  bool may_enter = true;  ///< ports that the level shares with others are free

  const LevelPlan& plan;
  std::unique_ptr<Fifo> bypass;                  ///< past the operations; none behind the last level
  std::vector<Server*> servers;                  ///< of the row
  std::vector<Stepping*> held;                   ///< units of the loads inside
  std::vector<std::unique_ptr<Window>> windows;  ///< that begin with this level
  std::vector<Passing*> passing;                 ///< calls in passing, in program order; before prepare()

 private:
  friend class Loop;
  enum Source { kNothing, kEnter, kDrop };
  /// What happens to a token at a stage.
  struct Event {
    int stage;
    bool decides, again, leaves;
    std::vector<int> asks;        ///< operations of the row
    std::vector<Level*> ready;    ///< levels whose entry it opens for the slot
    std::vector<Window*> gives;
    std::vector<Told> tells;
    std::vector<Passing*> calls;
  };
  bool enabled() const;
  bool blocked(const Event& event, const Token& token) const;
  bool on(const Token& token, size_t operation) const;
  bool peek(Token*& token);
  void take(Token* token);
  bool admits(const Token& token) const;
  bool over(const Token& token) const { return drops_ && !token.first && over_[token.slot]; }
  bool has_room(const Token& token) const;
  Token* enter();
  void drop(Token* token);
  void act(const Event& event, Token* token);
  Token*& at(int stage) {
    const int place = head_ - stage;
    return stages_[static_cast<size_t>(place < 0 ? place + plan.depth : place)];
  }
  Token* at(int stage) const { return const_cast<Level*>(this)->at(stage); }

  Loop& loop_;
  const int index_;
  bool waits_ = false, undecided_ = false, drops_ = false;
  std::vector<Token*> stages_;
  int head_ = 0, inside_ = 0, turn_ = 0;
  std::vector<Event> events_;
  std::vector<bool> ready_, over_;
  std::vector<u32> set_, cleared_, ended_, begun_;
  Token offered_;
  std::unique_ptr<Credits> whole_;  ///< room in the bypass, where groups enter as a whole
  bool begins_ = true;              ///< the next token is the first of a group
};

/// Loop or kernel's top.
class Loop final : public Server {
 public:
  Loop(Clock& clock, const RegionPlan& plan, u32 depth, u32 latency, const Rows& rows)
      : clock_(clock), plan_(plan), rows_(rows), header(clock, plan, depth, latency, rows), exit(clock, plan, header) {
    if (plan.ring) ring = std::make_unique<Ring>(clock, plan, header, rows);
    for (size_t k = 0; k < plan.levels.size(); k++) levels.push_back(std::make_unique<Level>(*this, static_cast<int>(k)));
  }
  Fifo& requests() override { return header.requests; }
  bool response() const override { return ring ? ring->response() : exit.response(); }
  void take() override { ring ? ring->take_result() : exit.take(); }

  void prepare() {
    for (auto& level : levels) level->prepare();
  }
  void offer() {
    if (ring) ring->offer();
  }
  void evaluate() {
    for (auto& level : levels) level->evaluate();
  }
  void commit() {
    if (ring) ring->commit();
    else header.commit();
    for (auto& level : levels) level->commit();
  }

  Token* fresh(const Token& token) {
    if (spare_.empty()) {
      pool_.push_back(std::make_unique<Token>());
      spare_.push_back(pool_.back().get());
    }
    Token* made = spare_.back();
    spare_.pop_back();
    *made = token;
    return made;
  }
  void forget(Token* token) { spare_.push_back(token); }

 private:
  friend class Level;
  Clock& clock_;
  const RegionPlan& plan_;
  const Rows& rows_;
  std::vector<std::unique_ptr<Token>> pool_;
  std::vector<Token*> spare_;

 public:
  std::vector<Told> told;  ///< by hazard units; before prepare()
  Header header;
  Exit exit;
  std::unique_ptr<Ring> ring;  ///< of a barrier loop: in the place of both
  std::vector<std::unique_ptr<Level>> levels;
};

}  // namespace sluice
