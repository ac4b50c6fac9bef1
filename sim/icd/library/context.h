// Contexts: devices, their memory as this process maps it, and the commands that have not ended.
#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <unordered_set>

#include "device.h"
#include "server.h"

namespace sluice {

class Event;

class Context : public Object, public std::enable_shared_from_this<Context> {
 public:
  SLUICE_HANDLE(cl_context, CL_INVALID_CONTEXT, "context");
  ~Context() override;

  std::shared_ptr<Server> server;
  int64_t id = 0;
  std::vector<std::shared_ptr<Device>> devices;
  std::vector<cl_context_properties> properties;

  bool has(const Device& device) const;
  /// The place of a device in `devices`. Throws Refused (CL_INVALID_DEVICE).
  size_t place_of(const Device& device) const;
  /// The board's memory from address 0 on; mapped at the first use. Throws Refused.
  char* memory_of(size_t place);

  // ---- commands (scheduling.cpp)
  /// Queues a command whose dependencies are known, and begins it if it may. Throws Refused what its beginning throws;
  /// then it is not queued.
  void add(const std::shared_ptr<Event>& event);
  /// Begins all commands that may begin.
  void pump();
  /// Waits until a command is over.
  void complete(const std::shared_ptr<Event>& event);
  /// Lets the simulation advance a little, for a host that polls.
  void look(const std::shared_ptr<Event>& event);
  /// Waits for all commands that do not wait for the host itself.
  void complete_all();
  /// The command is over: `status` is CL_COMPLETE or a negative code, and then `why` its reason. False if it was
  /// over already.
  bool end(const std::shared_ptr<Event>& event, cl_int status, const std::string& why = "");
  /// What the server says of a launch: it goes on, or it is over.
  void take(const std::shared_ptr<Event>& event, Reply& reply);
  /// The command that keeps an event from ending: itself, or the first in its chain of dependencies. Under `state`.
  std::shared_ptr<Event> cause(const std::shared_ptr<Event>& event);
  /// The commands that wait, directly or through others, for user events: only the host lets them end. Under `state`.
  std::unordered_set<const Event*> held_by_host() const;

  void on_destruction(std::function<void()> call);

  std::mutex state;  ///< of all commands of the context
  std::condition_variable changed;

 private:
  bool may_begin(Event& event);
  void begin(const std::shared_ptr<Event>& event, bool queued);
  std::vector<std::shared_ptr<Event>> awaited(const std::shared_ptr<Event>& first);

  std::recursive_mutex pump_lock_;  ///< commands begin one after the other
  std::list<std::shared_ptr<Event>> pending_;
  std::mutex map_lock_;
  std::map<size_t, std::pair<char*, size_t>> maps_;
  std::vector<std::function<void()>> destructors_;  ///< under `state`
};

/// All contexts that exist.
std::vector<std::shared_ptr<Context>> contexts();

}  // namespace sluice
