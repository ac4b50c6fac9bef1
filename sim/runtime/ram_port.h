// A port to plain on-chip memory: no bus, one access a cycle.
#pragma once
#include <cstdint>
#include <vector>

#include "pin.h"
#include "shared_memory.h"

namespace sluice {

/// Ports of the design named NAME_addr (of a word), NAME_data, and NAME_en (load) or NAME_strobe (store). A load may
/// also have NAME_refused, which says that the data belongs to no buffer.
struct RamPins {
  Pin en, addr, data, strobe, refused;
  bool is_store() const { return static_cast<bool>(strobe); }
};

/// Rules
/// 1. A load's data is valid in the next cycle and stays until the next load.
/// 2. It contains stores of earlier cycles: sample() all loads before any store.
/// 3. An access outside every buffer is reported, and not stored. Only the design knows whether the program made such
///    a load: NAME_refused comes with the data.
class RamPort {
 public:
  RamPort(const RamPins& pins, SharedMemory& memory) : pins_(pins), memory_(&memory), data_(pins.data.bytes()) {}

  bool is_store() const { return pins_.is_store(); }
  void sample(uint64_t cycle);
  void drive();

 private:
  void load(uint64_t address, uint64_t cycle);
  void store(uint64_t address, uint64_t cycle);

  RamPins pins_;
  SharedMemory* memory_;
  std::vector<uint8_t> data_;
  bool changed_ = false, refused_ = false;
};

}  // namespace sluice
