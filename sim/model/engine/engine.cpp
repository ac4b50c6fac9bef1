// What Python calls: launches that run at the same time, on the machines that their plans describe.
#include <algorithm>

#include "system.h"

using namespace sluice;

/// One launch: its machine as `numbers`, the rows of its loops, and the addresses of its units' buffers; its first row comes
/// in cycle `start`; if it is `endless`, nobody waits for its end. Of several compute units (`units`, else 0) each runs some
/// of the groups, which are rows of the top. `figures` receives four numbers for each region (see LoopFigures), and then three
/// of each unit (see KernelUnits::figures); `cycles` those from the first row to the end, `issued` those in which an innermost
/// loop issued: sums, and the mean, over compute units.
struct Launch {
  const int64_t* numbers;
  u64* const* data;
  const u64 *widths, *counts;
  const u64* bases;
  u64 records, start, endless, units;
  u64* figures;
  u64 cycles, issued;
};

namespace {

std::vector<Rows> rows_of(const Launch& launch) {
  std::vector<Rows> rows;
  for (u64 k = 0; k < launch.records; k++) rows.push_back({launch.data[k], launch.widths[k], launch.counts[k]});
  return rows;
}

/// Adds what a machine showed to the figures of its launch.
void report(Launch& launch, const MachinePlan& plan, const Machine& machine) {
  u64* figures = launch.figures;
  for (size_t k = 0; k < plan.regions.size(); k++) {
    const LoopFigures found = machine.figures(k);
    for (const u64 number : {found.iterations, found.invocations, found.busy, found.starts}) *figures++ += number;
  }
  for (size_t k = 0; k < plan.units.size(); k++, figures += 3) {
    u64 used[3] = {0, 0, 0};
    machine.units().figures(k, used);
    for (size_t n = 0; n < 3; n++) figures[n] += used[n];
  }
  launch.cycles = std::max(launch.cycles, machine.cycles);
  launch.issued += machine.issued;
}

}  // namespace

extern "C" BoardMemory* sluice_new_memory(const Board* board) { return new BoardMemory(*board); }
extern "C" void sluice_delete_memory(BoardMemory* memory) { delete memory; }

/// False if a launch did not end. `memory` is as the replay before has left it, and may be older than `age`, the cycles that
/// the board has been running as the replay begins. `held` receives what is in each channel afterwards.
extern "C" bool sluice_replay(Launch* launches, u64 count, const ChannelPlan* channels, u64 channel_count, BoardMemory* memory, int64_t age,
                              u64 limit, u64* held) {
  System system(*memory, age, {channels, channels + channel_count});
  std::vector<MachinePlan> plans(count);
  for (u64 n = 0; n < count; n++) {
    const Launch& launch = launches[n];
    Reader(launch.numbers).read(plans[n]);
    const std::vector<Rows> rows = rows_of(launch);
    const auto top = static_cast<size_t>(plans[n].regions[0].record);
    if (launch.units) system.add_units(plans[n], rows, launch.bases, launch.start, launch.units, rows[top].count);
    else system.add(plans[n], rows, launch.bases, launch.start, launch.endless);
  }
  const bool over = system.run(limit);
  for (u64 n = 0, first = 0; n < count; n++) {
    const u64 units = std::max<u64>(1, launches[n].units);
    for (u64 k = 0; k < units; k++) report(launches[n], plans[n], system.machine(first + k));
    launches[n].issued /= units;
    first += units;
  }
  for (u64 k = 0; k < channel_count; k++) held[k] = system.held(k);
  return over;
}
