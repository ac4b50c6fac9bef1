// Loops: every loop of every kernel as it was built.

VIEWS.push({
  id: "loops",
  title: "Loops",
  lead: "Every loop with its verdict and figures; select one for its cause, the shares of its recurrence, and what would help.",
  make() {
    let unrolled = true;
    const box = h("input", { type: "checkbox", checked: true, onchange: () => ((unrolled = box.checked), build()) });
    const toggle = h("label", { class: "toggle" }, box, " show unrolled");
    const element = h("div");
    let table;
    build();
    return { element, select: () => table.select() };

    function build() {
      const rows = report.kernels.map((kernel) => ({
        key: `kernel:${kernel.name}`,
        data: { kernel },
        open: true,
        class: "kernelrow",
        children: kernel.loops.flatMap((loop) => loopRows(loop, kernel, unrolled)),
      }));
      table = makeTable({ caption: "Loops", columns: loopColumns(), rows, tools: [toggle] });
      element.replaceChildren(table.element);
      table.select();
    }
  },
});

/** The row of a loop with those of the loops in it; unrolled loops give way to the loops in them if not shown. */
function loopRows(loop, kernel, unrolled) {
  const children = loop.children.flatMap((child) => loopRows(child, kernel, unrolled));
  if (!unrolled && loop.verdict === "unrolled") return children;
  return [{ key: `loop:${loop.id}`, data: { loop, kernel }, open: true, children }];
}

/** The columns that say something of this report's loops. */
function loopColumns() {
  const loops = [...items.values()].filter((item) => item.kind === "loop").map((item) => item.data);
  return LOOP_COLUMNS.filter((column) => !column.only || loops.some(column.only));
}

const ofLoop = (get) => (row) => (row.loop ? get(row.loop) : null);

const LOOP_COLUMNS = [
  { title: "Loop", value: ({ loop, kernel }) => (loop ? loopName(loop) : `kernel ${kernel.name}`) },
  lineColumn(({ loop, kernel }) => (loop ?? kernel).span),
  { title: "Verdict", value: ofLoop((loop) => loop.verdict), show: ({ loop }) => (loop ? verdictSign(loop) : "") },
  {
    title: "II",
    value: ofLoop((loop) => loop.ii || null),
    numeric: true,
    tip: "initiation interval in cycles",
    show: ({ loop }) => (loop ? rateText(loop) : ""),
  },
  {
    title: "Interl.",
    value: ofLoop((loop) => (loop.ii ? loop.interleaving : null)),
    numeric: true,
    tip: "interleaved invocations",
  },
  { title: "Limited by", value: ofLoop((loop) => loop.category + (loop.assumed ? " (assumed)" : "")) },
  {
    title: "Latency",
    value: ofLoop((loop) => (loop.ii ? loop.latency : null)),
    numeric: true,
    tip: "cycles from issue to end of an iteration",
  },
  {
    title: "Concur.",
    value: ofLoop((loop) => loop.concurrency),
    numeric: true,
    tip: "concurrency: most iterations in flight, latency × interleaving / II",
    show: ({ loop }) =>
      loop?.ii
        ? h("span", { title: `${loop.latency} × ${loop.interleaving} / ${loop.ii}` }, number(loop.concurrency))
        : "",
  },
  {
    title: "Trips",
    value: ofLoop((loop) => loop.trip_count),
    numeric: true,
    tip: "trip count; empty where it is known only at run time",
  },
  {
    title: "Pred.",
    value: ofLoop((loop) => (loop.predicted?.iterations ? loop.predicted.interval : null)),
    numeric: true,
    digits: 2,
    only: (loop) => loop.predicted,
    tip: "predicted cycles between two iterations of an invocation, in the launches whose workloads were given",
  },
  {
    title: "fmax",
    value: ofLoop((loop) => loop.fmax_mhz),
    numeric: true,
    digits: 1,
    tip: "MHz that the loop's critical path permits",
    show: ({ loop }) =>
      loop?.fmax_mhz
        ? loop.fmax_mhz < report.clock_mhz
          ? sign("warning", number(loop.fmax_mhz, 1))
          : number(loop.fmax_mhz, 1)
        : "",
  },
];
