#include "event.h"

#include "entries.h"
#include "queue.h"

namespace sluice {

Event::~Event() {
  if (id != 0) context->server->forget(id);
}

std::vector<std::shared_ptr<Event>> events_of(cl_uint count, const cl_event* list, cl_int wrong) {
  require((count == 0) == (list == nullptr), wrong, "the number of events and the list do not go together");
  std::vector<std::shared_ptr<Event>> found;
  for (cl_uint k = 0; k < count; ++k) {
    auto one = std::dynamic_pointer_cast<Event>(find_object(list[k]));
    require(one != nullptr, wrong, "the list has a handle that is no event");
    found.push_back(one);
  }
  return found;
}

namespace {

cl_event CL_API_CALL create_user_event(cl_context context, cl_int* code) {
  return created("clCreateUserEvent", code, [&] {
    auto made = std::make_shared<Event>();
    made->context = find<Context>(context);
    made->type = CL_COMMAND_USER;
    made->status = CL_SUBMITTED;
    return publish(made);
  });
}

cl_int CL_API_CALL set_user_event_status(cl_event event, cl_int status) {
  return answered("clSetUserEventStatus", [&] {
    auto found = find<Event>(event);
    require(found->type == CL_COMMAND_USER, CL_INVALID_EVENT, "this is the event of a command");
    require(status <= CL_COMPLETE, CL_INVALID_VALUE, "the status is CL_COMPLETE or a negative code");
    require(found->context->end(found, status, "the host ended the user event"), CL_INVALID_OPERATION,
            "the status has been set, which is final");
    found->context->pump();
  });
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* list) {
  return answered("clWaitForEvents", [&] {
    require(count != 0 && list != nullptr, CL_INVALID_VALUE, "the list of events is empty");
    auto events = events_of(count, list, CL_INVALID_EVENT);
    for (const auto& one : events) {
      require(one->context == events[0]->context, CL_INVALID_CONTEXT, "the events are of different contexts");
    }
    bool failed = false;
    std::string why;
    for (const auto& one : events) {
      one->context->complete(one);
      std::lock_guard<std::mutex> guard(one->context->state);
      if (one->status >= 0) continue;
      failed = true;
      why = one->reason;
      if (one->queue != nullptr && one->queue->culprit == one.get()) one->queue->failure = CL_SUCCESS;
    }
    if (failed) throw Refused{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, why};
  });
}

cl_int status_of(const std::shared_ptr<Event>& event) {
  {
    std::lock_guard<std::mutex> guard(event->context->state);
    if (event->over()) return event->status;
  }
  event->context->look(event);
  std::lock_guard<std::mutex> guard(event->context->state);
  return event->status;
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info parameter, size_t size, void* value,
                                  size_t* size_ret) {
  return answered("clGetEventInfo", [&] {
    auto found = find<Event>(event);
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_EVENT_COMMAND_QUEUE: return answer.of(found->queue ? found->queue->handle() : nullptr);
      case CL_EVENT_CONTEXT: return answer.of(found->context->handle());
      case CL_EVENT_COMMAND_TYPE: return answer.of(found->type);
      case CL_EVENT_COMMAND_EXECUTION_STATUS: return answer.of(status_of(found));
      case CL_EVENT_REFERENCE_COUNT: return answer.of(found->references());
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL retain_event(cl_event event) { return retain<Event>("clRetainEvent", event); }

cl_int CL_API_CALL release_event(cl_event event) { return release<Event>("clReleaseEvent", event); }

cl_int CL_API_CALL get_event_profiling_info(cl_event event, cl_profiling_info parameter, size_t size, void* value,
                                            size_t* size_ret) {
  return answered("clGetEventProfilingInfo", [&] {
    auto found = find<Event>(event);
    require(found->queue != nullptr && found->queue->properties & CL_QUEUE_PROFILING_ENABLE,
            CL_PROFILING_INFO_NOT_AVAILABLE, "the queue was created without CL_QUEUE_PROFILING_ENABLE");
    require(status_of(found) == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE, "the command has not ended");
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_PROFILING_COMMAND_QUEUED: return answer.of(found->times.queued);
      case CL_PROFILING_COMMAND_SUBMIT: return answer.of(found->times.submit);
      case CL_PROFILING_COMMAND_START: return answer.of(found->times.start);
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE: return answer.of(found->times.end);
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL set_event_callback(cl_event event, cl_int type,
                                      void(CL_CALLBACK* notify)(cl_event, cl_int, void*), void* data) {
  return answered("clSetEventCallback", [&] {
    auto found = find<Event>(event);
    require(notify != nullptr, CL_INVALID_VALUE, "the function is null");
    require(type == CL_COMPLETE || type == CL_RUNNING || type == CL_SUBMITTED, CL_INVALID_VALUE,
            "the status is CL_SUBMITTED, CL_RUNNING or CL_COMPLETE");
    found->context->server->settle();
    // the event lives until the call, which gets its handle
    std::function<void(cl_int)> call = [found, event, notify, data](cl_int status) { notify(event, status, data); };
    cl_int ended = CL_QUEUED;
    {
      std::lock_guard<std::mutex> guard(found->context->state);
      if (found->over()) {
        ended = found->status;
      } else {
        found->callbacks.emplace_back(type, call);
      }
    }
    if (ended <= CL_COMPLETE) {
      cl_int told = ended < 0 ? ended : type;
      return call_back_later([call, told] { call(told); });
    }
    complete_later(found);
  });
}

}  // namespace

void add_event_entries(cl_icd_dispatch& table) {
  table.clCreateUserEvent = create_user_event;
  table.clSetUserEventStatus = set_user_event_status;
  table.clWaitForEvents = wait_for_events;
  table.clGetEventInfo = get_event_info;
  table.clRetainEvent = retain_event;
  table.clReleaseEvent = release_event;
  table.clGetEventProfilingInfo = get_event_profiling_info;
  table.clSetEventCallback = set_event_callback;
}

}  // namespace sluice
