#include "probe.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>

namespace sluice {

namespace {

constexpr size_t kBits = 64;
constexpr uint64_t kBusy = 1, kStart = 2;

size_t words_of(size_t bits) { return (bits + kBits - 1) / kBits; }

bool bit_of(const uint8_t* data, size_t bit) { return data[bit / 8] >> (bit % 8) & 1; }

}  // namespace

void SlicedCounts::add(size_t word, uint64_t bits) {
  for (uint64_t& plane : planes_[word]) {
    if (!bits) return;
    const uint64_t carry = plane & bits;
    plane ^= bits;
    bits = carry;
  }
}

void SlicedCounts::flush() {
  for (size_t word = 0; word < planes_.size(); word++) {
    for (unsigned p = 0; p < kPlanes; p++) {
      for (uint64_t left = planes_[word][p]; left; left &= left - 1) {
        totals_[kBits * word + static_cast<size_t>(__builtin_ctzll(left))] += uint64_t{1} << p;
      }
    }
    planes_[word].fill(0);
  }
  pending_ = 0;
}

void SlicedCounts::clear() {
  for (auto& planes : planes_) planes.fill(0);
  std::fill(totals_.begin(), totals_.end(), 0);
  pending_ = 0;
}

void Intervals::begin(size_t most, std::vector<Merge> columns) {
  most_ = most, columns_ = std::move(columns);
  length_ = kShortest, inside_ = 0;
  data_.clear();
}

void Intervals::add(const std::vector<uint64_t>& row) {
  for (const uint64_t value : row) data_.push_back(static_cast<uint32_t>(value));
  inside_ = 0;
  if (data_.size() == most_ * columns()) merge();
}

void Intervals::merge() {
  const size_t width = columns();
  for (size_t row = 0; row + 1 < most_; row += 2) {
    for (size_t k = 0; k < width; k++) {
      const uint32_t one = data_[row * width + k], two = data_[(row + 1) * width + k];
      uint32_t& both = data_[row / 2 * width + k];
      switch (columns_[k]) {
        case Merge::kSum: both = one + two; break;
        case Merge::kGreater: both = std::max(one, two); break;
        case Merge::kLess: both = std::min(one, two); break;
      }
    }
  }
  data_.resize(most_ / 2 * width);
  length_ *= 2;
}

ProbeUnit::ProbeUnit(size_t at, size_t events, size_t causes, bool issues, bool autorun)
    : at_(at / kBits),
      events_(events),
      causes_(causes),
      event_words_(words_of(events)),
      cause_words_(words_of(causes)),
      issues_(issues),
      autorun_(autorun),
      counts_(event_words_),
      links_(causes + 1, kNoUnit) {
  clear(0);
}

void ProbeUnit::clear(uint64_t cycle) {
  counts_.clear();
  accounts_.assign(causes_ + 1, 0);
  held_.assign((causes_ + 1) * holds_.size(), 0);
  level_now_.resize(levels_.size());
  level_most_.assign(levels_.size(), 0), level_sum_.assign(levels_.size(), 0);
  begin_levels();
  blame_.clear();
  between_ = cycles_ = 0;
  began_ = cycle + 1;
  std::vector<Intervals::Merge> columns(events_ + causes_ + 1 + levels_.size(), Intervals::Merge::kSum);
  before_.assign(columns.size(), 0);
  columns.insert(columns.end(), levels_.size(), Intervals::Merge::kGreater);
  columns.insert(columns.end(), levels_.size(), Intervals::Merge::kLess);
  intervals_.begin(most_rows_, std::move(columns));
}

void ProbeUnit::begin_levels() {
  level_high_.assign(levels_.size(), 0), level_low_.assign(levels_.size(), std::numeric_limits<uint64_t>::max());
}

void ProbeUnit::sample(const uint8_t* data, uint64_t cycle) {
  const uint64_t flags = word(data, 0);
  const int before = account_;
  account_ = kNone;
  if (flags & kStart && !(autorun_ && cycles_)) {
    clear(cycle);
    note_levels(data);  // the maximum includes this cycle
    std::fill(level_sum_.begin(), level_sum_.end(), 0);
    level_high_ = level_low_ = level_now_;
  }
  for (size_t k = 0; k < levels_.size(); k++) std::memcpy(&level_now_[k], data + 8 * levels_[k], 8);
  if (flags & kBusy) count(data);
  if (account_ != before) since_ = cycle;
}

void ProbeUnit::count(const uint8_t* data) {
  cycles_++;
  for (size_t k = 0; k < event_words_; k++) counts_.add(k, word(data, 1 + k));
  counts_.end_cycle();
  account_ = find_account(data);
  if (issues_ && account_ == 0) between_ = accounts_[causes_];
  accounts_[static_cast<size_t>(account_)]++;
  count_holds(data);
  note_levels(data);
  if (intervals_.tick()) end_interval();
}

int ProbeUnit::find_account(const uint8_t* data) const {
  for (size_t k = 0; k < cause_words_; k++) {
    const uint64_t causes = word(data, 1 + event_words_ + k);
    if (causes) return static_cast<int>(kBits * k) + __builtin_ctzll(causes);
  }
  return static_cast<int>(causes_);
}

void ProbeUnit::count_holds(const uint8_t* data) {
  uint64_t* const row = held_.data() + static_cast<size_t>(account_) * holds_.size();
  for (size_t k = 0; k < holds_.size(); k++) row[k] += bit_of(data, holds_[k]);
}

void ProbeUnit::note_levels(const uint8_t* data) {
  for (size_t k = 0; k < levels_.size(); k++) {
    std::memcpy(&level_now_[k], data + 8 * levels_[k], 8);
    level_most_[k] = std::max(level_most_[k], level_now_[k]);
    level_high_[k] = std::max(level_high_[k], level_now_[k]);
    level_low_[k] = std::min(level_low_[k], level_now_[k]);
    level_sum_[k] += level_now_[k];
  }
}

std::vector<uint64_t> ProbeUnit::columns_now() {
  counts_.flush();
  std::vector<uint64_t> now(counts_.totals().begin(), counts_.totals().begin() + static_cast<long>(events_));
  now.insert(now.end(), accounts_.begin(), accounts_.end());
  now.insert(now.end(), level_sum_.begin(), level_sum_.end());
  return now;
}

void ProbeUnit::end_interval() {
  std::vector<uint64_t> row = columns_now();
  for (size_t k = 0; k < row.size(); k++) std::swap(row[k], before_[k]), row[k] = before_[k] - row[k];
  row.insert(row.end(), level_high_.begin(), level_high_.end());
  row.insert(row.end(), level_low_.begin(), level_low_.end());
  begin_levels();
  intervals_.add(row);
}

void ProbeUnit::blame(const std::vector<int>& path, int account) {
  Chain& chain = blame_[{account_, path.back(), account}];
  if (!chain.cycles++) chain.path = path;
}

/// CYCLES, the events, the accounts (the cycles without a cause apart: before an issue, and after the last one), then of
/// each level: now, the most, the sum over the cycles.
void ProbeUnit::write_counts(std::ostream& out) {
  counts_.flush();
  out << cycles_;
  for (size_t k = 0; k < events_; k++) out << ' ' << counts_.totals()[k];
  for (size_t k = 0; k < causes_; k++) out << ' ' << accounts_[k];
  out << ' ' << between_ << ' ' << accounts_[causes_] - between_;
  for (size_t k = 0; k < levels_.size(); k++) out << ' ' << level_now_[k] << ' ' << level_most_[k] << ' ' << level_sum_[k];
}

void ProbeUnit::write_held(std::ostream& out) const {
  for (size_t k = 0; k < held_.size(); k++) {
    if (held_[k]) out << ' ' << k / holds_.size() << ':' << k % holds_.size() << ':' << held_[k];
  }
}

void ProbeUnit::write_blame(std::ostream& out) const {
  for (const auto& [key, chain] : blame_) {
    out << ' ' << std::get<0>(key) << ':' << std::get<2>(key) << ':' << chain.cycles << ':';
    for (size_t k = 0; k < chain.path.size(); k++) out << (k ? "," : "") << chain.path[k];
  }
}

/// The rows so far as 32-bit numbers, and a last one for the interval that has not ended.
void ProbeUnit::write_samples(const std::string& path, std::ostream& out) {
  std::vector<uint32_t> rows = intervals_.data();
  const uint64_t rest = intervals_.unfinished();
  if (rest) {
    const std::vector<uint64_t> now = columns_now();
    for (size_t k = 0; k < now.size(); k++) rows.push_back(static_cast<uint32_t>(now[k] - before_[k]));
    for (const uint64_t high : level_high_) rows.push_back(static_cast<uint32_t>(high));
    for (const uint64_t low : level_low_) rows.push_back(static_cast<uint32_t>(low));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file || std::fwrite(rows.data(), sizeof rows[0], rows.size(), file.get()) != rows.size()) {
    throw std::runtime_error("cannot write samples to " + path);
  }
  out << ' ' << began_ << ' ' << intervals_.length() << ' ' << rest << ' ' << intervals_.columns();
}

void Probe::add_unit(size_t at, size_t events, size_t causes, bool issues, bool autorun) {
  if (!pin_) throw std::runtime_error("the design has no port probe");
  if (8 * (at / kBits + 1 + words_of(events) + words_of(causes)) > pin_.bytes()) {
    throw std::runtime_error("the port probe is narrower than its map says");
  }
  units_.emplace_back(at, events, causes, issues, autorun);
}

ProbeUnit& Probe::unit(size_t number) {
  if (number >= units_.size()) throw std::runtime_error("the probe has no such unit");
  return units_[number];
}

void Probe::sample(uint64_t cycle) {
  const uint8_t* const data = pin_.data();
  for (ProbeUnit& unit : units_) unit.sample(data, cycle);
  for (DepthReplay& replay : replays_) replay.sample(data, cycle);
  for (size_t k = 0; k < units_.size(); k++) {
    if (units_[k].waits_for() != ProbeUnit::kNoUnit) follow(k);
  }
}

/// From a unit that waits for a channel to the one at its other end, until one that does not wait for a channel.
void Probe::follow(size_t number) {
  path_.clear();
  int at = static_cast<int>(number);
  while (true) {
    const int next = units_[static_cast<size_t>(at)].waits_for();
    if (next == ProbeUnit::kNoUnit) break;
    const bool again = next == static_cast<int>(number) || std::find(path_.begin(), path_.end(), next) != path_.end();
    path_.push_back(next);
    at = next;
    if (next == ProbeUnit::kBoard || again) {
      units_[number].blame(path_, ProbeUnit::kNone - 1 - again);
      return;
    }
  }
  units_[number].blame(path_, units_[static_cast<size_t>(at)].account());
}

}  // namespace sluice
