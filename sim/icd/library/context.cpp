#include "context.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "entries.h"

namespace sluice {
namespace {

struct Known {
  std::mutex lock;
  std::vector<std::weak_ptr<Context>> all;
};

Known& known() {
  static Known* const one = new Known;
  return *one;
}

}  // namespace

std::vector<std::shared_ptr<Context>> contexts() {
  std::lock_guard<std::mutex> guard(known().lock);
  std::vector<std::shared_ptr<Context>> found;
  std::vector<std::weak_ptr<Context>> left;
  for (const auto& one : known().all) {
    if (auto context = one.lock()) {
      found.push_back(context);
      left.push_back(one);
    }
  }
  known().all.swap(left);
  return found;
}

void finish_contexts() {
  for (const auto& context : contexts()) {
    if (context->server->ours()) answered("exit", [&] { context->complete_all(); });
  }
}

Context::~Context() {
  for (auto call = destructors_.rbegin(); call != destructors_.rend(); ++call) (*call)();
  for (const auto& one : maps_) munmap(one.second.first, one.second.second);
  if (id != 0) server->forget(id);
}

void Context::on_destruction(std::function<void()> call) {
  std::lock_guard<std::mutex> guard(state);
  destructors_.push_back(std::move(call));
}

bool Context::has(const Device& device) const {
  for (const auto& one : devices) {
    if (one.get() == &device) return true;
  }
  return false;
}

size_t Context::place_of(const Device& device) const {
  for (size_t k = 0; k < devices.size(); ++k) {
    if (devices[k].get() == &device) return k;
  }
  throw Refused{CL_INVALID_DEVICE, "the device is none of the context's"};
}

char* Context::memory_of(size_t place) {
  std::lock_guard<std::mutex> guard(map_lock_);
  auto found = maps_.find(place);
  if (found != maps_.end()) return found->second.first;
  Reply reply = server->call(Request("memory").number(id).number(static_cast<int64_t>(place)));
  int fd = reply.fd();
  struct stat facts;
  if (fd < 0 || fstat(fd, &facts) != 0) throw Refused{CL_OUT_OF_RESOURCES, "the server does not share its memory"};
  auto bytes = static_cast<size_t>(facts.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  int error = errno;
  close(fd);
  if (mapped == MAP_FAILED) {
    throw Refused{CL_OUT_OF_HOST_MEMORY, "the board's memory of " + std::to_string(bytes) +
                                             " bytes cannot be mapped: " + std::strerror(error) +
                                             "; raise `ulimit -v`, or choose a board with less memory"};
  }
  maps_[place] = {static_cast<char*>(mapped), bytes};
  return static_cast<char*>(mapped);
}

namespace {

using Notify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);

std::vector<cl_context_properties> read_properties(const cl_context_properties* given) {
  std::vector<cl_context_properties> kept;
  for (const auto* one = given; one != nullptr && *one != 0; one += 2) {
    for (size_t k = 0; k < kept.size(); k += 2) {
      require(kept[k] != one[0], CL_INVALID_PROPERTY, "a property is given twice");
    }
    if (one[0] == CL_CONTEXT_PLATFORM) {
      find<Platform>(reinterpret_cast<cl_platform_id>(one[1]));
    } else {
      require(one[0] == CL_CONTEXT_INTEROP_USER_SYNC, CL_INVALID_PROPERTY, "unknown property of a context");
      require(one[1] == CL_TRUE || one[1] == CL_FALSE, CL_INVALID_PROPERTY,
              "CL_CONTEXT_INTEROP_USER_SYNC is CL_TRUE or CL_FALSE");
    }
    kept.insert(kept.end(), one, one + 2);
  }
  if (given != nullptr) kept.push_back(0);
  return kept;
}

cl_context make_context(const cl_context_properties* properties, std::vector<std::shared_ptr<Device>> devices,
                        Notify notify, void* data) {
  require(notify != nullptr || data == nullptr, CL_INVALID_VALUE, "data is given without a function");
  auto made = std::make_shared<Context>();
  made->properties = read_properties(properties);
  made->devices = std::move(devices);
  made->server = Server::get();
  int64_t id = made->server->next_id();
  std::vector<int64_t> indices;
  for (const auto& device : made->devices) indices.push_back(device->index);
  made->server->call(Request("context").number(id).numbers(indices));
  made->id = id;
  {
    std::lock_guard<std::mutex> guard(known().lock);
    known().all.push_back(made);
  }
  return publish(made);
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* list, Notify notify, void* data, cl_int* code) {
  return created("clCreateContext", code, [&] {
    require(count != 0 && list != nullptr, CL_INVALID_VALUE, "no devices are given");
    std::vector<std::shared_ptr<Device>> found;
    for (cl_uint k = 0; k < count; ++k) {
      auto device = find<Device>(list[k]);
      bool twice = false;
      for (const auto& one : found) twice |= one == device;
      if (!twice) found.push_back(device);
    }
    return make_context(properties, found, notify, data);
  });
}

cl_context CL_API_CALL create_context_from_type(const cl_context_properties* properties, cl_device_type type,
                                                Notify notify, void* data, cl_int* code) {
  return created("clCreateContextFromType", code, [&] {
    read_properties(properties);
    return make_context(properties, devices_of(type), notify, data);
  });
}

cl_int CL_API_CALL retain_context(cl_context context) { return retain<Context>("clRetainContext", context); }

cl_int CL_API_CALL release_context(cl_context context) { return release<Context>("clReleaseContext", context); }

cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info parameter, size_t size, void* value,
                                    size_t* size_ret) {
  return answered("clGetContextInfo", [&] {
    auto found = find<Context>(context);
    Answer answer{size, value, size_ret};
    std::vector<void*> handles;
    switch (parameter) {
      case CL_CONTEXT_REFERENCE_COUNT: return answer.of(found->references());
      case CL_CONTEXT_NUM_DEVICES: return answer.of(static_cast<cl_uint>(found->devices.size()));
      case CL_CONTEXT_DEVICES:
        for (const auto& device : found->devices) handles.push_back(device->handle());
        return answer.bytes(handles.data(), handles.size() * sizeof(void*));
      case CL_CONTEXT_PROPERTIES:
        return answer.bytes(found->properties.data(), found->properties.size() * sizeof(cl_context_properties));
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL set_context_destructor_callback(cl_context context, void(CL_CALLBACK* notify)(cl_context, void*),
                                                   void* data) {
  return answered("clSetContextDestructorCallback", [&] {
    auto found = find<Context>(context);
    require(notify != nullptr, CL_INVALID_VALUE, "the function is null");
    found->on_destruction([context, notify, data] { notify(context, data); });
  });
}

}  // namespace

void add_context_entries(cl_icd_dispatch& table) {
  table.clCreateContext = create_context;
  table.clCreateContextFromType = create_context_from_type;
  table.clRetainContext = retain_context;
  table.clReleaseContext = release_context;
  table.clGetContextInfo = get_context_info;
  table.clSetContextDestructorCallback = set_context_destructor_callback;
}

}  // namespace sluice
