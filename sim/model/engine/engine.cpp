// What Python calls: one launch on the machine that its plan describes.
#include "machine.h"

using namespace sluice;

/// `figures` receives four numbers for each region (see LoopFigures), and then three of each unit (see
/// Memory::figures);
/// `issued` the cycles in which an innermost loop issued.
extern "C" u64 sluice_replay(const int64_t* numbers, u64 const* const* data, const u64* widths, const u64* bases,
                             const Board* board, u64 records, u64 age, u64 limit, u64* figures, u64* issued) {
  MachinePlan plan;
  Reader(numbers).read(plan);
  std::vector<Rows> rows;
  for (u64 k = 0; k < records; k++) rows.push_back({data[k], widths[k]});
  Machine machine(plan, rows, bases, board, age);
  const u64 cycles = machine.run(limit);
  for (size_t k = 0; k < plan.regions.size(); k++) {
    const LoopFigures found = machine.figures(k);
    for (const u64 number : {found.iterations, found.invocations, found.busy, found.starts}) *figures++ = number;
  }
  for (size_t k = 0; k < plan.units.size(); k++, figures += 3) machine.memory().figures(k, figures);
  *issued = machine.issued();
  return cycles;
}
