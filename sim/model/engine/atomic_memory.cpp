#include "atomic_memory.h"

#include <algorithm>

namespace sluice {
namespace {

/// The place of a word: all bits of its number, folded to those of a place.
u64 folded(u64 word) {
  u64 place = 0;
  for (; word; word >>= 8) place ^= word & 255;
  return place;
}

}  // namespace

AtomicStep AtomicLookup::pop() {
  const AtomicStep step = steps.front();
  steps.pop_front();
  queue.pop();
  return step;
}

bool AtomicLookup::step(const AtomicStep& next, bool gone) {
  const bool may_read = !blocked_ && (departing_.size() < kLeaving || !replaces_);
  const bool fetches = !here_ && may_read && reads.can_push() && wanted.available();
  const bool fires = done_.valid && queue.can_push() && (here_ || fetches);
  if (fires) {
    done_.miss = !here_, done_.leaves = !here_ && replaces_;
    if (done_.miss) {
      reads.push(done_.word);
      wanted.take();
      if (replaces_) departing_.push_back(key(old_, done_.place));
      table_[done_.place] = done_.word;
    }
    steps.push_back(done_);
    queue.push(0);
  }
  const bool moves = !done_.valid || fires;
  const AtomicStep& compared = moves ? found_ : done_;
  blocked_ = std::find(departing_.begin(), departing_.end(), key(compared.word, compared.place)) != departing_.end();
  if (gone) departing_.pop_front();
  if (!moves) return false;
  const auto entry = table_.find(found_.place);
  replaces_ = entry != table_.end();
  here_ = replaces_ && entry->second == found_.word;
  old_ = replaces_ ? entry->second : 0;
  done_ = found_, found_ = asked_, asked_ = next;
  return true;
}

void AtomicMemory::evaluate() {
  if (offered_ || sent_ || !sends() || !owners_.can_push()) return;
  offered_ = true;
  bursts.push(packed({places_[kept_.place].word, 1}));
  WriteUnit::words.push(places_[kept_.place].word);
}

/// What enters the first stage: the oldest changed word, or an operation, unless one ahead is about to change what it reads.
AtomicStep AtomicMemory::begin(bool hold, bool clean) {
  const bool cleans = clean && dirty_.head();
  if (!cleans && (!lookup_.queue.head() || hold)) return {};
  AtomicStep next;
  if (cleans) next.place = dirty_.front(), next.clean = true;
  else next = lookup_.steps.front();
  bool free = true, filled = true;
  for (const AtomicStep* ahead : {&read_, &kept_, &now_}) {
    const bool same = ahead->valid && ahead->place == next.place;
    free = free && !same, filled = filled && !(same && ahead->miss);
  }
  if (cleans) {
    next.valid = free;
    if (free) dirty_.pop();
    return next;
  }
  next.valid = next.miss ? free && !(read_.valid && read_.miss) : filled;
  if (next.valid) lookup_.pop();
  return next;
}

void AtomicMemory::compute(const AtomicStep& done) {
  Place& place = places_[done.place];
  if (done.clean) {
    place.changed = place.listed = false;
    return;
  }
  units_[done.unit]->answer();
  if (done.miss) fills_.pop(), lookup_.wanted.give(), place.word = done.word, place.changed = false;
  if (!units_[done.unit]->changes) return;
  fresh_ = !place.listed;
  if (fresh_) dirty_.push(done.place);
  place.changed = place.listed = true;
}

const AtomicStep* AtomicMemory::move(bool hold, bool clean) {
  const bool sends = this->sends(), sent = offered_ && bursts.drained() && WriteUnit::words.drained();
  const bool waits = kept_.valid && kept_.miss && !fills_.head();
  const bool go = !waits && (!sends || sent_ || sent);
  if (acked_) owners_.pop();
  if (sent) owners_.push(0), sent_words_++, offered_ = false;
  sent_ = !go && (sent_ || sent);
  gone_ = marks_.head() && arrived_ >= marks_.front();
  if (gone_) marks_.pop();
  if (!go) return nullptr;
  if (kept_.valid && kept_.leaves) marks_.push(sent_words_);
  const AtomicStep next = begin(hold, clean);
  moved_ = now_;
  if (moved_.valid) compute(moved_);
  now_ = kept_, kept_ = read_, read_ = next;
  return moved_.valid ? &moved_ : nullptr;
}

/// Accepts the next request in rotation; whether there was one.
bool AtomicMemory::merge(bool open) {
  size_t chosen = units_.size();
  for (size_t n = 0; n < units_.size() && chosen == units_.size(); n++) {
    const size_t one = (last_ + n + !standing_) % units_.size();
    if (units_[one]->offers()) chosen = one;
    else if (standing_) break;
  }
  if (!open || chosen == units_.size()) {
    standing_ = false;
    return false;
  }
  last_ = chosen;
  standing_ = !cut_.can_push();
  if (standing_) return false;
  AtomicStep step;
  step.valid = true, step.unit = chosen, step.word = units_[chosen]->accept(), step.place = folded(step.word);
  merged_.push_back(step);
  cut_.push(0);
  return true;
}

/// How long changed words have waited, and how long nothing has come.
void AtomicMemory::pace(bool settled, bool empty, bool cleans) {
  const bool waiting = std::any_of(units_.begin(), units_.end(), [](const AtomicUnit* unit) { return unit->waits(); });
  overdue_ = age_ == kLongest - 1 ? changed_ - cleaned_ : overdue_ - (cleans && overdue_);
  age_ = settled ? 0 : (age_ + 1) % kLongest;
  quiet_ = !empty || waiting ? 0 : std::min(quiet_ + 1, kPatience);
}

void AtomicMemory::commit() {
  const bool was_settled = settled(), empty = under_way_ == 0, was_stale = stale_;
  const u64 changed = changed_, cleaned = cleaned_, sent = sent_words_, arrived = arrived_;
  bool fenced = false, flushed = false;
  for (AtomicUnit* unit : units_) fenced = unit->fenced() || fenced, flushed = unit->flushed() || flushed;
  const bool clean = fenced || (was_stale && empty) || quiet_ == kPatience || overdue_ != 0;
  fresh_ = false;
  const AtomicStep* done = move(fenced, clean);
  const bool answers = done && !done->clean, cleans = done && done->clean;
  pace(was_settled, empty, cleans);
  const AtomicStep next = cut_.head() && !lookup_.busy() ? merged_.front() : AtomicStep{};
  if (lookup_.step(next, gone_) && next.valid) merged_.pop_front(), cut_.pop();
  const bool accepted = merge(!was_stale && !flushed);
  for (size_t k = 0; k < units_.size(); k++) {
    const bool mine = answers && done->unit == k && units_[k]->changes;
    units_[k]->answer_fence(was_settled);
    units_[k]->note_owed(mine, changed + fresh_, cleaned, sent, arrived);
  }
  lookup_.commit();
  if (was_stale && empty && was_settled) lookup_.forget(), stale_ = false;
  if (flushed) stale_ = true;
  under_way_ += accepted, under_way_ -= answers;
  changed_ += fresh_, cleaned_ += cleans, arrived_ += acked_;
  acked_ = false;
  if (under_way_ || !was_settled) clock_.move();
}

}  // namespace sluice
