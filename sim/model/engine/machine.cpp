#include "machine.h"

#include <algorithm>

namespace sluice {

Machine::Machine(const MachinePlan& plan, std::vector<Rows> records, Outcomes* outcomes, const u64* bases, Clock& clock, Memory& memory,
                 const std::vector<std::unique_ptr<Channel>>& channels, u64 start, Dispatcher* dispatcher)
    : plan_(plan), records_(std::move(records)), outcomes_(outcomes), clock_(clock), memory_(memory), channels_(channels), start_(start), dispatcher_(dispatcher),
      units_(plan, bases), loops_(plan.regions.size()) {
  build(0, dispatcher ? 2 : 1, 1);
  if (dispatcher) unit_ = dispatcher->add(&loops_[0]->requests());
  units_.connect();
  for (const auto& group : groups_) group->order();
  connect();
  for (const PassingPlan& call : plan.passing) {
    passing_.push_back(std::make_unique<PassingCall>(*channels_[call.channel], call, outcomes));
    Level* level = loops_[static_cast<size_t>(call.region)]->levels[static_cast<size_t>(call.point.level)].get();
    level->passing.push_back(passing_.back().get());
    if (std::find(passed_.begin(), passed_.end(), level) == passed_.end()) passed_.push_back(level);
  }
  for (const auto& loop : loops_) loop->prepare();
  for (const BookingPlan& booking : plan.bookings) bookings_.push_back(std::make_unique<Booking>(booking, loops_));
}

void Machine::connect() {
  for (size_t k = 0; k < hazards_.size(); k++)
    for (size_t n = 0; n < plan_.hazards[k].stores.size(); n++) {
      const StoresPlan& stores = plan_.hazards[k].stores[n];
      PlaceTable* table = hazards_[k]->tables[n].get();
      loops_[static_cast<size_t>(stores.region)]->told.push_back({stores.point, stores.column, table});
      if (stores.unit < 0) continue;
      watched_.push_back({units_.stores[static_cast<size_t>(stores.unit)], hazards_[k].get(), table, &plan_.hazards[k].loads});
    }
}

void Machine::retire() {
  for (const Watched& one : watched_) {
    if (!one.store->retired()) continue;
    one.table->retire(one.store->retired());
    for (const u64 load : *one.loads) units_.loads[load]->flush();
  }
}

Loop* Machine::build(size_t region, u32 depth, u32 latency) {
  const RegionPlan& plan = plan_.regions[region];
  loops_[region] = std::make_unique<Loop>(clock_, plan, depth, latency, records_[static_cast<size_t>(plan.record)]);
  Loop* loop = loops_[region].get();
  for (const auto& level : loop->levels) {
    for (const OperationPlan& one : level->plan.row) level->servers.push_back(server(one));
    for (const HeldPlan& one : level->plan.held) level->held.push_back(memory_.stepping(units_, one));
  }
  bool innermost = true;
  for (const auto& level : loop->levels)
    for (const OperationPlan& one : level->plan.row) innermost = innermost && one.kind != Kind::kLoop;
  if (innermost) innermost_.push_back(&loop->header);
  return loop;
}

Server* Machine::server(const OperationPlan& plan) {
  const auto number = static_cast<size_t>(plan.number);
  if (plan.kind == Kind::kLoop) return build(number, static_cast<u32>(plan.depth), static_cast<u32>(plan.latency));
  if (plan.kind == Kind::kHazard) {
    hazards_.resize(plan_.hazards.size());
    const HazardPlan& hazard = plan_.hazards[number];
    if (hazard.finds) hazards_[number] = std::make_unique<StoreFinder>(clock_, hazard, plan);
    else hazards_[number] = std::make_unique<HazardUnit>(clock_, hazard, plan);
    return hazards_[number].get();
  }
  if (plan.kind == Kind::kFence) return memory_.fence(units_, plan);
  if (plan.kind == Kind::kCall) return call(plan);
  if (plan.kind == Kind::kMeet) return meeting(plan);
  if (plan.kind == Kind::kModule) {
    modules_.push_back(std::make_unique<WaitingModule>(clock_, plan_.modules[number], plan));
    return modules_.back().get();
  }
  return memory_.unit(units_, plan);
}

Server* Machine::call(const OperationPlan& plan) {
  const CallPlan& call = plan_.calls[static_cast<size_t>(plan.number)];
  calls_.push_back(std::make_unique<Call>(clock_, call, plan, outcomes_));
  const auto group = static_cast<size_t>(call.group);
  if (groups_.size() <= group) groups_.resize(group + 1);
  if (!groups_[group]) groups_[group] = std::make_unique<CallGroup>(*channels_[call.channel], call.writes);
  groups_[group]->add(calls_.back().get());
  return calls_.back().get();
}

Server* Machine::meeting(const OperationPlan& plan) {
  meetings_.push_back(std::make_unique<Meeting>(clock_, plan));
  OperationPlan asking = plan;
  asking.number = plan_.meets[static_cast<size_t>(plan.number)].fence;
  if (asking.number >= 0) meetings_.back()->wait_for(memory_.fence(units_, asking));
  return meetings_.back().get();
}

/// Groups are given by the first of several units, also in the cycles in which these wait for arguments.
void Machine::begin() {
  if (!dispatcher_) {
    if (clock_.now == start_) loops_[0]->requests().push(1);
    return;
  }
  if (unit_ || clock_.now < start_) return;
  const int steps = clock_.now == start_ ? plan_.groups.settling : 1;
  for (int k = 0; k < steps; k++) dispatcher_->evaluate();
}

void Machine::renew(const std::vector<Rows>& records) {
  std::copy(records.begin(), records.end(), records_.begin());  // loops refer to them
  for (const auto& hazard : hazards_) hazard->complete_again();
}

void Machine::prepare() {
  begin();
  for (const auto& loop : loops_) loop->offer();
  for (const auto& booking : bookings_) booking->evaluate();
}

bool Machine::foresee() {
  return std::all_of(passed_.begin(), passed_.end(), [](Level* level) { return level->foresee(); });
}

void Machine::evaluate() {
  for (const auto& loop : loops_) loop->evaluate();
  for (const auto& meeting : meetings_) meeting->evaluate();
  for (const auto& module : modules_) module->evaluate();
  if (dispatcher_) {
    Header& header = loops_[static_cast<size_t>(plan_.groups.region)]->header;
    const bool enters = plan_.groups.region ? header.ended : header.last_issue == clock_.now;
    if (enters) dispatcher_->entered(unit_);
    header.ended = false;
  }
  for (const Watched& one : watched_) one.store->hurry = false;
  for (const Watched& one : watched_) one.store->hurry = one.store->hurry || one.hazard->waits();
  for (const Header* header : innermost_)
    if (header->issued && header->last_issue == clock_.now) {
      issued++;
      break;
    }
}

void Machine::offer() const {
  for (const auto& group : groups_) group->offer();
}

void Machine::call() {
  for (const auto& group : groups_) group->evaluate();
}

void Machine::commit() {
  for (const auto& loop : loops_) loop->commit();
  retire();
  renew();
  for (const auto& hazard : hazards_) hazard->commit();
}

/// Loads forget what they keep one cycle after a call that other kernels may have written for.
void Machine::renew() {
  for (const auto& call : calls_) {
    if (call->renews)
      for (const u64 load : call->plan.loads) units_.loads[load]->flush();
    call->renews = call->made;
    call->made = false;
  }
}

bool Machine::ended() {
  if (cycles) return true;
  if (!passed()) return false;
  const bool sent = std::all_of(calls_.begin(), calls_.end(), [](const auto& call) { return call->requests().empty(); });
  units_.end(sent);
  if (!sent || !units_.idle()) return false;
  cycles = clock_.now - start_;
  return true;
}

bool Machine::passed() {
  if (loops_[0]->response()) {
    loops_[0]->take();
    finished_++;
  }
  if (dispatcher_) return clock_.now > start_ && dispatcher_->empty() && finished_ == loops_[0]->header.issued;
  return finished_ != 0;
}

LoopFigures Machine::figures(size_t region) const {
  const Header& header = loops_[region]->header;
  return {header.issued, header.started, header.busy, header.starts};
}

}  // namespace sluice
