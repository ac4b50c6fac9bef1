// The interface of a simulated design to the runtime; the build generates its implementation (see sim/binding.py).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pin.h"

namespace sluice {

class Model {
 public:
  virtual ~Model() = default;
  /// Settles the design after its inputs changed.
  virtual void eval() = 0;
  /// A top-level port; an empty Pin when the design has none of that name.
  virtual Pin pin(const std::string& name) = 0;
  virtual std::vector<std::string> pin_names() const = 0;

  /// Waveforms: only in a build with tracing, otherwise open_trace() returns false.
  virtual bool open_trace(const std::string& path) = 0;
  virtual void dump(uint64_t picoseconds) = 0;
  virtual void close_trace() = 0;
};

std::unique_ptr<Model> make_model();

}  // namespace sluice
