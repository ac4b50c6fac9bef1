// Global memory as load and store units see it: an interconnect with separate paths to every bank, and the banks.
// Registers on the paths are those of rtl_lib/interconnect and rtl_lib/axi.
#pragma once
#include <memory>
#include <vector>

#include "../../dram/channel.h"
#include "atomic_memory.h"
#include "bank.h"
#include "constant.h"
#include "fence.h"
#include "shared_cache.h"
#include "stepping_load_unit.h"
#include "wide.h"

namespace sluice {

/// The board's memory; the fields in the order in which hls/model/replay/machine.py writes them.
struct Board {
  double period_ns, banks, word_bytes, interleave, base;
  double is_dram, word_ns, latency_ns, ports;  ///< word_ns and ports: of memory that is no DRAM
  DramTiming timing() const;
  double dram[26];  ///< as DramTiming has them, without the latency
};

/// The memory of a board that is running, for one replay after the other.
struct BoardMemory {
  explicit BoardMemory(const Board& of);
  const Board board;
  std::vector<BankMemory> banks;
};

/// One load unit's path back: words wait for each bank until their turn.
class Reads {
 public:
  Reads(Clock& clock, ReadUnit& unit, size_t banks);
  bool may_ask(size_t bank) const;
  void look();
  void ask(size_t bank);
  void arrive(size_t bank) { here_[bank].push_back(clock_.now + (direct_ ? 1 : 3)); }
  /// The word whose turn it is goes to the unit.
  void give();

  ReadUnit& unit;
  Fifo asking;  ///< bursts with a turn and a place for their words

 private:
  struct Turn {
    u64 since;
    size_t bank;
    u64 left;
  };
  Clock& clock_;
  const bool direct_;
  std::vector<u64> free_;
  std::vector<bool> fits_;
  std::vector<std::deque<u64>> here_;  ///< cycles from which words are there
  std::deque<Turn> turns_;
};

/// One store unit's path: a burst after the other, confirmations in order.
class Writes {
 public:
  Writes(Clock& clock, WriteUnit& of) : unit(of), clock_(clock) {}
  void look() { known_ahead_ = ahead; }
  bool may_send() const;
  u64 send(size_t bank, u64 words);
  void confirm(u64 turn) { turns_[turn - gone_] = clock_.now + 2; }  // through a FIFO of confirmations
  void give();

  WriteUnit& unit;
  u64 ahead = 0;            ///< words that were taken and have not moved
  std::deque<size_t> order;  ///< banks at which bursts begin
  bool busy = false;        ///< whether words of a burst move

 private:
  Clock& clock_;
  u64 known_ahead_ = 0, gone_ = 0;
  std::deque<u64> turns_;  ///< cycle from which each burst is confirmed; 0: not yet
};

/// The units of one kernel.
struct KernelUnits {
  KernelUnits(const MachinePlan& of, const u64* addresses) : plan(of), bases(addresses), loads(of.units.size()), stores(of.units.size()), atomics(of.units.size()) {}
  const MachinePlan& plan;
  const u64* bases;                ///< addresses of the units' buffers
  std::vector<ReadUnit*> loads;    ///< by the number of the unit in the plan; null for one of the other kind
  std::vector<StoreUnit*> stores;
  std::vector<AtomicUnit*> atomics;
  std::vector<Fence*> fences;
  bool over = false;               ///< no store is on its way any more

  /// The fences, once all units exist.
  void connect() const;
  /// The kernel gives no more stores than those on their way; all calls on channels were `sent`, or not.
  void end(bool sent);
  bool idle() const;
  /// Executions, words and bursts of a unit.
  void figures(size_t unit, u64* out) const;
};

/// The board's memory, which the units of all kernels share.
class Memory {
 public:
  /// `age`: cycles that the board has been running as the replay begins; negative if it is started later.
  Memory(Clock& clock, BoardMemory& memory, Tick age);
  Server* unit(KernelUnits& kernel, const OperationPlan& operation);
  Stepping* stepping(KernelUnits& kernel, const HeldPlan& load);
  Fence* fence(KernelUnits& kernel, const OperationPlan& operation);
  /// Makes the paths of the units, once all exist.
  void connect();
  void evaluate();
  void commit();

 private:
  struct Path {
    explicit Path(std::unique_ptr<Bank> of) : bank(std::move(of)) {}
    std::unique_ptr<Bank> bank;
    size_t served[2] = {0, 0};  ///< the unit to be asked first, of loads and of stores
    Transfer* moving = nullptr;
    u64 next_word = 0, left = 0;
  };
  void place(const Burst& burst, size_t& bank, u64& address) const;
  void choose_read(size_t bank);
  void choose_write(size_t bank);
  void begin(size_t bank);
  void move_words(Path& path);

  Clock& clock_;
  const Board* board_;
  std::vector<std::unique_ptr<ReadUnit>> load_units_;
  std::vector<std::unique_ptr<ConstantLoadUnit>> constant_loads_;  ///< behind the cache, which is a load unit
  std::vector<std::unique_ptr<SharedLoadUnit>> shared_loads_;      ///< likewise
  std::vector<std::unique_ptr<StoreUnit>> store_units_;
  std::vector<std::unique_ptr<AtomicUnit>> atomic_units_;
  std::unique_ptr<AtomicMemory> atomics_;  ///< which serves them
  std::vector<std::unique_ptr<Fence>> fences_;
  std::vector<std::unique_ptr<Reads>> loads_;
  std::vector<std::unique_ptr<Writes>> stores_;
  std::vector<Path> paths_;
};

}  // namespace sluice
