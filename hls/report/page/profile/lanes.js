// What happened when: the lanes of a run, each with its slices, times in ns of simulated time.

/** The lanes: queues with their commands, kernels with their launches, autorun kernels with captures, compute units. A
 * lane is {title, kind, slices: [{start, end, words, key, tone, wait}]}; ``wait``: queued, not yet begun. */
function executionLanes() {
  return [...hostLanes(), ...kernelLanes()].filter((lane) => lane.slices.length);
}

function hostLanes() {
  const queues = new Map();
  for (const command of profile.commands) {
    const name = command.queue === null ? "host" : `queue ${command.queue}`;
    if (!queues.has(name)) queues.set(name, { title: name, kind: "queue", slices: [] });
    const { slices } = queues.get(name);
    const words = `${command.kind} ${command.name}`.trim();
    const key = `command:${command.number}`;
    const timed = command.queue !== null || command.end_ns > command.start_ns;
    if (!timed) continue;
    if (command.start_ns > command.queued_ns)
      slices.push({ start: command.queued_ns, end: command.start_ns, words: `${words} waits`, key, tone: "waits" });
    slices.push({
      start: command.start_ns,
      end: command.end_ns,
      words,
      key,
      tone: TONE_OF_COMMAND[command.kind] ?? "transfer",
    });
  }
  return [...queues.values()].sort((one, other) => one.title.localeCompare(other.title, "en", { numeric: true }));
}

const TONE_OF_COMMAND = { launch: "launched", build: "host", capture: "host" };

/** A lane for each kernel; copies of an autorun kernel share one, as their captures are the same stretches. */
function kernelLanes() {
  const lanes = new Map();
  for (const launch of profile.launches) {
    const mine = launch.program === programNumber;
    const entry = mine ? reportEntry(launch.kernel) : null;
    const name = mine ? (entry?.name ?? launch.kernel) : `${launch.kernel} (program ${launch.program})`;
    if (!lanes.has(name))
      lanes.set(name, {
        title: name,
        kind: launch.capture ? "capture" : "kernel",
        slices: [],
        seen: new Set(),
        copies: new Set(),
      });
    const lane = lanes.get(name);
    lane.copies.add(launch.kernel);
    const stretch = `${launch.start_ns} ${launch.end_ns}`;
    if (launch.capture && lane.seen.has(stretch)) continue;
    lane.seen.add(stretch);
    lane.slices.push({
      start: launch.start_ns,
      end: launch.end_ns,
      words: launch.capture ? `capture ${launch.number}` : `launch ${launch.number}`,
      key: mine ? `launch:${launch.number}` : null,
      tone: launch.capture ? "captured" : "kernel",
      launch: launch.number,
    });
  }
  return [...lanes.values()].flatMap((lane) => {
    const title = lane.copies.size > 1 ? `${lane.title} × ${lane.copies.size}` : lane.title;
    return [{ ...lane, title }, ...unitLanes(lane)];
  });
}

/** Lanes for the compute units of a kernel, where it has several: how busy each was in each launch. */
function unitLanes(lane) {
  const units = new Map();
  for (const { launch: numberOf, start, end } of lane.slices) {
    for (const unit of launchByNumber.get(numberOf).units) {
      const title = `  unit ${unit.number}`;
      if (!units.has(title)) units.set(title, { title, kind: "unit", slices: [] });
      const busy = unit.occupancy === null ? "" : `issues in ${percent(unit.occupancy, 1)} of the cycles`;
      const groups = unit.groups === null ? "" : `, ${count(unit.groups, "group")}`;
      units.get(title).slices.push({
        start,
        end,
        words: `unit ${unit.number} in launch ${numberOf} ${busy}${groups}`,
        key: `launch:${numberOf}`,
        tone: "unit",
        level: unit.occupancy ?? 0,
      });
    }
  }
  return [...units.values()];
}

/** Rows of a lane with nothing but commands that are queued, at most; more than these are not drawn. */
const MOST_WAITING = 3;

/** Slices of a lane in rows, so that those of a row do not overlap: each with its row, or null if it is not drawn. What
 * runs comes first; what waits is before its own command in that row, where there is room, else below. Returns how many rows
 * there are. */
function stackSlices(slices) {
  const ordered = [...slices].sort((one, other) => one.start - other.start || other.end - one.end);
  const ends = [];
  const before = new Map(); // by the key of a command, its row, and when the one before it in that row ended
  for (const slice of ordered.filter((one) => one.tone !== "waits")) {
    slice.row = firstRow(ends, slice.start);
    before.set(slice.key, { row: slice.row, end: ends[slice.row] ?? -Infinity });
    ends[slice.row] = Math.max(slice.end, slice.start);
  }
  const waiting = [];
  for (const slice of ordered.filter((one) => one.tone === "waits")) {
    const own = before.get(slice.key);
    const row = firstRow(waiting, slice.start);
    if (own && own.end <= slice.start) slice.row = own.row;
    else if (row < MOST_WAITING) {
      waiting[row] = slice.end;
      slice.row = ends.length + row;
    } else slice.row = null;
  }
  return Math.max(1, ends.length + waiting.length);
}

window.sluiceProfile.stackSlices = stackSlices; // for tests

/** The first of the rows that is free from ``start`` on, given when the last slice of each ends. */
function firstRow(ends, start) {
  const row = ends.findIndex((end) => end <= start);
  return row < 0 ? ends.length : row;
}

/** Channel levels over time: [{title, depth, pieces: [{start, step, values, least, most}]}], those with the most waits
 *  first. A column is missing where all of its numbers are 0. */
function levelLanes() {
  const lanes = new Map();
  for (const launch of launchesShown) {
    const period = 1000 / launch.clock_mhz;
    const ends = new Map(launch.channels.map((end) => [end.id, end]));
    for (const samples of launch.samples) {
      const columns = columnsOf.get(samples);
      for (const column of columns) {
        const end = column.kind === "level" ? ends.get(column.id) : null;
        if (!end) continue;
        if (!lanes.has(end.name))
          lanes.set(end.name, { title: end.name, depth: end.depth, stall: 0, pieces: [], key: `pipe:${end.name}` });
        const lane = lanes.get(end.name);
        lane.stall = Math.max(lane.stall, end.read_stall ?? 0, end.write_stall ?? 0);
        const overlaps = lane.pieces.some((piece) => piece.start < launch.end_ns && launch.start_ns < piece.end);
        if (overlaps) continue; // the other end measured the same
        lane.pieces.push({
          start: launch.start_ns,
          end: launch.end_ns,
          step: samples.interval * period,
          values: column.values,
          least: columns.find((one) => one.kind === "min_level" && one.id === column.id)?.values,
          most: columns.find((one) => one.kind === "max_level" && one.id === column.id)?.values,
        });
      }
    }
  }
  return [...lanes.values()].sort((one, other) => other.stall - one.stall);
}
