// Bottlenecks: what loses cycles, the worst first, with what would help.

VIEWS.push({
  id: "bottlenecks",
  title: "Bottlenecks",
  lead:
    "Loops and accesses that lose cycles or bandwidth, the largest loss first. Where the trip count is known only at " +
    `run time, the order assumes ${number(report.assumed_trips)} iterations.`,
  make() {
    const most = Math.max(1, ...report.bottlenecks.map((one) => one.cycles ?? 0));
    const columns = [
      { title: "", value: (one) => one.rank, numeric: true, tip: "rank" },
      { title: "Category", value: (one) => one.category, show: (one) => sign("warning", one.category) },
      { title: "Where", value: (one) => `${rankedItem(one)?.name ?? ""} of ${one.kernel}` },
      lineColumn((one) => one.span),
      {
        title: "Lost",
        class: "narrow",
        value: (one) => one.cycles ?? one.lost,
        numeric: true,
        tip: "cycles of a launch, or of each iteration where trip counts are known only at run time",
        show: (one) => [lossWords(one), one.cycles === null ? null : bar(one.cycles / most, "", "warning")],
      },
      {
        title: "Cause, and what would help",
        class: "wraps",
        value: (one) => (one.help ? `${one.sentence}; ${one.help}` : one.sentence),
        show: (one) => [capital(one.sentence), one.help ? h("div", { class: "advice" }, one.help) : null],
      },
    ];
    const rows = report.bottlenecks.map((one, index) => ({
      key: rankedItem(one)?.key ?? null,
      data: { ...one, rank: index + 1 },
    }));
    const table = makeTable({
      caption: "Bottlenecks",
      columns,
      rows,
      empty: "none: every loop starts an iteration each cycle, and no access wastes bandwidth",
    });
    return { element: table.element, select: table.select };
  },
});

function rankedItem(one) {
  return namedItem(one.loop || one.access);
}

function rankedLink(one) {
  const item = rankedItem(one);
  return item ? itemLink(item, item.name, "bottlenecks") : one.span ? spanLink(one.span) : null;
}
