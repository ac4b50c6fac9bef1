// A small random generator: reproducible on every machine, unlike the standard distributions.
#pragma once
#include <cstdint>

namespace sluice {

class Random {
 public:
  explicit Random(uint64_t seed = 0) : state_(seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du) {}

  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>(state_ >> 32);
  }
  uint32_t below(uint32_t limit) { return next() % limit; }

 private:
  uint64_t state_;
};

/// One channel's stalls: single ones and runs of them. Seed 0 never stalls.
class StallSource {
 public:
  explicit StallSource(uint32_t seed = 0, uint32_t salt = 0) : on_(seed != 0), random_((uint64_t{salt} << 32) | seed) {}

  bool next() {
    if (!on_) return false;
    if (left_ == 0) {
      stalled_ = !stalled_;
      left_ = 1 + random_.below(random_.below(4) == 0 ? kLongRun : kShortRun);
    }
    left_--;
    return stalled_;
  }

 private:
  static constexpr uint32_t kShortRun = 4, kLongRun = 24;
  bool on_;
  bool stalled_ = false;
  uint32_t left_ = 0;
  Random random_;
};

}  // namespace sluice
