// Threads of this library: one that makes callbacks, one that lets the events end that callbacks were registered for.
#include <unistd.h>

#include <chrono>
#include <deque>
#include <map>
#include <thread>

#include "event.h"

namespace sluice {
namespace {

/// A thread that works through a list; started at the first entry. A forked child has none of its parent's threads.
template <typename Entry>
class Worker {
 public:
  explicit Worker(void (*body)(Worker&)) : body_(body) {}

  void add(Entry entry) {
    std::lock_guard<std::mutex> guard(lock);
    if (owner_ != getpid()) {
      entries.clear();  // of the process that forked this one, which works through them itself
      std::thread([this] { body_(*this); }).detach();
      owner_ = getpid();
    }
    entries.push_back(std::move(entry));
    added.notify_all();
  }

  std::mutex lock;
  std::condition_variable added;
  std::deque<Entry> entries;

 private:
  void (*body_)(Worker&);
  pid_t owner_ = 0;
};

void call_back(Worker<std::function<void()>>& worker) {
  for (;;) {
    std::function<void()> call;
    {
      std::unique_lock<std::mutex> guard(worker.lock);
      worker.added.wait(guard, [&] { return !worker.entries.empty(); });
      call = std::move(worker.entries.front());
      worker.entries.pop_front();
    }
    call();
  }
}

/// Which of these events only the host lets end.
std::unordered_set<const Event*> held(const std::deque<std::shared_ptr<Event>>& events) {
  std::map<Context*, std::unordered_set<const Event*>> by_context;
  std::unordered_set<const Event*> found;
  for (const auto& event : events) {
    std::lock_guard<std::mutex> guard(event->context->state);
    auto known = by_context.find(event->context.get());
    if (known == by_context.end()) {
      known = by_context.emplace(event->context.get(), event->context->held_by_host()).first;
    }
    bool user = event->type == CL_COMMAND_USER;
    if (!event->over() && (user || known->second.count(event.get()) != 0)) found.insert(event.get());
  }
  return found;
}

void complete(Worker<std::shared_ptr<Event>>& worker) {
  for (;;) {
    std::deque<std::shared_ptr<Event>> all;
    {
      std::unique_lock<std::mutex> guard(worker.lock);
      worker.added.wait(guard, [&] { return !worker.entries.empty(); });
      all.swap(worker.entries);
    }
    std::deque<std::shared_ptr<Event>> left;
    auto waiting = held(all);
    for (const auto& event : all) {
      if (waiting.count(event.get()) != 0) {
        left.push_back(event);
      } else {
        answered("a callback's event", [&] { event->context->complete(event); });
      }
    }
    std::unique_lock<std::mutex> guard(worker.lock);
    worker.entries.insert(worker.entries.end(), left.begin(), left.end());
    // user events are set by other threads, which know nothing of this one
    if (left.size() == all.size()) worker.added.wait_for(guard, std::chrono::milliseconds(5));
  }
}

}  // namespace

void call_back_later(std::function<void()> call) {
  static auto* const worker = new Worker<std::function<void()>>(call_back);
  worker->add(std::move(call));
}

void complete_later(const std::shared_ptr<Event>& event) {
  static auto* const worker = new Worker<std::shared_ptr<Event>>(complete);
  worker->add(event);
}

}  // namespace sluice
