#include "ram_port.h"

#include <cstring>

namespace sluice {

void RamPort::sample(uint64_t cycle) {
  const uint64_t address = pins_.addr.get() * data_.size();
  if (is_store()) store(address, cycle);
  else if (pins_.en.get()) load(address, cycle);
}

void RamPort::drive() {
  if (!changed_) return;
  std::memcpy(pins_.data.data(), data_.data(), data_.size());
  if (pins_.refused) pins_.refused.set(refused_);
  changed_ = false;
}

void RamPort::load(uint64_t address, uint64_t cycle) {
  const bool in_memory = address + data_.size() <= memory_->bytes();
  refused_ = !in_memory || !memory_->touches(address, address + data_.size());
  if (refused_) {
    memory_->report(Fault::kReadOutside, 0, address, data_.size(), cycle);
  }
  if (in_memory) std::memcpy(data_.data(), memory_->at(address), data_.size());
  changed_ = true;
}

void RamPort::store(uint64_t address, uint64_t cycle) {
  for (unsigned byte = 0; byte < data_.size(); byte++) {
    if (((pins_.strobe.data()[byte / 8] >> (byte % 8)) & 1) == 0) continue;
    const uint64_t place = address + byte;
    if (place >= memory_->bytes() || !memory_->inside(place, place + 1)) {
      memory_->report(Fault::kWriteOutside, 0, place, 1, cycle);
    } else {
      *memory_->at(place) = pins_.data.data()[byte];
    }
  }
}

}  // namespace sluice
