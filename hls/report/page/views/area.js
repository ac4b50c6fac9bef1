// Area: by the structure of the design, and by the lines of the source.

VIEWS.push({
  id: "area-system",
  title: "Area by system",
  lead: "What each part of the design takes, counted in the Verilog before synthesis. The parts of a part add up to it, the largest first.",
  make() {
    if (!report.area) return { element: h("p", null, "The area was not estimated.") };
    const rows = [areaRow(report.area)];
    rows[0].open = true;
    const columns = [
      { title: "Part", value: (node) => `${node.name}${node.count > 1 ? ` × ${node.count}` : ""}` },
      { title: "Role", value: (node) => (node.role === node.name ? "" : node.role) },
      lineColumn((node) => node.span),
      ...resourceColumns((node) => node.resources),
    ];
    const [[, logic]] = RESOURCES;
    const table = makeTable({ caption: "Area by system", columns, rows, sortedBy: logic });
    return { element: table.element, select: table.select };
  },
});

function areaRow(node) {
  return { key: areaKeys.get(node), alias: namedItem(node.id)?.key, data: node, children: node.children.map(areaRow) };
}

/** Columns of resources: logic as a bar of the whole design, the others as numbers. */
function resourceColumns(used) {
  const whole = report.resources.logic || 1;
  return RESOURCES.map(([key, title]) => ({
    title,
    numeric: true,
    value: (data) => used(data)[key],
    show: key === "logic" ? (data) => bar(used(data).logic / whole, number(used(data).logic)) : null,
  }));
}

VIEWS.push({
  id: "area-source",
  title: "Area by source",
  lead: "What each line of the source became. Colour beside the source shows where the logic is; counters are apart.",
  make() {
    const lines = report.lines;
    if (!lines.length) return { element: h("p", null, "The area of single lines was not estimated.") };
    const columns = [
      { title: "Line", value: (one) => one.name },
      { title: "Role", value: (one) => one.role },
      { title: "Source", value: (one) => one.text, show: (one) => h("code", { class: "twolines", title: one.text }, one.text) },
      ...resourceColumns((one) => one.used),
    ];
    const table = makeTable({ caption: "Area by source", columns, rows: lineRows(lines) });
    return { element: table.element, select: table.select, heat: () => heatOf(lines) };
  },
});

/** A row for each line, with a row for each role in it; what has no line is a row of its own, counters are another. */
function lineRows(lines) {
  const groups = new Map();
  for (const one of lines) {
    const place =
      one.role === "hardware counters" ? "hardware counters" : one.span ? placeOf(one.span) : "no line of the source";
    if (!groups.has(place)) groups.set(place, []);
    groups.get(place).push(one);
  }
  const rows = [...groups].map(([place, some]) => {
    const span = some[0].role === "hardware counters" ? null : some[0].span;
    const used = sumResources(some.map((one) => one.resources));
    const parts = some.map((one) => ({
      key: null,
      data: { name: one.kernel || "shared", role: one.role, text: "", used: one.resources },
    }));
    return {
      key: null,
      data: {
        name: span ? lineWords(span) : place,
        role: some.length === 1 ? some[0].role : `${some.length} roles`,
        text: span ? textOf(span) : "",
        used,
        span,
      },
      children: parts,
    };
  });
  rows.sort((one, other) => other.data.used.logic - one.data.used.logic);
  rows.forEach((row) => row.data.span && (row.place = placeOf(row.data.span)));
  return rows;
}

function textOf(span) {
  const file = report.sources.find((one) => one.file === span.file);
  return file?.text.split("\n")[span.line - 1]?.trim() ?? "";
}

/** Logic of each line, as a share of the line that takes most; counters do not count. */
function heatOf(lines) {
  const sums = new Map();
  for (const one of lines) {
    if (!one.span || one.role === "hardware counters") continue;
    sums.set(placeOf(one.span), (sums.get(placeOf(one.span)) ?? 0) + one.resources.logic);
  }
  for (const [place, logic] of sums) if (!logic) sums.delete(place);
  const most = Math.max(1, ...sums.values());
  return new Map([...sums].map(([place, logic]) => [place, { share: logic / most, text: number(logic) }]));
}
