// Memory: what each access moved and how, the commands of the banks, and the accesses to memories inside kernels.

VIEWS.push({
  id: "memory",
  group: "Profile",
  title: "Memory",
  lead: "What each access to global memory moved, what of it was used, and what held it up; then the commands of the memory's banks, and the accesses to memories inside kernels.",
  scope: scopeName,
  make() {
    const groups = groupsInScope();
    const used = groups.filter((group) => group.runs[0].accesses.length);
    const accesses = accessTable("Accesses", WAIT_COLUMNS, used);
    const traffic = accessTable("Traffic", TRAFFIC_COLUMNS, used);
    const banks = makeTable({
      caption: "Banks",
      columns: BANK_COLUMNS.filter(
        (column) => !column.only || groups.some((group) => group.runs[0].banks.some(column.only)),
      ),
      rows: groups.filter((group) => group.runs[0].banks.length).map(bankRows),
      empty: "no commands were counted",
    });
    const inside = makeTable({
      caption: "Memories inside kernels",
      columns: LOCAL_COLUMNS,
      rows: groups.filter((group) => group.runs[0].local?.length).map(localRows),
      empty: "no kernel has a memory of its own",
    });
    const element = h(
      "div",
      null,
      scopeTools(),
      accesses.element,
      section("Traffic", traffic.element),
      section(
        "Banks",
        h(
          "p",
          { class: "quiet" },
          "Commands while the kernel ran, those of other kernels that ran meanwhile included.",
        ),
        banks.element,
      ),
      section("Memories inside kernels", inside.element),
    );
    // an access has a row in two tables: that is brought into view which was clicked, else the first
    const tables = [accesses, traffic, banks];
    const select = () => {
      const active = tables.find((table) => table.element.contains(document.activeElement)) ?? accesses;
      return tables.map((table) => table.select(table === active)).some(Boolean);
    };
    return { element, select };
  },
});

/** A table with a row for each access to global memory, below its kernel. */
function accessTable(caption, columns, groups) {
  return makeTable({
    caption,
    columns: columns.filter((column) => !column.only || groups.some((group) => group.runs[0].accesses.some(column.only))),
    rows: groups.map((group) => ({
      key: `kernel:${group.name}`,
      class: "kernelrow",
      open: true,
      data: { kernel: group.title, group },
      children: group.runs[0].accesses.map((one) => ({
        key: `use:${group.name}/${one.id}`,
        data: { ...one, group },
      })),
    })),
    empty: "no access to global memory",
  });
}

/** What holds an access up most: {cause, cause_line, cycles}, or null. */
function heldBy(group, id) {
  const mine = group.runs[0].held.filter((one) => one.id === id);
  const most = mine.reduce((max, one) => (max && max.cycles >= one.cycles ? max : one), null);
  return most && most.cycles >= group.cycles / 100 ? most : null;
}

function heldWords(held) {
  if (held?.cause === "issued") return "nothing lost: iterations were issued";
  return held ? `${held.cause}${held.cause_line ? ` (line ${held.cause_line})` : ""}` : "";
}

const ACTIVITY = {
  title: "Activity",
  numeric: true,
  value: (one) => one.activity,
  show: (one) => percentOr(one.activity),
  tip: "requests / cycles",
};

/** The share of cycles in which an access waited, marked from RED on. */
function stallColumn(tip) {
  return {
    title: "Stall",
    numeric: true,
    value: (one) => one.stall,
    show: (one) => (one.stall >= RED ? sign("error", percent(one.stall, 1)) : percentOr(one.stall)),
    tip,
  };
}

/** The columns that both tables of accesses begin with. */
const WHICH_ACCESS = [
  {
    title: "Access",
    class: "short",
    value: (one) => (one.id ? `${one.kind} of ${one.buffer}` : `kernel ${one.kernel}`),
  },
  lineColumn((one) => (one.id ? spanOf(one.line) : one.group.entry?.span)),
];

/** What an access waited for. */
const WAIT_COLUMNS = [
  ...WHICH_ACCESS,
  { title: "Unit", class: "narrow", value: (one) => [one.unit, one.memory].filter(Boolean).join(", ") },
  {
    title: "Occup.",
    numeric: true,
    value: (one) => one.occupancy,
    show: (one) => percentOr(one.occupancy),
    tip: "iterations that passed / cycles",
  },
  ACTIVITY,
  stallColumn("cycles in which a request was not taken / cycles"),
  {
    title: "Sum",
    numeric: true,
    value: (one) => (one.id ? (one.stall ?? 0) + (one.occupancy ?? 0) : null),
    show: (one) => (one.id ? percent((one.stall ?? 0) + (one.occupancy ?? 0)) : ""),
    tip: "stall + occupancy: about 100 % for the access that stalls the others",
  },
  { title: "Held up by", class: "wraps", value: (one) => (one.id ? heldWords(heldBy(one.group, one.id)) : "") },
];

/** What it moved. */
const TRAFFIC_COLUMNS = [
  ...WHICH_ACCESS,
  { title: "GB/s", numeric: true, digits: 2, value: (one) => one.bytes_per_ns },
  {
    title: "Of peak",
    numeric: true,
    value: (one) => one.bandwidth,
    show: (one) =>
      one.bandwidth === null || one.bandwidth === undefined ? "" : bar(one.bandwidth, percent(one.bandwidth, 1)),
  },
  {
    title: "Moved",
    numeric: true,
    spare: true,
    value: (one) => one.bytes_moved,
    show: (one) => (one.id ? bytesWords(one.bytes_moved) : ""),
  },
  {
    title: "Efficiency",
    numeric: true,
    value: (one) => one.efficiency,
    show: efficiencyShow,
    tip: "bytes requested / bytes moved, at most 100 %",
  },
  {
    title: "Reuse",
    numeric: true,
    spare: true,
    digits: 2,
    value: (one) => one.reuse,
    tip: "bytes requested / bytes moved, at least 1",
  },
  {
    title: "Burst",
    numeric: true,
    spare: true,
    digits: 1,
    value: (one) => one.average_burst,
    show: burstWords,
    tip: "words of a burst on average, and of the longest burst that the unit makes",
  },
  {
    title: "Full",
    numeric: true,
    spare: true,
    value: (one) => one.full_bursts,
    show: (one) => percentOr(one.full_bursts),
    only: (one) => one.full_bursts !== undefined && one.full_bursts !== null,
    tip: "bursts of that length / bursts",
  },
  {
    title: "Unaligned",
    numeric: true,
    spare: true,
    value: (one) => one.unaligned,
    show: (one) => percentOr(one.unaligned),
    only: (one) => one.unaligned !== undefined && one.unaligned !== null,
    tip: "requests that cross from one word to the next / requests",
  },
  {
    title: "Hits",
    numeric: true,
    spare: true,
    value: (one) => one.cache_hit,
    show: (one) => percentOr(one.cache_hit),
    only: (one) => one.cache_hit !== null,
    tip: "words that requests needed and that were not moved for them; units with a cache",
  },
  {
    title: "In vain",
    numeric: true,
    spare: true,
    value: (one) => one.in_vain,
    show: (one) => percentOr(one.in_vain),
    only: (one) => one.in_vain !== null,
    tip: "requests whose answers were dropped",
  },
];

/** The mean length of an access's bursts, and the greatest possible: "15.0 of 16". */
function burstWords(one) {
  if (one.average_burst === null || one.average_burst === undefined) return "";
  return number(one.average_burst, 1) + (one.max_burst ? ` of ${one.max_burst}` : "");
}

/** The accesses of a kernel to its own memories, those that wait longest first. */
function localRows(group) {
  const [run] = group.runs;
  const order = [...run.local].sort((one, other) => other.stall - one.stall || other.requests - one.requests);
  return {
    key: `kernel:${group.name}`,
    class: "kernelrow",
    open: run.local.length <= 16,
    data: { kernel: group.title },
    children: order.map((one) => ({ key: null, data: one })),
  };
}

const LOCAL_COLUMNS = [
  {
    title: "Access",
    class: "short",
    value: (one) => (one.kernel ? `kernel ${one.kernel}` : `${one.kind} of ${one.memory}`),
  },
  lineColumn((one) => spanOf(one.line)),
  { title: "Requests", numeric: true, value: (one) => one.requests },
  ACTIVITY,
  stallColumn("cycles in which the access waited for a port / cycles"),
];

function bankRows(group) {
  const [run] = group.runs;
  return {
    key: `kernel:${group.name}`,
    class: "kernelrow",
    open: true,
    data: { kernel: group.title },
    children: run.banks.map((bank) => ({ key: null, data: bank })),
  };
}

const BANK_COLUMNS = [
  {
    title: "Bank",
    class: "short",
    value: (one) => (one.kernel ? `kernel ${one.kernel}` : `${one.memory ?? ""} bank ${one.number}`.trim()),
  },
  {
    title: "Read",
    numeric: true,
    value: (one) => one.bytes_read,
    show: (one) => (one.kernel ? "" : bytesWords(one.bytes_read)),
  },
  {
    title: "Written",
    numeric: true,
    value: (one) => one.bytes_written,
    show: (one) => (one.kernel ? "" : bytesWords(one.bytes_written)),
  },
  { title: "Reads", numeric: true, value: (one) => one.reads, tip: "commands" },
  { title: "Writes", numeric: true, value: (one) => one.writes, tip: "commands" },
  { title: "Activates", numeric: true, value: (one) => one.activates, tip: "rows opened" },
  {
    title: "Row misses",
    numeric: true,
    value: (one) => (one.kernel ? null : share(one.activates, one.reads + one.writes)),
    show: (one) => (one.kernel ? "" : percent(share(one.activates, one.reads + one.writes), 1)),
    tip: "rows opened / reads and writes",
  },
  { title: "Turnarounds", numeric: true, value: (one) => one.turnarounds, tip: "between reads and writes" },
  { title: "Refreshes", numeric: true, value: (one) => one.refreshes },
  {
    title: "Busy",
    numeric: true,
    value: (one) => one.busy ?? null,
    show: (one) => percentOr(one.busy),
    only: (one) => one.busy !== undefined && one.busy !== null,
    tip: "share of the time in which data moves",
  },
];
