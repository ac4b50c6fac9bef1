#include "memory.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr u64 kReorderWords = 128;
constexpr size_t kTurns = 128;  ///< room for each unit and bank: words under way, bursts under way
constexpr u64 kAhead = 3;       ///< words that a store unit may have to move still when its next burst is taken

}  // namespace

DramTiming Board::timing() const {
  DramTiming t{};
  const double* next = dram;
  t.tck_ns = *next++;
  for (int* field : {&t.CL, &t.CWL, &t.tRCD, &t.tRP, &t.tRAS, &t.tCCD_S, &t.tCCD_L, &t.tRRD_S, &t.tRRD_L, &t.tFAW, &t.tWR, &t.tRTP,
                     &t.tWTR_S, &t.tWTR_L, &t.tREFI, &t.tRFC, &t.bank_groups, &t.banks_per_group, &t.row_bytes, &t.bus_bits,
                     &t.beats, &t.transfers, &t.queue, &t.batch, &t.row_hit_cap})
    *field = static_cast<int>(*next++);
  t.controller_latency_ns = latency_ns;
  return t;
}

Reads::Reads(Clock& clock, ReadUnit& of, size_t banks)
    : unit(of), asking(clock, 2, 1), clock_(clock), direct_(banks == 1), free_(banks, kReorderWords), fits_(banks, true), here_(banks) {}

bool Reads::may_ask(size_t bank) const {
  return (direct_ || (fits_[bank] && turns_.size() < kTurns * here_.size())) && asking.can_push();
}

/// What is known of the room in the next cycle: that of this one, for two bursts, as one may be taken now.
void Reads::look() {
  for (size_t bank = 0; bank < free_.size(); bank++) fits_[bank] = free_[bank] >= 2 * kMaxBurst;
}

void Reads::ask(size_t bank) {
  const Burst burst = unit.asked();
  unit.pass();
  asking.push(packed(burst));
  turns_.push_back({clock_.now + 1, bank, burst.words});
  free_[bank] -= burst.words;
}

void Reads::give() {
  if (turns_.empty() || turns_.front().since > clock_.now) return;
  Turn& turn = turns_.front();
  std::deque<u64>& here = here_[turn.bank];
  if (here.empty() || here.front() > clock_.now) return;
  here.pop_front();
  unit.arrive();
  free_[turn.bank]++;
  if (--turn.left == 0) turns_.pop_front();
}

bool Writes::may_send() const { return known_ahead_ <= kAhead && turns_.size() < kTurns; }

u64 Writes::send(size_t bank, u64 words) {
  ahead += words;
  order.push_back(bank);
  turns_.push_back(0);
  return gone_ + turns_.size() - 1;
}

void Writes::give() {
  if (turns_.empty() || !turns_.front() || turns_.front() > clock_.now) return;
  turns_.pop_front(), gone_++;
  unit.confirm();
}

void KernelUnits::connect() const {
  std::vector<Fence*> ordered = fences;
  std::sort(ordered.begin(), ordered.end(), [](const Fence* a, const Fence* b) { return &a->plan() < &b->plan(); });
  for (Fence* fence : ordered) {
    for (const u64 unit : fence->plan().stores) {
      if (stores[unit]) fence->watch(stores[unit]);
      else fence->watch(atomics[unit]);
    }
    for (const u64 unit : fence->plan().loads) {
      if (loads[unit]) fence->invalidate(loads[unit]);
      else fence->invalidate(atomics[unit]);
    }
  }
}

void KernelUnits::end(bool sent) {
  bool drained = sent;
  for (StoreUnit* unit : stores)
    if (unit) unit->over = over, drained = drained && unit->drained;
  over = drained;
}

bool KernelUnits::idle() const {
  return std::all_of(stores.begin(), stores.end(), [](const StoreUnit* unit) { return !unit || unit->idle(); }) &&
         std::all_of(atomics.begin(), atomics.end(), [](const AtomicUnit* unit) { return !unit || unit->idle(); });
}

void KernelUnits::figures(size_t unit, u64* out) const {
  if (const StoreUnit* one = stores[unit]) out[0] = one->accesses, out[1] = one->word_count, out[2] = one->burst_count;
  if (const AtomicUnit* one = atomics[unit]) out[0] = out[1] = out[2] = one->accesses;
  if (const ReadUnit* one = loads[unit]) out[0] = one->accesses, out[1] = one->words, out[2] = one->burst_count;
}

BoardMemory::BoardMemory(const Board& of) : board(of) {
  for (size_t bank = 0; bank < static_cast<size_t>(board.banks); bank++) {
    std::unique_ptr<BurstMemory> behind;
    if (board.is_dram != 0) behind = std::make_unique<DramChannel>(board.timing());
    else behind = std::make_unique<PortMemory>(board.word_ns, board.latency_ns, static_cast<unsigned>(board.ports),
                                               static_cast<unsigned>(board.word_bytes));
    banks.emplace_back(std::move(behind), board.period_ns);
  }
}

Memory::Memory(Clock& clock, BoardMemory& memory, Tick age) : clock_(clock), board_(&memory.board) {
  for (BankMemory& bank : memory.banks)
    paths_.emplace_back(std::make_unique<Bank>(clock, bank, static_cast<u64>(board_->word_bytes), age));
}

Server* Memory::unit(KernelUnits& kernel, const OperationPlan& operation) {
  const auto number = static_cast<size_t>(operation.number);
  const UnitPlan& plan = kernel.plan.units[number];
  const u64 base = kernel.bases[number];
  if (plan.atomic) {
    atomic_units_.push_back(std::make_unique<AtomicUnit>(clock_, plan, operation, base));
    return kernel.atomics[number] = atomic_units_.back().get();
  }
  if (plan.store) {
    if (plan.lanes) store_units_.push_back(std::make_unique<WideStoreUnit>(clock_, plan, operation, base));
    else store_units_.push_back(std::make_unique<StoreUnit>(clock_, plan, operation, base));
    return kernel.stores[number] = store_units_.back().get();
  }
  if (plan.constant) {
    constant_loads_.push_back(std::make_unique<ConstantLoadUnit>(clock_, plan, operation, base));
    return kernel.loads[number] = constant_loads_.back().get();
  }
  if (plan.shared) {
    shared_loads_.push_back(std::make_unique<SharedLoadUnit>(clock_, plan, operation, base));
    return kernel.loads[number] = shared_loads_.back().get();
  }
  if (plan.lanes) load_units_.push_back(std::make_unique<WideLoadUnit>(clock_, plan, operation, base));
  else if (plan.pipelined) load_units_.push_back(std::make_unique<PipelinedLoadUnit>(clock_, plan, operation, base));
  else load_units_.push_back(std::make_unique<LoadUnit>(clock_, plan, operation, base));
  return kernel.loads[number] = load_units_.back().get();
}

Stepping* Memory::stepping(KernelUnits& kernel, const HeldPlan& load) {
  const auto number = static_cast<size_t>(load.number);
  auto unit = std::make_unique<SteppingLoadUnit>(clock_, kernel.plan.units[number], kernel.bases[number]);
  SteppingLoadUnit* made = unit.get();
  load_units_.push_back(std::move(unit));
  kernel.loads[number] = made;
  return made;
}

Fence* Memory::fence(KernelUnits& kernel, const OperationPlan& operation) {
  fences_.push_back(std::make_unique<Fence>(clock_, kernel.plan.fences[static_cast<size_t>(operation.number)], operation));
  kernel.fences.push_back(fences_.back().get());
  return fences_.back().get();
}

void Memory::connect() {
  const auto join = [this](ReadUnit& unit) { loads_.push_back(std::make_unique<Reads>(clock_, unit, paths_.size())); };
  for (const auto& unit : load_units_) join(*unit);
  for (const auto& unit : store_units_) stores_.push_back(std::make_unique<Writes>(clock_, *unit));
  if (!atomic_units_.empty()) {
    std::vector<AtomicUnit*> units;
    for (const auto& unit : atomic_units_) units.push_back(unit.get());
    atomics_ = std::make_unique<AtomicMemory>(clock_, std::move(units));
    join(*atomics_);
    stores_.push_back(std::make_unique<Writes>(clock_, *atomics_));
  }
  if (!constant_loads_.empty()) {
    std::vector<ConstantLoadUnit*> loads;
    for (const auto& load : constant_loads_) loads.push_back(load.get());
    load_units_.push_back(std::make_unique<ConstantCache>(clock_, std::move(loads)));
    join(*load_units_.back());
  }
  std::vector<std::vector<SharedLoadUnit*>> caches;
  for (const auto& load : shared_loads_) {
    const auto same = [&load](const auto& others) { return others.front()->cache() == load->cache(); };
    const auto found = std::find_if(caches.begin(), caches.end(), same);
    if (found == caches.end()) caches.push_back({load.get()});
    else found->push_back(load.get());
  }
  for (auto& loads : caches) {
    load_units_.push_back(std::make_unique<SharedCache>(clock_, std::move(loads)));
    join(*load_units_.back());
  }
}

/// The bank of a burst, and its byte address in it.
void Memory::place(const Burst& burst, size_t& bank, u64& address) const {
  const u64 interleave = static_cast<u64>(board_->interleave);
  const u64 byte = burst.first * static_cast<u64>(board_->word_bytes) - static_cast<u64>(board_->base);
  bank = byte / interleave % paths_.size();
  address = byte / interleave / paths_.size() * interleave + byte % interleave;
}

void Memory::evaluate() {
  if (paths_.empty()) return;
  for (const auto& fence : fences_) fence->ask();
  for (const auto& unit : load_units_) unit->evaluate();
  for (const auto& unit : store_units_) unit->evaluate();
  if (atomics_) atomics_->evaluate();
  for (const auto& reads : loads_) reads->give();
  for (const auto& writes : stores_) writes->give();
  for (const auto& writes : stores_) writes->look();
  for (size_t bank = 0; bank < paths_.size(); bank++) {
    paths_[bank].bank->evaluate([this, bank](const Transfer& burst) { loads_[burst.port]->arrive(bank); },
                                [this](const Transfer& burst) { stores_[burst.port]->confirm(burst.turn); });
    move_words(paths_[bank]);
  }
  for (size_t bank = 0; bank < paths_.size(); bank++) begin(bank), choose_read(bank), choose_write(bank);
  for (const auto& reads : loads_) {
    size_t bank = 0;
    u64 address = 0;
    const bool head = reads->unit.asks();
    if (head) place(reads->unit.asked(), bank, address);
    const bool may = head && reads->may_ask(bank);
    reads->look();
    if (may) reads->ask(bank);
  }
}

/// Round robin over the load units that want the bank.
void Memory::choose_read(size_t bank) {
  Path& path = paths_[bank];
  for (size_t n = 0; n < loads_.size() && path.bank->reads.can_push(); n++) {
    const size_t port = (path.served[kRead] + n) % loads_.size();
    Fifo& asking = loads_[port]->asking;
    size_t wanted = 0;
    u64 address = 0;
    if (!asking.head()) continue;
    const Burst burst = unpacked(asking.front());
    place(burst, wanted, address);
    if (wanted != bank) continue;
    asking.pop();
    Transfer* transfer = path.bank->fresh();
    transfer->port = port, transfer->address = address, transfer->words = burst.words;
    path.bank->reads.push(reinterpret_cast<u64>(transfer));
    path.served[kRead] = port + 1;
    return;
  }
}

void Memory::choose_write(size_t bank) {
  Path& path = paths_[bank];
  for (size_t n = 0; n < stores_.size() && path.bank->writes.can_push(); n++) {
    const size_t port = (path.served[kWrite] + n) % stores_.size();
    Writes& writes = *stores_[port];
    size_t wanted = 0;
    u64 address = 0;
    if (!writes.unit.bursts.head()) continue;
    const Burst burst = unpacked(writes.unit.bursts.front());
    place(burst, wanted, address);
    if (wanted != bank || !writes.may_send()) continue;
    writes.unit.bursts.pop();
    Transfer* transfer = path.bank->fresh();
    transfer->port = port, transfer->address = address, transfer->words = burst.words;
    transfer->turn = writes.send(bank, burst.words);
    path.bank->writes.push(reinterpret_cast<u64>(transfer));
    path.served[kWrite] = port + 1;
    return;
  }
}

/// The next burst's request goes, and its words may move from the next cycle on, when those of the unit's burst before
/// have.
void Memory::begin(size_t bank) {
  Path& path = paths_[bank];
  if (path.moving || !path.bank->writes.head() || !path.bank->begun.can_push()) return;
  auto* transfer = reinterpret_cast<Transfer*>(path.bank->writes.front());
  Writes& writes = *stores_[transfer->port];
  if (writes.busy || writes.order.front() != bank) return;
  writes.busy = true;
  writes.order.pop_front();
  path.bank->writes.pop();
  path.bank->begun.push(reinterpret_cast<u64>(transfer));
  path.moving = transfer, path.next_word = clock_.now + 1, path.left = transfer->words;
}

void Memory::move_words(Path& path) {
  if (!path.moving || path.next_word > clock_.now) return;
  Writes& writes = *stores_[path.moving->port];
  if (!writes.unit.words.head()) return;
  writes.unit.words.pop();
  writes.ahead--;
  if (--path.left) return;
  path.moving->moved = clock_.now + 2;  // the last word is in the master's register
  path.moving = nullptr;
  writes.busy = false;
}

void Memory::commit() {
  for (const auto& unit : load_units_) unit->commit();
  for (const auto& unit : store_units_) unit->commit();
  if (atomics_) atomics_->commit();
  for (const auto& fence : fences_) fence->commit();
}

}  // namespace sluice
