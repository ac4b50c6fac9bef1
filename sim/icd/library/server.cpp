#include "server.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "object.h"

#ifndef SLUICE_PYTHON
#error "SLUICE_PYTHON is the interpreter of the environment in which sluice is installed"
#endif

namespace sluice {
namespace {

/// Never destroyed, as other threads may call while the process ends.
std::mutex& server_lock() {
  static std::mutex* const one = new std::mutex;
  return *one;
}

std::shared_ptr<Server>& current() {
  static auto* const one = new std::shared_ptr<Server>;
  return *one;
}

/// The server whose launches wait while the process forks.
std::shared_ptr<Server>& forked() {
  static auto* const one = new std::shared_ptr<Server>;
  return *one;
}

/// Most launches in one message: as many as one answer takes no noticeable time for.
constexpr size_t kMostPosted = 64;

/// Reads exactly `count` bytes; a file that comes along with them is stored at `fd`.
bool receive_all(int socket, char* data, size_t count, int* fd) {
  while (count != 0) {
    iovec part{data, count};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (fd != nullptr && head != nullptr && head->cmsg_type == SCM_RIGHTS) std::memcpy(fd, CMSG_DATA(head), sizeof *fd);
    data += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

/// Sends some of the bytes, at least one, and a file along with them; returns their number, or -1.
ssize_t send_with(int socket, const char* data, size_t count, int fd) {
  iovec part{const_cast<char*>(data), count};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

bool send_fd(int socket, int fd) { return send_with(socket, "c", 1, fd) == 1; }

/// Sends all bytes, and with the first of them the process's standard output, where the server prints what kernels say: the host
/// may have put another file there since the last call. Without, if it has closed it.
bool send_all(int socket, const char* data, size_t count) {
  ssize_t sent = send_with(socket, data, count, STDOUT_FILENO);
  if (sent > 0) data += sent, count -= static_cast<size_t>(sent);
  while (count != 0) {
    sent = send(socket, data, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

void append(std::string& data, const void* value, size_t count) { data.append(static_cast<const char*>(value), count); }

const char* python() {
  const char* chosen = std::getenv("SLUICE_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : SLUICE_PYTHON;
}

/// fork() without the handlers of this library and of others: the child does nothing but start a program.
pid_t plain_fork() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); }

/// Closes files that the host did not mark close-on-exec: a pipe, say, whose reader waits until all writers have closed it.
void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  for (int fd = first; fd < static_cast<int>(sysconf(_SC_OPEN_MAX)); ++fd) close(fd);
}

/// In the first child: becomes a session of its own, so that an interrupt from the keyboard reaches the host alone, and
/// starts the server in a child of its own, which no wait() of the host can find. Only system calls, as other threads
/// of the host may hold any lock.
[[noreturn]] void run_server(const char* program, char* const* arguments, int socket) {
  setsid();
  pid_t inner = plain_fork();
  if (inner != 0) _exit(inner < 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  if (socket == 3) {
    fcntl(3, F_SETFD, 0);
  } else {
    dup2(socket, 3);
  }
  close_from(4);
  execv(program, arguments);
  _exit(127);
}

}  // namespace

Request& Request::number(int64_t value) {
  data_ += 'i';
  append(data_, &value, sizeof value);
  return *this;
}

Request& Request::numbers(const std::vector<int64_t>& values) {
  number(static_cast<int64_t>(values.size()));
  for (int64_t value : values) number(value);
  return *this;
}

Request& Request::bytes(const void* data, size_t count) {
  uint64_t size = count;
  data_ += 'b';
  append(data_, &size, sizeof size);
  append(data_, data, count);
  return *this;
}

char Reply::tag(char wanted) {
  if (at_ >= data_.size() || data_[at_] != wanted) throw Refused{CL_OUT_OF_RESOURCES, "the server answers otherwise"};
  return data_[at_++];
}

/// The next `count` bytes.
const char* Reply::next(uint64_t count) {
  if (count > data_.size() - at_) throw Refused{CL_OUT_OF_RESOURCES, "the server's answer is too short"};
  at_ += count;
  return data_.data() + at_ - count;
}

int64_t Reply::number() {
  tag('i');
  int64_t value;
  std::memcpy(&value, next(sizeof value), sizeof value);
  return value;
}

std::string Reply::bytes() {
  tag('b');
  uint64_t size;
  std::memcpy(&size, next(sizeof size), sizeof size);
  return std::string(next(size), size);
}

std::shared_ptr<Server> Server::get() {
  static std::once_flag once;
  std::call_once(once, watch_forks_and_exit);
  std::lock_guard<std::mutex> guard(server_lock());
  if (current() == nullptr) {
    std::shared_ptr<Server> made(new Server);
    made->start();
    current() = made;
  }
  return current();
}

std::shared_ptr<Server> Server::running() {
  std::lock_guard<std::mutex> guard(server_lock());
  return current();
}

Server::~Server() {
  for (int socket : idle_) close(socket);
  if (control_ >= 0) close(control_);
}

bool Server::ours() const { return owner_ == getpid(); }

void Server::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Refused{CL_OUT_OF_HOST_MEMORY, "no socket for the server: " + std::string(std::strerror(errno))};
  }
  const char* program = python();
  const char* arguments[] = {program, "-E", "-P", "-m", "sluice.driver", "3", nullptr};
  pid_t child = plain_fork();
  if (child == 0) run_server(program, const_cast<char* const*>(arguments), ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw Refused{CL_OUT_OF_RESOURCES, "the server cannot be started: " + std::string(std::strerror(errno))};
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  owner_ = getpid();
  control_ = ends[0];
  char ready = 0;
  if (!receive_all(control_, &ready, 1, nullptr)) {
    throw Refused{CL_DEVICE_NOT_AVAILABLE,
                  std::string(program) + " does not start `-m sluice.driver`; name the Python of an environment in "
                                         "which sluice is installed with SLUICE_PYTHON, or run `sluice icd` again"};
  }
}

int Server::connect() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Refused{CL_OUT_OF_RESOURCES, "no socket for a call: " + std::string(std::strerror(errno))};
  }
  bool sent = send_fd(control_, ends[1]);
  close(ends[1]);
  if (sent) return ends[0];
  close(ends[0]);
  died("before a call");
}

void Server::check() {
  if (!ours()) {
    throw Refused{CL_INVALID_CONTEXT, "the object belongs to process " + std::to_string(owner_) +
                                          ", which forked this one; make a context here"};
  }
  std::lock_guard<std::mutex> guard(lock_);
  if (dead_) throw Refused{CL_OUT_OF_RESOURCES, "the server has ended"};
}

int Server::take() {
  check();
  std::lock_guard<std::mutex> guard(lock_);
  if (idle_.empty()) return -1;
  int socket = idle_.back();
  idle_.pop_back();
  return socket;
}

void Server::give_back(int socket) {
  std::lock_guard<std::mutex> guard(lock_);
  idle_.push_back(socket);
}

void Server::died(const char* when) {
  {
    std::lock_guard<std::mutex> guard(lock_);
    dead_ = true;
  }
  throw Refused{CL_OUT_OF_RESOURCES, "the server process has ended " + std::string(when)};
}

void Server::post(Request launch, std::function<void(Reply&)> taken, std::function<void(const Refused&)> refused) {
  check();
  std::lock_guard<std::recursive_mutex> guard(post_lock_);
  posted_.push_back({std::move(launch), std::move(taken), std::move(refused)});
  if (posted_.size() >= kMostPosted) settle();
}

void Server::settle() {
  std::lock_guard<std::recursive_mutex> guard(post_lock_);
  std::vector<Posted> all;
  all.swap(posted_);
  if (all.empty()) return;
  Request request("launches");
  request.number(static_cast<int64_t>(all.size()));
  for (const auto& one : all) request.text(one.launch.data());
  size_t done = 0;
  try {
    Reply replies = call(request);
    for (; done < all.size(); ++done) {
      Reply reply(replies.bytes());
      auto code = static_cast<cl_int>(reply.number());
      if (code == CL_SUCCESS) {
        all[done].taken(reply);
      } else {
        all[done].refused({code, reply.bytes()});
      }
    }
  } catch (const Refused& refused) {
    for (; done < all.size(); ++done) all[done].refused(refused);
  }
}

Reply Server::call(const Request& request) {
  settle();
  int socket = take();
  if (socket < 0) socket = connect();
  std::vector<int64_t> forgotten;
  {
    std::lock_guard<std::mutex> guard(lock_);
    forgotten.swap(forgotten_);
  }
  Request head("");
  head.numbers(forgotten);
  std::string whole = head.data().substr(9) + request.data();  // without the empty name
  uint64_t size = whole.size();
  whole.insert(0, reinterpret_cast<const char*>(&size), sizeof size);
  int fd = -1;
  std::string answer;
  std::fflush(stdout);  // what the host printed comes before what kernels print
  bool done = send_all(socket, whole.data(), whole.size()) &&
              receive_all(socket, reinterpret_cast<char*>(&size), sizeof size, &fd);
  if (done) {
    answer.resize(size);
    done = receive_all(socket, &answer[0], size, nullptr);
  }
  if (!done) {
    close(socket);
    died("during a call");
  }
  give_back(socket);
  Reply reply(std::move(answer), fd);
  auto code = static_cast<cl_int>(reply.number());
  if (code != CL_SUCCESS) throw Refused{code, reply.bytes()};
  return reply;
}

void Server::forget(int64_t id) {
  std::lock_guard<std::mutex> guard(lock_);
  forgotten_.push_back(id);
}

int64_t Server::next_id() {
  std::lock_guard<std::mutex> guard(lock_);
  return ++last_id_;
}

void prepare_fork() {
  // first of all: whoever holds it may need the others
  if (auto server = Server::running()) {
    server->post_lock_.lock();
    forked() = server;
  }
  server_lock().lock();
  if (current() != nullptr) current()->lock_.lock();
  lock_handles();
}

void parent_of_fork() {
  unlock_handles();
  if (current() != nullptr) current()->lock_.unlock();
  server_lock().unlock();
  if (auto server = std::move(forked())) server->post_lock_.unlock();
}

/// The child keeps no end of a socket: the server has to notice when the parent ends. It starts a server of its own.
void child_of_fork() {
  unlock_handles();
  if (current() != nullptr) {
    Server& old = *current();
    for (int socket : old.idle_) close(socket);
    old.idle_.clear();
    if (old.control_ >= 0) close(old.control_);
    old.control_ = -1;
    new auto(std::move(old.posted_));  // kept: the parent sends these launches, and their ends are none of the child's
    old.posted_.clear();
    old.lock_.unlock();
    current().reset();
  }
  server_lock().unlock();
  // a recursive lock belongs to the parent's thread, which is not the child's
  if (auto server = std::move(forked())) new (&server->post_lock_) std::recursive_mutex;
}

/// The end of the process: commands that nobody waited for end, and the statistics that the environment asks for are
/// written before the host is gone.
static void say_goodbye() {
  auto server = Server::running();
  if (server == nullptr || !server->ours()) return;
  finish_contexts();
  answered("exit", [&] { server->call(Request("bye").text(program_invocation_short_name)); });
}

void watch_forks_and_exit() {
  pthread_atfork(prepare_fork, parent_of_fork, child_of_fork);
  std::atexit(say_goodbye);
}

}  // namespace sluice
