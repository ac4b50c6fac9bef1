#include "object.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <unordered_set>

namespace sluice {

/// The loader reads the first member.
struct Handle {
  const cl_icd_dispatch* dispatch;
  std::weak_ptr<Object> object;
  std::shared_ptr<Object> held;  ///< as long as the host has references
  cl_uint references;

  static void bind(Object& object, Handle* handle) { object.handle_ = handle; }
  static Handle* of(const Object& object) { return object.handle_; }
};

namespace {

/// Freed handles that are kept before the oldest is used again.
constexpr size_t kKept = 1 << 16;

/// Never destroyed: a host may release objects while the process ends.
struct Table {
  std::mutex lock;
  std::unordered_set<const void*> live;
  std::deque<Handle*> freed;
};

Table& table() {
  static Table* const one = new Table;
  return *one;
}

}  // namespace

static bool verbose() {
  const char* wanted = std::getenv("SLUICE_VERBOSE");
  return wanted != nullptr && *wanted != '\0' && std::strcmp(wanted, "0") != 0;
}

void explain(const char* call, const Refused& refused) {
  if (verbose()) std::fprintf(stderr, "sluice: %s: error %d: %s\n", call, refused.code, refused.what.c_str());
}

void explain_setup(const Refused& refused) {
  static std::atomic<bool> told{false};
  if (verbose() || told.exchange(true)) return;
  std::fprintf(stderr, "sluice: no device: error %d: %s\n", refused.code, refused.what.c_str());
}

void lock_handles() { table().lock.lock(); }
void unlock_handles() { table().lock.unlock(); }

Object::~Object() {
  if (handle_ == nullptr) return;
  std::lock_guard<std::mutex> guard(table().lock);
  table().live.erase(handle_);
  handle_->object.reset();
  table().freed.push_back(handle_);
}

cl_uint Object::references() const {
  std::lock_guard<std::mutex> guard(table().lock);
  return handle_ == nullptr ? 0 : handle_->references;
}

void* publish_object(const std::shared_ptr<Object>& object) {
  std::lock_guard<std::mutex> guard(table().lock);
  Handle* handle;
  if (table().freed.size() > kKept) {
    handle = table().freed.front();
    table().freed.pop_front();
  } else {
    handle = new Handle;
  }
  handle->dispatch = dispatch();
  handle->object = object;
  handle->held = object;
  handle->references = 1;
  table().live.insert(handle);
  Handle::bind(*object, handle);
  return handle;
}

std::shared_ptr<Object> find_object(const void* handle) {
  std::lock_guard<std::mutex> guard(table().lock);
  if (handle == nullptr || table().live.count(handle) == 0) return nullptr;
  return static_cast<const Handle*>(handle)->object.lock();
}

void retain_object(const std::shared_ptr<Object>& object, cl_int) {
  std::lock_guard<std::mutex> guard(table().lock);
  Handle* handle = Handle::of(*object);
  // an object that only others hold is handed out by queries (the program of a kernel): the host may take it again
  if (handle->references++ == 0) handle->held = object;
}

void release_object(std::shared_ptr<Object> object, cl_int invalid) {
  std::shared_ptr<Object> held;  // destroyed behind the lock
  std::lock_guard<std::mutex> guard(table().lock);
  Handle* handle = Handle::of(*object);
  if (handle->references == 0) throw Refused{invalid, "all references have been released"};
  if (--handle->references == 0) held.swap(handle->held);
  // the argument outlives the guard as well: the caller destroys it
}

}  // namespace sluice
