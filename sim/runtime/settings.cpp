#include "settings.h"

#include <fstream>
#include <stdexcept>

namespace sluice {

Settings::Settings(const std::string& path) : path_(path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string key;
  while (file >> key) {
    double value = 0;
    if (!(file >> value)) throw std::runtime_error(path + ": no number after " + key);
    values_[key] = value;
  }
}

double Settings::number(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw std::runtime_error(path_ + ": missing key " + key);
  return found->second;
}

DramTiming Settings::dram(uint64_t memory) const {
  const auto number = [this, memory](const char* key) { return this->number(of(memory, key)); };
  const auto integer = [&number](const char* key) { return static_cast<int>(number(key)); };
  DramTiming t{};
  t.tck_ns = number("tck_ns");
  t.CL = integer("CL"), t.CWL = integer("CWL");
  t.tRCD = integer("tRCD"), t.tRP = integer("tRP"), t.tRAS = integer("tRAS");
  t.tCCD_S = integer("tCCD_S"), t.tCCD_L = integer("tCCD_L");
  t.tRRD_S = integer("tRRD_S"), t.tRRD_L = integer("tRRD_L");
  t.tFAW = integer("tFAW"), t.tWR = integer("tWR"), t.tRTP = integer("tRTP");
  t.tWTR_S = integer("tWTR_S"), t.tWTR_L = integer("tWTR_L");
  t.tREFI = integer("tREFI"), t.tRFC = integer("tRFC");
  t.bank_groups = integer("bank_groups"), t.banks_per_group = integer("banks_per_group");
  t.row_bytes = integer("row_bytes"), t.bus_bits = integer("bus_bits");
  t.beats = integer("beats"), t.transfers = integer("transfers");
  t.queue = integer("queue"), t.batch = integer("batch"), t.row_hit_cap = integer("row_hit_cap");
  t.controller_latency_ns = number("controller_latency_ns");
  return t;
}

std::unique_ptr<BurstMemory> Settings::behind_port(unsigned word_bytes, uint64_t memory) const {
  if (integer(of(memory, "dram")) != 0) return std::make_unique<DramChannel>(dram(memory));
  const auto ports = static_cast<unsigned>(integer(of(memory, "ports")));
  return std::make_unique<PortMemory>(number(of(memory, "word_ns")), number(of(memory, "latency_ns")), ports, word_bytes);
}

AddressMap Settings::address_map(uint64_t memory) const {
  const auto fact = [this, memory](const char* key) { return integer(of(memory, key)); };
  return {fact("banks"), fact("interleave_bytes"), fact("bank_bytes"), fact("base")};
}

}  // namespace sluice
