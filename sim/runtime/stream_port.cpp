#include "stream_port.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace sluice {

void StreamPort::reset(uint32_t seed) {
  waiting_.clear();
  written_.clear();
  offered_ = false;
  idle_ = 0;
  stall_ = StallSource(seed, static_cast<uint32_t>(std::hash<std::string>{}(name_)));
  (pins_.inward ? pins_.valid : pins_.ready).set(0);
}

void StreamPort::feed(const std::vector<uint8_t>& bytes, size_t value_bytes) {
  if (!pins_.inward) throw std::runtime_error("the design writes stream " + name_ + "; it cannot be fed");
  for (size_t at = 0; at + value_bytes <= bytes.size(); at += value_bytes) {
    waiting_.emplace_back(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + value_bytes));
  }
}

std::vector<uint8_t> StreamPort::drain(size_t value_bytes) {
  if (pins_.inward) throw std::runtime_error("the design reads stream " + name_ + "; there is nothing to take from it");
  std::vector<uint8_t> all;
  for (const auto& value : written_) {
    all.insert(all.end(), value.begin(), value.begin() + static_cast<long>(std::min(value_bytes, value.size())));
  }
  written_.clear();
  return all;
}

void StreamPort::sample() {
  idle_ = pins_.valid.get() ? 0 : idle_ + 1;
  if (!pins_.valid.get() || !pins_.ready.get()) return;
  if (pins_.inward) {
    waiting_.pop_front();
    offered_ = false;
    return;
  }
  written_.emplace_back(pins_.data.data(), pins_.data.data() + pins_.data.bytes());
}

void StreamPort::drive() {
  const bool stalled = stall_.next();
  if (!pins_.inward) {
    pins_.ready.set(!stalled);
    return;
  }
  offered_ = offered_ || (!stalled && !waiting_.empty());
  pins_.valid.set(offered_);
  if (offered_) std::memcpy(pins_.data.data(), waiting_.front().data(), std::min<size_t>(waiting_.front().size(), pins_.data.bytes()));
}

}  // namespace sluice
