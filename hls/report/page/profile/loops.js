// Loops: what the schedule promised and what was measured.

VIEWS.push({
  id: "paces",
  group: "Profile",
  title: "Measured loops",
  lead: "The interval between two iterations: of one invocation by the schedule (static), with interleaved invocations (scheduled), and as it ran (measured).",
  scope: scopeName,
  make() {
    const rows = groupsInScope().map((group) => ({
      key: `kernel:${group.name}`,
      class: "kernelrow",
      open: true,
      data: { kernel: group.title, group },
      children: group.runs[0].loops.map((loop) => ({ key: `pace:${group.name}/${loop.id}`, data: { ...loop, group } })),
    }));
    const table = makeTable({ caption: "Measured loops", columns: PACE_COLUMNS, rows });
    return { element: h("div", null, scopeTools(), table.element), select: table.select };
  },
});

/** Measured above this multiple of the scheduled II is pointed at. */
const SLOWER = 1.1;

/** Whether no loop in hardware lies in it: by its schedule, an outer one issues when its inner ones let it. */
function innermost(one) {
  const inside = (loop) => loop.children.some((child) => child.ii || inside(child));
  const loop = reportLoop(one)?.data;
  return Boolean(loop) && !inside(loop);
}

function reportLoop(one) {
  return reportItem("loop", one.group.name, one.line, one.name);
}

const PACE_COLUMNS = [
  { title: "Loop", class: "short", value: (one) => (one.id ? loopWords(one) : `kernel ${one.kernel}`) },
  lineColumn((one) => (one.id ? spanOf(one.line) : one.group.entry?.span)),
  { title: "Static II", numeric: true, value: (one) => one.static_ii },
  { title: "Interl.", numeric: true, value: (one) => one.interleaving, tip: "interleaved invocations" },
  {
    title: "Sched. II",
    numeric: true,
    digits: 2,
    value: (one) => one.scheduled_ii,
    tip: "static II / interleaving",
  },
  {
    title: "Measured II",
    numeric: true,
    digits: 2,
    value: (one) => one.measured_ii,
    show: (one) =>
      one.id && innermost(one) && one.measured_ii > SLOWER * one.scheduled_ii
        ? sign("warning", number(one.measured_ii, 2))
        : number(one.measured_ii, 2),
    tip: "cycles between two iterations while the loop runs, which of an outer loop include its inner ones; ▲: an innermost loop that is 10 % and more above its schedule",
  },
  { title: "Iterations", numeric: true, value: (one) => one.iterations },
  { title: "Invoc.", numeric: true, value: (one) => one.invocations, tip: "invocations" },
  {
    title: "Limited by",
    class: "wraps",
    value: (one) => (one.id ? (reportLoop(one)?.data.category ?? "") : ""),
    tip: "what sets the static II, from the compilation",
  },
  {
    title: "In the report",
    spare: true,
    class: "short",
    value: (one) => (one.id ? (reportLoop(one)?.name ?? "") : ""),
    show: (one) => {
      const item = one.id ? reportLoop(one) : null;
      return item ? [itemLink(item, "loop", "loops"), ", ", itemLink(item, "schedule", "schedule")] : "";
    },
  },
];
