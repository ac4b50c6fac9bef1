// Calls that do not block: whether one transfers a value depends on the cycle. The record assumes it, the replay finds it.
#pragma once
#include "fifo.h"

namespace sluice {

/// The calls of one place in a launch, as hls/emulate/trace.h has them.
struct Outcomes {
  static constexpr uint8_t kHappens = 1, kKnown = 2;
  uint8_t* values;
  u64 count, room, next, run, known, ran[2];
  bool last;

  /// `number` is that of a call plus 1. Returns whether the record assumed what `happens`.
  bool settle(u64 number, bool happens) {
    uint8_t& value = values[number - 1];
    const bool assumed = value & kHappens;
    value = static_cast<uint8_t>(happens | kKnown);
    return assumed == happens;
  }
  bool happens(u64 number) const { return values[number - 1] & kHappens; }
};

/// A call that is made in the cycle in which its token passes a stage.
class Passing {
 public:
  virtual ~Passing() = default;
  /// The call of a token with this row, in this cycle; false if the record assumed something else.
  virtual bool foresee(const u64* row) = 0;
  /// Makes the call that was foreseen.
  virtual void pass(const u64* row) = 0;

  int stage = 0;
};

}  // namespace sluice
