// Channels: what each held, who waited at it, and whom that is to blame on.

VIEWS.push({
  id: "channels",
  group: "Profile",
  title: "Channels",
  lead: "What each channel held, how long its ends waited, and what made them wait. A wait to read says that the writer is late; a wait to write says that the reader is.",
  scope: scopeName,
  make() {
    const table = makeTable({ caption: "Channels", columns: PIPE_COLUMNS, rows: channelRows(), empty: "no channels" });
    const blame = makeTable({
      caption: "Who makes whom wait",
      columns: BLAME_COLUMNS,
      rows: blameRows(),
      empty: "no kernel waited at a channel",
    });
    const element = h("div", null, scopeTools(), table.element, section("Who makes whom wait", blame.element));
    return { element, select: () => table.select() || blame.select() };
  },
});

/** The channels; those of an array are below one row. */
function channelRows() {
  const arrays = new Map();
  for (const channel of channelsInScope()) {
    const name = channel.name.replace(/\[.*$/, "");
    if (!arrays.has(name)) arrays.set(name, []);
    arrays.get(name).push(measuredChannel(channel));
  }
  const row = (one) => ({ key: `pipe:${one.name}`, data: one });
  return [...arrays].flatMap(([name, all]) =>
    all.length === 1
      ? all.map(row)
      : [{ key: null, open: all.length <= 16, data: channelArray(name, all), children: all.map(row) }],
  );
}

function measuredChannel(channel) {
  const reader = channel.ends.find((end) => end.end === "read");
  const writer = channel.ends.find((end) => end.end === "write");
  const mean = largest(channel.ends, (end) => end.mean_level);
  return {
    name: channel.name,
    depth: channel.depth,
    reader,
    writer,
    mean,
    most: Math.max(...channel.ends.map((end) => end.max_level)),
    values: passedValues(channel),
    readStall: reader?.read_stall ?? null,
    writeStall: writer?.write_stall ?? null,
    advice: replayOf(channel)?.sentence ?? "",
  };
}

/** The values that passed, as an end saw them that the host launches, or as the replay of the whole run did: captures of
 * autorun kernels may overlap, and then count the same values twice. */
function passedValues(channel) {
  const launched = channel.ends.filter((end) => !end.run.capture);
  const replay = launchInScope() ? null : replayOf(channel);
  if (!launched.length && replay) return replay.values;
  return Math.max(...(launched.length ? launched : channel.ends).map((end) => end.values));
}

/** What other depths of a channel would do, where the profile says so. */
function replayOf(channel) {
  return profile.depths?.find((one) => one.program === programNumber && one.channel === channel.name);
}

function channelArray(name, all) {
  const sum = all.reduce((total, one) => total + one.values, 0);
  return {
    name: `${name}[…], ${all.length} channels`,
    depth: Math.max(...all.map((one) => one.depth)),
    mean: largest(all, (one) => one.mean),
    most: Math.max(...all.map((one) => one.most)),
    values: sum,
    readStall: largest(all, (one) => one.readStall),
    writeStall: largest(all, (one) => one.writeStall),
    advice: "",
  };
}

function endWords(end) {
  return end ? `${end.kernel}${end.line ? ` (line ${end.line})` : ""}` : "";
}

function stallShow(value) {
  return value >= RED ? sign("warning", percent(value, 1)) : percentOr(value);
}

const PIPE_COLUMNS = [
  {
    title: "Channel",
    class: "short",
    value: (one) => one.name,
    // below the row of its array, the index is enough
    show: (one, row) => (row.parent ? one.name.slice(one.name.indexOf("[")) : breakable(one.name)),
  },
  { title: "Writer", class: "end", value: (one) => endWords(one.writer), show: (one) => linked(endWords(one.writer)) },
  { title: "Reader", class: "end", value: (one) => endWords(one.reader), show: (one) => linked(endWords(one.reader)) },
  { title: "Values", numeric: true, value: (one) => one.values },
  { title: "Depth", numeric: true, value: (one) => one.depth },
  {
    title: "Level",
    numeric: true,
    digits: 2,
    value: (one) => one.mean,
    show: (one) => (one.mean === null ? "" : bar(share(one.mean, one.depth), `${number(one.mean, 2)}, ${one.most}`)),
    tip: "values in it on average, and at most",
  },
  {
    title: "Writer waits",
    numeric: true,
    value: (one) => one.writeStall,
    show: (one) => stallShow(one.writeStall),
    tip: "cycles in which it waited for room / cycles of the writer",
  },
  {
    title: "Reader waits",
    numeric: true,
    value: (one) => one.readStall,
    show: (one) => stallShow(one.readStall),
    tip: "cycles in which it waited for a value / cycles of the reader",
  },
  { title: "A greater depth", class: "wraps", value: (one) => one.advice },
];

function blameRows() {
  return groupsInScope().flatMap((group) => {
    const [run] = group.runs;
    const total = run.blame.reduce((sum, one) => sum + one.cycles, 0);
    if (!total) return [];
    const children = [...run.blame]
      .sort((one, other) => other.cycles - one.cycles)
      .map((one) => ({ key: null, data: { ...one, run, whole: total } }));
    return [
      {
        key: `kernel:${group.name}`,
        class: "kernelrow",
        open: children.length <= 12,
        data: { kernel: group.title, run, cycles: total, whole: total },
        children,
      },
    ];
  });
}

/** The end of a chain of waits as words. */
function blameEnd(one) {
  const last = one.kernels.at(-1);
  if (one.end === "stream") return "a stream of the board was not ready";
  if (one.end === "idle") return `${last} did not run`;
  if (one.end === "circle") return `a circle through ${last}: kernels wait for each other`;
  if (one.last_cause === "issued") return `${last} issued: latency of its pipeline, the effect of an earlier wait, or iterations that pass no value`;
  return `${last}: ${one.last_cause}${one.last_line ? ` (line ${one.last_line})` : ""}`;
}

const BLAME_COLUMNS = [
  { title: "Waits", class: "wraps", value: (one) => (one.kernel ? `kernel ${one.kernel}` : one.cause) },
  lineColumn((one) => spanOf(one.line)),
  { title: "Cycles", numeric: true, value: (one) => one.cycles },
  {
    title: "Share",
    numeric: true,
    value: (one) => share(one.cycles, one.run.cycles),
    show: (one) => percent(share(one.cycles, one.run.cycles), 1),
    tip: "of the cycles of the kernel that waits",
  },
  {
    title: "Through",
    class: "narrow",
    value: (one) => (one.kernels ? one.kernels.join(" ← ") : ""),
    tip: "the chain of kernels that wait for each other",
  },
  {
    title: "Because",
    class: "wraps",
    value: (one) => (one.kernels ? blameEnd(one) : ""),
    show: (one) => (one.kernels ? linked(blameEnd(one)) : ""),
  },
];
