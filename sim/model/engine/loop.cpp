#include "hazard.h"

namespace sluice {

Level::Level(Loop& loop, int index)
    : plan(loop.plan_.levels[static_cast<size_t>(index)]), loop_(loop), index_(index), stages_(static_cast<size_t>(plan.depth)) {
  const RegionPlan& region = loop.plan_;
  const auto slots = static_cast<size_t>(region.slots);
  undecided_ = region.speculative && index < region.decide.level;
  drops_ = region.speculative && index == region.decide.level;
  waits_ = plan.ready.level >= 0;
  // where nobody knows which token is the last, the first one of the next invocation waits like any other
  ready_.assign(slots, undecided_);
  over_.assign(slots, false);
  if (plan.bypass_depth)
    bypass = std::make_unique<Fifo>(loop.clock_, static_cast<u32>(plan.bypass_depth), static_cast<u32>(plan.bypass_latency));
  if (plan.whole) whole_ = std::make_unique<Credits>(loop.clock_, static_cast<u32>(plan.bypass_depth));
  for (const WindowPlan& window : plan.windows) windows.push_back(std::make_unique<Window>(loop.clock_, window));
}

/// Collects what happens at each stage, once all levels exist.
void Level::prepare() {
  for (int stage = 0; stage < plan.depth; stage++) {
    const Point here{index_, stage};
    const bool decides = !loop_.ring && here == loop_.plan_.decide, again = !loop_.ring && here == loop_.plan_.again;
    Event event{stage, decides, again, stage == plan.depth - 1, {}, {}, {}, {}, {}};
    for (Passing* call : passing)
      if (call->stage == stage) event.calls.push_back(call);
    for (size_t k = 0; k < plan.row.size(); k++)
      if (plan.row[k].push == stage) event.asks.push_back(static_cast<int>(k));
    for (const auto& level : loop_.levels) {
      if (level->plan.ready == here) event.ready.push_back(level.get());
      for (const auto& window : level->windows)
        if (!window->plan.undecided && window->plan.until == here) event.gives.push_back(window.get());
    }
    for (const Told& told : loop_.told)
      if (told.point == here) event.tells.push_back(told);
    if (!event.tells.empty() || !event.calls.empty() || event.decides || event.again || event.leaves || !event.asks.empty() || !event.ready.empty() || !event.gives.empty())
      events_.push_back(std::move(event));
  }
}

bool Level::on(const Token& token, size_t operation) const {
  const OperationPlan& one = plan.row[operation];
  return one.always || token.row[one.column] != 0;
}

/// Whether a push of this token at this stage finds no room.
bool Level::blocked(const Event& event, const Token& token) const {
  for (const int k : event.asks)
    if (on(token, static_cast<size_t>(k)) && !servers[static_cast<size_t>(k)]->requests().can_push()) return true;
  return event.leaves && bypass && !bypass->can_push();
}

bool Level::enabled() const {
  if (!plan.elastic || !inside_) return true;
  for (const Stepping* unit : held)
    if (!unit->ready()) return false;
  for (const Event& event : events_) {
    const Token* token = at(event.stage);
    if (token && blocked(event, *token)) return false;
  }
  return true;
}

/// The token that waits at the entry, with all the responses that it needs.
bool Level::peek(Token*& token) {
  if (index_ == 0) {
    if (!(loop_.ring ? loop_.ring->peek(offered_) : loop_.header.peek(offered_))) return false;
    token = &offered_;
    return true;
  }
  const Level& before = *loop_.levels[static_cast<size_t>(index_ - 1)];
  if (!before.bypass->head()) return false;
  token = reinterpret_cast<Token*>(before.bypass->front());
  for (size_t k = 0; k < before.servers.size(); k++)
    if (before.plan.row[k].joins && before.on(*token, k) && !before.servers[k]->response()) return false;
  return true;
}

void Level::take(Token* token) {
  if (index_ == 0) {
    if (loop_.ring) loop_.ring->take(*token);
    else loop_.header.take(*token);
    return;
  }
  Level& before = *loop_.levels[static_cast<size_t>(index_ - 1)];
  before.bypass->pop();
  if (before.whole_) before.whole_->give();
  for (size_t k = 0; k < before.servers.size(); k++)
    if (before.plan.row[k].joins && before.on(*token, k)) before.servers[k]->take();
  for (const auto& level : loop_.levels)
    for (const auto& window : level->windows)
      if (window->plan.undecided && window->plan.until.level == index_) window->give();
}

bool Level::has_room(const Token& token) const {
  if (whole_ && begins_ && !whole_->plenty(static_cast<u32>(plan.whole))) return false;
  if (plan.elastic) return events_.empty() || events_.front().stage || !blocked(events_.front(), token);
  if (bypass && !bypass->available()) return false;
  for (Server* server : servers)
    if (!server->requests().available()) return false;
  return true;
}

bool Level::admits(const Token& token) const {
  if (waits_ && (!token.first || undecided_) && !ready_[token.slot]) return false;
  for (const auto& window : windows)
    if (!window->admits(token)) return false;
  return turn_ == 0 && has_room(token);
}

bool Level::wants() {
  Token* token = nullptr;
  return enabled() && peek(token) && !over(*token) && admits(*token);
}

bool Level::foresee() {
  if (passing.empty() || !enabled()) return true;
  Token* entering = nullptr;
  if (!may_enter || !peek(entering) || over(*entering) || !admits(*entering)) entering = nullptr;
  for (Passing* call : passing) {
    const Token* token = call->stage ? at(call->stage) : entering;
    if (token && !call->foresee(token->row)) return false;
  }
  return true;
}

void Level::drop(Token* token) {
  take(token);
  for (const auto& level : loop_.levels)
    for (const auto& window : level->windows)
      if (window->plan.dropped_inside) window->give();
  loop_.forget(token);
}

/// Takes the token at the entry, if it may enter in this cycle.
Token* Level::enter() {
  Token* token = nullptr;
  if (!may_enter || !peek(token) || !admits(*token)) return nullptr;
  take(token);
  if (index_ == 0) token = loop_.fresh(*token);
  if (!plan.elastic) {
    if (bypass) bypass->reserve();
    for (Server* server : servers) server->requests().reserve();
  }
  if (waits_ && (undecided_ || !token->first)) cleared_.push_back(token->slot);
  if (drops_ && token->first) begun_.push_back(token->slot);
  for (const auto& window : windows) window->take(*token);
  if (whole_) whole_->take(), begins_ = token->row[plan.last] != 0;
  return token;
}

void Level::evaluate() {
  bool dropped = false;
  if (drops_) {  // whether or not the level can move
    Token* token = nullptr;
    if (peek(token) && over(*token)) drop(token), dropped = true;
  }
  if (!enabled()) return;
  if (Token* token = dropped ? nullptr : enter()) at(0) = token, inside_++;
  if (plan.spacing > 1) turn_ = turn_ == plan.spacing - 1 ? 0 : turn_ + 1;
  if (!inside_) return;
  for (size_t k = 0; k < held.size(); k++) {
    const Token* token = at(plan.held[k].stage);
    held[k]->step(token ? token->row[plan.held[k].column] : 0);
  }
  for (const Event& event : events_)
    if (Token* token = at(event.stage)) act(event, token);
  loop_.clock_.move();
  head_ = head_ + 1 == plan.depth ? 0 : head_ + 1;
  at(0) = nullptr;
}

void Level::act(const Event& event, Token* token) {
  for (Passing* call : event.calls) call->pass(token->row);
  if (event.decides) {
    token->last = token->row[0] != 0;
    if (token->last) {
      loop_.header.done(token->slot);
      if (drops_) ended_.push_back(token->slot);
    }
  }
  for (const int k : event.asks) {
    const OperationPlan& one = plan.row[static_cast<size_t>(k)];
    Fifo& requests = servers[static_cast<size_t>(k)]->requests();
    if (on(*token, static_cast<size_t>(k))) {
      const u64* cell = token->row + one.column;
      requests.push(one.kind == Kind::kLoop ? *cell : reinterpret_cast<u64>(cell));
    } else if (!plan.elastic) {
      requests.give_back();
    }
  }
  if (event.again && !token->last) loop_.header.again(*token);
  for (Level* level : event.ready)
    if (level->undecided_ || !token->last) level->announce(token->slot);
  for (Window* window : event.gives)
    if (window->plan.ends(token->row)) window->give();
  for (const Told& told : event.tells) told.table->tell(token->row[told.column] != 0);
  if (!event.leaves) return;
  inside_--;
  if (bypass) {
    bypass->push(reinterpret_cast<u64>(token));
  } else {
    if (loop_.ring) loop_.ring->pass(*token);
    else if (token->last) loop_.exit.write(token->entry);
    loop_.forget(token);
  }
}

void Level::commit() {
  for (const auto& window : windows) window->commit();
  if (!set_.empty() || !cleared_.empty()) {
    for (const u32 slot : cleared_) ready_[slot] = false;
    for (const u32 slot : set_) ready_[slot] = true;
    set_.clear(), cleared_.clear();
  }
  if (ended_.empty() && begun_.empty()) return;
  for (const u32 slot : begun_) over_[slot] = false;
  for (const u32 slot : ended_) over_[slot] = true;
  ended_.clear(), begun_.clear();
}

}  // namespace sluice
