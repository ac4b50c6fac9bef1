// When commands begin.
//
// 1. A command of this library (a transfer, a fill, a mapping) begins when all commands before it have ended. Simulated
//    time stands still until the host waits, so it stays queued behind a launch until then: launches that are queued
//    later, to other queues, overlap with that one.
// 2. A launch is handed to the server when each command before it has ended or is itself a launch there: kernels that
//    channels connect run at the same time.
// 3. Commands begin in the order in which they were queued, as far as 1 and 2 allow.
#include "queue.h"

namespace sluice {

bool Context::may_begin(Event& event) {
  auto holds_back = [&](const std::shared_ptr<Event>& before) {
    return !before->over() && !(event.place == Place::kServer && before->id != 0);
  };
  for (auto* list : {&event.waits, &event.behind}) {
    for (const auto& before : *list) {
      if (holds_back(before)) return false;
    }
  }
  return true;
}

void Context::add(const std::shared_ptr<Event>& event) {
  if (event->place != Place::kServer) server->settle();  // it begins when the launches before it have ended
  std::lock_guard<std::recursive_mutex> pumping(pump_lock_);
  bool ready;
  {
    std::lock_guard<std::mutex> guard(state);
    pending_.push_back(event);
    ready = may_begin(*event);
  }
  if (!ready) return;
  try {
    begin(event, false);
  } catch (...) {
    std::lock_guard<std::mutex> guard(state);
    pending_.remove(event);
    event->status = CL_INVALID_OPERATION;
    event->work = nullptr;
    throw;
  }
}

void Context::begin(const std::shared_ptr<Event>& event, bool queued) {
  cl_ulong ready_ns = 0;
  bool failed = false;
  std::function<void(Event&, cl_ulong)> work;
  {
    std::lock_guard<std::mutex> guard(state);
    for (const auto& before : event->waits) failed |= before->status < 0;
    for (auto* list : {&event->waits, &event->behind}) {
      for (const auto& before : *list) ready_ns = std::max(ready_ns, before->times.end);
    }
    work = event->work;
    if (event->place == Place::kNowhere) event->times = {ready_ns, ready_ns, ready_ns, ready_ns};
  }
  if (failed) {
    end(event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command of its wait list failed");
    return;
  }
  try {
    if (work) work(*event, ready_ns);
  } catch (const Refused& refused) {
    if (!queued) throw;
    explain("a queued command", refused);
    end(event, refused.code, refused.what);
    return;
  }
  if (event->place == Place::kHost || event->place == Place::kNowhere) {
    end(event, CL_COMPLETE);
  } else {
    changed.notify_all();
  }
}

void Context::pump() {
  std::lock_guard<std::recursive_mutex> pumping(pump_lock_);
  std::vector<std::shared_ptr<Event>> all;
  {
    std::lock_guard<std::mutex> guard(state);
    all.assign(pending_.begin(), pending_.end());
  }
  // one pass is enough: commands depend on earlier ones only
  for (const auto& event : all) {
    bool ready;
    {
      std::lock_guard<std::mutex> guard(state);
      ready = event->status == CL_QUEUED && may_begin(*event);
    }
    if (ready) begin(event, true);
  }
}

bool Context::end(const std::shared_ptr<Event>& event, cl_int status, const std::string& why) {
  std::vector<std::pair<cl_int, std::function<void(cl_int)>>> callbacks;
  std::vector<std::shared_ptr<Event>> released;  // destroyed without the lock
  std::function<void(Event&, cl_ulong)> work;
  {
    std::lock_guard<std::mutex> guard(state);
    if (event->over()) return false;
    event->status = status;
    event->reason = why;
    pending_.remove(event);
    callbacks.swap(event->callbacks);
    released.swap(event->waits);
    released.insert(released.end(), event->behind.begin(), event->behind.end());
    event->behind.clear();
    work.swap(event->work);
    Queue* queue = event->queue.get();
    if (status < 0 && queue != nullptr && queue->failure == CL_SUCCESS) {
      queue->failure = status;
      queue->reason = why;
      queue->culprit = event.get();
    }
  }
  changed.notify_all();
  for (auto& callback : callbacks) {
    cl_int told = status < 0 ? status : callback.first;
    call_back_later([call = std::move(callback.second), told] { call(told); });
  }
  return true;
}

void Context::take(const std::shared_ptr<Event>& event, Reply& reply) {
  if (reply.number() == 0) {
    std::lock_guard<std::mutex> guard(state);
    event->status = CL_RUNNING;
    return;
  }
  auto status = static_cast<cl_int>(reply.number());
  std::string why = reply.bytes();
  {
    std::lock_guard<std::mutex> guard(state);
    if (event->over()) return;
    event->times.queued = static_cast<cl_ulong>(reply.number());
    event->times.submit = static_cast<cl_ulong>(reply.number());
    event->times.start = static_cast<cl_ulong>(reply.number());
    event->times.end = static_cast<cl_ulong>(reply.number());
  }
  if (status < 0) std::fprintf(stderr, "sluice: %s\n", why.c_str());
  end(event, status, why);
}

std::shared_ptr<Event> Context::cause(const std::shared_ptr<Event>& event) {
  auto found = event;
  for (;;) {
    std::shared_ptr<Event> next;
    if (found->id == 0) {
      for (auto* list : {&found->waits, &found->behind}) {
        for (const auto& before : *list) {
          if (next == nullptr && !before->over()) next = before;
        }
      }
    }
    if (next == nullptr) return found;
    found = next;
  }
}

std::unordered_set<const Event*> Context::held_by_host() const {
  std::unordered_set<const Event*> held;
  for (const auto& event : pending_) {  // a command waits for earlier ones only
    for (auto* list : {&event->waits, &event->behind}) {
      for (const auto& before : *list) {
        bool user = before->type == CL_COMMAND_USER && !before->over();
        if (user || held.count(before.get()) != 0) held.insert(event.get());
      }
    }
  }
  return held;
}

/// The launch, and others on the server that keep commands of this library from beginning.
std::vector<std::shared_ptr<Event>> Context::awaited(const std::shared_ptr<Event>& first) {
  std::vector<std::shared_ptr<Event>> found{first};
  for (const auto& event : pending_) {
    auto one = event->id == 0 ? cause(event) : nullptr;
    if (one != nullptr && one->id != 0 && one != first) found.push_back(one);
  }
  return found;
}

void Context::complete(const std::shared_ptr<Event>& event) {
  for (;;) {
    server->settle();
    pump();
    std::vector<std::shared_ptr<Event>> launches;
    {
      std::unique_lock<std::mutex> guard(state);
      if (event->over()) return;
      auto root = cause(event);
      if (root->id == 0) {
        changed.wait(guard);
        continue;
      }
      launches = awaited(root);
    }
    std::vector<int64_t> ids;
    for (const auto& one : launches) ids.push_back(one->id);
    try {
      Reply reply = server->call(Request("wait").numbers(ids));
      take(launches.at(static_cast<size_t>(reply.number())), reply);
    } catch (const Refused& refused) {
      end(launches[0], refused.code, refused.what);
    }
  }
}

void Context::look(const std::shared_ptr<Event>& event) {
  server->settle();
  pump();
  std::shared_ptr<Event> root;
  {
    std::lock_guard<std::mutex> guard(state);
    if (event->over()) return;
    root = cause(event);
    if (root->id == 0) return;
  }
  try {
    Reply reply = server->call(Request("look").number(root->id));
    take(root, reply);
  } catch (const Refused& refused) {
    end(root, refused.code, refused.what);
  }
  pump();
}

void Context::complete_all() {
  std::vector<std::shared_ptr<Event>> all;
  {
    std::lock_guard<std::mutex> guard(state);
    auto held = held_by_host();
    for (const auto& event : pending_) {
      if (held.count(event.get()) == 0) all.push_back(event);
    }
  }
  for (const auto& event : all) complete(event);
}

}  // namespace sluice
