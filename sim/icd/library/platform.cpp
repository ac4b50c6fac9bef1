// The platform, its devices, and how the loader and hosts find the functions.
#include <cstdlib>
#include <mutex>

#include "device.h"
#include "entries.h"
#include "server.h"

#define SLUICE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace sluice {

const std::shared_ptr<Platform>& Platform::get() {
  static auto* const one = [] {
    auto* made = new std::shared_ptr<Platform>(std::make_shared<Platform>());
    publish(*made);
    return made;
  }();
  return *one;
}

/// What the server says of its devices. Throws Refused, and says why, where the set-up is wrong.
static Reply described_devices() {
  try {
    return Server::get()->call(Request("devices"));
  } catch (const Refused& refused) {
    explain_setup(refused);
    throw;
  }
}

const std::vector<std::shared_ptr<Device>>& devices() {
  static std::mutex lock;
  static auto* const all = new std::vector<std::shared_ptr<Device>>;
  std::lock_guard<std::mutex> guard(lock);
  if (!all->empty()) return *all;
  Reply reply = described_devices();
  std::vector<std::shared_ptr<Device>> found;
  auto count = static_cast<int>(reply.number());
  for (int k = 0; k < count; ++k) {
    auto device = std::make_shared<Device>();
    device->index = k;
    for (int64_t left = reply.number(); left > 0; --left) {
      auto query = static_cast<cl_uint>(reply.number());
      device->answers[query] = reply.bytes();
    }
    device->type = device->answer<cl_device_type>(CL_DEVICE_TYPE);
    publish(device);
    found.push_back(device);
  }
  all->swap(found);
  return *all;
}

std::vector<std::shared_ptr<Device>> devices_of(cl_device_type type) {
  constexpr cl_device_type kKnown = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                    CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  require(type == CL_DEVICE_TYPE_ALL || (type != 0 && !(type & ~kKnown)), CL_INVALID_DEVICE_TYPE,
          "unknown type of device");
  std::vector<std::shared_ptr<Device>> found;
  if (type == CL_DEVICE_TYPE_DEFAULT) return {devices().front()};
  for (const auto& device : devices()) {
    if (type & device->type) found.push_back(device);
  }
  require(!found.empty(), CL_DEVICE_NOT_FOUND,
          "boards are accelerators: ask for CL_DEVICE_TYPE_ACCELERATOR, DEFAULT or ALL, or set SLUICE_DEVICE_TYPE to "
          "what they are to be (gpu, cpu)");
  return found;
}

namespace {

std::string platform_name() {
  const char* chosen = std::getenv("SLUICE_PLATFORM_NAME");
  return chosen != nullptr && *chosen != '\0' ? chosen : "sluice simulated boards";
}

void require_platform(cl_platform_id platform) {
  // hosts pass null where they want any: the standard leaves that to the implementation
  if (platform != nullptr) find<Platform>(platform);
}

cl_name_version extension(cl_version version, const char* name) {
  cl_name_version made{};
  made.version = version;
  std::strncpy(made.name, name, sizeof made.name - 1);
  return made;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info parameter, size_t size, void* value,
                                     size_t* size_ret) {
  return answered("clGetPlatformInfo", [&] {
    require_platform(platform);
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_PLATFORM_PROFILE: return answer.text("EMBEDDED_PROFILE");
      case CL_PLATFORM_VERSION: return answer.text("OpenCL 3.0 sluice");
      case CL_PLATFORM_NAME: return answer.text(platform_name());
      case CL_PLATFORM_VENDOR: return answer.text("sluice");
      case CL_PLATFORM_EXTENSIONS: return answer.text("cl_khr_icd");
      case CL_PLATFORM_ICD_SUFFIX_KHR: return answer.text("SLUICE");
      case CL_PLATFORM_HOST_TIMER_RESOLUTION: return answer.of<cl_ulong>(0);  // no timers of devices
      case CL_PLATFORM_NUMERIC_VERSION: return answer.of<cl_version>(CL_MAKE_VERSION(3, 0, 0));
      case CL_PLATFORM_EXTENSIONS_WITH_VERSION: return answer.of(extension(CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"));
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL get_platform_ids(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  return answered("clGetPlatformIDs", [&] {
    require(platforms != nullptr || found != nullptr, CL_INVALID_VALUE, "no place for the answer");
    require(platforms == nullptr || count != 0, CL_INVALID_VALUE, "no place for the platform");
    if (platforms != nullptr) platforms[0] = reinterpret_cast<cl_platform_id>(Platform::get()->handle());
    if (found != nullptr) *found = 1;
  });
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* list,
                                  cl_uint* found) {
  return answered("clGetDeviceIDs", [&] {
    require_platform(platform);
    require(list != nullptr || found != nullptr, CL_INVALID_VALUE, "no place for the answer");
    require(list == nullptr || count != 0, CL_INVALID_VALUE, "no place for a device");
    auto all = devices_of(type);
    for (cl_uint k = 0; list != nullptr && k < count && k < all.size(); ++k) {
      list[k] = reinterpret_cast<cl_device_id>(all[k]->handle());
    }
    if (found != nullptr) *found = static_cast<cl_uint>(all.size());
  });
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info parameter, size_t size, void* value,
                                   size_t* size_ret) {
  return answered("clGetDeviceInfo", [&] {
    auto found = find<Device>(device);
    Answer answer{size, value, size_ret};
    if (parameter == CL_DEVICE_PLATFORM) return answer.of(Platform::get()->handle());
    auto known = found->answers.find(parameter);
    if (known == found->answers.end()) unknown_query(parameter);
    answer.bytes(known->second.data(), known->second.size());
  });
}

cl_int CL_API_CALL create_sub_devices(cl_device_id device, const cl_device_partition_property* properties, cl_uint,
                                      cl_device_id*, cl_uint*) {
  return answered("clCreateSubDevices", [&] {
    find<Device>(device);
    require(properties != nullptr && *properties != 0, CL_INVALID_VALUE, "no properties are given");
    throw Refused{CL_INVALID_VALUE, "a board cannot be partitioned"};
  });
}

// devices of the platform are not counted
cl_int CL_API_CALL retain_device(cl_device_id device) {
  return answered("clRetainDevice", [&] { find<Device>(device); });
}

cl_int CL_API_CALL release_device(cl_device_id device) {
  return answered("clReleaseDevice", [&] { find<Device>(device); });
}

cl_int CL_API_CALL unload_platform_compiler(cl_platform_id platform) {
  return answered("clUnloadPlatformCompiler", [&] { find<Platform>(platform); });
}

cl_int CL_API_CALL unload_compiler() { return CL_SUCCESS; }

cl_int CL_API_CALL get_device_and_host_timer(cl_device_id device, cl_ulong*, cl_ulong*) {
  return answered("clGetDeviceAndHostTimer", [&] {
    find<Device>(device);
    throw Refused{CL_INVALID_OPERATION, "simulated time is no time of the host"};
  });
}

cl_int CL_API_CALL get_host_timer(cl_device_id device, cl_ulong*) {
  return answered("clGetHostTimer", [&] {
    find<Device>(device);
    throw Refused{CL_INVALID_OPERATION, "simulated time is no time of the host: there are no timers to compare"};
  });
}

cl_int CL_API_CALL icd_get_platform_ids(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  return get_platform_ids(count, platforms, found);
}

void* CL_API_CALL get_extension_function_address(const char* name) { return function_named(name); }

void* CL_API_CALL get_extension_function_address_for_platform(cl_platform_id, const char* name) {
  return function_named(name);
}

}  // namespace

void* function_named(const char* name) {
  if (name == nullptr) return nullptr;
  static const std::map<std::string, void*> kKnown = {
      {"clIcdGetPlatformIDsKHR", reinterpret_cast<void*>(icd_get_platform_ids)},
      {"clGetPlatformInfo", reinterpret_cast<void*>(get_platform_info)},
      {"clGetKernelSubGroupInfoKHR", reinterpret_cast<void*>(dispatch()->clGetKernelSubGroupInfoKHR)},
      {"clCreateProgramWithILKHR", reinterpret_cast<void*>(dispatch()->clCreateProgramWithIL)},
      {"clCreateCommandQueueWithPropertiesKHR",
       reinterpret_cast<void*>(dispatch()->clCreateCommandQueueWithProperties)},
  };
  auto found = kKnown.find(name);
  return found == kKnown.end() ? nullptr : found->second;
}

void add_platform_entries(cl_icd_dispatch& table) {
  table.clGetPlatformIDs = get_platform_ids;
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateSubDevices = create_sub_devices;
  table.clRetainDevice = retain_device;
  table.clReleaseDevice = release_device;
  table.clUnloadPlatformCompiler = unload_platform_compiler;
  table.clUnloadCompiler = unload_compiler;
  table.clGetDeviceAndHostTimer = get_device_and_host_timer;
  table.clGetHostTimer = get_host_timer;
  table.clGetExtensionFunctionAddress = get_extension_function_address;
  table.clGetExtensionFunctionAddressForPlatform = get_extension_function_address_for_platform;
}

const cl_icd_dispatch* dispatch() {
  static const cl_icd_dispatch* const table = [] {
    auto* made = new cl_icd_dispatch();
    for (auto add : {add_platform_entries, add_context_entries, add_queue_entries, add_event_entries,
                     add_memory_entries, add_pipe_entries, add_transfer_entries, add_mapping_entries,
                     add_migration_entries, add_svm_entries, add_program_entries, add_kernel_entries,
                     add_launch_entries, add_refused_entries}) {
      add(*made);
    }
    return made;
  }();
  return table;
}

}  // namespace sluice

SLUICE_EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  return sluice::get_platform_ids(count, platforms, found);
}

SLUICE_EXPORTED cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info parameter, size_t size,
                                                     void* value, size_t* size_ret) {
  return sluice::get_platform_info(platform, parameter, size, value, size_ret);
}

SLUICE_EXPORTED void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return sluice::function_named(name);
}
