// What Python calls: launches that run at the same time, on the machines that their plans describe.
#include "system.h"

using namespace sluice;

/// One launch: its machine as `numbers`, the rows of its loops, and the addresses of its units' buffers; its first row comes
/// in cycle `start`; if it is `endless`, nobody waits for its end. `figures` receives four numbers for each region (see LoopFigures), and then three of each unit (see
/// KernelUnits::figures); `cycles` those from the first row to the end, `issued` those in which an innermost loop issued.
struct Launch {
  const int64_t* numbers;
  u64* const* data;
  const u64 *widths, *counts;
  const u64* bases;
  u64 records, start, endless;
  u64* figures;
  u64 cycles, issued;
};

/// False if a launch did not end. `held` receives what is in each channel afterwards.
extern "C" bool sluice_replay(Launch* launches, u64 count, const ChannelPlan* channels, u64 channel_count, const Board* board, u64 age,
                              u64 limit, u64* held) {
  System system(board, age, {channels, channels + channel_count});
  std::vector<MachinePlan> plans(count);
  for (u64 n = 0; n < count; n++) {
    const Launch& launch = launches[n];
    Reader(launch.numbers).read(plans[n]);
    std::vector<Rows> rows;
    for (u64 k = 0; k < launch.records; k++) rows.push_back({launch.data[k], launch.widths[k], launch.counts[k]});
    system.add(plans[n], std::move(rows), launch.bases, launch.start, launch.endless);
  }
  const bool over = system.run(limit);
  for (u64 n = 0; n < count; n++) {
    const Machine& machine = system.machine(n);
    u64* figures = launches[n].figures;
    for (size_t k = 0; k < plans[n].regions.size(); k++) {
      const LoopFigures found = machine.figures(k);
      for (const u64 number : {found.iterations, found.invocations, found.busy, found.starts}) *figures++ = number;
    }
    for (size_t k = 0; k < plans[n].units.size(); k++, figures += 3) machine.units().figures(k, figures);
    launches[n].cycles = machine.cycles, launches[n].issued = machine.issued;
  }
  for (u64 k = 0; k < channel_count; k++) held[k] = system.held(k);
  return over;
}
