#include "simulation.h"

#include <algorithm>
#include <stdexcept>

namespace sluice {

Simulation::Simulation(Model& model, const Settings& settings, SharedMemory& memory)
    : model_(model),
      period_ps_(settings.period_ns() * 1000.0),
      clock_(required("clk")),
      double_clock_(model.pin("sync2x_clk")),
      reset_(required("rst")),
      interrupt_(model.pin("interrupt")),
      stall_seed_(model.pin("stall_seed")),
      control_(control_pins()),
      probe_(model.pin("probe")) {
  find_memories(settings, memory);
  find_ram_ports(memory);
  find_streams("in");
  find_streams("out");
  reset();
}

Pin Simulation::required(const std::string& name) {
  const Pin pin = model_.pin(name);
  if (!pin) throw std::runtime_error("the design has no port " + name);
  return pin;
}

AxiLitePins Simulation::control_pins() {
  if (!interrupt_) return {};  // started by wires
  const auto pin = [this](const char* name) { return required(std::string("s_axil_") + name); };
  return {pin("awvalid"), pin("awready"), pin("awaddr"), pin("wvalid"), pin("wready"), pin("wdata"),
          pin("wstrb"),   pin("bvalid"),  pin("bready"), pin("bresp"),  pin("arvalid"), pin("arready"),
          pin("araddr"),  pin("rvalid"),  pin("rready"), pin("rdata"),  pin("rresp")};
}

AxiPins Simulation::memory_pins(const std::string& prefix) {
  const auto pin = [&](const char* name) { return required(prefix + name); };
  const auto maybe = [&](const char* name) { return model_.pin(prefix + name); };
  AxiPins pins;
  pins.arvalid = pin("arvalid"), pins.arready = pin("arready"), pins.araddr = pin("araddr"), pins.arlen = pin("arlen");
  pins.arsize = maybe("arsize"), pins.arburst = maybe("arburst"), pins.arid = maybe("arid");
  pins.rvalid = pin("rvalid"), pins.rready = pin("rready"), pins.rdata = pin("rdata"), pins.rresp = maybe("rresp");
  pins.rlast = maybe("rlast"), pins.rid = maybe("rid");
  pins.awvalid = pin("awvalid"), pins.awready = pin("awready"), pins.awaddr = pin("awaddr"), pins.awlen = pin("awlen");
  pins.awsize = maybe("awsize"), pins.awburst = maybe("awburst"), pins.awid = maybe("awid");
  pins.wvalid = pin("wvalid"), pins.wready = pin("wready"), pins.wdata = pin("wdata"), pins.wstrb = pin("wstrb");
  pins.wlast = maybe("wlast");
  pins.bvalid = pin("bvalid"), pins.bready = pin("bready"), pins.bresp = maybe("bresp"), pins.bid = maybe("bid");
  return pins;
}

/// Banks are numbered across all memories.
void Simulation::find_memories(const Settings& settings, SharedMemory& memory) {
  uint32_t port = 0;
  for (uint64_t number = 0; number < settings.memories(); number++) {
    const AddressMap map = settings.address_map(number);
    for (uint32_t bank = 0; bank < map.banks; bank++, port++) {
      const std::string prefix = "m_axi" + std::to_string(port) + "_";
      if (!model_.pin(prefix + "araddr")) continue;  // a kernel need not use every bank
      const AxiPins pins = memory_pins(prefix);
      memories_.push_back(std::make_unique<AxiMemory>(pins, settings.behind_port(pins.rdata.bytes(), number),
                                                      settings.period_ns(), map, bank, port, memory));
    }
  }
}

/// Ports of plain memory are found by name: ram_NAME_addr and its companions.
void Simulation::find_ram_ports(SharedMemory& memory) {
  const std::string prefix = "ram_", suffix = "_addr";
  for (const std::string& name : model_.pin_names()) {
    const bool ends = name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (name.compare(0, prefix.size(), prefix) != 0 || !ends) continue;
    const std::string port = name.substr(0, name.size() - suffix.size());
    const RamPins pins{model_.pin(port + "_en"), model_.pin(name), required(port + "_data"),
                       model_.pin(port + "_strobe"), model_.pin(port + "_refused")};
    ram_ports_.emplace_back(pins, memory);
  }
  std::stable_partition(ram_ports_.begin(), ram_ports_.end(), [](const RamPort& port) { return !port.is_store(); });
}

/// Streams are found by name, too: io_in_NAME_valid and io_out_NAME_valid, and their companions.
void Simulation::find_streams(const std::string& direction) {
  const std::string prefix = "io_" + direction + "_", suffix = "_valid";
  for (const std::string& name : model_.pin_names()) {
    const bool ends = name.size() > prefix.size() + suffix.size() &&
                      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (name.compare(0, prefix.size(), prefix) != 0 || !ends) continue;
    const std::string port = name.substr(0, name.size() - suffix.size());
    const StreamPins pins{model_.pin(name), required(port + "_ready"), required(port + "_data"), direction == "in"};
    streams_.emplace_back(pins, port.substr(prefix.size()));
  }
}

StreamPort& Simulation::stream(const std::string& name) {
  for (StreamPort& port : streams_) {
    if (port.name() == name) return port;
  }
  throw std::runtime_error("the design has no stream " + name);
}

/// Responses in flight are delivered first: a design may count them across its reset, and would drop as many of the
/// later ones. A design that no longer accepts responses is not waited for.
void Simulation::reset() {
  if (!quiet()) {
    hold_reset(false);
    for (uint64_t waited = 0; !quiet() && waited < kDrain; waited++) step();
  }
  hold_reset(true);
}

void Simulation::restart() { hold_reset(false); }

void Simulation::hold_reset(bool memories_too) {
  control_.reset();
  for (auto& port : streams_) port.reset(seed_);
  stall_seed_.set(seed_);
  reset_.set(1);
  model_.eval();  // a transfer on offer is taken back before the memories sample it: in reset the design counts none
  for (uint64_t i = 0; i < kResetCycles; i++) {
    for (auto& memory : memories_) {
      if (memories_too) memory->reset(seed_);
    }
    step();
  }
  reset_.set(0);
  model_.eval();
}

/// One kernel clock cycle. Inputs change after the edge, as if they came from registers on the same clock;
/// the double clock, if any, rises with the clock and in its middle.
void Simulation::step() {
  if (control_.busy()) control_.sample();
  for (auto& memory : memories_) memory->sample(cycle_);
  for (auto& port : ram_ports_) port.sample(cycle_);
  for (auto& port : streams_) port.sample();
  if (probe_) probe_.sample(cycle_);
  trace_before_step();

  clock_.set(1);
  double_clock_.set(1);
  model_.eval();
  control_.drive();
  for (auto& memory : memories_) memory->drive();
  for (auto& port : ram_ports_) port.drive();
  for (auto& port : streams_) port.drive();
  if (double_clock_) {
    double_clock_.set(0);
    model_.eval();
  }
  if (tracing_) {
    model_.eval();
    model_.dump(static_cast<uint64_t>(static_cast<double>(cycle_) * period_ps_));
  }
  clock_.set(0);
  double_clock_.set(1);
  model_.eval();
  if (tracing_) model_.dump(static_cast<uint64_t>((static_cast<double>(cycle_) + 0.5) * period_ps_));
  if (double_clock_) {
    double_clock_.set(0);
    model_.eval();
  }
  cycle_++;
}

void Simulation::settle_transaction() {
  model_.eval();
  for (uint64_t waited = 0; control_.busy(); waited++) {
    if (waited == kPatience) {
      control_.reset();
      throw std::runtime_error("the design's registers do not answer");
    }
    step();
  }
  if (control_.error()) throw std::runtime_error("the design refused a register access");
}

void Simulation::write_register(uint32_t address, uint32_t value) {
  control_.start_write(address, value);
  settle_transaction();
}

uint32_t Simulation::read_register(uint32_t address) {
  control_.start_read(address);
  settle_transaction();
  return control_.value();
}

void Simulation::set_wire(const std::string& name, uint64_t value) {
  required(name).set(value);
  model_.eval();
}

bool Simulation::run_until(const std::string& name, uint64_t limit) {
  const Pin pin = required(name);
  const uint64_t end = cycle_ + limit;
  while (cycle_ < end && pin.get() == 0 && !stopped()) step();
  return pin.get() != 0;
}

uint64_t Simulation::run(uint64_t limit, uint64_t mask) {
  const uint64_t end = cycle_ + limit;
  while (cycle_ < end && (interrupt_.get() & mask) == 0 && !stopped()) step();
  return interrupt_.get();
}

bool Simulation::quiet() const {
  return std::all_of(memories_.begin(), memories_.end(), [](const auto& memory) { return memory->quiet(); });
}

void Simulation::trace(const std::string& path, uint64_t from, uint64_t cycles) {
  end_trace();
  trace_path_ = path;
  trace_from_ = from;
  trace_end_ = from + cycles;
}

void Simulation::trace_before_step() {
  if (trace_path_.empty()) return;
  if (tracing_ && cycle_ >= trace_end_) end_trace();
  if (!tracing_ && !trace_path_.empty() && cycle_ >= trace_from_) {
    const std::string path = trace_path_;
    tracing_ = model_.open_trace(path);
    if (!tracing_) {
      trace_path_.clear();
      throw std::runtime_error("cannot write a waveform to " + path);
    }
  }
}

void Simulation::end_trace() {
  if (tracing_) model_.close_trace();
  tracing_ = false;
  trace_path_.clear();
}

}  // namespace sluice
