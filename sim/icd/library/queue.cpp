#include "queue.h"

#include <algorithm>

#include "entries.h"

namespace sluice {

Queue::~Queue() {
  if (id != 0) context->server->forget(id);
}

void Queue::forget_ended() {
  unfinished_.erase(std::remove_if(unfinished_.begin(), unfinished_.end(), [](const auto& one) { return one->over(); }),
                    unfinished_.end());
  if (separator_ != nullptr && separator_->over()) separator_ = nullptr;
}

std::vector<std::shared_ptr<Event>> Queue::before(bool gathers) {
  std::lock_guard<std::mutex> guard(context->state);
  forget_ended();
  if (gathers && !in_order()) return unfinished_;
  if (separator_ == nullptr) return {};
  return {separator_};
}

void Queue::note(const std::shared_ptr<Event>& event, bool separates) {
  std::lock_guard<std::mutex> guard(context->state);
  if (event->over()) return;
  unfinished_.push_back(event);
  if (separates || in_order()) separator_ = event;
}

std::vector<std::shared_ptr<Event>> Queue::unfinished() {
  std::lock_guard<std::mutex> guard(context->state);
  forget_ended();
  return unfinished_;
}

void Queue::finish() {
  for (const auto& event : unfinished()) context->complete(event);
  std::lock_guard<std::mutex> guard(context->state);
  cl_int code = failure;
  failure = CL_SUCCESS;
  if (code != CL_SUCCESS) throw Refused{CL_OUT_OF_RESOURCES, "a command of the queue failed: " + reason};
}

void Enqueue::operator()(Place place, std::function<void(Event&, cl_ulong)> work) const {
  auto made = std::make_shared<Event>();
  made->context = queue->context;
  made->queue = queue;
  made->type = type;
  made->place = place;
  made->waits = events_of(wait_count, wait_list, CL_INVALID_EVENT_WAIT_LIST);
  for (const auto& one : made->waits) {
    require(one->context == queue->context, CL_INVALID_CONTEXT, "an event of the wait list is of another context");
  }
  made->work = std::move(work);
  if (event != nullptr) publish(made);
  {
    std::lock_guard<std::mutex> guard(queue->order);
    made->behind = queue->before(gathers);
    try {
      queue->context->add(made);
    } catch (...) {
      if (event != nullptr) release_object(made, CL_INVALID_EVENT);
      throw;
    }
    queue->note(made, separates);
  }
  if (event != nullptr) *event = reinterpret_cast<cl_event>(made->handle());
  if (!blocking) return;
  queue->context->complete(made);
  std::lock_guard<std::mutex> guard(queue->context->state);
  cl_int code = made->status < 0 ? made->status : queue->failure;
  std::string why = made->status < 0 ? made->reason : queue->reason;
  queue->failure = CL_SUCCESS;
  if (code < 0) throw Refused{code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? code : CL_OUT_OF_RESOURCES, why};
}

namespace {

cl_command_queue make_queue(cl_context handle, cl_device_id device, cl_command_queue_properties properties,
                            std::vector<cl_queue_properties> given) {
  auto context = find<Context>(handle);
  auto on = find<Device>(device);
  constexpr cl_command_queue_properties kKnown = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
  constexpr cl_command_queue_properties kOnDevice = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  require(!(properties & ~(kKnown | kOnDevice)), CL_INVALID_VALUE, "the properties have unknown bits");
  require(!(properties & kOnDevice), CL_INVALID_QUEUE_PROPERTIES, "boards have no queues of their own");
  auto made = std::make_shared<Queue>();
  made->context = context;
  made->device = on;
  made->place = context->place_of(*on);
  made->properties = properties;
  made->given = std::move(given);
  int64_t id = context->server->next_id();
  context->server->call(Request("queue")
                            .number(id)
                            .number(context->id)
                            .number(static_cast<int64_t>(made->place))
                            .number(static_cast<int64_t>(properties)));
  made->id = id;
  return publish(made);
}

cl_command_queue CL_API_CALL create_command_queue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* code) {
  return created("clCreateCommandQueue", code, [&] { return make_queue(context, device, properties, {}); });
}

cl_command_queue CL_API_CALL create_command_queue_with_properties(cl_context context, cl_device_id device,
                                                                  const cl_queue_properties* properties,
                                                                  cl_int* code) {
  return created("clCreateCommandQueueWithProperties", code, [&] {
    std::vector<cl_queue_properties> given;
    cl_command_queue_properties bits = 0;
    for (const auto* one = properties; one != nullptr && *one != 0; one += 2) {
      given.insert(given.end(), one, one + 2);
      if (one[0] == CL_QUEUE_PROPERTIES) {
        bits = one[1];
      } else {
        require(one[0] != CL_QUEUE_SIZE, CL_INVALID_QUEUE_PROPERTIES, "boards have no queues of their own");
        throw Refused{CL_INVALID_VALUE, "unknown property of a queue"};
      }
    }
    if (properties != nullptr) given.push_back(0);
    return make_queue(context, device, bits, given);
  });
}

cl_int CL_API_CALL retain_command_queue(cl_command_queue queue) { return retain<Queue>("clRetainCommandQueue", queue); }

cl_int CL_API_CALL release_command_queue(cl_command_queue queue) {
  return release<Queue>("clReleaseCommandQueue", queue);
}

cl_int CL_API_CALL get_command_queue_info(cl_command_queue queue, cl_command_queue_info parameter, size_t size,
                                          void* value, size_t* size_ret) {
  return answered("clGetCommandQueueInfo", [&] {
    auto found = find<Queue>(queue);
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_QUEUE_CONTEXT: return answer.of(found->context->handle());
      case CL_QUEUE_DEVICE: return answer.of(found->device->handle());
      case CL_QUEUE_REFERENCE_COUNT: return answer.of(found->references());
      case CL_QUEUE_PROPERTIES: return answer.of(found->properties);
      case CL_QUEUE_PROPERTIES_ARRAY:
        return answer.bytes(found->given.data(), found->given.size() * sizeof(cl_queue_properties));
      case CL_QUEUE_DEVICE_DEFAULT: return answer.of<cl_command_queue>(nullptr);
      case CL_QUEUE_SIZE: throw Refused{CL_INVALID_COMMAND_QUEUE, "only queues of a device have a size"};
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL set_command_queue_property(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                              cl_command_queue_properties*) {
  return answered("clSetCommandQueueProperty", [&] {
    find<Queue>(queue);
    throw Refused{CL_INVALID_OPERATION, "properties of a queue are given when it is created"};
  });
}

cl_int CL_API_CALL flush(cl_command_queue queue) {
  return answered("clFlush", [&] {
    auto context = find<Queue>(queue)->context;
    context->server->settle();
    context->pump();
  });
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  return answered("clFinish", [&] { find<Queue>(queue)->finish(); });
}

cl_int CL_API_CALL set_default_device_command_queue(cl_context context, cl_device_id device, cl_command_queue) {
  return answered("clSetDefaultDeviceCommandQueue", [&] {
    find<Context>(context)->place_of(*find<Device>(device));
    throw Refused{CL_INVALID_OPERATION, "boards have no queues of their own"};
  });
}

void mark(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event, bool barrier) {
  cl_command_type type = barrier ? CL_COMMAND_BARRIER : CL_COMMAND_MARKER;
  Enqueue{find<Queue>(queue), count, list, event, type, false, count == 0, barrier}(Place::kNowhere, nullptr);
}

cl_int CL_API_CALL enqueue_marker_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list,
                                                 cl_event* event) {
  return answered("clEnqueueMarkerWithWaitList", [&] { mark(queue, count, list, event, false); });
}

cl_int CL_API_CALL enqueue_barrier_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list,
                                                  cl_event* event) {
  return answered("clEnqueueBarrierWithWaitList", [&] { mark(queue, count, list, event, true); });
}

cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_event* event) {
  return answered("clEnqueueMarker", [&] {
    auto found = find<Queue>(queue);
    require(event != nullptr, CL_INVALID_VALUE, "the event is null");
    mark(queue, 0, nullptr, event, false);
  });
}

cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue) {
  return answered("clEnqueueBarrier", [&] { mark(queue, 0, nullptr, nullptr, true); });
}

cl_int CL_API_CALL enqueue_wait_for_events(cl_command_queue queue, cl_uint count, const cl_event* list) {
  return answered("clEnqueueWaitForEvents", [&] {
    auto found = find<Queue>(queue);
    require(count != 0 && list != nullptr, CL_INVALID_VALUE, "the list of events is empty");
    for (const auto& one : events_of(count, list, CL_INVALID_EVENT)) {
      require(one->context == found->context, CL_INVALID_CONTEXT, "an event is of another context");
    }
    mark(queue, count, list, nullptr, true);
  });
}

}  // namespace

void add_queue_entries(cl_icd_dispatch& table) {
  table.clCreateCommandQueue = create_command_queue;
  table.clCreateCommandQueueWithProperties = create_command_queue_with_properties;
  table.clRetainCommandQueue = retain_command_queue;
  table.clReleaseCommandQueue = release_command_queue;
  table.clGetCommandQueueInfo = get_command_queue_info;
  table.clSetCommandQueueProperty = set_command_queue_property;
  table.clFlush = flush;
  table.clFinish = finish;
  table.clSetDefaultDeviceCommandQueue = set_default_device_command_queue;
  table.clEnqueueMarkerWithWaitList = enqueue_marker_with_wait_list;
  table.clEnqueueBarrierWithWaitList = enqueue_barrier_with_wait_list;
  table.clEnqueueMarker = enqueue_marker;
  table.clEnqueueBarrier = enqueue_barrier;
  table.clEnqueueWaitForEvents = enqueue_wait_for_events;
}

}  // namespace sluice
