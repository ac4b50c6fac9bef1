// The platform and its devices: one for each board.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "object.h"

namespace sluice {

class Platform : public Object {
 public:
  SLUICE_HANDLE(cl_platform_id, CL_INVALID_PLATFORM, "platform");
  static const std::shared_ptr<Platform>& get();
};

class Device : public Object {
 public:
  SLUICE_HANDLE(cl_device_id, CL_INVALID_DEVICE, "device");
  int index = 0;                           ///< of the server's list
  cl_device_type type = 0;
  std::map<cl_uint, std::string> answers;  ///< to clGetDeviceInfo, as the host's memory has them

  /// The value of a query that has a number.
  template <typename T>
  T answer(cl_uint query) const {
    T value{};
    auto found = answers.find(query);
    if (found != answers.end()) std::memcpy(&value, found->second.data(), std::min(sizeof value, found->second.size()));
    return value;
  }
};

/// All devices. Throws Refused if the server cannot be started, or refuses the board that the environment names.
const std::vector<std::shared_ptr<Device>>& devices();
/// Those of a type. Throws Refused for a type that the standard does not know, and where there is none.
std::vector<std::shared_ptr<Device>> devices_of(cl_device_type type);

/// The function of that name, as clGetExtensionFunctionAddress answers; nullptr for an unknown one.
void* function_named(const char* name);

}  // namespace sluice
