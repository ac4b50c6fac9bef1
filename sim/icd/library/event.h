// Commands, and the events that stand for them.
#pragma once
#include <functional>
#include <utility>

#include "context.h"

namespace sluice {

class Queue;

/// A command's times in ns of simulated time.
struct Times {
  cl_ulong queued = 0, submit = 0, start = 0, end = 0;
};

/// Where a command runs.
enum class Place {
  kHost,    ///< in this library: begins when all before it have ended
  kServer,  ///< a launch: begins when all before it have ended or were handed to the server, which orders them
  kNowhere,  ///< a marker or a user event: no work
  kCallback  ///< a function of the host, which another thread calls; that thread ends the command
};

class Event : public Object, public std::enable_shared_from_this<Event> {
 public:
  SLUICE_HANDLE(cl_event, CL_INVALID_EVENT, "event");
  ~Event() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Queue> queue;  ///< nullptr for a user event
  cl_command_type type = 0;
  Place place = Place::kNowhere;

  // ---- under context->state
  cl_int status = CL_QUEUED;
  int64_t id = 0;  ///< of a launch on the server; 0 for none
  std::vector<std::shared_ptr<Event>> waits;   ///< of the host's wait list
  std::vector<std::shared_ptr<Event>> behind;  ///< of the queue's order
  Times times;
  /// Does the command's work; `ready_ns` is the latest end of those before it. Sets `times`, or `id` and CL_RUNNING.
  std::function<void(Event&, cl_ulong ready_ns)> work;
  std::string reason;  ///< why it failed
  std::vector<std::pair<cl_int, std::function<void(cl_int)>>> callbacks;

  bool over() const { return status <= CL_COMPLETE; }
};

/// Calls back in a thread of its own: what a host does there must not wait for locks of the thread that made the call.
void call_back_later(std::function<void()> call);
/// Lets an event end although the host may not wait for it: it has registered a callback.
void complete_later(const std::shared_ptr<Event>& event);
/// The events of a host's list. Throws Refused for a wrong list.
std::vector<std::shared_ptr<Event>> events_of(cl_uint count, const cl_event* list, cl_int wrong);

}  // namespace sluice
