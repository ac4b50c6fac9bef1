#include "shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sluice {
namespace {

void* map_file(int fd, uint64_t& bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) throw std::runtime_error("cannot inspect shared memory fd " + std::to_string(fd));
  bytes = static_cast<uint64_t>(status.st_size);
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) throw std::runtime_error("cannot map " + std::to_string(bytes) + " bytes of board memory");
  return address;
}

}  // namespace

SharedMemory::SharedMemory(int contents_fd, int control_fd) {
  contents_ = static_cast<uint8_t*>(map_file(contents_fd, bytes_));
  uint64_t control_bytes = 0;
  control_ = static_cast<ControlPage*>(map_file(control_fd, control_bytes));
  if (control_bytes < sizeof(ControlPage) || control_->size != sizeof(ControlPage) ||
      control_->version != ControlPage::kVersion) {
    throw std::runtime_error("the host and the simulation disagree on the control page; rebuild the simulation");
  }
}

SharedMemory::~SharedMemory() {
  munmap(contents_, bytes_);
  munmap(control_, sizeof(ControlPage));
}

/// The first buffer whose end lies after `address`; nullptr if there is none.
const Allocation* SharedMemory::first_ending_after(uint64_t address) const {
  const size_t count = control_->allocation_count;
  const Allocation* table = control_->allocations;
  if (recent_ < count && table[recent_].begin <= address && address < table[recent_].end) return &table[recent_];
  const Allocation* found = std::upper_bound(
      table, table + count, address, [](uint64_t value, const Allocation& entry) { return value < entry.end; });
  if (found == table + count) return nullptr;
  recent_ = static_cast<size_t>(found - table);
  return found;
}

bool SharedMemory::touches(uint64_t begin, uint64_t end) const {
  const Allocation* buffer = first_ending_after(begin);
  return buffer != nullptr && buffer->begin < end;
}

bool SharedMemory::inside(uint64_t begin, uint64_t end) const {
  const Allocation* buffer = first_ending_after(begin);
  return buffer != nullptr && buffer->begin <= begin && end <= buffer->end;
}

Response SharedMemory::wanted(uint64_t begin, uint64_t end) const {
  const Allocation& failing = control_->failing;
  const bool meets = begin < failing.end && failing.begin < end;
  return meets ? static_cast<Response>(control_->response) : Response::kOkay;
}

void SharedMemory::report(Fault fault, uint32_t bank, uint64_t address, uint64_t bytes, uint64_t cycle) {
  FaultRecord& record = control_->faults[static_cast<size_t>(fault)];
  if (record.count++ == 0) record = {1, address, cycle, bytes, bank};
}

}  // namespace sluice
