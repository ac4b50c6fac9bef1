#include "control_master.h"

namespace sluice {

void ControlMaster::reset() {
  writing_ = reading_ = address_pending_ = data_pending_ = false;
  drive();
}

void ControlMaster::start_write(uint32_t address, uint32_t value) {
  writing_ = address_pending_ = data_pending_ = true;
  address_ = address;
  value_ = value;
  drive();
}

void ControlMaster::start_read(uint32_t address) {
  reading_ = address_pending_ = true;
  address_ = address;
  drive();
}

void ControlMaster::sample() {
  if (writing_) {
    if (address_pending_ && pins_.awready.get()) address_pending_ = false;
    if (data_pending_ && pins_.wready.get()) data_pending_ = false;
    if (pins_.bvalid.get()) {
      error_ = pins_.bresp.get() != 0;
      writing_ = false;
    }
  } else if (reading_) {
    if (address_pending_ && pins_.arready.get()) address_pending_ = false;
    if (pins_.rvalid.get()) {
      value_ = static_cast<uint32_t>(pins_.rdata.get());
      error_ = pins_.rresp.get() != 0;
      reading_ = false;
    }
  }
}

void ControlMaster::drive() {
  pins_.awvalid.set(writing_ && address_pending_);
  pins_.awaddr.set(address_);
  pins_.wvalid.set(writing_ && data_pending_);
  pins_.wdata.set(value_);
  pins_.wstrb.set(0xF);
  pins_.bready.set(writing_);
  pins_.arvalid.set(reading_ && address_pending_);
  pins_.araddr.set(address_);
  pins_.rready.set(reading_);
}

}  // namespace sluice
