// Channels between kernels, and the calls on them: rtl_lib/channel.py.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "loop.h"

namespace sluice {

/// What a channel is built of: `depth` values, 0 for wires; `held` are in it as the run begins. `board`: a stream of the
/// board, which writes (1) or reads (2) a value in each cycle; else 0.
struct ChannelPlan {
  u64 depth, latency, held, board;
};

class CallGroup;

/// A FIFO, or wires. Values are not modelled: calls are made whatever the values are.
class Channel {
 public:
  Channel(Clock& clock, const ChannelPlan& plan) : fifo_(clock, static_cast<u32>(plan.depth ? plan.depth : 1), static_cast<u32>(plan.latency)), wires_(!plan.depth), board_(plan.board) {
    for (u64 k = 0; k < plan.held; k++) fifo_.put();
    commit();
  }
  /// Each end: the calls that can use it in this cycle are known before any is made.
  bool can_write() const { return wires_ ? reads_ : fifo_.can_push(); }
  bool can_read() const { return wires_ ? writes_ : fifo_.head(); }
  void offer(bool writes) { (writes ? writes_ : reads_) = true; }
  void pass(bool writes) {
    if (wires_) return;
    if (writes) fifo_.push(0);
    else fifo_.pop();
  }
  /// The board's end.
  void serve() {
    if (wires_) return;
    if (board_ == kWrites && fifo_.can_push()) fifo_.push(0);
    if (board_ == kReads && fifo_.head()) fifo_.pop();
  }
  void commit() { reads_ = board_ == kReads, writes_ = board_ == kWrites; }
  u64 held() const { return wires_ ? 0 : fifo_.level(); }

 private:
  enum Board { kNone, kWrites, kReads };
  Fifo fifo_;
  const bool wires_;
  const u64 board_;
  bool reads_ = false, writes_ = false;  ///< an end that is ready in this cycle, for wires
};

/// A call in passing.
class PassingCall final : public Passing {
 public:
  PassingCall(Channel& channel, const PassingPlan& plan, Outcomes* outcomes)
      : channel_(channel), plan_(plan), outcomes_(outcomes[plan.outcomes]) {
    stage = plan.point.stage;
  }
  bool foresee(const u64* row) override {
    const u64 number = row[plan_.column];
    return !number || outcomes_.settle(number, plan_.writes ? channel_.can_write() : channel_.can_read());
  }
  void pass(const u64* row) override {
    const u64 number = row[plan_.column];
    if (number && outcomes_.happens(number)) channel_.pass(plan_.writes);
  }

 private:
  Channel& channel_;
  const PassingPlan& plan_;
  Outcomes& outcomes_;
};

/// One call: its requests, and its answers if it has any.
class Call final : public Server {
 public:
  Call(Clock& clock, const CallPlan& plan, const OperationPlan& operation, Outcomes* outcomes)
      : plan(plan), column(operation.column), clock_(clock), outcomes_(plan.outcomes < 0 ? nullptr : outcomes + plan.outcomes), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        answers_(clock, 2, 1) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return !plan.answers || answers_.head(); }
  void take() override {
    if (plan.answers) answers_.pop();
  }
  /// Whether a request is on offer that could be answered, and whether it moves a value.
  bool ready() const { return requests_.head() && (!plan.answers || answers_.can_push()); }
  bool on() const { return number() != 0; }
  bool blocks() const { return !outcomes_; }
  /// Of a call that does not block: whether it transfers a value is known.
  void settle(bool happens) {
    if (!outcomes_->settle(number(), happens)) clock_.corrected = clock_.now;
  }
  void answer() {
    requests_.pop();
    if (plan.answers) answers_.push(0);
  }

  const CallPlan& plan;
  const int column;
  bool made = false, renews = false;  ///< in this cycle, and in the one before

 private:
  u64 number() const { return *reinterpret_cast<const u64*>(requests_.front()); }

  Clock& clock_;
  Outcomes* const outcomes_;
  Fifo requests_, answers_;
};

/// The calls of one region on one end of a channel, which are served in rotation.
class CallGroup {
 public:
  CallGroup(Channel& channel, bool writes) : channel_(channel), writes_(writes) {}
  void add(Call* call) { calls_.push_back(call); }
  void order() {
    std::sort(calls_.begin(), calls_.end(), [](const Call* a, const Call* b) { return a->plan.turn < b->plan.turn; });
  }
  const std::vector<Call*>& calls() const { return calls_; }
  /// Before any call is made: this end waits for the other.
  void offer() {
    if (calls_[turn_]->ready() && calls_[turn_]->on()) channel_.offer(writes_);
  }
  void evaluate() {
    Call* call = calls_[turn_];
    if (!call->ready()) return;
    const bool on = call->on(), can = on && (writes_ ? channel_.can_write() : channel_.can_read());
    if (on && !can && call->blocks()) return;
    if (can) channel_.pass(writes_);
    if (on && !call->blocks()) call->settle(can);
    call->answer();
    call->made = true;
    turn_ = turn_ + 1 == calls_.size() ? 0 : turn_ + 1;
  }

 private:
  Channel& channel_;
  const bool writes_;
  std::vector<Call*> calls_;
  size_t turn_ = 0;
};

}  // namespace sluice
