// A stream between the board and the design: values wait here until the design or the host takes them.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pin.h"
#include "random.h"

namespace sluice {

/// Ports of the design named io_in_NAME_valid (io_out_NAME_valid where the design writes), _ready and _data.
struct StreamPins {
  Pin valid, ready, data;
  bool inward;
};

/// Rules
/// 1. Values are offered to the design in the order they were fed, each until it is taken.
/// 2. A value that the design offers is accepted whenever no stall prevents it, and kept in order.
class StreamPort {
 public:
  StreamPort(const StreamPins& pins, std::string name) : pins_(pins), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool inward() const { return pins_.inward; }
  /// Drops waiting values; stalls come from `seed` from here on.
  void reset(uint32_t seed);
  /// `bytes` of one or several values, each of value_bytes().
  void feed(const std::vector<uint8_t>& bytes, size_t value_bytes);
  /// Everything that the design has written since the last call, `value_bytes` of each value.
  std::vector<uint8_t> drain(size_t value_bytes);
  /// Cycles since the last one in which the design offered a value.
  uint64_t idle() const { return idle_; }
  void sample();
  void drive();

 private:
  StreamPins pins_;
  std::string name_;
  std::deque<std::vector<uint8_t>> waiting_, written_;
  StallSource stall_;
  bool offered_ = false;
  uint64_t idle_ = 0;
};

}  // namespace sluice
