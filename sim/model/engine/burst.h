// How load and store units combine consecutive words into bursts: rtl_lib/lsu/burst.py.
#pragma once
#include "fifo.h"

namespace sluice {

constexpr u64 kMaxBurst = 16;  ///< words

/// `words` consecutive words from number `first` on; none: no burst.
struct Burst {
  u64 first = 0, words = 0;
};

/// A burst as one number, for queues.
inline u64 packed(const Burst& burst) { return burst.first << 8 | burst.words; }
inline Burst unpacked(u64 number) { return {number >> 8, number & 255}; }

/// One open burst. It goes when it is full, when it is told to close, or when a word comes that does not continue it.
class BurstBuilder {
 public:
  explicit BurstBuilder(u64 align_words) : align_(align_words) {}
  bool open() const { return burst_.words > 0; }

  /// One cycle with a `word` on offer, if any. Returns whether it was taken; `goes` is the burst that goes, if any.
  /// `urgent`: a word that comes while nothing is open goes at once. `room`: a burst can go.
  bool step(bool any, u64 word, bool close, bool urgent, bool room, Burst& goes) {
    if (!open()) return begin(any, word, urgent, room, goes);
    const u64 following = burst_.first + burst_.words;
    const bool ends = close || burst_.words == kMaxBurst || following % align_ == 0;
    if (any && word == following && !ends) {
      burst_.words++;
      return true;
    }
    if (!room || !(ends || any)) return false;
    goes = burst_;
    burst_ = any ? Burst{word, 1} : Burst{};
    return any;
  }

 private:
  bool begin(bool any, u64 word, bool urgent, bool room, Burst& goes) {
    if (!any || (urgent && !room)) return false;
    (urgent ? goes : burst_) = {word, 1};
    return true;
  }
  const u64 align_;
  Burst burst_;
};

}  // namespace sluice
