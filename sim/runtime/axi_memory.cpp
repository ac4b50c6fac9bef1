#include "axi_memory.h"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t dram_bursts(uint64_t address, uint64_t bytes, uint64_t burst_bytes) {
  return (address + bytes - 1) / burst_bytes - address / burst_bytes + 1;
}

}  // namespace

AxiMemory::AxiMemory(const AxiPins& pins, std::unique_ptr<BurstMemory> behind, double period_ns, const AddressMap& map,
                     uint32_t bank, uint32_t port, SharedMemory& memory)
    : pins_(pins),
      map_(map),
      bank_(bank),
      port_(port),
      memory_(memory),
      behind_(std::move(behind)),
      width_(pins.rdata.bytes()),
      ticks_per_cycle_(period_ns / behind_->tick_ns()),
      latency_(behind_->latency()),
      read_data_(width_) {
  reset(0);
}

void AxiMemory::reset(uint32_t seed) {
  // The controller itself keeps running: bursts it still holds finish without a response.
  read_base_ += read_ready_.size();
  write_base_ += write_owner_.size();
  reads_.clear(), writes_.clear(), read_ready_.clear(), write_owner_.clear();
  reads_pushed_ = writes_pushed_ = receiving_ = 0;
  first_write_ = 0;
  ar_ready_ = aw_ready_ = w_ready_ = false;
  read_ = response_ = Answer{};
  const uint32_t salt = 8 * (port_ + 1);
  ar_stall_ = StallSource(seed, salt), aw_stall_ = StallSource(seed, salt + 1), w_stall_ = StallSource(seed, salt + 2);
  r_stall_ = StallSource(seed, salt + 3), b_stall_ = StallSource(seed, salt + 4);
  late_ = Random((uint64_t{salt} << 32) | seed);
  random_ = seed != 0;
  drive();
}

void AxiMemory::sample(uint64_t cycle) {
  time_ += ticks_per_cycle_;
  if (ar_ready_ && pins_.arvalid.get()) accept_read(cycle);
  if (aw_ready_ && pins_.awvalid.get()) accept_write(cycle);
  if (w_ready_ && pins_.wvalid.get()) accept_data(cycle);
  if (read_.valid && pins_.rready.get()) read_.valid = false;
  if (response_.valid && pins_.bready.get()) response_.valid = false;
  run_memory();
  if (!read_.valid && !r_stall_.next()) offer_read(cycle);
  if (!response_.valid && !b_stall_.next()) offer_response(cycle);
  choose_readies();
}

void AxiMemory::drive() {
  pins_.arready.set(ar_ready_);
  pins_.awready.set(aw_ready_);
  pins_.wready.set(w_ready_);
  pins_.rvalid.set(read_.valid);
  if (read_changed_) {
    pins_.rid.set(read_.id);
    pins_.rresp.set(static_cast<uint64_t>(read_.response));
    pins_.rlast.set(read_.last);
    std::memcpy(pins_.rdata.data(), read_data_.data(), width_);
    read_changed_ = false;
  }
  pins_.bvalid.set(response_.valid);
  pins_.bid.set(response_.id);
  pins_.bresp.set(static_cast<uint64_t>(response_.response));
}

void AxiMemory::choose_readies() {
  ar_ready_ = reads_.size() - reads_pushed_ < kWaiting && reads_.size() < kOutstanding && !ar_stall_.next();
  aw_ready_ = writes_.size() - writes_pushed_ < kWaiting && writes_.size() < kOutstanding && !aw_stall_.next();
  w_ready_ = receiving_ < writes_.size() && !w_stall_.next();
}

// --- requests -----------------------------------------------------------------------------------------------------

AxiMemory::Burst AxiMemory::open_burst(const Pin& address, const Pin& length, const Pin& size, const Pin& type,
                                       const Pin& id, uint64_t cycle) {
  Burst burst;
  burst.address = address.get();
  burst.beats = static_cast<unsigned>(length.get()) + 1;
  burst.id = static_cast<unsigned>(id.get());
  burst.not_before = lateness();
  const uint64_t aligned = burst.address & ~uint64_t{width_ - 1};
  const uint64_t bytes = uint64_t{burst.beats} * width_;
  const bool full_width = !size || (uint64_t{1} << size.get()) == width_;
  const bool incrementing = !type || type.get() == kIncrementing;
  const bool one_page = aligned / kPage == (aligned + bytes - 1) / kPage;
  if (!full_width || !incrementing || !one_page) {
    burst.broken = true;
    memory_.report(Fault::kProtocol, port_, global(burst.address), bytes, cycle);
  }
  burst.address = aligned;
  burst.to_push = dram_bursts(aligned, bytes, behind_->burst_bytes());
  return burst;
}

Tick AxiMemory::lateness() {
  if (!random_) return 0;
  constexpr uint32_t kRarely = 4, kLongest = 600;
  return static_cast<Tick>(time_) + (late_.below(kRarely) == 0 ? late_.below(kLongest) : 0);
}

void AxiMemory::accept_read(uint64_t cycle) {
  reads_.push_back(open_burst(pins_.araddr, pins_.arlen, pins_.arsize, pins_.arburst, pins_.arid, cycle));
}

void AxiMemory::accept_write(uint64_t cycle) {
  writes_.push_back(open_burst(pins_.awaddr, pins_.awlen, pins_.awsize, pins_.awburst, pins_.awid, cycle));
  Burst& burst = writes_.back();
  burst.outstanding = burst.to_push;
  burst.data.reserve(size_t{burst.beats} * width_);
}

void AxiMemory::accept_data(uint64_t cycle) {
  Burst& burst = writes_[receiving_];
  const uint8_t* data = pins_.wdata.data();
  burst.data.insert(burst.data.end(), data, data + width_);
  const uint8_t* strobes = pins_.wstrb.data();
  burst.strobes.insert(burst.strobes.end(), strobes, strobes + (width_ + 7) / 8);
  const bool last = ++burst.next == burst.beats;
  if (pins_.wlast && (pins_.wlast.get() != 0) != last) {
    burst.broken = true;
    memory_.report(Fault::kProtocol, port_, global(burst.address), width_, cycle);
  }
  if (last) receiving_++;
}

// --- memory -------------------------------------------------------------------------------------------------------

void AxiMemory::run_memory() {
  const Tick now = static_cast<Tick>(time_);
  finished_.clear();
  for (; next_feed_ <= now; next_feed_ += behind_->entry_ticks()) {
    behind_->advance(next_feed_, finished_);
    feed();
  }
  behind_->advance(now, finished_);
  settle(finished_);
}

bool AxiMemory::can_feed(Direction direction) const {
  if (!behind_->has_room(direction)) return false;
  // A write enters when all its data has arrived, so that it never blocks the controller.
  return direction == kRead ? reads_pushed_ < reads_.size() : writes_pushed_ < receiving_;
}

/// Passes one burst to the memory: of the current AXI burst, if any, else of the other direction.
void AxiMemory::feed() {
  const Direction other = feeding_ == kRead ? kWrite : kRead;
  if (behind_->two_ports()) {
    for (const Direction direction : {kRead, kWrite}) {
      if (can_feed(direction)) feed(direction);
    }
    return;
  }
  const auto& bursts = feeding_ == kRead ? reads_ : writes_;
  const size_t front = feeding_ == kRead ? reads_pushed_ : writes_pushed_;
  const bool under_way = front < bursts.size() && bursts[front].pushed > 0;
  const Direction preferred = under_way ? feeding_ : other;
  const Direction second = under_way ? other : feeding_;
  if (can_feed(preferred)) feed(preferred);
  else if (can_feed(second)) feed(second);
}

void AxiMemory::feed(Direction direction) {
  feeding_ = direction;
  if (direction == kRead) feed_read();
  else feed_write();
}

void AxiMemory::feed_read() {
  Burst& burst = reads_[reads_pushed_];
  behind_->push(kRead, burst.address + burst.pushed * behind_->burst_bytes());
  read_ready_.push_back(kPending);
  if (++burst.pushed == burst.to_push) reads_pushed_++;
}

void AxiMemory::feed_write() {
  Burst& burst = writes_[writes_pushed_];
  behind_->push(kWrite, burst.address + burst.pushed * behind_->burst_bytes());
  write_owner_.push_back(first_write_ + writes_pushed_);
  if (++burst.pushed == burst.to_push) writes_pushed_++;
}

void AxiMemory::settle(const std::vector<Finished>& finished) {
  for (const Finished& done : finished) {
    if (done.direction == kRead) {
      if (done.sequence >= read_base_) read_ready_[done.sequence - read_base_] = done.when + latency_;
    } else if (done.sequence >= write_base_) {
      Burst& burst = writes_[write_owner_[done.sequence - write_base_] - first_write_];
      burst.outstanding--;
      burst.not_before = std::max(burst.not_before, done.when + latency_);
    }
  }
}

// --- responses ----------------------------------------------------------------------------------------------------

/// How many sequence numbers from read_base_ on the next beat of the oldest read needs.
uint64_t AxiMemory::bursts_needed(const Burst& burst) const {
  return dram_bursts(burst.address + uint64_t{burst.next} * width_, width_, behind_->burst_bytes());
}

bool AxiMemory::beat_arrived(const Burst& burst) const {
  const Tick now = static_cast<Tick>(time_);
  const uint64_t needed = bursts_needed(burst);
  if (burst.not_before > now || read_ready_.size() < needed) return false;
  return std::all_of(read_ready_.begin(), read_ready_.begin() + static_cast<ptrdiff_t>(needed),
                     [now](Tick ready) { return ready <= now; });
}

void AxiMemory::offer_read(uint64_t cycle) {
  if (reads_.empty() || !beat_arrived(reads_.front())) return;
  Burst& burst = reads_.front();
  const uint64_t local = burst.address + uint64_t{burst.next} * width_;
  const Response response = burst.broken ? Response::kSlaveError : judge_read(local, cycle);
  if (in_bank(local)) std::memcpy(read_data_.data(), memory_.at(global(local)), width_);
  else std::fill(read_data_.begin(), read_data_.end(), 0);

  const bool last = ++burst.next == burst.beats;
  read_ = {true, burst.id, response, last};
  read_changed_ = true;
  bytes_read_ += width_;
  const uint64_t dram = behind_->burst_bytes();
  const uint64_t end = local + width_;
  const uint64_t first = local / dram;
  const uint64_t used_up = (last ? (end + dram - 1) / dram : end / dram) - first;
  read_ready_.erase(read_ready_.begin(), read_ready_.begin() + static_cast<ptrdiff_t>(used_up));
  read_base_ += used_up;
  if (last) {
    reads_.pop_front();
    reads_pushed_--;
  }
}

/// The response to a read of the word at an address of the bank; reports refused accesses.
Response AxiMemory::judge_read(uint64_t local, uint64_t cycle) {
  const uint64_t address = global(local);
  const bool in_memory = in_bank(local);
  if (!in_memory || !memory_.touches(address, address + width_)) {
    memory_.report(Fault::kReadOutside, port_, address, width_, cycle);
    return in_memory ? Response::kSlaveError : Response::kDecodeError;
  }
  const Response wanted = memory_.wanted(address, address + width_);
  if (wanted != Response::kOkay) memory_.report(Fault::kReadError, port_, address, width_, cycle);
  return wanted;
}

void AxiMemory::offer_response(uint64_t cycle) {
  if (writes_pushed_ == 0) return;
  Burst& burst = writes_.front();
  if (burst.outstanding > 0 || burst.not_before > static_cast<Tick>(time_)) return;
  response_ = {true, burst.id, commit(burst, cycle), true};
  write_owner_.erase(write_owner_.begin(), write_owner_.begin() + static_cast<ptrdiff_t>(burst.pushed));
  write_base_ += burst.pushed;
  writes_.pop_front();
  first_write_++;
  writes_pushed_--;
  receiving_--;
}

/// Writes the permitted bytes of the burst to the memory; returns the first refusal among its beats.
Response AxiMemory::commit(const Burst& burst, uint64_t cycle) {
  if (burst.broken) return Response::kSlaveError;
  Response response = Response::kOkay;
  for (unsigned beat = 0; beat < burst.beats; beat++) {
    const Response one = commit_beat(burst, beat, cycle);
    if (response == Response::kOkay) response = one;
  }
  return response;
}

Response AxiMemory::commit_beat(const Burst& burst, unsigned beat, uint64_t cycle) {
  const uint8_t* data = burst.data.data() + size_t{beat} * width_;
  const uint8_t* strobes = burst.strobes.data() + size_t{beat} * ((width_ + 7) / 8);
  const auto enabled = [strobes](unsigned byte) { return (strobes[byte / 8] >> (byte % 8)) & 1; };
  unsigned first = 0, end = width_;
  while (first < end && !enabled(first)) first++;
  while (end > first && !enabled(end - 1)) end--;
  if (first == end) return Response::kOkay;

  const uint64_t local = burst.address + uint64_t{beat} * width_, address = global(local);
  const bool in_memory = in_bank(local);
  if (!in_memory || !memory_.inside(address + first, address + end)) {
    memory_.report(Fault::kWriteOutside, port_, address + first, end - first, cycle);
    return in_memory ? Response::kSlaveError : Response::kDecodeError;
  }
  const Response wanted = memory_.wanted(address + first, address + end);
  if (wanted != Response::kOkay) {
    memory_.report(Fault::kWriteError, port_, address + first, end - first, cycle);
    return wanted;
  }
  uint8_t* target = memory_.at(address);
  for (unsigned byte = first; byte < end; byte++) {
    if (enabled(byte)) target[byte] = data[byte];
  }
  bytes_written_ += end - first;
  return Response::kOkay;
}

}  // namespace sluice
