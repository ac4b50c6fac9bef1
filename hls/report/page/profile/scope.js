// What the views are of: all launches of each kernel together, or one launch with what autorun kernels did meanwhile.
// Copies of one kernel are shown together, by their mean.

/** The launch that was chosen, or null. */
function launchInScope() {
  return selection.launch === null ? null : (launchByNumber.get(Number(selection.launch)) ?? null);
}

function scopeName() {
  return launchInScope() ? `launch ${selection.launch}` : "";
}

/** What is shown, by kernel of the report: [{name, title, entry, runs, cycles, accounts}]. ``runs`` are launches, or
 * totals of launches, of the kernel and its copies; ``cycles`` and ``accounts`` are means over them. */
function groupsInScope() {
  const launch = launchInScope();
  const runs = launch
    ? [launch, ...launchesShown.filter((one) => one.capture && one.of === launch.number)]
    : kernelsShown.map((kernel) => kernel.total);
  const groups = new Map();
  for (const run of runs) {
    const entry = reportEntry(run.kernel);
    const name = entry?.name ?? run.kernel;
    if (!groups.has(name)) groups.set(name, { name, entry, runs: [] });
    groups.get(name).runs.push(run);
  }
  for (const group of groups.values()) {
    // the first one stands for all: that of which everything is in the page, and of these the slowest
    const inFull = (run) => run.loops.length + run.accesses.length;
    group.runs.sort((one, other) => inFull(other) - inFull(one) || other.cycles - one.cycles);
    const many = group.runs.length;
    group.title = many > 1 ? `${group.name} × ${many}` : group.runs[0].kernel;
    group.cycles = group.runs.reduce((sum, run) => sum + run.cycles, 0) / many;
    group.accounts = meanAccounts(group.runs);
  }
  const order = (one, other) => one.runs[0].capture - other.runs[0].capture || other.cycles - one.cycles;
  return [...groups.values()].sort(order);
}

function groupOfKernel(name) {
  return groupsInScope().find((group) => group.name === name) ?? null;
}

/** The entry of the report for a kernel, which may stand for several copies; null if there is none. */
function reportEntry(name) {
  return report.kernels.find((kernel) => kernel.name === name || kernel.copies?.names.includes(name)) ?? null;
}

/** The accounts of runs of equal kernels: means, with the least and the most of a run; most cycles first. */
function meanAccounts(runs) {
  const found = new Map();
  for (const run of runs) {
    for (const one of run.accounts) {
      if (!found.has(one.id)) found.set(one.id, { ...one, cycles: 0, each: [] });
      const sum = found.get(one.id);
      sum.cycles += one.cycles;
      sum.each.push(one.cycles);
    }
  }
  for (const one of found.values()) {
    one.cycles /= runs.length;
    one.least = one.each.length < runs.length ? 0 : Math.min(...one.each);
    one.most = Math.max(...one.each);
  }
  return [...found.values()].sort((one, other) => other.cycles - one.cycles);
}

/** A field that chooses the launch, and words on what is left out. */
function scopeTools() {
  const started = launchesShown.filter((launch) => !launch.capture);
  const most = 200;
  const listed = started.slice(0, most);
  const chosen = launchInScope();
  if (chosen && !listed.includes(chosen)) listed.push(chosen);
  const option = (launch) =>
    h(
      "option",
      { value: launch.number, selected: launch === chosen },
      `launch ${launch.number}: ${launch.kernel}, ${count(launch.cycles, "cycle")}`,
    );
  const field = h(
    "select",
    {
      class: "scope",
      onchange: () => selection.set({ launch: field.value || null }),
    },
    h(
      "option",
      { value: "", selected: !chosen },
      started.length === 1 ? "the only launch" : `all ${count(started.length, "launch", "launches")}, summed by kernel`,
    ),
    listed.map(option),
  );
  const few =
    started.length > most ? h("span", { class: "quiet" }, ` ${number(most)} listed; all are in Execution`) : null;
  const note = chosen && !chosen.detailed ? sign("note", "details of this launch are in profile.json only") : null;
  return h("p", { class: "scopeline" }, h("label", null, "Shown: ", field), few, " ", note);
}

/** Which launch a chart over time is of: the chosen one, or the longest with samples of the kernel ``name``. */
function sampledLaunch(name) {
  const launch = launchInScope();
  const group = groupOfKernel(name);
  const candidates = launch
    ? [launch].filter((one) => !name || group?.runs.includes(one))
    : launchesShown.filter((one) => !name || group?.runs.some((run) => run.kernel === one.kernel));
  const sampled = candidates.filter((one) => one.samples.length);
  return sampled.reduce((most, one) => (most && most.cycles >= one.cycles ? most : one), null);
}
