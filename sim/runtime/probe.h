// Counts what the design's output `probe` shows: events, cycle accounts, and who waits for whom.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "depths.h"
#include "pin.h"

namespace sluice {

/// Counters of bits that are sampled together, kept bit-sliced: plane p has bit p of the counts of all 64 bits of a
/// word, so that a cycle costs two operations a plane for 64 counters (a carry-save adder).
class SlicedCounts {
 public:
  explicit SlicedCounts(size_t words) : planes_(words), totals_(64 * words) {}
  size_t words() const { return planes_.size(); }
  void add(size_t word, uint64_t bits);
  /// To be called once after the words of a cycle.
  void end_cycle() {
    if (++pending_ == kMost) flush();
  }
  void flush();
  void clear();
  /// Valid after flush().
  const std::vector<uint64_t>& totals() const { return totals_; }

 private:
  static constexpr unsigned kPlanes = 8, kMost = (1u << kPlanes) - 1;
  std::vector<std::array<uint64_t, kPlanes>> planes_;
  std::vector<uint64_t> totals_;
  unsigned pending_ = 0;
};

/// Sums over intervals of equal length. When there are `most`, neighbours are merged: the length doubles.
class Intervals {
 public:
  enum class Merge : uint8_t { kSum, kGreater, kLess };  ///< what two values of a column become

  static constexpr uint64_t kShortest = 64;  ///< cycles

  void begin(size_t most, std::vector<Merge> columns);
  bool enabled() const { return most_ != 0; }
  /// Counts a cycle; returns whether an interval has ended, and its row is to be added.
  bool tick() { return enabled() && ++inside_ == length_; }
  void add(const std::vector<uint64_t>& row);
  uint64_t length() const { return length_; }
  uint64_t unfinished() const { return inside_; }
  size_t columns() const { return columns_.size(); }
  const std::vector<uint32_t>& data() const { return data_; }

 private:
  void merge();

  size_t most_ = 0;
  uint64_t length_ = kShortest, inside_ = 0;
  std::vector<Merge> columns_;
  std::vector<uint32_t> data_;  ///< row after row
};

/// One compute unit of a kernel.
class ProbeUnit {
 public:
  static constexpr int kNone = -1;  ///< no account: the unit is idle

  ProbeUnit(size_t at, size_t events, size_t causes, bool issues, bool autorun);

  void add_hold(size_t bit) { holds_.push_back(bit), clear(0); }
  void add_level(size_t word) { levels_.push_back(word), clear(0); }
  void add_link(size_t account, int other) { links_[account] = other; }
  void sample_rows(size_t most) { most_rows_ = most, clear(0); }

  void sample(const uint8_t* data, uint64_t cycle);
  int account() const { return account_; }
  /// The cycle from which on the account has been the same.
  uint64_t since() const { return since_; }
  /// The unit at the other end of the channel that the account waits for: kNoUnit if it does not wait for a channel.
  int waits_for() const { return account_ < 0 ? kNoUnit : links_[account_]; }
  void blame(const std::vector<int>& path, int account);

  void write_counts(std::ostream& out);
  void write_held(std::ostream& out) const;
  void write_blame(std::ostream& out) const;
  void write_samples(const std::string& path, std::ostream& out);

  static constexpr int kNoUnit = -1, kBoard = -2;  ///< kBoard: a stream of the board

 private:
  using Blamed = std::tuple<int, int, int>;  ///< account of this unit, unit at the end of the chain, its account
  struct Chain {
    uint64_t cycles = 0;
    std::vector<int> path;  ///< units on the way, of the first such cycle
  };

  void clear(uint64_t cycle);
  void count(const uint8_t* data);
  int find_account(const uint8_t* data) const;
  void count_holds(const uint8_t* data);
  void note_levels(const uint8_t* data);
  void begin_levels();
  void end_interval();
  std::vector<uint64_t> columns_now();
  uint64_t word(const uint8_t* data, size_t index) const {
    uint64_t value;
    std::memcpy(&value, data + 8 * (at_ + index), sizeof value);
    return value;
  }

  const size_t at_;  ///< first word of the section
  const size_t events_, causes_, event_words_, cause_words_;
  const bool issues_, autorun_;
  SlicedCounts counts_;
  std::vector<uint64_t> accounts_;  ///< one for each cause, and the cycles without one
  uint64_t between_ = 0;            ///< those of the latter that an issue followed
  std::vector<size_t> holds_;       ///< bits of the whole probe
  std::vector<uint64_t> held_;      ///< accounts x holds
  std::vector<size_t> levels_;      ///< words of the whole probe
  std::vector<uint64_t> level_now_, level_most_, level_sum_;
  std::vector<uint64_t> level_high_, level_low_;  ///< of the interval
  std::vector<int> links_;
  std::map<Blamed, Chain> blame_;
  uint64_t cycles_ = 0, began_ = 0, since_ = 0;
  int account_ = kNone;
  size_t most_rows_ = 0;
  Intervals intervals_;
  std::vector<uint64_t> before_;  ///< columns at the end of the last interval
};

class Probe {
 public:
  explicit Probe(Pin pin) : pin_(pin) {}
  explicit operator bool() const { return !units_.empty(); }
  void add_unit(size_t at, size_t events, size_t causes, bool issues, bool autorun);
  ProbeUnit& unit(size_t number);
  void add_replay(DepthReplay replay) { replays_.push_back(std::move(replay)); }
  /// That of a channel for which one was added, in the order in which they were.
  const DepthReplay& replay(size_t number) const { return replays_.at(number); }
  /// Called once a cycle, before the clock edge.
  void sample(uint64_t cycle);

 private:
  void follow(size_t number);

  Pin pin_;
  std::vector<ProbeUnit> units_;
  std::vector<int> path_;
  std::vector<DepthReplay> replays_;
};

}  // namespace sluice
