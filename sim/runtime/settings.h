// Parameters of the board and the run, passed by the host as lines of `key value`.
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

  /// Number of memories of the board; number 0 is the default one.
  uint64_t memories() const { return integer("memories"); }
  DramTiming dram(uint64_t memory = 0) const;
  /// The memory model for one AXI port of `word_bytes` of a memory.
  std::unique_ptr<BurstMemory> behind_port(unsigned word_bytes, uint64_t memory = 0) const;
  AddressMap address_map(uint64_t memory = 0) const;
  double period_ns() const { return 1000.0 / number("kernel_mhz"); }

 private:
  /// The key of a memory's parameter.
  static std::string of(uint64_t memory, const char* key) { return "memory" + std::to_string(memory) + "." + key; }

  std::map<std::string, double> values_;
  std::string path_;
};

}  // namespace sluice
