// An AXI4-Lite master for the design's registers.
#pragma once
#include <cstdint>

#include "pin.h"

namespace sluice {

struct AxiLitePins {
  Pin awvalid, awready, awaddr, wvalid, wready, wdata, wstrb, bvalid, bready, bresp;
  Pin arvalid, arready, araddr, rvalid, rready, rdata, rresp;
};

/// One transaction at a time: start_*(), then sample() before and drive() after each clock edge until !busy().
class ControlMaster {
 public:
  explicit ControlMaster(const AxiLitePins& pins) : pins_(pins) {}

  void reset();
  void start_write(uint32_t address, uint32_t value);
  void start_read(uint32_t address);
  bool busy() const { return writing_ || reading_; }
  uint32_t value() const { return value_; }  ///< what the last read returned
  bool error() const { return error_; }      ///< the design refused the last transaction
  void sample();
  void drive();

 private:
  AxiLitePins pins_;
  bool writing_ = false, reading_ = false;
  bool address_pending_ = false, data_pending_ = false;
  uint32_t address_ = 0, value_ = 0;
  bool error_ = false;
};

}  // namespace sluice
