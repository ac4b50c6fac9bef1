// Reading, writing, copying and filling buffers, whole or in rectangles.
#include <algorithm>

#include "entries.h"
#include "memory.h"

namespace sluice {

void pass_time(Queue& queue, Event& event, cl_ulong ready_ns, const std::vector<int64_t>& written,
               const std::vector<int64_t>& read, size_t bytes, std::vector<char*>* places) {
  Request request("transfer");
  request.number(queue.id).number(event.type).number(static_cast<int64_t>(ready_ns));
  request.number(static_cast<int64_t>(bytes)).numbers(written).numbers(read);
  Reply reply = queue.context->server->call(request);
  Times times;
  for (auto* one : {&times.queued, &times.submit, &times.start, &times.end}) {
    *one = static_cast<cl_ulong>(reply.number());
  }
  {
    std::lock_guard<std::mutex> guard(queue.context->state);
    event.times = times;
  }
  while (places != nullptr && reply.more()) {
    places->push_back(queue.context->memory_of(queue.place) + reply.number());
  }
}

namespace {

void copy_region(char* to, const char* from, const Region& region) {
  for (size_t plane = 0; plane < region.planes; ++plane) {
    for (size_t row = 0; row < region.rows; ++row) {
      std::memmove(to + plane * region.to_plane + row * region.to_row,
                   from + plane * region.from_plane + row * region.from_row, region.width);
    }
  }
}

/// After a transfer: what the host sees of a buffer is the same as on the board where it was the other side, in one row.
void note_transfer(const Side& to, const Side& from, const Region& region) {
  const Side &device = to.buffer != nullptr ? to : from, &other = to.buffer != nullptr ? from : to;
  if (device.buffer == nullptr) return;
  const bool one_row = region.rows == 1 && region.planes == 1;
  if (other.buffer == nullptr && one_row && device.buffer->shows(other.host, device.offset)) {
    device.buffer->host_sees(device.offset, region.width);
  } else if (to.buffer != nullptr) {
    to.buffer->board_wrote(to.offset, region.spanned());
  }
}

}  // namespace

std::function<void(Event&, cl_ulong)> transfer(std::shared_ptr<Queue> queue, Side to, Side from, Region region) {
  // the event holds the queue: holding it here as well would be a circle
  Queue* raw = queue.get();
  return [raw, to = std::move(to), from = std::move(from), region](Event& event, cl_ulong ready_ns) {
    std::vector<int64_t> written, read;
    if (to.buffer != nullptr) written.push_back(to.buffer->id);
    if (from.buffer != nullptr) read.push_back(from.buffer->id);
    std::vector<char*> places;
    pass_time(*raw, event, ready_ns, written, read, region.bytes(), &places);
    char* target = to.buffer != nullptr ? places.front() + to.offset : to.host;
    const char* source = from.buffer != nullptr ? places.back() + from.offset : from.host;
    copy_region(target, source, region);
    note_transfer(to, from, region);
  };
}

std::function<void(Event&, cl_ulong)> fill(std::shared_ptr<Queue> queue, Side to, std::string pattern, size_t size) {
  Queue* raw = queue.get();
  return [raw, to = std::move(to), pattern = std::move(pattern), size](Event& event, cl_ulong ready_ns) {
    std::vector<int64_t> written;
    if (to.buffer != nullptr) written.push_back(to.buffer->id);
    std::vector<char*> places;
    pass_time(*raw, event, ready_ns, written, {}, size, &places);
    char* target = to.buffer != nullptr ? places.front() + to.offset : to.host;
    std::memcpy(target, pattern.data(), std::min(pattern.size(), size));
    for (size_t filled = pattern.size(); filled < size; filled *= 2) {
      std::memcpy(target + filled, target, std::min(filled, size - filled));
    }
    if (to.buffer != nullptr) to.buffer->board_wrote(to.offset, size);
  };
}

namespace {

void require_readable(const Memory& buffer) {
  require(!(buffer.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)), CL_INVALID_OPERATION,
          "the buffer was created so that the host does not read it");
}

void require_writable(const Memory& buffer) {
  require(!(buffer.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)), CL_INVALID_OPERATION,
          "the buffer was created so that the host does not write it");
}

char* bytes_of(const void* pointer) { return static_cast<char*>(const_cast<void*>(pointer)); }

cl_int CL_API_CALL enqueue_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void* pointer, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  return answered("clEnqueueReadBuffer", [&] {
    auto on = find<Queue>(queue);
    auto from = buffer_of(*on, buffer);
    require(pointer != nullptr, CL_INVALID_VALUE, "the host's memory is null");
    require_range(*from, offset, size);
    require_readable(*from);
    Enqueue{on, count, list, event, CL_COMMAND_READ_BUFFER, blocking != CL_FALSE}(
        Place::kHost, transfer(on, {nullptr, bytes_of(pointer), 0}, {from, nullptr, offset}, {size}));
  });
}

cl_int CL_API_CALL enqueue_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void* pointer, cl_uint count, const cl_event* list,
                                        cl_event* event) {
  return answered("clEnqueueWriteBuffer", [&] {
    auto on = find<Queue>(queue);
    auto to = buffer_of(*on, buffer);
    require(pointer != nullptr, CL_INVALID_VALUE, "the host's memory is null");
    require_range(*to, offset, size);
    require_writable(*to);
    Enqueue{on, count, list, event, CL_COMMAND_WRITE_BUFFER, blocking != CL_FALSE}(
        Place::kHost, transfer(on, {to, nullptr, offset}, {nullptr, bytes_of(pointer), 0}, {size}));
  });
}

/// Offsets of a byte from the beginning of the buffer that a sub-buffer is a part of.
size_t absolute(const Memory& buffer, size_t offset) { return buffer.origin + offset; }

const Memory* root(const Memory& buffer) { return buffer.parent != nullptr ? buffer.parent.get() : &buffer; }

cl_int CL_API_CALL enqueue_copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  return answered("clEnqueueCopyBuffer", [&] {
    auto on = find<Queue>(queue);
    auto from = buffer_of(*on, source);
    auto to = buffer_of(*on, target);
    require_range(*from, from_offset, size);
    require_range(*to, to_offset, size);
    size_t one = absolute(*from, from_offset), other = absolute(*to, to_offset);
    require(root(*from) != root(*to) || one + size <= other || other + size <= one, CL_MEM_COPY_OVERLAP,
            "source and destination overlap");
    Enqueue{on, count, list, event, CL_COMMAND_COPY_BUFFER}(
        Place::kHost, transfer(on, {to, nullptr, to_offset}, {from, nullptr, from_offset}, {size}));
  });
}

cl_int CL_API_CALL enqueue_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                                       size_t offset, size_t size, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  return answered("clEnqueueFillBuffer", [&] {
    auto on = find<Queue>(queue);
    auto to = buffer_of(*on, buffer);
    require_range(*to, offset, size);
    require(pattern != nullptr && pattern_size != 0 && pattern_size <= 128 && !(pattern_size & (pattern_size - 1)),
            CL_INVALID_VALUE, "a pattern has 1, 2, 4, ... 128 bytes");
    require(offset % pattern_size == 0 && size % pattern_size == 0, CL_INVALID_VALUE,
            "offset and size are no multiples of the pattern's size");
    std::string unit(static_cast<const char*>(pattern), pattern_size);
    Enqueue{on, count, list, event, CL_COMMAND_FILL_BUFFER}(Place::kHost, fill(on, {to, nullptr, offset}, unit, size));
  });
}

/// A corner and the distances from row to row and from plane to plane of one side of a rectangular transfer.
struct Corner {
  size_t offset, row, plane;
};

/// `factor * unit + rest`. Throws Refused (CL_INVALID_VALUE) where that is more than any memory has.
size_t at(size_t factor, size_t unit, size_t rest) {
  size_t product, sum;
  bool wraps = __builtin_mul_overflow(factor, unit, &product) || __builtin_add_overflow(product, rest, &sum);
  require(!wraps, CL_INVALID_VALUE, "the region is larger than any memory");
  return sum;
}

Corner corner(const size_t* origin, const size_t* region, size_t row, size_t plane) {
  require(origin != nullptr && region != nullptr, CL_INVALID_VALUE, "origin or region are null");
  require(region[0] != 0 && region[1] != 0 && region[2] != 0, CL_INVALID_VALUE, "the region is empty");
  if (row == 0) row = region[0];
  require(row >= region[0], CL_INVALID_VALUE, "rows of the region are longer than the row pitch");
  size_t rows = at(region[1], row, 0);
  if (plane == 0) plane = rows;
  require(plane >= rows && plane % row == 0, CL_INVALID_VALUE,
          "the slice pitch is no multiple of the row pitch, or less than the region's rows");
  size_t offset = at(origin[2], plane, at(origin[1], row, origin[0]));
  at(region[2], plane, offset);  // its end, too, is a size
  return {offset, row, plane};
}

void require_box(const Memory& buffer, const Corner& from, const size_t* region) {
  require_range(buffer, from.offset,
                (region[2] - 1) * from.plane + (region[1] - 1) * from.row + region[0]);
}

Region joined(const size_t* region, const Corner& to, const Corner& from) {
  return {region[0], region[1], region[2], to.row, to.plane, from.row, from.plane};
}

cl_int CL_API_CALL enqueue_read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t* buffer_origin, const size_t* host_origin,
                                            const size_t* region, size_t buffer_row, size_t buffer_plane,
                                            size_t host_row, size_t host_plane, void* pointer, cl_uint count,
                                            const cl_event* list, cl_event* event) {
  return answered("clEnqueueReadBufferRect", [&] {
    auto on = find<Queue>(queue);
    auto from = buffer_of(*on, buffer);
    require(pointer != nullptr, CL_INVALID_VALUE, "the host's memory is null");
    Corner here = corner(buffer_origin, region, buffer_row, buffer_plane);
    Corner there = corner(host_origin, region, host_row, host_plane);
    require_box(*from, here, region);
    require_readable(*from);
    Enqueue{on, count, list, event, CL_COMMAND_READ_BUFFER_RECT, blocking != CL_FALSE}(
        Place::kHost, transfer(on, {nullptr, bytes_of(pointer) + there.offset, 0}, {from, nullptr, here.offset},
                               joined(region, there, here)));
  });
}

cl_int CL_API_CALL enqueue_write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                             const size_t* buffer_origin, const size_t* host_origin,
                                             const size_t* region, size_t buffer_row, size_t buffer_plane,
                                             size_t host_row, size_t host_plane, const void* pointer, cl_uint count,
                                             const cl_event* list, cl_event* event) {
  return answered("clEnqueueWriteBufferRect", [&] {
    auto on = find<Queue>(queue);
    auto to = buffer_of(*on, buffer);
    require(pointer != nullptr, CL_INVALID_VALUE, "the host's memory is null");
    Corner here = corner(buffer_origin, region, buffer_row, buffer_plane);
    Corner there = corner(host_origin, region, host_row, host_plane);
    require_box(*to, here, region);
    require_writable(*to);
    Enqueue{on, count, list, event, CL_COMMAND_WRITE_BUFFER_RECT, blocking != CL_FALSE}(
        Place::kHost, transfer(on, {to, nullptr, here.offset}, {nullptr, bytes_of(pointer) + there.offset, 0},
                               joined(region, here, there)));
  });
}

/// Whether a row of one side has a byte of a row of the other; both have the same distances.
bool overlap(size_t one, size_t other, const Region& region) {
  auto width = static_cast<int64_t>(region.width), to_row = static_cast<int64_t>(region.to_row);
  auto rows = static_cast<int64_t>(region.rows), planes = static_cast<int64_t>(region.planes);
  int64_t apart = static_cast<int64_t>(other) - static_cast<int64_t>(one);
  // rows (y, z) and (v, w) share bytes where |apart + (v - y) row + (w - z) plane| < width
  for (int64_t dz = 1 - planes; dz < planes; ++dz) {
    int64_t rest = apart + dz * static_cast<int64_t>(region.to_plane);
    int64_t nearest = -rest / to_row;
    for (int64_t dy = nearest - 1; dy <= nearest + 1; ++dy) {
      if (std::abs(dy) < rows && std::abs(rest + dy * to_row) < width) return true;
    }
  }
  return false;
}

cl_int CL_API_CALL enqueue_copy_buffer_rect(cl_command_queue queue, cl_mem source, cl_mem target,
                                            const size_t* from_origin, const size_t* to_origin, const size_t* region,
                                            size_t from_row, size_t from_plane, size_t to_row, size_t to_plane,
                                            cl_uint count, const cl_event* list, cl_event* event) {
  return answered("clEnqueueCopyBufferRect", [&] {
    auto on = find<Queue>(queue);
    auto from = buffer_of(*on, source);
    auto to = buffer_of(*on, target);
    Corner here = corner(from_origin, region, from_row, from_plane);
    Corner there = corner(to_origin, region, to_row, to_plane);
    require_box(*from, here, region);
    require_box(*to, there, region);
    Region rows = joined(region, there, here);
    if (from == to) {
      require(here.row == there.row && here.plane == there.plane, CL_INVALID_VALUE,
              "a copy within a buffer has the same pitches on both sides");
    }
    if (root(*from) == root(*to) && here.row == there.row && here.plane == there.plane) {
      require(!overlap(absolute(*from, here.offset), absolute(*to, there.offset), rows), CL_MEM_COPY_OVERLAP,
              "source and destination overlap");
    }
    Enqueue{on, count, list, event, CL_COMMAND_COPY_BUFFER_RECT}(
        Place::kHost, transfer(on, {to, nullptr, there.offset}, {from, nullptr, here.offset}, rows));
  });
}

}  // namespace

void add_transfer_entries(cl_icd_dispatch& table) {
  table.clEnqueueReadBuffer = enqueue_read_buffer;
  table.clEnqueueWriteBuffer = enqueue_write_buffer;
  table.clEnqueueCopyBuffer = enqueue_copy_buffer;
  table.clEnqueueFillBuffer = enqueue_fill_buffer;
  table.clEnqueueReadBufferRect = enqueue_read_buffer_rect;
  table.clEnqueueWriteBufferRect = enqueue_write_buffer_rect;
  table.clEnqueueCopyBufferRect = enqueue_copy_buffer_rect;
}

}  // namespace sluice
