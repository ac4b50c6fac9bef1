// Buffers, parts of them, and shared virtual memory.
#pragma once
#include <atomic>
#include <map>

#include "queue.h"

namespace sluice {

/// Ranges of bytes that do not overlap.
class Ranges {
 public:
  void add(size_t begin, size_t end);
  void remove(size_t begin, size_t end);
  /// The parts of [begin, end) that are in none of them.
  std::vector<std::pair<size_t, size_t>> gaps(size_t begin, size_t end) const;

 private:
  std::map<size_t, size_t> ends_;  ///< by their beginnings
};

class Memory : public Object {
 public:
  SLUICE_HANDLE(cl_mem, CL_INVALID_MEM_OBJECT, "memory object");
  ~Memory() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Memory> parent;      ///< whose bytes it shares, from `origin` on: of a sub-buffer, or a buffer that
                                       ///< lies in shared virtual memory
  std::shared_ptr<Memory> associated;  ///< the buffer that a sub-buffer was created from
  size_t offset = 0;                   ///< of a sub-buffer in that buffer
  int64_t id = 0;
  cl_mem_flags flags = 0;
  std::vector<cl_mem_properties> properties;
  size_t size = 0, origin = 0;
  void* host_ptr = nullptr;  ///< of a buffer with CL_MEM_USE_HOST_PTR
  bool svm_pointer = false;  ///< whether host_ptr came from clSVMAlloc

  /// What the host sees of byte `offset` while the buffer is mapped: its own memory if it gave some, or else memory
  /// that is kept as long as the buffer, so that all mappings of a byte have one address.
  char* staging(size_t offset);

  /// Commands or kernels wrote these bytes, so that those on the board are newer than what the host sees.
  void board_wrote(size_t offset, size_t size);
  /// The bytes on the board and those that the host sees are the same.
  void host_sees(size_t offset, size_t size);
  /// Whether the host sees the byte at `offset` in this place.
  bool shows(const char* place, size_t offset);
  /// The parts of a range, as beginnings and ends, in which the board has nothing newer.
  std::vector<std::pair<size_t, size_t>> not_newer(size_t offset, size_t size);

  struct Mapping {
    size_t offset, size;
    cl_map_flags flags;
  };
  std::mutex lock;
  std::multimap<void*, Mapping> mappings;
  std::vector<std::function<void()>> destructors;

 private:
  struct Freed {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Freed> staging_;
  Ranges newer_;  ///< on the board
};

/// Creates a buffer; `host` initializes it if that is not null. Throws Refused.
std::shared_ptr<Memory> make_buffer(const std::shared_ptr<Context>& context, cl_mem_flags flags, size_t size,
                                    const void* host);

/// A buffer of bytes [origin, origin + size) of another one. Throws Refused.
std::shared_ptr<Memory> make_part(const std::shared_ptr<Memory>& whole, size_t origin, size_t size);

/// One side of a transfer: bytes of a buffer, or of the host.
struct Side {
  std::shared_ptr<Memory> buffer;  ///< nullptr for the host's memory
  char* host = nullptr;
  size_t offset = 0;
};

/// Rows and planes of both sides of a transfer; one row for a plain one.
struct Region {
  size_t width, rows = 1, planes = 1;
  size_t to_row = 0, to_plane = 0, from_row = 0, from_plane = 0;
  size_t bytes() const { return width * rows * planes; }
  /// From the first byte on one side to the last.
  size_t spanned() const { return (planes - 1) * to_plane + (rows - 1) * to_row + width; }
};

/// The work of a copy from `from` to `to`, as a command of this library.
std::function<void(Event&, cl_ulong)> transfer(std::shared_ptr<Queue> queue, Side to, Side from, Region region);
/// The work of filling `size` bytes with a pattern.
std::function<void(Event&, cl_ulong)> fill(std::shared_ptr<Queue> queue, Side to, std::string pattern, size_t size);
/// The work of a command that moves `bytes` of a buffer for another reason, such as a mapping: only its time passes.
void pass_time(Queue& queue, Event& event, cl_ulong ready_ns, const std::vector<int64_t>& written,
               const std::vector<int64_t>& read, size_t bytes, std::vector<char*>* places);

/// A pointer into shared virtual memory, or of the host. Throws Refused (CL_INVALID_VALUE) if it is null.
Side side_of(const std::shared_ptr<Context>& context, const void* pointer);
/// The allocation of shared virtual memory around the pointer, and the offset in it; nullptr for none.
std::shared_ptr<Memory> find_svm(const Context& context, const void* pointer, size_t* offset);

void require_range(const Memory& buffer, size_t offset, size_t size);
/// Throws Refused for a sub-buffer whose beginning the device of the queue cannot address.
void check_alignment(const Queue& queue, const Memory& buffer);

std::shared_ptr<Memory> buffer_of(const Queue& queue, cl_mem handle);

}  // namespace sluice
