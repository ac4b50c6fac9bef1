// What Python calls: launches that run at the same time, on the machines that their plans describe.
#include <algorithm>

#include "system.h"

using namespace sluice;

/// One launch: its machine as `numbers`, the rows of its loops, and the addresses of its units' buffers; its first row comes
/// in cycle `start`; if it is `endless`, nobody waits for its end. Of several compute units (`units`, else 0) each runs some
/// of the groups, which are rows of the top. `figures` receives four numbers for each region (see LoopFigures), and then three
/// of each unit (see KernelUnits::figures); `cycles` those from the first row to the end, `issued` those in which an innermost
/// loop issued: sums, and the mean, over compute units. `outcomes` are those of its calls that do not block, if it `grows`: then
/// the replay comes to what the record only assumes. Of the loop `unfinished` - 1 the newest row is not complete; 0: of none.
struct Launch {
  const int64_t* numbers;
  u64* const* data;
  const u64 *widths, *counts;
  const u64* bases;
  u64 records, start, endless, units;
  u64* figures;
  u64 cycles, issued;
  Outcomes* outcomes;
  u64 grows, unfinished;
};

namespace {

std::vector<Rows> rows_of(const Launch& launch) {
  std::vector<Rows> rows;
  for (u64 k = 0; k < launch.records; k++) 
    rows.push_back({launch.data[k], launch.widths[k], launch.counts[k], launch.grows != 0, launch.unfinished == k + 1});
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

/// Launches that are replayed together.
struct Replay {
  Replay(Launch* given, u64 count, const ChannelPlan* channels, u64 channel_count, BoardMemory& memory, int64_t age)
      : launches(given), system(memory, age, {channels, channels + channel_count}), plans(count) {
    for (u64 n = 0; n < count; n++) {
      const Launch& launch = launches[n];
      Reader(launch.numbers).read(plans[n]);
      const std::vector<Rows> rows = rows_of(launch);
      const auto top = static_cast<size_t>(plans[n].regions[0].record);
      if (launch.units) system.add_units(plans[n], rows, launch.outcomes, launch.bases, launch.start, launch.units, rows[top].count);
      else system.add(plans[n], rows, launch.outcomes, launch.bases, launch.start, launch.endless);
    }
  }
  /// Calls `visit` with the number of each launch, and each of its machines.
  template <class Visit>
  void each(Visit visit) {
    for (u64 n = 0, machine = 0; n < plans.size(); n++)
      for (u64 k = 0; k < std::max<u64>(1, launches[n].units); k++) visit(n, system.machine(machine++));
  }

  Launch* const launches;
  System system;
  std::vector<MachinePlan> plans;
};

}  // namespace

extern "C" BoardMemory* sluice_new_memory(const Board* board) { return new BoardMemory(*board); }
extern "C" void sluice_delete_memory(BoardMemory* memory) { delete memory; }

/// `memory` is as the replay before has left it, and may be older than `age`, the cycles that the board has been running as the
/// replay begins. The launches stay where they are until the replay is deleted.
extern "C" Replay* sluice_new_replay(Launch* launches, u64 count, const ChannelPlan* channels, u64 channel_count, BoardMemory* memory,
                                     int64_t age) {
  return new Replay(launches, count, channels, channel_count, *memory, age);
}
extern "C" void sluice_delete_replay(Replay* replay) { delete replay; }

/// See System::run; the records may be others than in the call before.
extern "C" u64 sluice_continue(Replay* replay, u64 limit, bool complete) {
  replay->each([&](u64 n, Machine& machine) {
    if (replay->launches[n].grows) machine.renew(rows_of(replay->launches[n]));
  });
  return replay->system.run(limit, complete);
}

/// Writes the figures of all launches, and to `held` what is in each channel.
extern "C" void sluice_report(Replay* replay, u64* held, u64 channels) {
  replay->each([&](u64 n, Machine& machine) { report(replay->launches[n], replay->plans[n], machine); });
  for (u64 n = 0; n < replay->plans.size(); n++) replay->launches[n].issued /= std::max<u64>(1, replay->launches[n].units);
  for (u64 k = 0; k < channels; k++) held[k] = replay->system.held(k);
}
