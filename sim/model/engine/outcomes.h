// What depends on the cycle: whether a call that does not block transfers a value, and which compute unit runs a group. The
// record assumes it, the replay finds it.
#pragma once
#include "fifo.h"

namespace sluice {

/// The calls of one place in a launch, or its groups, as hls/emulate/trace.h has them.
struct Outcomes {
  static constexpr u32 kHappens = 1, kKnown = 2, kUnit = 4;
  u32* values;
  u64 count, room, next, run, known, ran[2];
  bool last;

  /// `number` is that of a call plus 1. Returns whether the record assumed what `happens`.
  bool settle(u64 number, bool happens) {
    return settle_as(number, happens ? kHappens : 0);
  }
  /// The same of a group, which comes to a `unit`.
  bool settle_unit(u64 number, size_t unit) { return settle_as(number, static_cast<u32>(unit) * kUnit); }
  bool happens(u64 number) const { return values[number - 1] & kHappens; }

 private:
  bool settle_as(u64 number, u32 found) {
    u32& value = values[number - 1];
    const bool assumed = (value | kKnown) == (found | kKnown);
    value = found | kKnown;
    return assumed;
  }
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
