// Cycles: where the cycles of each kernel went, as bars, over time, and cause by cause.

VIEWS.push({
  id: "cycles",
  group: "Profile",
  title: "Cycles",
  lead: "Each cycle of a kernel is attributed to one cause, so the causes sum to its cycles. Select a cause for its line, what it holds up, and when.",
  scope: scopeName,
  make() {
    const groups = groupsInScope();
    const most = Math.max(1, ...groups.map((group) => group.cycles));
    const copies = groups.some((group) => group.runs.length > 1);
    const columns = CAUSE_COLUMNS.filter((column) => copies || column.title !== "Copies");
    const table = makeTable({ caption: "Causes of cycles", columns, rows: groups.map(causeRows) });
    const time = h("div");
    const bars = groups
      .slice(0, MOST_BARS)
      .map((group) =>
        h(
          "div",
          { class: "stack cyclestack" },
          h(
            "span",
            { class: "stackname" },
            itemOf("kernel", group.name) ? itemLink(itemOf("kernel", group.name), group.title) : group.title,
          ),
          cyclesBar(group, most),
          h(
            "span",
            { class: "figure" },
            `${number(Math.round(group.cycles))}${group.runs.length > 1 ? " on average" : ""}`,
          ),
        ),
      );
    const element = h(
      "div",
      null,
      scopeTools(),
      categoryLegend(groups),
      h("div", { class: "stacks" }, bars),
      section("Over time", time),
      section("Causes", table.element),
    );
    return { element, select: () => (drawTime(time), table.select()) };
  },
});

/** Bars at most; the table has all kernels. */
const MOST_BARS = 16;

function causeRows(group) {
  const row = (one) => ({ key: `cause:${group.name}/${one.id}`, data: { ...one, group } });
  const sum = { cause: "sum", cycles: group.accounts.reduce((total, one) => total + one.cycles, 0), group, sum: true };
  return {
    key: `kernel:${group.name}`,
    class: "kernelrow",
    open: true,
    data: { kernel: group.title, group, cycles: group.cycles },
    children: [...group.accounts.map(row), { key: null, class: "sumrow", data: sum }],
  };
}

const CAUSE_COLUMNS = [
  {
    title: "Cause",
    class: "wraps",
    value: (one) => (one.kernel ? `kernel ${one.kernel}` : one.cause),
    show: (one) =>
      one.category ? [categorySwatch(one.category), one.cause] : one.kernel ? `kernel ${one.kernel}` : one.cause,
  },
  { title: "Kind", class: "short", value: (one) => one.category ?? "" },
  lineColumn((one) => (one.kernel ? one.group.entry?.span : spanOf(one.line))),
  { title: "Cycles", numeric: true, value: (one) => Math.round(one.cycles) },
  {
    title: "Share",
    numeric: true,
    value: (one) => share(one.cycles, one.group.cycles),
    show: (one) => {
      const value = share(one.cycles, one.group.cycles);
      return one.kernel ? "" : bar(value, percent(value, 1), one.category === "issue" ? "good" : "plain");
    },
  },
  {
    title: "Copies",
    class: "narrow",
    value: (one) => (one.each && one.group.runs.length > 1 ? `${number(one.least)} to ${number(one.most)}` : ""),
    tip: "the least and the most cycles of a copy",
  },
  {
    title: "Holds up",
    class: "wraps",
    value: (one) => (one.category ? victimsOf(one.group, one).map(victimWords).slice(0, 2).join(", ") : ""),
  },
];

/** What is held up while a cause holds: [{what, line, cycles, share}], most cycles first. An issue holds nothing up:
 * what waits in a cycle with one lets the loop go on. */
function victimsOf(group, account) {
  if (account.category === "issue") return [];
  const found = new Map();
  for (const run of group.runs) {
    for (const held of run.held) {
      if (held.cause !== account.cause || held.cause_line !== account.line) continue;
      const one = found.get(held.id) ?? { id: held.id, what: held.what, line: held.line, cycles: 0 };
      one.cycles += held.cycles / group.runs.length;
      found.set(held.id, one);
    }
  }
  const worth = [...found.values()].filter((one) => one.cycles >= 1);
  return worth.sort((one, other) => other.cycles - one.cycles);
}

function victimWords(victim) {
  return `${victim.what}${victim.line ? ` (line ${victim.line})` : ""}`;
}

/** The cycles over time of the launch that the selection is of. */
function drawTime(root) {
  const item = items.get(selection.item);
  const launch = item?.kind === "launch" ? item.data : sampledLaunch(item?.kernel);
  const shown = launch?.samples.length ? launch : sampledLaunch("");
  if (!shown) {
    root.replaceChildren(
      h(
        "p",
        { class: "quiet" },
        "No samples: captures of autorun kernels, and launches beyond the first ones, have none.",
      ),
    );
    return;
  }
  const cause = item?.kind === "cause" && reportEntry(shown.kernel)?.name === item.kernel ? item.data.id : null;
  root.replaceChildren(overTime(shown, cause));
}
