// The board around the design: clock, reset, registers and memories, cycle by cycle.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axi_memory.h"
#include "control_master.h"
#include "model.h"
#include "probe.h"
#include "ram_port.h"
#include "settings.h"
#include "shared_memory.h"
#include "stream_port.h"

namespace sluice {

class Simulation {
 public:
  Simulation(Model& model, const Settings& settings, SharedMemory& memory);

  /// Memory contents stay; accesses in flight end without a response. The seed takes effect here.
  void reset();
  /// Resets the design alone, in any state: outstanding responses of the memory arrive meanwhile and afterwards.
  void restart();
  void set_seed(uint32_t seed) { seed_ = seed; }
  /// Register access; throws std::runtime_error when the design does not respond or refuses.
  void write_register(uint32_t address, uint32_t value);
  uint32_t read_register(uint32_t address);
  /// Runs until an interrupt in `mask` is high, at most `limit` cycles; returns the interrupts.
  uint64_t run(uint64_t limit, uint64_t mask);
  /// A design started by wires instead of registers: sets an input, and runs until an output is high or `limit` cycles
  /// have passed. Both throw std::runtime_error if there is no such port; the second returns whether it is high.
  void set_wire(const std::string& name, uint64_t value);
  bool run_until(const std::string& name, uint64_t limit);
  /// Runs end as soon as `stop` returns true; it is called now and then.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  uint64_t interrupts() const { return interrupt_.get(); }
  uint64_t cycle() const { return cycle_; }
  /// Whether no memory access is in flight: a waiting kernel then does not wait for memory.
  bool quiet() const;

  /// The stream of that name; throws std::runtime_error if the design has none.
  StreamPort& stream(const std::string& name);

  /// Writes a waveform of `cycles` cycles from cycle `from` on; throws std::runtime_error in a build without tracing.
  void trace(const std::string& path, uint64_t from, uint64_t cycles);
  void end_trace();

  /// What the design's output `probe` shows; it counts from when units were added to it.
  Probe& probe() { return probe_; }

  size_t banks() const { return memories_.size(); }
  const AxiMemory& bank(size_t index) const { return *memories_[index]; }

 private:
  void hold_reset(bool memories_too);
  void step();
  void settle_transaction();
  void trace_before_step();
  Pin required(const std::string& name);
  AxiLitePins control_pins();
  AxiPins memory_pins(const std::string& prefix);
  void find_memories(const Settings& settings, SharedMemory& memory);
  void find_ram_ports(SharedMemory& memory);
  void find_streams(const std::string& direction);

  bool stopped() const { return cycle_ % kLook == 0 && stop_ && stop_(); }

  static constexpr uint64_t kResetCycles = 16, kPatience = 100000, kDrain = 10000, kLook = 1024;

  Model& model_;
  const double period_ps_;
  Pin clock_, double_clock_, reset_, interrupt_, stall_seed_;
  ControlMaster control_;
  std::vector<std::unique_ptr<AxiMemory>> memories_;
  std::vector<RamPort> ram_ports_;  ///< loads first
  std::vector<StreamPort> streams_;
  Probe probe_;
  std::function<bool()> stop_;
  uint64_t cycle_ = 0;
  uint32_t seed_ = 0;

  std::string trace_path_;
  uint64_t trace_from_ = 0, trace_end_ = 0;
  bool tracing_ = false;
};

}  // namespace sluice
