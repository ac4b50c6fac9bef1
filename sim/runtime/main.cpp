// The simulator process: executes commands from the host, one a line, and answers each with a line.
//
//   write ADDRESS VALUE      -> ok
//   read ADDRESS             -> ok VALUE
//   run LIMIT MASK           -> ok INTERRUPTS CYCLE     (stops at an interrupt in MASK or after LIMIT cycles)
//   wire NAME VALUE          -> ok                      (sets an input of a design without registers)
//   until NAME LIMIT         -> ok HIGH CYCLE           (stops when the output NAME is high or after LIMIT cycles)
//   reset SEED               -> ok
//   restart                  -> ok                      (resets the design alone, the memory keeps running)
//   cycle                    -> ok CYCLE
//   quiet                    -> ok QUIET                (1: no memory access is in flight)
//   feed STREAM BYTES HEX    -> ok                      (values of BYTES bytes each, for the design to read)
//   drain STREAM BYTES       -> ok HEX                  (values that the design wrote since; - for nothing)
//   idle STREAM              -> ok CYCLES               (since the design last offered a value)
//   trace FROM CYCLES PATH   -> ok                      (a waveform of that window of cycles)
//   untrace                  -> ok
//   statistics BANK          -> ok BYTES_READ BYTES_WRITTEN READS WRITES ACTIVATES PRECHARGES REFRESHES TURNAROUNDS
//   probe unit AT EVENTS CAUSES ISSUES AUTORUN -> ok    (a unit's section of the output probe, from bit AT on)
//   probe hold UNIT BIT      -> ok                      (a bit of the probe: a request of the unit is held up)
//   probe level UNIT WORD    -> ok                      (a word of the probe: values in a channel that the unit uses)
//   probe link UNIT ACCOUNT OTHER -> ok                 (in this account it waits for unit OTHER; -2: for a stream)
//   probe sample UNIT ROWS   -> ok                      (keep at most so many intervals; 0: none)
//   probe replay MOVED STALLED START MOVED STALLED START DEPTH -> ok  (a channel: bits of its writer and its reader)
//   counts UNIT              -> ok CYCLES EVENT... ACCOUNT... (NOW MOST SUM)...
//   since UNIT               -> ok CYCLE                (from which on its account has been the same)
//   held UNIT                -> ok ACCOUNT:HOLD:CYCLES...
//   blame UNIT               -> ok ACCOUNT:OF_LAST:CYCLES:UNIT,UNIT...  (OF_LAST -1: idle, -2: a stream, -3: a circle)
//   samples UNIT PATH        -> ok FIRST LENGTH LAST_LENGTH COLUMNS  (rows of 32-bit numbers into the file)
//   depths REPLAY            -> ok VALUES DEPTH:END:WRITER_WAITS:READER_WAITS...
//   quit
// A command that fails is answered with `error MESSAGE`. Between commands simulated time stands still.

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation.h"

namespace sluice {
namespace {

volatile std::sig_atomic_t terminated = 0;

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd), in_(fdopen(fd, "r")), out_(fdopen(dup(fd), "w")) {
    if (!in_ || !out_) throw std::runtime_error("cannot open the host's connection");
  }
  ~Connection() {
    std::fclose(in_);
    std::fclose(out_);
    std::free(text_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool receive(std::string& line) {
    const ssize_t length = getline(&text_, &capacity_, in_);
    if (length <= 0) return false;
    line.assign(text_, static_cast<size_t>(length - (text_[length - 1] == '\n')));
    return true;
  }
  /// Whether the host has ended.
  bool hung_up() const {
    pollfd state{fd_, 0, 0};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
  }
  void send(const std::string& line) {
    std::fprintf(out_, "%s\n", line.c_str());
    std::fflush(out_);
  }

 private:
  const int fd_;
  FILE *in_, *out_;
  char* text_ = nullptr;
  size_t capacity_ = 0;
};

template <typename T>
T argument(std::istringstream& words) {
  T value{};
  if (!(words >> value)) throw std::runtime_error("missing or malformed argument");
  return value;
}

std::string statistics(const Simulation& simulation, size_t bank) {
  if (bank >= simulation.banks()) return "ok 0 0 0 0 0 0 0 0";
  const AxiMemory& memory = simulation.bank(bank);
  const MemoryCounts& counts = memory.counts();
  std::ostringstream answer;
  answer << "ok " << memory.bytes_read() << ' ' << memory.bytes_written() << ' ' << counts.reads << ' '
         << counts.writes << ' ' << counts.activates << ' ' << counts.precharges << ' ' << counts.refreshes << ' '
         << counts.turnarounds;
  return answer.str();
}

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

std::string to_hex(const std::vector<uint8_t>& bytes) {
  static const char* const digits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text.empty() ? "-" : text;
}

void extend_probe(Probe& probe, std::istringstream& words) {
  const auto what = argument<std::string>(words);
  const auto first = argument<size_t>(words);
  if (what == "unit") {
    const auto events = argument<size_t>(words), causes = argument<size_t>(words);
    const bool issues = argument<int>(words) != 0;
    probe.add_unit(first, events, causes, issues, argument<int>(words) != 0);
  } else if (what == "hold") {
    probe.unit(first).add_hold(argument<size_t>(words));
  } else if (what == "level") {
    probe.unit(first).add_level(argument<size_t>(words));
  } else if (what == "sample") {
    probe.unit(first).sample_rows(argument<size_t>(words));
  } else if (what == "link") {
    const auto account = argument<size_t>(words);
    probe.unit(first).add_link(account, argument<int>(words));
  } else if (what == "replay") {
    DepthReplay::Bits ends[2];
    ends[0].moved = first;
    for (DepthReplay::Bits& end : ends) {
      if (&end != ends) end.moved = argument<size_t>(words);
      end.stalled = argument<size_t>(words);
      end.start = argument<size_t>(words);
    }
    probe.add_replay(DepthReplay(ends[0], ends[1], argument<size_t>(words)));
  } else {
    throw std::runtime_error("unknown part of a probe: " + what);
  }
}

std::string probed(const std::string& command, ProbeUnit& unit, std::istringstream& words) {
  std::ostringstream answer;
  answer << "ok";
  if (command == "counts") {
    answer << ' ';
    unit.write_counts(answer);
  } else if (command == "since") {
    answer << ' ' << unit.since();
  } else if (command == "held") {
    unit.write_held(answer);
  } else if (command == "blame") {
    unit.write_blame(answer);
  } else {
    std::string path;
    std::getline(words >> std::ws, path);
    unit.write_samples(path, answer);
  }
  return answer.str();
}

std::string execute(Simulation& simulation, const std::string& command, std::istringstream& words) {
  if (command == "write") {
    const auto address = argument<uint32_t>(words);
    simulation.write_register(address, argument<uint32_t>(words));
  } else if (command == "read") {
    return "ok " + std::to_string(simulation.read_register(argument<uint32_t>(words)));
  } else if (command == "run") {
    const auto limit = argument<uint64_t>(words);
    const uint64_t interrupts = simulation.run(limit, argument<uint64_t>(words));
    return "ok " + std::to_string(interrupts) + ' ' + std::to_string(simulation.cycle());
  } else if (command == "wire") {
    const auto name = argument<std::string>(words);
    simulation.set_wire(name, argument<uint64_t>(words));
  } else if (command == "until") {
    const auto name = argument<std::string>(words);
    const bool high = simulation.run_until(name, argument<uint64_t>(words));
    return "ok " + std::to_string(high) + ' ' + std::to_string(simulation.cycle());
  } else if (command == "reset") {
    simulation.set_seed(argument<uint32_t>(words));
    simulation.reset();
  } else if (command == "restart") {
    simulation.restart();
  } else if (command == "cycle") {
    return "ok " + std::to_string(simulation.cycle());
  } else if (command == "feed") {
    StreamPort& stream = simulation.stream(argument<std::string>(words));
    const auto bytes = argument<size_t>(words);
    stream.feed(from_hex(argument<std::string>(words)), bytes);
  } else if (command == "drain") {
    StreamPort& stream = simulation.stream(argument<std::string>(words));
    return "ok " + to_hex(stream.drain(argument<size_t>(words)));
  } else if (command == "idle") {
    return "ok " + std::to_string(simulation.stream(argument<std::string>(words)).idle());
  } else if (command == "quiet") {
    return "ok " + std::to_string(simulation.quiet());
  } else if (command == "trace") {
    const auto from = argument<uint64_t>(words);
    const auto cycles = argument<uint64_t>(words);
    std::string path;
    std::getline(words >> std::ws, path);
    simulation.trace(path, from, cycles);
  } else if (command == "untrace") {
    simulation.end_trace();
  } else if (command == "probe") {
    extend_probe(simulation.probe(), words);
  } else if (command == "counts" || command == "since" || command == "held" || command == "blame" || command == "samples") {
    return probed(command, simulation.probe().unit(argument<size_t>(words)), words);
  } else if (command == "depths") {
    std::ostringstream answer;
    answer << "ok";
    simulation.probe().replay(argument<size_t>(words)).write(answer);
    return answer.str();
  } else if (command == "statistics") {
    return statistics(simulation, argument<size_t>(words));
  } else {
    throw std::runtime_error("unknown command " + command);
  }
  return "ok";
}

void serve(Simulation& simulation, Connection& connection) {
  std::string line, command;
  while (!terminated && connection.receive(line)) {
    std::istringstream words(line);
    words >> command;
    if (command == "quit") break;
    try {
      connection.send(execute(simulation, command, words));
    } catch (const std::exception& problem) {
      connection.send(std::string("error ") + problem.what());
    }
  }
  simulation.end_trace();
}

}  // namespace
}  // namespace sluice

/// Arguments: settings file, then file descriptors of the connection, the memory's contents and the control page.
int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " SETTINGS CONNECTION_FD CONTENTS_FD CONTROL_FD\n";
    return 2;
  }
  // Orderly termination: the waveform is closed. The end of the host is noticed at the next check, not the next answer.
  struct sigaction action {};
  action.sa_handler = [](int) { sluice::terminated = 1; };
  sigaction(SIGTERM, &action, nullptr);  // without SA_RESTART: it ends the wait for a command, too
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const sluice::Settings settings(argv[1]);
    sluice::Connection connection(std::atoi(argv[2]));
    sluice::SharedMemory memory(std::atoi(argv[3]), std::atoi(argv[4]));
    const auto model = sluice::make_model();
    sluice::Simulation simulation(*model, settings, memory);
    simulation.stop_when([&connection] { return sluice::terminated || connection.hung_up(); });
    connection.send("ok ready");
    sluice::serve(simulation, connection);
    std::fflush(nullptr);
    // The model's destructors only free memory, which the operating system does faster.
    _exit(0);
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
