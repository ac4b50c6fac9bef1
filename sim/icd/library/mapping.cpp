// Mapping buffers into the memory of the host. A mapping is a copy: the board has memory of its own.
#include "entries.h"
#include "memory.h"

namespace sluice {
namespace {

constexpr cl_map_flags kWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

/// The work of a command after which the host sees bytes of a buffer as they are on the board, or owns them.
std::function<void(Event&, cl_ulong)> seen(std::function<void(Event&, cl_ulong)> work, std::shared_ptr<Memory> memory,
                                           size_t offset, size_t size) {
  return [work = std::move(work), memory = std::move(memory), offset, size](Event& made, cl_ulong ready_ns) {
    work(made, ready_ns);
    memory->host_sees(offset, size);
  };
}

void* CL_API_CALL enqueue_map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event,
                                     cl_int* code) {
  return created("clEnqueueMapBuffer", code, [&]() -> void* {
    auto on = find<Queue>(queue);
    auto mapped = buffer_of(*on, buffer);
    require_range(*mapped, offset, size);
    require(!(flags & ~(CL_MAP_READ | kWrites)), CL_INVALID_VALUE, "the flags have unknown bits");
    require(!(flags & CL_MAP_WRITE_INVALIDATE_REGION) || !(flags & (CL_MAP_READ | CL_MAP_WRITE)), CL_INVALID_VALUE,
            "CL_MAP_WRITE_INVALIDATE_REGION goes with neither CL_MAP_READ nor CL_MAP_WRITE");
    require(!(flags & CL_MAP_READ && mapped->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)),
            CL_INVALID_OPERATION, "the buffer was created so that the host does not read it");
    require(!(flags & kWrites && mapped->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)),
            CL_INVALID_OPERATION, "the buffer was created so that the host does not write it");
    char* here = mapped->staging(offset);
    std::function<void(Event&, cl_ulong)> work;
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION) {
      Queue* raw = on.get();
      work = [raw](Event& made, cl_ulong ready_ns) { pass_time(*raw, made, ready_ns, {}, {}, 0, nullptr); };
    } else {
      work = transfer(on, {nullptr, here, 0}, {mapped, nullptr, offset}, {size});
    }
    work = seen(std::move(work), mapped, offset, size);
    Enqueue{on, count, list, event, CL_COMMAND_MAP_BUFFER, blocking != CL_FALSE}(Place::kHost, std::move(work));
    std::lock_guard<std::mutex> guard(mapped->lock);
    mapped->mappings.emplace(here, Memory::Mapping{offset, size, flags});
    return here;
  });
}

cl_int CL_API_CALL enqueue_unmap_mem_object(cl_command_queue queue, cl_mem memory, void* pointer, cl_uint count,
                                            const cl_event* list, cl_event* event) {
  return answered("clEnqueueUnmapMemObject", [&] {
    auto on = find<Queue>(queue);
    auto mapped = find<Memory>(memory);
    require(mapped->context == on->context, CL_INVALID_CONTEXT, "queue and buffer are of different contexts");
    Memory::Mapping region;
    {
      std::lock_guard<std::mutex> guard(mapped->lock);
      auto found = mapped->mappings.find(pointer);
      require(found != mapped->mappings.end(), CL_INVALID_VALUE, "no mapping of the buffer has this address");
      region = found->second;
    }
    std::function<void(Event&, cl_ulong)> work;
    if (region.flags & kWrites) {
      work = transfer(on, {mapped, nullptr, region.offset}, {nullptr, static_cast<char*>(pointer), 0}, {region.size});
      work = seen(std::move(work), mapped, region.offset, region.size);
    } else {
      Queue* raw = on.get();
      work = [raw](Event& made, cl_ulong ready_ns) { pass_time(*raw, made, ready_ns, {}, {}, 0, nullptr); };
    }
    Enqueue{on, count, list, event, CL_COMMAND_UNMAP_MEM_OBJECT}(Place::kHost, std::move(work));
    std::lock_guard<std::mutex> guard(mapped->lock);
    auto found = mapped->mappings.find(pointer);
    if (found != mapped->mappings.end()) mapped->mappings.erase(found);
  });
}

}  // namespace

void add_mapping_entries(cl_icd_dispatch& table) {
  table.clEnqueueMapBuffer = enqueue_map_buffer;
  table.clEnqueueUnmapMemObject = enqueue_unmap_mem_object;
}

}  // namespace sluice
