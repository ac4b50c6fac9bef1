// What fences ask whether it has come to memory: rtl_lib/lsu/fence.py, FenceShare.
#pragma once
#include <cstddef>
#include <vector>

#include "fifo.h"

namespace sluice {

using std::size_t;

class Fence;

class Fenced {
 public:
  virtual ~Fenced() = default;
  /// Requests that have not been accepted, without one that is accepted in this cycle; and whether one is.
  virtual u32 queued() const = 0;
  virtual bool taken() const = 0;

  /// Fences that will ask, in turn; returns the number of this one.
  size_t add_fence(Fence* fence) {
    fences_.push_back(fence);
    return served_ = fences_.size() - 1;
  }
  /// A fence is offered in this cycle: of several the next one after that which was served last.
  void ask_fence(size_t number) {
    const auto after = [this](size_t one) { return (one + fences_.size() - served_ - 1) % fences_.size(); };
    const bool next = standing_ ? number == served_ : after(number) < after(chosen_);
    if (!offered_ || next) offered_ = fences_[number], chosen_ = number;
  }
  Fence* accepted_fence() const { return accepted_; }
  Fence* answered_fence() const { return answered_; }

 protected:
  /// As a cycle ends, once it is known whether the fence on offer was accepted.
  void end_turn() {
    standing_ = offered_ && !accepted_;
    if (offered_) served_ = chosen_;
    offered_ = nullptr;
  }
  Fence *offered_ = nullptr, *accepted_ = nullptr, *answered_ = nullptr;

 private:
  std::vector<Fence*> fences_;
  size_t served_ = 0, chosen_ = 0;  ///< of them: the one that was offered last, and that of this cycle
  bool standing_ = false;           ///< it was not accepted
};

/// What the memory knows of a unit that writes: bursts, their words, and that a burst is written.
class WriteUnit {
 public:
  WriteUnit(Clock& clock, u32 burst_room, u32 word_room, u32 latency) : bursts(clock, burst_room, latency), words(clock, word_room, latency) {}
  virtual ~WriteUnit() = default;
  virtual void confirm() = 0;
  Fifo bursts, words;
};

}  // namespace sluice
