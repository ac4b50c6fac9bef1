// Threads of this library: one that makes callbacks, one that lets the events end that callbacks were registered for.
#include <unistd.h>

#include <chrono>
#include <deque>
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
    entries.push_back(std::move(entry));
    if (owner_ != getpid()) {
      owner_ = getpid();
      std::thread([this] { body_(*this); }).detach();
    }
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

/// Whether the event can end without its host.
bool can_end(Event& event, const std::shared_ptr<Event>& shared) {
  std::lock_guard<std::mutex> guard(event.context->state);
  return event.over() || event.context->cause(shared)->type != CL_COMMAND_USER;
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
    for (const auto& event : all) {
      if (!can_end(*event, event)) {
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
