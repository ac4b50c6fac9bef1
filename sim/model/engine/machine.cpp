#include "machine.h"

namespace sluice {

Machine::Machine(const MachinePlan& plan, const std::vector<Rows>& records, const u64* bases, const Board* board, u64 age)
    : plan_(plan), records_(records), memory_(clock_, plan, bases, board, age), loops_(plan.regions.size()) {
  build(0, 1, 1);
  memory_.connect();
  connect();
  for (const auto& loop : loops_) loop->prepare();
}

void Machine::connect() {
  for (size_t k = 0; k < hazards_.size(); k++)
    for (size_t n = 0; n < plan_.hazards[k].stores.size(); n++) {
      const StoresPlan& stores = plan_.hazards[k].stores[n];
      PlaceTable* table = hazards_[k]->tables[n].get();
      loops_[static_cast<size_t>(stores.region)]->told.push_back({stores.point, stores.column, table});
      if (stores.unit < 0) continue;
      watched_.push_back({memory_.store(static_cast<u64>(stores.unit)), hazards_[k].get(), table, &plan_.hazards[k].loads});
    }
}

void Machine::retire() {
  for (const Watched& one : watched_) {
    if (!one.store->retired()) continue;
    one.table->retire(one.store->retired());
    for (const u64 load : *one.loads) memory_.load(load)->flush();
  }
}

Loop* Machine::build(size_t region, u32 depth, u32 latency) {
  const RegionPlan& plan = plan_.regions[region];
  loops_[region] = std::make_unique<Loop>(clock_, plan, depth, latency, records_[static_cast<size_t>(plan.record)]);
  Loop* loop = loops_[region].get();
  for (const auto& level : loop->levels)
    for (const OperationPlan& one : level->plan.row) level->servers.push_back(server(one));
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
  if (plan.kind == Kind::kFence) return memory_.fence(plan);
  return memory_.unit(plan);
}

u64 Machine::run(u64 limit) {
  Loop& top = *loops_[0];
  top.requests().push(1);  // the first row
  bool finished = false;
  while (!finished || !memory_.idle()) {
    for (const auto& loop : loops_) loop->evaluate();
    for (const Watched& one : watched_) one.store->hurry = false;
    for (const Watched& one : watched_) one.store->hurry = one.store->hurry || one.hazard->waits();
    memory_.evaluate();
    for (const Header* header : innermost_)
      if (header->issued && header->last_issue == clock_.now) {
        issued_++;
        break;
      }
    for (const auto& loop : loops_) loop->commit();
    memory_.commit();
    retire();
    for (const auto& hazard : hazards_) hazard->commit();
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
