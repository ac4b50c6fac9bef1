// Memory shared by the host process and the simulation: the contents of the global memory, and a control page.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class Fault : uint32_t {
  kNone = 0,
  kReadOutside = 1,   ///< a read beat that overlaps no buffer
  kWriteOutside = 2,  ///< a written byte outside every buffer
  kProtocol = 3,      ///< a burst that violates an AXI rule
  kReadError = 4,     ///< a read beat that the host makes fail
  kWriteError = 5,    ///< a written byte that the host makes fail
};

/// Responses of AXI.
enum class Response : uint32_t { kOkay = 0, kSlaveError = 2, kDecodeError = 3 };

struct Allocation {
  uint64_t begin, end;  ///< global byte addresses, end exclusive
};

/// The first fault of its kind since the host cleared it, if `count` is not 0.
struct FaultRecord {
  uint64_t count;
  uint64_t address;  ///< global byte address
  uint64_t cycle;
  uint64_t bytes;  ///< of the offending beat
  uint64_t bank;
};

/// Layout of the control page; sim/shared.py mirrors it and compares `size` and `version`.
struct ControlPage {
  static constexpr uint32_t kVersion = 2;
  static constexpr size_t kMaxAllocations = 4096, kFaults = 6;

  uint32_t size, version;
  FaultRecord faults[kFaults];  ///< by Fault
  Allocation failing;           ///< addresses whose accesses are answered with `response`; may be empty
  uint64_t response;
  uint64_t allocation_count;  ///< sorted by address, not overlapping
  Allocation allocations[kMaxAllocations];
};

/// Global byte address <-> (bank, address in the bank) of one memory, as in the interconnect.
struct AddressMap {
  uint64_t banks;
  uint64_t interleave_bytes;  ///< 0: bank after bank, each of bank_bytes
  uint64_t bank_bytes;
  uint64_t base;  ///< of the memory: a multiple of its size

  uint64_t end() const { return base + banks * bank_bytes; }
  /// Also for addresses beyond the bank's end: an address outside of the memory maps back to the kernel's address.
  uint64_t global(uint64_t bank, uint64_t local) const {
    if (interleave_bytes == 0) return base + bank * bank_bytes + local;
    const uint64_t asked = local ^ (base / banks);
    return (asked / interleave_bytes * banks + bank) * interleave_bytes + asked % interleave_bytes;
  }
};

/// The two mappings, opened from file descriptors that the host passes.
class SharedMemory {
 public:
  SharedMemory(int contents_fd, int control_fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  uint64_t bytes() const { return bytes_; }
  uint8_t* at(uint64_t global) { return contents_ + global; }
  /// Whether any (or every) byte of [begin, end) lies in a buffer.
  bool touches(uint64_t begin, uint64_t end) const;
  bool inside(uint64_t begin, uint64_t end) const;
  /// The response that the host has set for an access to bytes of [begin, end).
  Response wanted(uint64_t begin, uint64_t end) const;
  void report(Fault fault, uint32_t bank, uint64_t address, uint64_t bytes, uint64_t cycle);

 private:
  const Allocation* first_ending_after(uint64_t address) const;

  uint64_t bytes_;
  uint8_t* contents_;
  ControlPage* control_;
  mutable size_t recent_ = 0;  ///< index of the last buffer accessed, which is searched first
};

}  // namespace sluice
