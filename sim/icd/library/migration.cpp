// Migration of buffers to a board and to the host.
//
// A board has memory of its own, so what the host sees of a buffer, its own memory (CL_MEM_USE_HOST_PTR) or a mapping,
// is a copy. The standard lets a host touch it only between mapping and unmapping; hosts of one vendor write it, migrate
// the buffer to the board, and after a migration to the host read it. So a migration to the board takes along what the
// host sees, but for bytes that were written on the board since both were the same, and one to the host shows it all.
// Where a host keeps to the standard, neither changes anything.
#include <cstring>

#include "entries.h"
#include "memory.h"

namespace sluice {
namespace {

constexpr cl_map_flags kWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

/// Bytes of a buffer that the host sees.
struct Seen {
  std::shared_ptr<Memory> memory;
  size_t offset, size;
};

bool has_host_memory(const Memory& memory) {
  const Memory* whole = &memory;
  while (whole->parent != nullptr) whole = whole->parent.get();
  return whole->host_ptr != nullptr && !whole->svm_pointer;
}

/// What the host sees of the buffers; with `writes` without mappings that are for reading only.
std::vector<Seen> seen_of(const std::vector<std::shared_ptr<Memory>>& buffers, bool writes) {
  std::vector<Seen> found;
  for (const auto& one : buffers) {
    if (has_host_memory(*one)) {
      found.push_back({one, 0, one->size});
      continue;
    }
    std::lock_guard<std::mutex> guard(one->lock);
    for (const auto& [address, mapping] : one->mappings) {
      if (!writes || mapping.flags & kWrites) found.push_back({one, mapping.offset, mapping.size});
    }
  }
  return found;
}

std::vector<int64_t> ids_of(const std::vector<std::shared_ptr<Memory>>& buffers) {
  std::vector<int64_t> ids;
  for (const auto& one : buffers) ids.push_back(one->id);
  return ids;
}

/// Shows the host what is on the board.
void to_host(Queue& queue, Event& made, cl_ulong ready_ns, std::vector<int64_t> ids, const std::vector<Seen>& seen) {
  size_t bytes = 0, others = ids.size();
  for (const auto& one : seen) {
    ids.push_back(one.memory->id);
    bytes += one.size;
  }
  std::vector<char*> places;
  pass_time(queue, made, ready_ns, {}, ids, bytes, &places);
  for (size_t k = 0; k < seen.size(); ++k) {
    const auto& [memory, offset, size] = seen[k];
    std::memcpy(memory->staging(offset), places[others + k] + offset, size);
    memory->host_sees(offset, size);
  }
}

/// Takes what the host sees to the board, where the board has nothing newer. Where a context has several boards, all
/// buffers move to that of the queue.
void to_board(Queue& queue, Event& made, cl_ulong ready_ns, std::vector<int64_t> ids, const std::vector<Seen>& seen) {
  std::vector<Seen> older;
  for (const auto& one : seen) {
    for (auto [begin, end] : one.memory->not_newer(one.offset, one.size)) {
      older.push_back({one.memory, begin, end - begin});
    }
  }
  std::vector<int64_t> written;
  size_t bytes = 0;
  for (const auto& one : older) {
    written.push_back(one.memory->id);
    bytes += one.size;
  }
  std::vector<char*> places;
  pass_time(queue, made, ready_ns, written, ids, bytes, &places);
  for (size_t k = 0; k < older.size(); ++k) {
    const auto& [memory, offset, size] = older[k];
    std::memcpy(places[k] + offset, memory->staging(offset), size);
  }
}

cl_int CL_API_CALL enqueue_migrate_mem_objects(cl_command_queue queue, cl_uint count, const cl_mem* list,
                                               cl_mem_migration_flags flags, cl_uint wait_count,
                                               const cl_event* wait_list, cl_event* event) {
  return answered("clEnqueueMigrateMemObjects", [&] {
    auto on = find<Queue>(queue);
    require(count != 0 && list != nullptr, CL_INVALID_VALUE, "the list of buffers is empty");
    require(!(flags & ~(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)), CL_INVALID_VALUE,
            "the flags have unknown bits");
    std::vector<std::shared_ptr<Memory>> moved;
    for (cl_uint k = 0; k < count; ++k) moved.push_back(buffer_of(*on, list[k]));
    bool home = flags & CL_MIGRATE_MEM_OBJECT_HOST;
    std::vector<Seen> seen;
    if (!(flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)) seen = seen_of(moved, !home);
    Queue* raw = on.get();
    auto work = [raw, moved, seen, home](Event& made, cl_ulong ready_ns) {
      (home ? to_host : to_board)(*raw, made, ready_ns, ids_of(moved), seen);
    };
    Enqueue{on, wait_count, wait_list, event, CL_COMMAND_MIGRATE_MEM_OBJECTS}(Place::kHost, work);
  });
}

}  // namespace

void add_migration_entries(cl_icd_dispatch& table) { table.clEnqueueMigrateMemObjects = enqueue_migrate_mem_objects; }

}  // namespace sluice
