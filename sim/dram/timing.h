// Timing and geometry of one DRAM channel: data only, every value from the board description.
#pragma once
#include <cstdint>

namespace sluice {

/// Times are in memory clock cycles ("ticks") unless the name says otherwise.
struct DramTiming {
  double tck_ns;  ///< one tick in nanoseconds
  int CL, CWL;    ///< column command to data, read and write
  int tRCD, tRP, tRAS;
  int tCCD_S, tCCD_L;  ///< column to column, other / same bank group
  int tRRD_S, tRRD_L;  ///< activate to activate, other / same bank group
  int tFAW;            ///< window of four activates
  int tWR, tRTP;       ///< end of write data, or read command, to precharge
  int tWTR_S, tWTR_L;  ///< end of write data to read command
  int tREFI, tRFC;

  int bank_groups, banks_per_group;
  int row_bytes;  ///< of the whole channel, all chips together
  int bus_bits;   ///< data bus
  int beats;      ///< transfers of a burst
  int transfers;  ///< in a tick: 2 of DDR memory, 1 of SDR

  int queue;        ///< bursts that each of the two queues holds
  int batch;        ///< column commands in one direction before the direction may change
  int row_hit_cap;  ///< column commands to an open row while bursts wait for another row of that bank
  double controller_latency_ns;  ///< added to the latency of every response

  /// The bus changes from reading to writing: drivers need two ticks.
  static constexpr int kTurnaround = 2;

  int burst_bytes() const { return bus_bits / 8 * beats; }
  int burst_ticks() const { return beats / transfers; }
  int banks() const { return bank_groups * banks_per_group; }
  int64_t bursts_per_row() const { return row_bytes / burst_bytes(); }
};

}  // namespace sluice
