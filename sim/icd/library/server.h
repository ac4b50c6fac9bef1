// The process that holds the compiler and the simulated boards, and the messages to it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "refusal.h"

namespace sluice {

/// A request: its name, then numbers and byte strings in the order that the server expects.
class Request {
 public:
  explicit Request(const char* name) { text(name); }
  Request& number(int64_t value);
  Request& numbers(const std::vector<int64_t>& values);  ///< their count, then each
  Request& bytes(const void* data, size_t count);
  Request& text(const std::string& value) { return bytes(value.data(), value.size()); }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

/// An answer, read from its beginning.
class Reply {
 public:
  explicit Reply(std::string data, int fd = -1) : data_(std::move(data)), fd_(fd) {}
  int64_t number();
  std::string bytes();
  bool more() const { return at_ < data_.size(); }
  int fd() const { return fd_; }  ///< the file that came along, which is the caller's; -1 for none

 private:
  char tag(char wanted);
  const char* next(uint64_t count);
  std::string data_;
  size_t at_ = 0;
  int fd_;
};

/// One server process. Any number of threads may call it at the same time: each call has a connection of its own.
class Server {
 public:
  /// The process's server, started at the first use. Throws Refused if it cannot be started.
  static std::shared_ptr<Server> get();
  /// The same, or nullptr if none was started in this process.
  static std::shared_ptr<Server> running();
  ~Server();

  /// Sends a request and waits for the answer. Throws Refused with the server's code and text; CL_OUT_OF_RESOURCES
  /// when it has ended, or belongs to the process that forked this one.
  Reply call(const Request& request);
  /// Sends a launch together with others, before the next call at the latest: each round trip costs two switches
  /// between processes. Then `taken` gets the answer, or `refused` what call() would have thrown. Throws Refused where
  /// it is known already that there can be no call.
  void post(Request launch, std::function<void(Reply&)> taken, std::function<void(const Refused&)> refused);
  /// Sends the launches that wait to be sent, and takes their answers.
  void settle();
  /// Tells with the next call that an object is no longer needed.
  void forget(int64_t id);
  /// A number for an object that both sides know.
  int64_t next_id();
  bool ours() const;

 private:
  Server() = default;
  void start();
  int connect();
  void check();  ///< throws Refused if there can be no call
  int take();
  void give_back(int socket);
  [[noreturn]] void died(const char* when);

  struct Posted {
    Request launch;
    std::function<void(Reply&)> taken;
    std::function<void(const Refused&)> refused;
  };

  pid_t owner_ = 0;
  int control_ = -1;
  std::mutex lock_;
  std::vector<int> idle_;
  std::vector<int64_t> forgotten_;
  int64_t last_id_ = 0;
  bool dead_ = false;
  std::recursive_mutex post_lock_;  ///< held until the answers are taken, so that later calls find what was launched
  std::vector<Posted> posted_;

  friend void prepare_fork();
  friend void parent_of_fork();
  friend void child_of_fork();
};

/// Called once, before the process's first server.
void watch_forks_and_exit();
/// Lets the queued commands of all contexts end, as far as they do not wait for the host.
void finish_contexts();

}  // namespace sluice
