#include "memory.h"

#include <cstdlib>

#include "entries.h"
#include "pipe.h"

namespace sluice {

constexpr size_t kPage = 4096;
constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
/// CL_CHANNEL_n_INTELFPGA and CL_MEM_BANK_n_ALTERA: the bank of a memory whose banks are not interleaved.
constexpr cl_mem_flags kBank = 7u << 16;
/// CL_MEM_HETEROGENEOUS_INTELFPGA: the buffer lies in the memory that its kernels name, as all of ours do.
constexpr cl_mem_flags kHeterogeneous = 1u << 19;

/// CL_MEM_EXT_PTR_XILINX: the host pointer is a structure, with the bank and the host's memory.
constexpr cl_mem_flags kExtended = 1u << 31;
struct Extended {
  unsigned flags;
  void* host;
  void* kernel;
};
constexpr unsigned kBankNumber = 1u << 31;  ///< XCL_MEM_TOPOLOGY: the rest is a number, and else there is a bit for each bank

Memory::~Memory() {
  for (auto call = destructors.rbegin(); call != destructors.rend(); ++call) (*call)();
  if (id != 0) context->server->forget(id);
}

void Memory::Freed::operator()(char* memory) const { std::free(memory); }

char* Memory::staging(size_t offset) {
  if (parent != nullptr) return parent->staging(origin + offset);
  if (host_ptr != nullptr) return static_cast<char*>(host_ptr) + offset;
  std::lock_guard<std::mutex> guard(lock);
  if (staging_ == nullptr) {
    staging_.reset(static_cast<char*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage)));
    if (staging_ == nullptr) throw Refused{CL_MAP_FAILURE, "no memory for a mapping of " + std::to_string(size)};
  }
  return staging_.get() + offset;
}

void Ranges::add(size_t begin, size_t end) {
  remove(begin, end);
  if (auto next = ends_.find(end); next != ends_.end()) {
    end = next->second;
    ends_.erase(next);
  }
  auto before = ends_.lower_bound(begin);
  if (before != ends_.begin() && (--before)->second == begin) {
    before->second = end;
  } else if (begin < end) {
    ends_[begin] = end;
  }
}

void Ranges::remove(size_t begin, size_t end) {
  for (auto one = ends_.begin(); one != ends_.end() && one->first < end;) {
    auto [from, to] = *one;
    if (to <= begin) {
      ++one;
      continue;
    }
    one = ends_.erase(one);
    if (from < begin) ends_[from] = begin;
    if (to > end) ends_[end] = to;
  }
}

std::vector<std::pair<size_t, size_t>> Ranges::gaps(size_t begin, size_t end) const {
  std::vector<std::pair<size_t, size_t>> found;
  for (const auto& [from, to] : ends_) {
    if (to <= begin) continue;
    if (from >= end) break;
    if (from > begin) found.emplace_back(begin, from);
    begin = to;
  }
  if (begin < end) found.emplace_back(begin, end);
  return found;
}

void Memory::board_wrote(size_t offset, size_t size) {
  if (parent != nullptr) return parent->board_wrote(origin + offset, size);
  std::lock_guard<std::mutex> guard(lock);
  newer_.add(offset, offset + size);
}

void Memory::host_sees(size_t offset, size_t size) {
  if (parent != nullptr) return parent->host_sees(origin + offset, size);
  std::lock_guard<std::mutex> guard(lock);
  newer_.remove(offset, offset + size);
}

bool Memory::shows(const char* place, size_t offset) {
  if (parent != nullptr) return parent->shows(place, origin + offset);
  std::lock_guard<std::mutex> guard(lock);
  const char* begin = host_ptr != nullptr ? static_cast<const char*>(host_ptr) : staging_.get();
  return begin != nullptr && place == begin + offset;
}

std::vector<std::pair<size_t, size_t>> Memory::not_newer(size_t offset, size_t size) {
  if (parent == nullptr) {
    std::lock_guard<std::mutex> guard(lock);
    return newer_.gaps(offset, offset + size);
  }
  auto found = parent->not_newer(origin + offset, size);
  for (auto& [begin, end] : found) begin -= origin, end -= origin;
  return found;
}

void require_range(const Memory& buffer, size_t offset, size_t size) {
  if (size != 0 && offset <= buffer.size && size <= buffer.size - offset) return;
  throw Refused{CL_INVALID_VALUE, "bytes " + std::to_string(offset) + " to " + std::to_string(offset + size) +
                                      " are not a part of the buffer of " + std::to_string(buffer.size)};
}

void check_alignment(const Queue& queue, const Memory& buffer) {
  auto align = queue.device->answer<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  require(buffer.parent == nullptr || buffer.origin % align == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET,
          "the sub-buffer does not begin at a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN");
}

std::shared_ptr<Memory> buffer_of(const Queue& queue, cl_mem handle) {
  auto found = find<Memory>(handle);
  require(found->context == queue.context, CL_INVALID_CONTEXT, "queue and buffer are of different contexts");
  check_alignment(queue, *found);
  return found;
}

namespace {

void check_flags(cl_mem_flags flags) {
  require(!(flags & ~(kAccess | kHostAccess | kHostPointer | kBank | kHeterogeneous)), CL_INVALID_VALUE,
          "the flags have unknown bits");
  auto at_most_one = [&](cl_mem_flags bits) { return ((flags & bits) & ((flags & bits) - 1)) == 0; };
  require(at_most_one(kAccess), CL_INVALID_VALUE, "the flags ask for more than one of READ_WRITE, READ_ONLY, WRITE_ONLY");
  require(at_most_one(kHostAccess), CL_INVALID_VALUE, "the flags have more than one of CL_MEM_HOST_...");
  require(!(flags & CL_MEM_USE_HOST_PTR) || !(flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)),
          CL_INVALID_VALUE, "CL_MEM_USE_HOST_PTR goes with neither ALLOC_HOST_PTR nor COPY_HOST_PTR");
}

}  // namespace

std::shared_ptr<Memory> make_buffer(const std::shared_ptr<Context>& context, cl_mem_flags flags, size_t size,
                                    const void* host) {
  cl_ulong most = 0;
  for (const auto& device : context->devices) {
    most = std::max(most, device->answer<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  }
  require(size != 0 && size <= most, CL_INVALID_BUFFER_SIZE,
          size == 0 ? "a buffer has bytes" : "the buffer is larger than CL_DEVICE_MAX_MEM_ALLOC_SIZE");
  auto made = std::make_shared<Memory>();
  made->context = context;
  made->flags = flags & kAccess ? flags : flags | CL_MEM_READ_WRITE;
  made->size = size;
  int64_t id = context->server->next_id();
  Reply reply = context->server->call(Request("buffer")
                                          .number(id)
                                          .number(context->id)
                                          .number(static_cast<int64_t>(flags))
                                          .number(static_cast<int64_t>(size))
                                          .number(host != nullptr));
  made->id = id;
  auto address = static_cast<size_t>(reply.number());
  if (host != nullptr) std::memcpy(context->memory_of(0) + address, host, size);
  return made;
}

std::shared_ptr<Memory> make_part(const std::shared_ptr<Memory>& whole, size_t origin, size_t size) {
  auto made = std::make_shared<Memory>();
  made->context = whole->context;
  made->parent = whole;
  made->origin = origin;
  made->size = size;
  int64_t id = made->context->server->next_id();
  made->context->server->call(Request("part")
                                  .number(id)
                                  .number(whole->id)
                                  .number(static_cast<int64_t>(origin))
                                  .number(static_cast<int64_t>(size)));
  made->id = id;
  return made;
}

namespace {

/// The flags with the bank that an extended pointer names, which becomes the host's memory. A bank that CL_MEM_BANK_n
/// cannot say is left to the board, as one without a name is.
cl_mem_flags unwrapped(cl_mem_flags flags, void*& host) {
  if (!(flags & kExtended)) return flags;
  require(host != nullptr, CL_INVALID_HOST_PTR, "with CL_MEM_EXT_PTR_XILINX the host pointer is a structure");
  auto extended = *static_cast<const Extended*>(host);
  host = extended.host;
  unsigned bank = 0;  // from 1 on
  if (extended.flags & kBankNumber) {
    bank = (extended.flags & ~kBankNumber & 0xFFFFu) + 1;
  } else {
    while (bank < 8 && extended.flags >> bank) ++bank;
  }
  flags &= ~kExtended;
  return bank < 8 ? flags | static_cast<cl_mem_flags>(bank) << 16 : flags;
}

cl_mem create(cl_context handle, const cl_mem_properties* properties, cl_mem_flags flags, size_t size, void* host) {
  auto context = find<Context>(handle);
  flags = unwrapped(flags, host);
  require(properties == nullptr || *properties == 0, CL_INVALID_PROPERTY, "buffers have no properties");
  check_flags(flags);
  bool wanted = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  require(wanted == (host != nullptr), CL_INVALID_HOST_PTR,
          wanted ? "the flags ask for host memory" : "host memory is given, and the flags do not say what for");
  size_t offset = 0;
  auto shared = flags & CL_MEM_USE_HOST_PTR ? find_svm(*context, host, &offset) : nullptr;
  if (shared != nullptr) {
    require(size != 0 && size <= shared->size - offset, CL_INVALID_BUFFER_SIZE,
            size == 0 ? "a buffer has bytes" : "the buffer is larger than its shared virtual memory");
  }
  auto made = shared != nullptr ? make_part(shared, offset, size) : make_buffer(context, flags, size, host);
  made->flags = flags & kAccess ? flags : flags | CL_MEM_READ_WRITE;
  made->svm_pointer = shared != nullptr;
  if (flags & CL_MEM_USE_HOST_PTR) made->host_ptr = host;
  if (properties != nullptr) made->properties.push_back(0);
  return publish(made);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  return created("clCreateBuffer", code, [&] { return create(context, nullptr, flags, size, host); });
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context, const cl_mem_properties* properties,
                                                 cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  return created("clCreateBufferWithProperties", code,
                 [&] { return create(context, properties, flags, size, host); });
}

cl_mem_flags inherited(cl_mem_flags whole, cl_mem_flags asked) {
  check_flags(asked);
  require(!(asked & kHostPointer), CL_INVALID_VALUE, "a sub-buffer has the host memory of its buffer");
  bool wider = (whole & CL_MEM_WRITE_ONLY && asked & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
               (whole & CL_MEM_READ_ONLY && asked & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
               (whole & CL_MEM_HOST_WRITE_ONLY && asked & CL_MEM_HOST_READ_ONLY) ||
               (whole & CL_MEM_HOST_READ_ONLY && asked & CL_MEM_HOST_WRITE_ONLY) ||
               (whole & CL_MEM_HOST_NO_ACCESS && asked & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
  require(!wider, CL_INVALID_VALUE, "a sub-buffer may not be used in ways that its buffer may not");
  cl_mem_flags flags = asked | (whole & (kHostPointer | kBank));
  if (!(asked & kAccess)) flags |= whole & kAccess;
  if (!(asked & kHostAccess)) flags |= whole & kHostAccess;
  return flags;
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* facts,
                                     cl_int* code) {
  return created("clCreateSubBuffer", code, [&] {
    auto whole = find<Memory>(buffer);
    require(whole->associated == nullptr, CL_INVALID_MEM_OBJECT, "a sub-buffer has no sub-buffers");
    cl_mem_flags kept = inherited(whole->flags, flags);
    require(type == CL_BUFFER_CREATE_TYPE_REGION && facts != nullptr, CL_INVALID_VALUE, "a region is wanted");
    auto region = *static_cast<const cl_buffer_region*>(facts);
    require(region.size != 0, CL_INVALID_BUFFER_SIZE, "a sub-buffer has bytes");
    require_range(*whole, region.origin, region.size);
    bool aligned = false;
    for (const auto& device : whole->context->devices) {
      aligned |= region.origin % (device->answer<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8) == 0;
    }
    require(aligned, CL_MISALIGNED_SUB_BUFFER_OFFSET,
            "the origin is no multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN of any device of the context");
    auto made = whole->parent != nullptr ? make_part(whole->parent, whole->origin + region.origin, region.size)
                                         : make_part(whole, region.origin, region.size);
    made->flags = kept;
    made->associated = whole;
    made->offset = region.origin;
    made->svm_pointer = whole->svm_pointer;
    return publish(made);
  });
}

std::shared_ptr<Pipe> as_pipe(cl_mem memory) { return std::dynamic_pointer_cast<Pipe>(find_object(memory)); }

cl_int CL_API_CALL retain_mem_object(cl_mem memory) {
  bool pipe = as_pipe(memory) != nullptr;
  return pipe ? retain<Pipe>("clRetainMemObject", memory) : retain<Memory>("clRetainMemObject", memory);
}

cl_int CL_API_CALL release_mem_object(cl_mem memory) {
  bool pipe = as_pipe(memory) != nullptr;
  return pipe ? release<Pipe>("clReleaseMemObject", memory) : release<Memory>("clReleaseMemObject", memory);
}

void tell_of_pipe(const Pipe& pipe, cl_mem_info parameter, Answer& answer) {
  switch (parameter) {
    case CL_MEM_TYPE: return answer.of<cl_mem_object_type>(CL_MEM_OBJECT_PIPE);
    case CL_MEM_FLAGS: return answer.of(pipe.flags);
    case CL_MEM_SIZE: return answer.of<size_t>(0);
    case CL_MEM_REFERENCE_COUNT: return answer.of(pipe.references());
    case CL_MEM_CONTEXT: return answer.of(pipe.context->handle());
    default: unknown_query(parameter);
  }
}

void* host_pointer(const Memory& memory) {
  if (memory.associated == nullptr) return memory.host_ptr;
  void* whole = memory.associated->host_ptr;
  return whole == nullptr ? nullptr : static_cast<char*>(whole) + memory.offset;
}

cl_int CL_API_CALL get_mem_object_info(cl_mem memory, cl_mem_info parameter, size_t size, void* value,
                                       size_t* size_ret) {
  return answered("clGetMemObjectInfo", [&] {
    Answer answer{size, value, size_ret};
    if (auto pipe = as_pipe(memory)) return tell_of_pipe(*pipe, parameter, answer);
    auto found = find<Memory>(memory);
    switch (parameter) {
      case CL_MEM_TYPE: return answer.of<cl_mem_object_type>(CL_MEM_OBJECT_BUFFER);
      case CL_MEM_FLAGS: return answer.of(found->flags);
      case CL_MEM_SIZE: return answer.of(found->size);
      case CL_MEM_HOST_PTR: return answer.of(host_pointer(*found));
      case CL_MEM_MAP_COUNT: {
        std::lock_guard<std::mutex> guard(found->lock);
        return answer.of(static_cast<cl_uint>(found->mappings.size()));
      }
      case CL_MEM_REFERENCE_COUNT: return answer.of(found->references());
      case CL_MEM_CONTEXT: return answer.of(found->context->handle());
      case CL_MEM_ASSOCIATED_MEMOBJECT: return answer.of(found->associated ? found->associated->handle() : nullptr);
      case CL_MEM_OFFSET: return answer.of(found->offset);
      case CL_MEM_USES_SVM_POINTER: return answer.of<cl_bool>(found->svm_pointer ? CL_TRUE : CL_FALSE);
      case CL_MEM_PROPERTIES:
        return answer.bytes(found->properties.data(), found->properties.size() * sizeof(cl_mem_properties));
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL set_mem_object_destructor_callback(cl_mem memory, void(CL_CALLBACK* notify)(cl_mem, void*),
                                                      void* data) {
  return answered("clSetMemObjectDestructorCallback", [&] {
    auto found = find<Memory>(memory);
    require(notify != nullptr, CL_INVALID_VALUE, "the function is null");
    std::lock_guard<std::mutex> guard(found->lock);
    found->destructors.push_back([memory, notify, data] { notify(memory, data); });
  });
}

}  // namespace

void add_memory_entries(cl_icd_dispatch& table) {
  table.clCreateBuffer = create_buffer;
  table.clCreateBufferWithProperties = create_buffer_with_properties;
  table.clCreateSubBuffer = create_sub_buffer;
  table.clRetainMemObject = retain_mem_object;
  table.clReleaseMemObject = release_mem_object;
  table.clGetMemObjectInfo = get_mem_object_info;
  table.clSetMemObjectDestructorCallback = set_mem_object_destructor_callback;
}

}  // namespace sluice
