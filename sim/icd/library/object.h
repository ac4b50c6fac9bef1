// Handles: what the host holds, the objects behind them, and the count of references that the standard defines.
#pragma once
#include <CL/cl_icd.h>

#include <memory>

#include "refusal.h"

namespace sluice {

struct Handle;

/// What a handle stands for. Objects that need others hold them by shared pointers, so that, as the standard says,
/// an object lives on after its last release as long as a kernel or a command uses it.
class Object {
 public:
  virtual ~Object();
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Handle* handle() const { return handle_; }
  /// References of the host; 0 once it has released all.
  cl_uint references() const;

 private:
  friend struct Handle;
  template <typename T>
  friend typename T::Type publish(const std::shared_ptr<T>& object);
  Handle* handle_ = nullptr;
};

/// Makes a handle with one reference for the object, and returns it as the type that the host knows.
void* publish_object(const std::shared_ptr<Object>& object);

template <typename T>
typename T::Type publish(const std::shared_ptr<T>& object) {
  return static_cast<typename T::Type>(publish_object(object));
}

/// The object behind a handle; nullptr for null, for a handle of an object that is gone, and for anything else. Memory
/// of handles is reused only after many others, so that a freed handle is recognized.
std::shared_ptr<Object> find_object(const void* handle);

/// The same as an object of type T; throws Refused with the standard's code for handles of this kind.
template <typename T>
std::shared_ptr<T> find(typename T::Type handle) {
  auto found = std::dynamic_pointer_cast<T>(find_object(handle));
  if (found == nullptr) throw Refused{T::kInvalid, handle == nullptr ? T::kNull : T::kGone};
  return found;
}

/// One more reference of the host, or one less; throws Refused if it has none.
void retain_object(const std::shared_ptr<Object>& object, cl_int invalid);
void release_object(std::shared_ptr<Object> object, cl_int invalid);

template <typename T>
cl_int retain(const char* call, typename T::Type handle) {
  return answered(call, [&] { retain_object(find<T>(handle), T::kInvalid); });
}

template <typename T>
cl_int release(const char* call, typename T::Type handle) {
  return answered(call, [&] { release_object(find<T>(handle), T::kInvalid); });
}

/// The type of the handles of a class, the code for invalid ones, and the words for null and freed ones.
#define SLUICE_HANDLE(TYPE, CODE, NAME)                                      \
  using Type = TYPE;                                                         \
  static constexpr cl_int kInvalid = CODE;                                   \
  static constexpr const char* kNull = "the " NAME " is null";               \
  static constexpr const char* kGone = "this is no " NAME ", or it has been released"

/// The functions of this library, filled in once.
const cl_icd_dispatch* dispatch();

/// Locks around fork(), so that the child finds no handle table in the middle of a change.
void lock_handles();
void unlock_handles();

}  // namespace sluice
