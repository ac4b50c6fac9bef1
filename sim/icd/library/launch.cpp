// Launching kernels.
#include <chrono>
#include <limits>

#include "entries.h"
#include "program.h"

namespace sluice {
namespace {

constexpr size_t kMost = std::numeric_limits<int64_t>::max();

struct Space {
  cl_uint dimensions;
  std::vector<int64_t> offset, global, local;  ///< `local` is empty where the server chooses
  bool empty = false;                          ///< a size is 0: as the standard says from 2.1 on, there is nothing to do
};

void check_group(const GroupFacts& facts, const Space& space) {
  int64_t items = 1;
  for (size_t k = 0; k < space.local.size(); ++k) {
    require(space.local[k] > 0, CL_INVALID_WORK_GROUP_SIZE, "a size of the work-group is 0");
    require(space.global[k] % space.local[k] == 0, CL_INVALID_WORK_GROUP_SIZE,
            "the global size is no multiple of the local size");
    if (__builtin_mul_overflow(items, space.local[k], &items)) items = std::numeric_limits<int64_t>::max();
  }
  if (items > facts.room) {
    throw Refused{CL_INVALID_WORK_GROUP_SIZE, "the kernel has room for groups of " + std::to_string(facts.room) +
                                                  " work-items, not " + std::to_string(items)};
  }
  for (size_t k = 0; k < space.local.size() && facts.required[0] != 0; ++k) {
    require(space.local[k] == facts.required[k], CL_INVALID_WORK_GROUP_SIZE,
            "the local size is not the kernel's reqd_work_group_size");
  }
}

Space space_of(cl_uint dimensions, const size_t* offset, const size_t* global, const size_t* local) {
  require(dimensions >= 1 && dimensions <= 3, CL_INVALID_WORK_DIMENSION, "there are 1 to 3 dimensions");
  Space space{dimensions, {}, {}, {}};
  for (cl_uint k = 0; k < dimensions; ++k) {
    size_t items = global == nullptr ? 0 : global[k];
    require(items <= kMost, CL_INVALID_GLOBAL_WORK_SIZE, "a global size is larger than any device counts");
    require(offset == nullptr || offset[k] <= kMost - items, CL_INVALID_GLOBAL_OFFSET,
            "offset and global size are larger than any device counts");
    require(local == nullptr || local[k] <= kMost, CL_INVALID_WORK_GROUP_SIZE, "a local size is larger than any global size");
    space.empty |= items == 0;
    space.global.push_back(static_cast<int64_t>(items));
    if (offset != nullptr) space.offset.push_back(static_cast<int64_t>(offset[k]));
    if (local != nullptr) space.local.push_back(static_cast<int64_t>(local[k]));
  }
  return space;
}

/// What decides whether the server accepts a launch: all but the values of scalars.
std::string shape_of(const Queue& queue, const Space& space, const std::vector<Argument>& arguments) {
  Request shape("");
  shape.number(queue.id).numbers(space.offset).numbers(space.global).numbers(space.local);
  for (const auto& one : arguments) {
    shape.number(one.buffer ? one.buffer->id : 0).number(static_cast<int64_t>(one.offset));
    shape.number(static_cast<int64_t>(one.local));
  }
  return shape.data();
}

/// Most time of a launch that is sent together with later ones.
constexpr std::chrono::milliseconds kQuick{10};

void add_argument(Request& request, const ParameterFacts& parameter, const Argument& argument) {
  enum { kNull, kBuffer, kLocal, kScalar };
  if (parameter.kind == ParameterFacts::kPipe || (parameter.kind == ParameterFacts::kBuffer && !argument.buffer)) {
    request.number(kNull);
  } else if (parameter.kind == ParameterFacts::kBuffer) {
    request.number(kBuffer).number(argument.buffer->id).number(static_cast<int64_t>(argument.offset));
  } else if (parameter.kind == ParameterFacts::kLocal) {
    request.number(kLocal).number(static_cast<int64_t>(argument.local));
  } else {
    request.number(kScalar).text(argument.bytes);
  }
}

/// The launches on the server that this one waits for, and that have not ended there.
std::vector<int64_t> before(Event& event) {
  std::lock_guard<std::mutex> guard(event.context->state);
  std::vector<int64_t> ids;
  for (auto* list : {&event.waits, &event.behind}) {
    for (const auto& one : *list) {
      if (!one->over() && one->id != 0) ids.push_back(one->id);
    }
  }
  return ids;
}

/// Hands a launch to the server: at once, or with later ones if the last one like it was accepted and ended at once.
void send(Queue& queue, Kernel& kernel, const std::string& shape, Request request, const std::shared_ptr<Event>& event,
          int64_t id) {
  auto context = queue.context;
  auto sent = [&] {
    std::lock_guard<std::mutex> guard(context->state);
    event->id = id;
    event->status = CL_RUNNING;
  };
  bool quick;
  {
    std::lock_guard<std::mutex> guard(kernel.lock);
    quick = kernel.quick == shape;
  }
  if (quick) {
    sent();
    Context* raw = context.get();  // the event holds it
    auto taken = [raw, event](Reply& reply) { raw->take(event, reply); };
    auto refused = [raw, event](const Refused& refused) { raw->end(event, refused.code, refused.what); };
    return context->server->post(std::move(request), taken, refused);
  }
  auto begin = std::chrono::steady_clock::now();
  Reply reply = context->server->call(request);
  auto taken = std::chrono::steady_clock::now() - begin;
  sent();
  context->take(event, reply);
  quick = reply.more() && reply.number() != 0 && taken < kQuick;
  std::lock_guard<std::mutex> guard(kernel.lock);
  kernel.quick = quick ? shape : "";
}

void launch(cl_command_queue queue, cl_kernel kernel, const Space& space, cl_command_type type, cl_uint count,
            const cl_event* list, cl_event* event) {
  auto on = find<Queue>(queue);
  auto found = find<Kernel>(kernel);
  require(found->program->context == on->context, CL_INVALID_CONTEXT, "queue and kernel are of different contexts");
  auto known = found->facts->groups.find(on->place);
  require(known != found->facts->groups.end(), CL_INVALID_PROGRAM_EXECUTABLE,
          "the program was not built for the device of the queue");
  std::vector<Argument> arguments;
  {
    std::lock_guard<std::mutex> guard(found->lock);
    arguments = found->arguments;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    arguments[k].buffer = arguments[k].memory.lock();
    bool gone = arguments[k].points && arguments[k].buffer == nullptr;
    if (arguments[k].set && !gone) continue;
    throw Refused{CL_INVALID_KERNEL_ARGS, "argument " + std::to_string(k) + " of kernel " + found->facts->name +
                                              (gone ? ": its memory has been released" : " is not set")};
  }
  check_group(known->second, space);
  for (const auto& one : arguments) {
    if (one.buffer != nullptr) check_alignment(*on, *one.buffer);
  }
  if (space.empty) return Enqueue{on, count, list, event, type}(Place::kNowhere, nullptr);
  Queue* raw = on.get();
  auto work = [raw, found, space, arguments](Event& made, cl_ulong ready_ns) {
    int64_t id = raw->context->server->next_id();
    Request request("launch");
    request.number(id).number(raw->id).number(found->program->id).text(found->facts->name);
    request.number(made.type).number(static_cast<int64_t>(ready_ns));
    request.numbers(space.offset).numbers(space.global).numbers(space.local).numbers(before(made));
    request.number(static_cast<int64_t>(arguments.size()));
    for (size_t k = 0; k < arguments.size(); ++k) add_argument(request, found->facts->parameters[k], arguments[k]);
    for (size_t k = 0; k < arguments.size(); ++k) {
      const auto& one = arguments[k];
      if (!found->facts->parameters[k].written || one.buffer == nullptr) continue;
      one.buffer->board_wrote(one.offset, one.buffer->size - one.offset);
    }
    send(*raw, *found, shape_of(*raw, space, arguments), std::move(request), made.shared_from_this(), id);
  };
  Enqueue{on, count, list, event, type}(Place::kServer, work);
}

cl_int CL_API_CALL enqueue_nd_range_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                           const size_t* offset, const size_t* global, const size_t* local,
                                           cl_uint count, const cl_event* list, cl_event* event) {
  return answered("clEnqueueNDRangeKernel", [&] {
    find<Queue>(queue);
    find<Kernel>(kernel);
    launch(queue, kernel, space_of(dimensions, offset, global, local), CL_COMMAND_NDRANGE_KERNEL, count, list, event);
  });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list,
                                cl_event* event) {
  return answered("clEnqueueTask", [&] {
    launch(queue, kernel, Space{1, {}, {1}, {1}}, CL_COMMAND_TASK, count, list, event);
  });
}

cl_int CL_API_CALL enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK*)(void*), void*, size_t, cl_uint,
                                         const cl_mem*, const void**, cl_uint, const cl_event*, cl_event*) {
  return answered("clEnqueueNativeKernel", [&] {
    find<Queue>(queue);
    throw Refused{CL_INVALID_OPERATION, "boards do not run functions of the host"};
  });
}

}  // namespace

void add_launch_entries(cl_icd_dispatch& table) {
  table.clEnqueueNDRangeKernel = enqueue_nd_range_kernel;
  table.clEnqueueTask = enqueue_task;
  table.clEnqueueNativeKernel = enqueue_native_kernel;
}

}  // namespace sluice
