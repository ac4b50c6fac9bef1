#include "channel.h"

#include <algorithm>

namespace sluice {

DramChannel::DramChannel(const DramTiming& timing)
    : timing_(timing),
      banks_(timing.banks()),
      group_column_(timing.bank_groups, kLongAgo),
      group_activate_(timing.bank_groups, kLongAgo),
      group_write_(timing.bank_groups, kLongAgo),
      next_refresh_(timing.tREFI) {
  recent_activates_.fill(kLongAgo);
  for (auto& queue : queues_) queue.reserve(timing.queue);
}

uint64_t DramChannel::push(Direction direction, uint64_t address) {
  uint64_t index = address / timing_.burst_bytes();
  const int group = static_cast<int>(index % timing_.bank_groups);
  index /= timing_.bank_groups;
  index /= timing_.bursts_per_row();
  const int bank = static_cast<int>(index % timing_.banks_per_group) * timing_.bank_groups + group;
  const int64_t row = static_cast<int64_t>(index / timing_.banks_per_group);

  const uint64_t sequence = next_sequence_[direction]++;
  queues_[direction].push_back({sequence, bank, group, row});
  banks_[bank].pending[direction]++;
  if (banks_[bank].row == row) banks_[bank].pending_hits[direction]++;
  wake_ = 0;
  return sequence;
}

void DramChannel::advance(Tick now, std::vector<Finished>& finished) {
  while (done_ < now) {
    const Tick next = std::max(done_ + 1, std::min(wake_, now + 1));
    done_ = std::min(next, now);
    if (next <= now) tick(next, finished);
  }
}

void DramChannel::tick(Tick now, std::vector<Finished>& finished) {
  wake_ = kNever;
  if (refresh(now)) return;
  choose_direction();
  const bool column = issue_column(now, finished);
  const bool row = issue_row(now);
  if (column || row) wake_ = now + 1;
}

/// Closes all banks when a refresh is due and blocks all commands until tRFC is over.
bool DramChannel::refresh(Tick now) {
  if (refresh_ == Refresh::kIdle) {
    if (!due(next_refresh_, now)) return false;
    refresh_ = Refresh::kClosing;
  }
  if (refresh_ == Refresh::kClosing) {
    for (auto& bank : banks_) {
      if (bank.row != kClosed && !due(precharge_ready(bank), now)) return true;
    }
    for (size_t bank = 0; bank < banks_.size(); bank++) {
      if (banks_[bank].row != kClosed) precharge(now, static_cast<int>(bank));
    }
    refresh_ = Refresh::kRunning;
    refresh_end_ = now + timing_.tRP + timing_.tRFC;
    next_refresh_ += timing_.tREFI;
    counts_.refreshes++;
    note(Command::kRefresh, now + timing_.tRP, -1, kClosed);
  }
  if (!due(refresh_end_, now)) return true;
  refresh_ = Refresh::kIdle;
  due(next_refresh_, now);
  return false;
}

void DramChannel::choose_direction() {
  const Direction other = direction_ == kRead ? kWrite : kRead;
  if (queues_[other].empty()) return;
  if (queues_[direction_].empty() || batch_count_ >= timing_.batch) {
    direction_ = other;
    batch_count_ = 0;
    counts_.turnarounds++;
  }
}

bool DramChannel::capped(const Bank& bank, Direction direction) const {
  return bank.hits >= timing_.row_hit_cap && bank.pending[direction] > bank.pending_hits[direction];
}

bool DramChannel::issue_column(Tick now, std::vector<Finished>& finished) {
  auto& queue = queues_[direction_];
  if (queue.empty() || !due(column_bus_ready(direction_), now)) return false;
  const auto chosen = std::find_if(queue.begin(), queue.end(), [&](const Request& request) {
    const Bank& bank = banks_[request.bank];
    return bank.row == request.row && !capped(bank, direction_) && due(column_ready(request, direction_), now);
  });
  if (chosen == queue.end()) return false;

  Bank& bank = banks_[chosen->bank];
  bank.hits++;
  bank.pending[direction_]--;
  bank.pending_hits[direction_]--;
  last_column_ = group_column_[chosen->group] = now;
  batch_count_++;
  Tick when = now + timing_.CL + timing_.burst_ticks();
  if (direction_ == kRead) {
    last_read_ = bank.last_read = now;
    counts_.reads++;
    note(Command::kRead, now, chosen->bank, chosen->row);
  } else {
    last_write_ = group_write_[chosen->group] = now;
    when = bank.write_end = now + timing_.CWL + timing_.burst_ticks();
    counts_.writes++;
    note(Command::kWrite, now, chosen->bank, chosen->row);
  }
  finished.push_back({direction_, chosen->sequence, when});
  queue.erase(chosen);
  return true;
}

bool DramChannel::issue_row(Tick now) {
  uint32_t banks_seen = 0;
  const Direction other = direction_ == kRead ? kWrite : kRead;
  return issue_row(now, direction_, banks_seen) || issue_row(now, other, banks_seen);
}

/// The oldest burst for each bank decides which row command that bank needs; `banks_seen` are decided already.
bool DramChannel::issue_row(Tick now, Direction direction, uint32_t& banks_seen) {
  const uint32_t all = static_cast<uint32_t>((uint64_t{1} << banks_.size()) - 1);
  for (const Request& request : queues_[direction]) {
    if (banks_seen == all) return false;
    const uint32_t bit = uint32_t{1} << request.bank;
    const Bank& bank = banks_[request.bank];
    if (banks_seen & bit) continue;
    // A row that has reached its cap is closed for the oldest burst to another row.
    if (bank.row == request.row && capped(bank, direction)) continue;
    banks_seen |= bit;
    if (bank.row != request.row && open_or_close(now, request, direction)) return true;
  }
  return false;
}

bool DramChannel::open_or_close(Tick now, const Request& request, Direction direction) {
  const Bank& bank = banks_[request.bank];
  if (bank.row == kClosed) {
    if (!due(activate_ready(request), now)) return false;
    activate(now, request);
    return true;
  }
  const bool still_wanted = bank.pending_hits[direction] > 0 && !capped(bank, direction);
  if (still_wanted || !due(precharge_ready(bank), now)) return false;
  precharge(now, request.bank);
  return true;
}

void DramChannel::activate(Tick now, const Request& request) {
  Bank& bank = banks_[request.bank];
  bank.row = request.row;
  bank.hits = 0;
  bank.activated = last_activate_ = group_activate_[request.group] = now;
  for (const Direction direction : {kRead, kWrite}) {
    bank.pending_hits[direction] = static_cast<int>(
        std::count_if(queues_[direction].begin(), queues_[direction].end(), [&](const Request& queued) {
          return queued.bank == request.bank && queued.row == request.row;
        }));
  }
  recent_activates_[oldest_activate_] = now;
  oldest_activate_ = (oldest_activate_ + 1) % static_cast<int>(recent_activates_.size());
  counts_.activates++;
  note(Command::kActivate, now, request.bank, request.row);
}

void DramChannel::precharge(Tick now, int bank) {
  note(Command::kPrecharge, now, bank, banks_[bank].row);
  banks_[bank].row = kClosed;
  banks_[bank].pending_hits = {0, 0};
  banks_[bank].precharged = now;
  counts_.precharges++;
}

/// Constraints that hold across banks: spacing of column commands and the turnaround from reading to writing.
Tick DramChannel::column_bus_ready(Direction direction) const {
  const Tick spacing = last_column_ + timing_.tCCD_S;
  if (direction == kRead) return std::max(spacing, last_write_ + timing_.CWL + timing_.burst_ticks() + timing_.tWTR_S);
  return std::max(spacing,
                  last_read_ + timing_.CL + timing_.burst_ticks() + DramTiming::kTurnaround - timing_.CWL);
}

Tick DramChannel::column_ready(const Request& request, Direction direction) const {
  const Tick ready =
      std::max(banks_[request.bank].activated + timing_.tRCD, group_column_[request.group] + timing_.tCCD_L);
  if (direction == kWrite) return ready;
  return std::max(ready, group_write_[request.group] + timing_.CWL + timing_.burst_ticks() + timing_.tWTR_L);
}

Tick DramChannel::activate_ready(const Request& request) const {
  return std::max({banks_[request.bank].precharged + timing_.tRP, last_activate_ + timing_.tRRD_S,
                   group_activate_[request.group] + timing_.tRRD_L,
                   recent_activates_[oldest_activate_] + timing_.tFAW});
}

Tick DramChannel::precharge_ready(const Bank& bank) const {
  return std::max({bank.activated + timing_.tRAS, bank.last_read + timing_.tRTP, bank.write_end + timing_.tWR});
}

}  // namespace sluice
