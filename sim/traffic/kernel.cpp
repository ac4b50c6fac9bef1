#include "kernel.h"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr unsigned kBurst = 16;         ///< words of a sequential stream's burst
constexpr unsigned kWordsUnderWay = 256;  ///< of a read stream
constexpr unsigned kWriteBuffer = 128;  ///< words

}  // namespace

AxiPins Wires::pins() {
  const auto pin = [](uint64_t& wire) { return Pin(&wire, sizeof wire); };
  AxiPins p;
  p.arvalid = pin(arvalid), p.arready = pin(arready), p.araddr = pin(araddr), p.arlen = pin(arlen);
  p.rvalid = pin(rvalid), p.rready = pin(rready), p.rdata = Pin(rdata, sizeof rdata);
  p.awvalid = pin(awvalid), p.awready = pin(awready), p.awaddr = pin(awaddr), p.awlen = pin(awlen);
  p.wvalid = pin(wvalid), p.wready = pin(wready), p.wdata = Pin(wdata, sizeof wdata);
  p.wstrb = Pin(wstrb, sizeof wstrb), p.bvalid = pin(bvalid), p.bready = pin(bready);
  return p;
}

Kernel::Kernel(const Settings& settings, SharedMemory& memory, std::vector<Stream> streams)
    : map_(settings.address_map()), streams_(std::move(streams)) {
  for (uint32_t bank = 0; bank < map_.banks; bank++) {
    banks_.push_back(std::make_unique<Bank>());
    banks_[bank]->memory = std::make_unique<AxiMemory>(banks_[bank]->wires.pins(), settings.behind_port(Wires::kWord),
                                                       settings.period_ns(), map_, bank, bank, memory);
  }
  for (Stream& stream : streams_) {
    stream.arrived.resize(map_.banks);
    plan(stream);
  }
}

uint64_t Kernel::run(uint64_t iterations) {
  uint64_t cycles = 0;
  for (uint64_t done = 0; done < iterations; cycles++) {
    for (auto& bank : banks_) bank->memory->sample(cycles);
    for (size_t bank = 0; bank < banks_.size(); bank++) handshake(bank);
    for (auto& bank : banks_) bank->memory->drive();
    done += iterate();
    for (size_t bank = 0; bank < banks_.size(); bank++) offer(bank);
  }
  return cycles;
}

void Kernel::handshake(size_t number) {
  Bank& bank = *banks_[number];
  Wires& w = bank.wires;
  if (w.arvalid && bank.ar_ready) w.arvalid = 0;
  if (w.awvalid && bank.aw_ready) w.awvalid = 0;
  if (w.wvalid && bank.w_ready) bank.words_to_send--;
  if (bank.r_valid) {
    streams_[bank.owners.front()].arrived[number]++;
    bank.owners.pop_front();
  }
}

/// One iteration, when every input has arrived and every output has room; returns whether there was one.
bool Kernel::iterate() {
  const bool ready = std::all_of(streams_.begin(), streams_.end(), [](const Stream& s) {
    return s.write ? s.passed - s.requested < kWriteBuffer : !s.order.empty() && s.arrived[s.order.front().bank] > 0;
  });
  if (!ready) return false;
  for (Stream& s : streams_) {
    s.passed++;
    if (s.write) continue;
    Burst& oldest = s.order.front();
    s.arrived[oldest.bank]--;
    if (--oldest.words == 0) s.order.pop_front();
  }
  return true;
}

/// Address of the stream's next burst. Random words are spread over a whole bank's arrays.
void Kernel::plan(Stream& s) {
  const uint64_t words = map_.banks * map_.bank_bytes / Wires::kWord;
  const uint64_t byte = s.random ? random_.next() % words * Wires::kWord : s.requested * Wires::kWord;
  const uint64_t arrays_a_bank = map_.bank_bytes / kArray;
  if (map_.interleave_bytes == 0 || map_.interleave_bytes >= map_.bank_bytes) {
    const uint64_t local = s.random ? byte % map_.bank_bytes : s.array / map_.banks % arrays_a_bank * kArray + byte;
    s.next = {s.array % map_.banks, local, s.random ? 1 : kBurst};
    return;
  }
  const uint64_t global = s.random ? byte : s.array * kArray + byte;
  const uint64_t piece = global / map_.interleave_bytes;
  s.next = {piece % map_.banks, piece / map_.banks * map_.interleave_bytes + global % map_.interleave_bytes,
            s.random ? 1 : kBurst};
}

/// Offers the bank the next read and write burst, in rotation among the streams.
void Kernel::offer(size_t number) {
  Bank& bank = *banks_[number];
  Wires& w = bank.wires;
  for (size_t k = 0; k < streams_.size() && !w.arvalid; k++) offer_read(number, (bank.turn + k) % streams_.size());
  for (size_t k = 0; k < streams_.size() && !w.awvalid; k++) {
    offer_write(number, (bank.write_turn + k) % streams_.size());
  }
  w.wvalid = bank.words_to_send > 0;
  bank.ar_ready = w.arready, bank.aw_ready = w.awready, bank.w_ready = w.wready, bank.r_valid = w.rvalid;
}

void Kernel::offer_read(size_t number, size_t who) {
  Stream& s = streams_[who];
  if (s.write || s.next.bank != number || s.requested + s.next.words - s.passed > kWordsUnderWay) return;
  Bank& bank = *banks_[number];
  bank.wires.arvalid = 1, bank.wires.araddr = s.next.address, bank.wires.arlen = s.next.words - 1;
  s.order.push_back(s.next);
  s.requested += s.next.words;
  bank.owners.insert(bank.owners.end(), s.next.words, who);
  bank.turn = who + 1;
  plan(s);
}

void Kernel::offer_write(size_t number, size_t who) {
  Stream& s = streams_[who];
  if (!s.write || s.next.bank != number || s.passed - s.requested < s.next.words) return;
  Bank& bank = *banks_[number];
  bank.wires.awvalid = 1, bank.wires.awaddr = s.next.address, bank.wires.awlen = s.next.words - 1;
  s.requested += s.next.words;
  bank.words_to_send += s.next.words;
  bank.write_turn = who + 1;
  plan(s);
}

}  // namespace sluice
