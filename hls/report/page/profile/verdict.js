// Verdict: for each kernel what limits it and what to do, from hls/profile/rules.toml, with the figures it rests on.

VIEWS.push({
  id: "verdict",
  group: "Profile",
  title: "Verdict",
  lead: "What limits each kernel, and what to do about it; kernels with the most cycles come first, autorun kernels last.",
  make() {
    const groups = verdictGroups();
    const table = makeTable({
      caption: "Kernels",
      columns: VERDICT_COLUMNS,
      rows: groups.map((group) => ({ key: `kernel:${group.name}`, data: group })),
    });
    const element = h(
      "div",
      null,
      h("ul", { class: "verdicts spaced" }, groups.map(verdictEntry)),
      section("Kernels", table.element),
      otherPrograms(),
      section("This run", runFacts()),
    );
    return { element, select: () => table.select() };
  },
});

/** The kernels of the page's program with copies joined: the slowest copy's verdict stands for all. */
function verdictGroups() {
  const groups = new Map();
  for (const kernel of kernelsShown) {
    const entry = reportEntry(kernel.name);
    const name = entry?.name ?? kernel.name;
    if (!groups.has(name)) groups.set(name, { name, entry, kernels: [] });
    groups.get(name).kernels.push(kernel);
  }
  for (const group of groups.values()) {
    group.kernels.sort((one, other) => other.cycles - one.cycles);
    group.slowest = group.kernels[0];
    group.title = group.kernels.length > 1 ? `${group.name} × ${group.kernels.length}` : group.slowest.name;
  }
  const order = (one, other) =>
    one.slowest.autorun - other.slowest.autorun || other.slowest.cycles - one.slowest.cycles;
  return [...groups.values()].sort(order);
}

/** "good" where the kernel does all it can, "note" where no rule applies or the cause lies in another kernel. */
function verdictLevel(verdict) {
  return { full: "good", nothing: "note", channel: "note", idle: "note" }[verdict.rule] ?? "warning";
}

function verdictEntry(group) {
  const { verdict } = group.slowest;
  const copies =
    group.kernels.length > 1 ? h("span", { class: "quiet" }, ` (the slowest of ${group.kernels.length} copies)`) : null;
  return h(
    "li",
    null,
    sign(verdictLevel(verdict), `${verdict.rule}: `),
    linked(verdict.sentence),
    copies,
    h(
      "ul",
      { class: "remedies" },
      verdict.remedies.map((remedy) => h("li", null, linkedKernels(remedy))),
    ),
  );
}

/** A sentence in which names of kernels are links. */
function linkedKernels(text) {
  const names = kernelsShown.map((kernel) => kernel.name).sort((one, other) => other.length - one.length);
  const found = names.find((name) => new RegExp(`verdict of ${RegExp.escape?.(name) ?? name}\\b`).test(text));
  const item = found ? itemOf("kernel", reportEntry(found)?.name) : null;
  if (!item) return linked(text);
  const [before, ...after] = text.split(`verdict of ${found}`);
  return [linked(before), "verdict of ", itemLink(item, found, "verdict"), linked(after.join(`verdict of ${found}`))];
}

const FIGURE_WORDS = {
  launches: "launches",
  sharing_accesses: "accesses that share a memory's peak",
  idle: "waiting for a kernel that does not run",
  mean: "mean cycles of a launch",
  ramp_up_and_drain: "ramp-up and drain",
  efficiency: "efficiency of the worst access",
  bandwidth: "of the peak bandwidth",
  row_misses: "commands that open a row",
  gaps: "time without a launch",
};

/** [word, value] of a verdict's figures. */
function figurePairs(verdict) {
  return verdict.figures.map(({ name, value }) => [
    FIGURE_WORDS[name] ?? name.replaceAll("_", " "),
    ["launches", "mean", "sharing_accesses"].includes(name) ? number(value) : percent(value, 1),
  ]);
}

const VERDICT_COLUMNS = [
  { title: "Kernel", value: (one) => `${one.title}${one.slowest.autorun ? " (autorun)" : ""}` },
  lineColumn((one) => one.entry?.span),
  { title: "Launches", value: (one) => one.slowest.launches, numeric: true, tip: "or captures of an autorun kernel" },
  { title: "Cycles", value: (one) => one.slowest.cycles, numeric: true, tip: "of all launches" },
  { title: "Mean", value: (one) => one.slowest.mean, numeric: true },
  {
    title: "Worst",
    value: (one) => one.slowest.most,
    numeric: true,
    show: (one) => launchLink(one.slowest.worst, number(one.slowest.most)),
    tip: "the launch with the most cycles",
  },
  {
    title: "Issuing",
    value: (one) => share(issuedCycles(one.slowest.total.accounts), one.slowest.cycles),
    numeric: true,
    show: (one) => {
      const value = share(issuedCycles(one.slowest.total.accounts), one.slowest.cycles);
      return bar(value, percent(value, 1), value >= 0.9 ? "good" : "warning");
    },
    tip: "share of the cycles in which an iteration or work-item was issued",
  },
  {
    title: "Most of the rest",
    class: "wraps",
    value: (one) => largestWait(one.slowest.total.accounts)?.cause ?? "",
    show: (one) => {
      const most = largestWait(one.slowest.total.accounts);
      const item = most ? itemOf("cause", `${one.name}/${most.id}`) : null;
      return item ? itemLink(item, most.cause, "cycles") : (most?.cause ?? "");
    },
  },
];

function launchLink(numberOf, text) {
  const item = itemOf("launch", numberOf);
  return item ? itemLink(item, text ?? `launch ${numberOf}`) : (text ?? `launch ${numberOf}`);
}

/** Links to the other programs of the run, whose kernels this page shows after a reload. */
function otherPrograms() {
  const others = profile.programs.filter(
    (one) => one.number !== programNumber && document.getElementById(`report-${one.number}`),
  );
  if (!others.length) return null;
  const link = (one) =>
    h(
      "li",
      null,
      h("a", { href: `#view=verdict&program=${one.number}` }, `program ${one.number}`),
      `: ${one.kernels.join(", ")}`,
    );
  return section("Other programs of this run", h("ul", { class: "links" }, others.map(link)));
}

function runFacts() {
  const started = profile.launches.filter((launch) => !launch.capture).length;
  return facts([
    ["command", h("code", null, `sluice profile ${profile.command.join(" ")}`)],
    ["board", profile.board],
    ["kernel clock", `${number(profile.clock_mhz, 1)} MHz`],
    [
      "memories",
      profile.memories.map((one) =>
        h(
          "div",
          null,
          `${one.name}: ${one.kind}, ${count(one.banks, "bank")}, ${one.peak_bytes_per_ns === null ? "a port for each access" : `${number(one.peak_bytes_per_ns, 2)} GB/s at most`}`,
        ),
      ),
    ],
    ["recorded", profile.recorded.replace(/^recorded are /, "")],
    ["launches", `${number(started)}, and ${count(profile.launches.length - started, "capture")} of autorun kernels`],
    [
      "in profile.json only",
      profile.not_detailed ? `details of ${count(profile.not_detailed, "launch", "launches")}` : "",
    ],
    ["without samples here", profile.not_sampled ? count(profile.not_sampled, "launch", "launches") : ""],
  ]);
}

window.addEventListener("hashchange", () => {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("program");
  if (wanted !== null && Number(wanted) !== programNumber) location.reload();
});
