// A port of the simulated design, of any width.
#pragma once
#include <cstdint>
#include <cstring>

namespace sluice {

/// The simulator keeps every port in little-endian words, so that its first bytes are its value.
/// A pin that the design does not have is empty: it reads as 0 and writes to it have no effect.
class Pin {
 public:
  Pin() = default;
  Pin(void* data, unsigned bytes) : data_(static_cast<uint8_t*>(data)), bytes_(bytes) {}

  explicit operator bool() const { return data_ != nullptr; }
  unsigned bytes() const { return bytes_; }
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }

  uint64_t get() const {
    uint64_t value = 0;
    if (data_) std::memcpy(&value, data_, bytes_ < sizeof value ? bytes_ : sizeof value);
    return value;
  }
  void set(uint64_t value) {
    if (data_) std::memcpy(data_, &value, bytes_ < sizeof value ? bytes_ : sizeof value);
  }

 private:
  uint8_t* data_ = nullptr;
  unsigned bytes_ = 0;  ///< of the simulator's storage
};

}  // namespace sluice
