// What can be selected in a profile besides what is in its report: causes of cycles, measured accesses, loops and
// channels, launches and commands. They are found by their line as well.

const MEASURED_WORDS = {
  cause: "cause of cycles",
  use: "measured access",
  pace: "measured loop",
  pipe: "measured channel",
  launch: "launch",
  command: "command of the host",
};
/** Those of the profile come first in the list of what is at a line. */
const reportWords = { ...KIND_WORDS };
for (const kind of Object.keys(KIND_WORDS)) delete KIND_WORDS[kind];
Object.assign(KIND_WORDS, MEASURED_WORDS, reportWords);

function spanOf(line) {
  return line ? { file: report.source, line } : null;
}

function indexProfile() {
  for (const view of VIEWS) view.group ??= "Compilation";
  for (const group of groupsInScope()) {
    for (const one of group.accounts)
      addItem("cause", `${group.name}/${one.id}`, one.cause, group.name, [spanOf(one.line)], { id: one.id });
    const [first] = group.runs;
    for (const one of first.accesses)
      addItem("use", `${group.name}/${one.id}`, `${one.kind} of ${one.buffer}`, group.name, [spanOf(one.line)], {
        id: one.id,
      });
    for (const one of first.loops)
      addItem("pace", `${group.name}/${one.id}`, loopWords(one), group.name, [spanOf(one.line)], { id: one.id });
  }
  for (const channel of channelsInScope())
    addItem(
      "pipe",
      channel.name,
      channel.name,
      "",
      channel.ends.map((end) => spanOf(end.line)),
      {
        name: channel.name,
      },
    );
  for (const launch of launchesShown) {
    const entry = reportEntry(launch.kernel);
    const name = `${launch.capture ? "capture" : "launch"} ${launch.number} of ${launch.kernel}`;
    addItem("launch", launch.number, name, entry?.name ?? "", [entry?.span], launch);
  }
  for (const command of profile.commands)
    addItem("command", command.number, `${command.kind} ${command.name}`.trim(), "", [], command);
}

function loopWords(loop) {
  return loop.name === "work-items" ? "work-items" : `loop ${loop.name || loop.id}`;
}

/** The channels with both ends that were measured: [{name, depth, ends: [{...end, kernel, run}]}]. */
function channelsInScope() {
  const found = new Map();
  for (const group of groupsInScope()) {
    for (const run of group.runs) {
      for (const end of run.channels) {
        if (!found.has(end.name)) found.set(end.name, { name: end.name, depth: end.depth, ends: [] });
        found.get(end.name).ends.push({ ...end, kernel: run.kernel, group: group.name, run });
      }
    }
  }
  return [...found.values()];
}

/** The item of the report for something measured in a kernel at a line: the one whose text or name fits best. */
function reportItem(kind, kernel, line, name = "") {
  const place = placeOf(spanOf(line) ?? { file: "", line: 0 });
  const there = (byLine.get(place) ?? []).filter((item) => item.kind === kind && item.kernel === kernel);
  const mine = there.filter((item) => item.data.span?.line === line);
  const fits = (item) => (name ? [item.data.label, item.data.buffer, item.name].includes(name) : true);
  return mine.find(fits) ?? mine[0] ?? null;
}

function fromReport(item, text) {
  return item ? itemLink(item, text ?? `${item.name} in the report`) : null;
}

INDEXERS.push(indexProfile, openLaunch);

/** Where nothing else was asked for, the launch that the profile was made to show. */
function openLaunch() {
  if (!location.hash && profile.launch !== null) {
    const { program } = launchByNumber.get(profile.launch);
    history.replaceState(
      null,
      "",
      hashOf({ view: "cycles", launch: String(profile.launch), program: String(program) }),
    );
  }
}
