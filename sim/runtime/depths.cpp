#include "depths.h"

#include <algorithm>

namespace sluice {

namespace {

bool bit_of(const uint8_t* data, size_t bit) { return data[bit / 8] >> (bit % 8) & 1; }

}  // namespace

DepthReplay::DepthReplay(Bits writer, Bits reader, size_t depth) : writer_(writer), reader_(reader) {
  options_.emplace_back(depth);
  for (size_t one = 1; one <= kMost; one *= 2) options_.emplace_back(one);
}

void DepthReplay::sample(const uint8_t* data, uint64_t cycle) {
  if ((bit_of(data, writer_.start) || bit_of(data, reader_.start)) && under_way_.empty()) begin_segment();
  writer_waited_ += bit_of(data, writer_.stalled);
  reader_waited_ += bit_of(data, reader_.stalled);
  const int64_t now = static_cast<int64_t>(cycle);
  if (bit_of(data, writer_.moved)) under_way_.push_back(now - writer_waited_);
  if (bit_of(data, reader_.moved) && !under_way_.empty()) {
    replay(under_way_.front(), now - reader_waited_);
    under_way_.pop_front();
  }
}

void DepthReplay::begin_segment() {
  for (Option& one : options_) {
    if (count_) one.ended += static_cast<uint64_t>(one.read - first_);
  }
  writer_waited_ = reader_waited_ = 0;
  count_ = 0;
}

void DepthReplay::replay(int64_t writer, int64_t reader) {
  if (!count_) first_ = writer;
  for (Option& one : options_) {
    const int64_t written = count_ ? one.written + writer - last_written_ : writer;
    const int64_t room = count_ >= one.depth ? one.reads[count_ % one.depth] + 1 : written;
    one.written = std::max(written, room);
    one.writer_waits += static_cast<uint64_t>(one.written - written);
    const int64_t read = count_ ? one.read + reader - last_read_ : reader;
    one.read = std::max(read, one.written + 1);
    one.reader_waits += static_cast<uint64_t>(one.read - read);
    one.reads[count_ % one.depth] = one.read;
  }
  last_written_ = writer, last_read_ = reader;
  count_++, values_++;
}

void DepthReplay::write(std::ostream& out) const {
  out << ' ' << values_;
  for (const Option& one : options_) {
    const uint64_t ended = one.ended + (count_ ? static_cast<uint64_t>(one.read - first_) : 0);
    out << ' ' << one.depth << ':' << ended << ':' << one.writer_waits << ':' << one.reader_waits;
  }
}

}  // namespace sluice
