#include "machine.h"

namespace sluice {

Machine::Machine(const MachinePlan& plan, const std::vector<Rows>& records, const u64* bases, const Board* board, u64 age)
    : plan_(plan), records_(records), memory_(clock_, plan, bases, board, age), loops_(plan.regions.size()) {
  build(0, 1, 1);
}

Loop* Machine::build(size_t region, u32 depth, u32 latency) {
  const RegionPlan& plan = plan_.regions[region];
  loops_[region] = std::make_unique<Loop>(clock_, plan, depth, latency, records_[static_cast<size_t>(plan.record)]);
  Loop* loop = loops_[region].get();
  for (const auto& level : loop->levels)
    for (const OperationPlan& one : level->plan.row) level->servers.push_back(server(one));
  loop->prepare();
  bool innermost = true;
  for (const auto& level : loop->levels)
    for (const OperationPlan& one : level->plan.row) innermost = innermost && one.kind != Kind::kLoop;
  if (innermost) innermost_.push_back(&loop->header);
  return loop;
}

Server* Machine::server(const OperationPlan& plan) {
  const auto number = static_cast<size_t>(plan.number);
  if (plan.kind == Kind::kLoop) return build(number, static_cast<u32>(plan.depth), static_cast<u32>(plan.latency));
  return memory_.unit(plan);
}

u64 Machine::run(u64 limit) {
  Loop& top = *loops_[0];
  top.requests().push(1);  // the first row
  bool finished = false;
  while (!finished || !memory_.idle()) {
    for (const auto& loop : loops_) loop->evaluate();
    memory_.evaluate();
    for (const Header* header : innermost_)
      if (header->issued && header->last_issue == clock_.now) {
        issued_++;
        break;
      }
    for (const auto& loop : loops_) loop->commit();
    memory_.commit();
    clock_.now++;
    if (top.response()) {
      top.take();
      finished = true;
    }
    if (finished) memory_.end();
    if (clock_.now - clock_.moved > kIdle || clock_.now > limit) return 0;
  }
  return clock_.now - 1;
}

LoopFigures Machine::figures(size_t region) const {
  const Header& header = loops_[region]->header;
  return {header.issued, header.started, header.busy, header.starts};
}

}  // namespace sluice
