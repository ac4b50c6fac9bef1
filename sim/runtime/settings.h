// Facts of the board and the run, handed over by the host as lines of `key value`.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "../dram/channel.h"
#include "shared_memory.h"

namespace sluice {

class Settings {
 public:
  /// Throws std::runtime_error when the file cannot be read or a line is not `key number`.
  explicit Settings(const std::string& path);
  /// Throws std::runtime_error when the key is missing.
  double number(const std::string& key) const;
  uint64_t integer(const std::string& key) const { return static_cast<uint64_t>(number(key)); }

  DramTiming dram() const;
  /// The memory behind one AXI port of `word_bytes`.
  std::unique_ptr<BurstMemory> memory(unsigned word_bytes) const;
  AddressMap address_map() const;
  double period_ns() const { return 1000.0 / number("kernel_mhz"); }

 private:
  std::map<std::string, double> values_;
  std::string path_;
};

}  // namespace sluice
