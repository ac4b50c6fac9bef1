// What a run would have been with other depths of a channel: the max-plus recursion of a bounded queue.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <ostream>
#include <vector>

namespace sluice {

/// Replays the values of one channel for several depths at once. Each end has a time of its own, in which cycles that it
/// waits for the channel do not pass. Value k is written at p(k) and read at q(k):
///     p(k) = max(p(k-1) + own time of the writer since value k-1, q(k - depth) + 1)
///     q(k) = max(q(k-1) + own time of the reader since value k-1, p(k) + 1)
/// So everything else that the ends wait for is as in the run. Where a kernel at an end starts while the channel is empty,
/// a new segment begins at the time of the run.
class DepthReplay {
 public:
  struct Bits {
    size_t moved, stalled, start;  ///< of the probe
  };
  static constexpr size_t kMost = size_t{1} << 14;

  DepthReplay(Bits writer, Bits reader, size_t depth);
  void sample(const uint8_t* data, uint64_t cycle);
  /// VALUES, then of the depth of the run and of each power of two: DEPTH:END:WRITER:READER, the sum over the segments of
  /// the cycle of the last read after the first write, and the cycles in which each end waits.
  void write(std::ostream& out) const;

 private:
  struct Option {
    explicit Option(size_t depth) : depth(depth), reads(depth) {}
    size_t depth;
    std::vector<int64_t> reads;  ///< the last ones, as a ring
    int64_t written = 0, read = 0;
    uint64_t ended = 0, writer_waits = 0, reader_waits = 0;
  };

  void begin_segment();
  void replay(int64_t writer, int64_t reader);

  Bits writer_, reader_;
  std::vector<Option> options_;
  std::deque<int64_t> under_way_;  ///< own times of the writer of the values in the channel
  int64_t writer_waited_ = 0, reader_waited_ = 0;
  int64_t last_written_ = 0, last_read_ = 0, first_ = 0;  ///< own times of the last value, the first value's writing
  size_t count_ = 0;                                      ///< values of this segment
  uint64_t values_ = 0;
};

}  // namespace sluice
