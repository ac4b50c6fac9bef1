// Errors of calls: thrown inside, returned as OpenCL's code at the entry, with an explanation if SLUICE_VERBOSE is set.
#pragma once
#include <CL/cl_icd.h>

#include <cstring>
#include <new>
#include <string>

namespace sluice {

/// A call that cannot be done: `code` is OpenCL's, `what` tells the author of the host program why.
struct Refused {
  cl_int code;
  std::string what;
};

/// Writes "sluice: CALL: CODE: WHAT" to stderr if SLUICE_VERBOSE is set (and not 0).
void explain(const char* call, const Refused& refused);

/// Writes "sluice: no device: CODE: WHAT" to stderr, once in a process, if explain() would not: for errors of the set-up, which a
/// host sees as a machine without devices.
void explain_setup(const Refused& refused);

/// The result of `work`, a function without result: CL_SUCCESS, or the code of what it throws.
template <typename Work>
cl_int answered(const char* call, Work work) noexcept {
  try {
    work();
    return CL_SUCCESS;
  } catch (const Refused& refused) {
    explain(call, refused);
    return refused.code;
  } catch (const std::bad_alloc&) {
    return CL_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& error) {
    explain(call, {CL_OUT_OF_HOST_MEMORY, error.what()});
    return CL_OUT_OF_HOST_MEMORY;
  }
}

/// The handle or pointer that `work` returns, or nullptr; its code is stored at `code`, which may be null.
template <typename Work>
auto created(const char* call, cl_int* code, Work work) noexcept -> decltype(work()) {
  decltype(work()) result = nullptr;
  cl_int found = answered(call, [&] { result = work(); });
  if (code != nullptr) *code = found;
  return result;
}

/// Where the answer to a clGet...Info call is written. Throws Refused if the host's memory is too small for it.
struct Answer {
  size_t size;
  void* value;
  size_t* size_ret;

  void bytes(const void* data, size_t count) const {
    if (value != nullptr && size < count) {
      throw Refused{CL_INVALID_VALUE, "the answer has " + std::to_string(count) + " bytes, and there is room for " +
                                          std::to_string(size)};
    }
    if (value != nullptr && count != 0) std::memcpy(value, data, count);
    if (size_ret != nullptr) *size_ret = count;
  }
  template <typename T>
  void of(const T& data) const {
    bytes(&data, sizeof data);
  }
  void text(const std::string& data) const { bytes(data.c_str(), data.size() + 1); }
};

[[noreturn]] inline void unknown_query(cl_uint parameter) {
  char text[64];
  std::snprintf(text, sizeof text, "no query has the number %#x", parameter);
  throw Refused{CL_INVALID_VALUE, text};
}

inline void require(bool holds, cl_int code, const char* what) {
  if (!holds) throw Refused{code, what};
}

}  // namespace sluice
