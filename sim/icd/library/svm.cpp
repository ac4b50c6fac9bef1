// Coarse-grained shared virtual memory: a buffer of the board and memory of the host, which mapping and unmapping copy
// from one to the other.
#include <cstdlib>

#include "entries.h"
#include "program.h"

namespace sluice {
namespace {

struct Allocations {
  std::mutex lock;
  std::map<const char*, std::shared_ptr<Memory>> by_address;
};

Allocations& allocations() {
  static Allocations* const one = new Allocations;
  return *one;
}

}  // namespace

std::shared_ptr<Memory> find_svm(const Context& context, const void* pointer, size_t* offset) {
  std::lock_guard<std::mutex> guard(allocations().lock);
  const char* wanted = static_cast<const char*>(pointer);
  auto after = allocations().by_address.upper_bound(wanted);
  if (after == allocations().by_address.begin()) return nullptr;
  auto found = std::prev(after);
  if (found->second->context.get() != &context || wanted >= found->first + found->second->size) return nullptr;
  *offset = static_cast<size_t>(wanted - found->first);
  return found->second;
}

Side side_of(const std::shared_ptr<Context>& context, const void* pointer) {
  require(pointer != nullptr, CL_INVALID_VALUE, "a pointer is null");
  Side side;
  side.buffer = find_svm(*context, pointer, &side.offset);
  if (side.buffer == nullptr) side.host = static_cast<char*>(const_cast<void*>(pointer));
  return side;
}

namespace {

void require_in(const Side& side, size_t size) {
  if (side.buffer != nullptr) require_range(*side.buffer, side.offset, size);
}

void* CL_API_CALL svm_alloc(cl_context handle, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  return created("clSVMAlloc", nullptr, [&]() -> void* {
    auto context = find<Context>(handle);
    constexpr cl_svm_mem_flags kFine = CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    require(!(flags & kFine), CL_INVALID_VALUE, "fine-grained shared virtual memory is not supported");
    require(!(flags & ~(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)), CL_INVALID_VALUE,
            "the flags have unknown bits");
    if (alignment == 0) alignment = 128;
    require(!(alignment & (alignment - 1)) && alignment <= 4096, CL_INVALID_VALUE,
            "the alignment is a power of two up to 4096");
    auto made = make_buffer(context, flags, size, nullptr);
    size_t unit = std::max<size_t>(alignment, 64);
    void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    if (memory == nullptr) throw std::bad_alloc();
    made->host_ptr = memory;
    made->svm_pointer = true;
    made->destructors.push_back([memory] { std::free(memory); });
    std::lock_guard<std::mutex> guard(allocations().lock);
    allocations().by_address[static_cast<const char*>(memory)] = made;
    return memory;
  });
}

void free_svm(const Context& context, const void* pointer) {
  std::shared_ptr<Memory> freed;  // destroyed without the lock; commands that use it hold it as well
  std::lock_guard<std::mutex> guard(allocations().lock);
  auto found = allocations().by_address.find(static_cast<const char*>(pointer));
  if (found == allocations().by_address.end() || found->second->context.get() != &context) return;
  freed.swap(found->second);
  allocations().by_address.erase(found);
}

void CL_API_CALL svm_free(cl_context context, void* pointer) {
  answered("clSVMFree", [&] {
    auto found = find<Context>(context);
    if (pointer != nullptr) free_svm(*found, pointer);
  });
}

/// Lets another thread call the host's function, which may queue commands, and then end the command.
void free_by_host(Event& event, std::function<void()> call) {
  auto shared = event.shared_from_this();
  {
    std::lock_guard<std::mutex> guard(shared->context->state);
    shared->status = CL_RUNNING;
  }
  call_back_later([shared, call = std::move(call)] {
    call();
    shared->context->end(shared, CL_COMPLETE);
    shared->context->pump();
  });
}

cl_int CL_API_CALL enqueue_svm_free(cl_command_queue queue, cl_uint count, void* pointers[],
                                    void(CL_CALLBACK* notify)(cl_command_queue, cl_uint, void**, void*), void* data,
                                    cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  return answered("clEnqueueSVMFree", [&] {
    auto on = find<Queue>(queue);
    require((count == 0) == (pointers == nullptr), CL_INVALID_VALUE, "number and list do not go together");
    std::vector<void*> freed(pointers, pointers + count);
    Queue* raw = on.get();
    auto work = [raw, queue, freed, notify, data](Event& made, cl_ulong ready_ns) {
      pass_time(*raw, made, ready_ns, {}, {}, 0, nullptr);
      if (notify == nullptr) {
        for (void* one : freed) free_svm(*raw->context, one);
      } else {
        free_by_host(made, [=]() mutable { notify(queue, static_cast<cl_uint>(freed.size()), freed.data(), data); });
      }
    };
    auto place = notify == nullptr ? Place::kHost : Place::kCallback;
    Enqueue{on, wait_count, wait_list, event, CL_COMMAND_SVM_FREE}(place, work);
  });
}

cl_int CL_API_CALL enqueue_svm_memcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from,
                                      size_t size, cl_uint count, const cl_event* list, cl_event* event) {
  return answered("clEnqueueSVMMemcpy", [&] {
    auto on = find<Queue>(queue);
    Side target = side_of(on->context, to), source = side_of(on->context, from);
    require_in(target, size);
    require_in(source, size);
    const char *one = static_cast<const char*>(to), *other = static_cast<const char*>(from);
    require(one + size <= other || other + size <= one, CL_MEM_COPY_OVERLAP, "source and destination overlap");
    Enqueue{on, count, list, event, CL_COMMAND_SVM_MEMCPY, blocking != CL_FALSE}(
        Place::kHost, transfer(on, target, source, {size}));
  });
}

cl_int CL_API_CALL enqueue_svm_mem_fill(cl_command_queue queue, void* pointer, const void* pattern,
                                        size_t pattern_size, size_t size, cl_uint count, const cl_event* list,
                                        cl_event* event) {
  return answered("clEnqueueSVMMemFill", [&] {
    auto on = find<Queue>(queue);
    Side target = side_of(on->context, pointer);
    require_in(target, size);
    require(pattern != nullptr && pattern_size != 0 && pattern_size <= 128 && !(pattern_size & (pattern_size - 1)),
            CL_INVALID_VALUE, "a pattern has 1, 2, 4, ... 128 bytes");
    require(size % pattern_size == 0 && reinterpret_cast<size_t>(pointer) % pattern_size == 0, CL_INVALID_VALUE,
            "address and size are no multiples of the pattern's size");
    std::string unit(static_cast<const char*>(pattern), pattern_size);
    Enqueue{on, count, list, event, CL_COMMAND_SVM_MEMFILL}(Place::kHost, fill(on, target, unit, size));
  });
}

cl_int CL_API_CALL enqueue_svm_map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* pointer,
                                   size_t size, cl_uint count, const cl_event* list, cl_event* event) {
  return answered("clEnqueueSVMMap", [&] {
    auto on = find<Queue>(queue);
    require(flags != 0 && size != 0, CL_INVALID_VALUE, "flags or size are 0");
    Side side = side_of(on->context, pointer);
    std::function<void(Event&, cl_ulong)> work;
    if (side.buffer == nullptr || flags & CL_MAP_WRITE_INVALIDATE_REGION) {
      Queue* raw = on.get();
      work = [raw](Event& made, cl_ulong ready_ns) { pass_time(*raw, made, ready_ns, {}, {}, 0, nullptr); };
    } else {
      require_in(side, size);
      work = transfer(on, {nullptr, static_cast<char*>(pointer), 0}, side, {size});
    }
    Enqueue{on, count, list, event, CL_COMMAND_SVM_MAP, blocking != CL_FALSE}(Place::kHost, std::move(work));
    if (side.buffer == nullptr) return;
    std::lock_guard<std::mutex> guard(side.buffer->lock);
    side.buffer->mappings.emplace(pointer, Memory::Mapping{side.offset, size, flags});
  });
}

cl_int CL_API_CALL enqueue_svm_unmap(cl_command_queue queue, void* pointer, cl_uint count, const cl_event* list,
                                     cl_event* event) {
  return answered("clEnqueueSVMUnmap", [&] {
    auto on = find<Queue>(queue);
    Side side = side_of(on->context, pointer);
    Memory::Mapping region{0, 0, 0};
    if (side.buffer != nullptr) {
      std::lock_guard<std::mutex> guard(side.buffer->lock);
      auto found = side.buffer->mappings.find(pointer);
      if (found != side.buffer->mappings.end()) {
        region = found->second;
        side.buffer->mappings.erase(found);
      }
    }
    std::function<void(Event&, cl_ulong)> work;
    if (region.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) {
      work = transfer(on, side, {nullptr, static_cast<char*>(pointer), 0}, {region.size});
    } else {
      Queue* raw = on.get();
      work = [raw](Event& made, cl_ulong ready_ns) { pass_time(*raw, made, ready_ns, {}, {}, 0, nullptr); };
    }
    Enqueue{on, count, list, event, CL_COMMAND_SVM_UNMAP}(Place::kHost, std::move(work));
  });
}

cl_int CL_API_CALL enqueue_svm_migrate_mem(cl_command_queue queue, cl_uint count, const void** pointers,
                                           const size_t*, cl_mem_migration_flags, cl_uint wait_count,
                                           const cl_event* wait_list, cl_event* event) {
  return answered("clEnqueueSVMMigrateMem", [&] {
    auto on = find<Queue>(queue);
    require(count != 0 && pointers != nullptr, CL_INVALID_VALUE, "the list of pointers is empty");
    for (cl_uint k = 0; k < count; ++k) {
      require(side_of(on->context, pointers[k]).buffer != nullptr, CL_INVALID_VALUE,
              "a pointer is not into shared virtual memory");
    }
    Enqueue{on, wait_count, wait_list, event, CL_COMMAND_SVM_MIGRATE_MEM}(Place::kNowhere, nullptr);
  });
}

cl_int CL_API_CALL set_kernel_arg_svm_pointer(cl_kernel kernel, cl_uint index, const void* pointer) {
  return answered("clSetKernelArgSVMPointer", [&] {
    auto found = find<Kernel>(kernel);
    require(index < found->arguments.size(), CL_INVALID_ARG_INDEX, "the kernel has fewer arguments");
    const auto& parameter = found->facts->parameters[index];
    require(parameter.kind == ParameterFacts::kBuffer, CL_INVALID_ARG_VALUE, "the parameter is no pointer to memory");
    Argument argument;
    argument.set = true;
    if (pointer != nullptr) {
      auto memory = find_svm(*found->program->context, pointer, &argument.offset);
      argument.points = true;
      argument.memory = memory;
      require(memory != nullptr, CL_INVALID_ARG_VALUE, "the pointer is not into shared virtual memory");
    }
    std::lock_guard<std::mutex> guard(found->lock);
    found->arguments[index] = argument;
  });
}

}  // namespace

void add_svm_entries(cl_icd_dispatch& table) {
  table.clSVMAlloc = svm_alloc;
  table.clSVMFree = svm_free;
  table.clEnqueueSVMFree = enqueue_svm_free;
  table.clEnqueueSVMMemcpy = enqueue_svm_memcpy;
  table.clEnqueueSVMMemFill = enqueue_svm_mem_fill;
  table.clEnqueueSVMMap = enqueue_svm_map;
  table.clEnqueueSVMUnmap = enqueue_svm_unmap;
  table.clEnqueueSVMMigrateMem = enqueue_svm_migrate_mem;
  table.clSetKernelArgSVMPointer = set_kernel_arg_svm_pointer;
}

}  // namespace sluice
