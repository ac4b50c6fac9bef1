// Synthesis: what place and route reached, mapped resources beside the estimates, and the critical path.

VIEWS.push({
  id: "synthesis",
  title: "Synthesis",
  lead: "What yosys and nextpnr made of the design: mapped resources, the clock that is reached, and the path that limits it.",
  make() {
    const found = report.synthesis;
    if (!found)
      return { element: h("p", null, "Not synthesized yet: ", h("code", null, "sluice synth OUT"), " fills in this view.") };
    const { placed } = found;
    const kernels = makeTable({
      caption: "Mapped and estimated",
      columns: COMPARED_COLUMNS,
      rows: [{ ...found.design, kernel: "design" }, ...found.kernels].map((row) => ({ key: null, data: row })),
    });
    const parts = makeTable({
      caption: "Mapped by part",
      columns: [
        { title: "Kernel", value: (row) => row.kernel || "shared" },
        { title: "Part", value: (row) => row.part },
        ...MAPPED_COLUMNS,
      ],
      rows: found.parts.map((row) => ({ key: null, data: row })),
    });
    const lines = makeTable({
      caption: "Mapped by line",
      columns: [
        { title: "Kernel", value: (row) => row.kernel || "shared" },
        lineColumn(synthesisSpan),
        ...MAPPED_COLUMNS,
      ],
      rows: found.lines.map((row) => ({ key: null, data: row })),
    });
    const element = h(
      "div",
      null,
      ...clockAndPath(found, placed),
      section("Kernels, mapped and estimated", kernels.element),
      section("By part", parts.element),
      section("By line", lines.element),
    );
    return { element };
  },
});

/** What place and route reached, with the path that limits it; for a device that no tool places, that it is not known. */
function clockAndPath(found, placed) {
  const by = `${found.part}, by ${found.tools.join(", ")}`;
  if (!placed) return [h("p", null, `Mapped for ${by}. No open tool places this device: the clock is not known.`)];
  const path = makeTable({
    caption: "Critical path",
    columns: PATH_COLUMNS,
    rows: placed.path.map((step) => ({ key: null, data: step })),
    empty: "no path from register to register",
  });
  return [
    h(
      "p",
      null,
      sign(placed.met ? "good" : "error", placed.met ? "clock reached" : "clock not reached"),
      ` ${number(placed.reached_mhz, 1)} MHz of ${number(placed.asked_mhz, 1)} MHz on ${by}, seed ${placed.seed}`,
    ),
    section(
      `Critical path: ${number(placed.path_ns, 2)} ns, ${percent(placed.routing)} of it routing`,
      path.element,
      placed.advice.map((line) => h("div", { class: "advice" }, capital(line))),
    ),
  ];
}

/** The place in the source of what has a kernel and a line: lines are those of the kernel's file. */
function synthesisSpan(place) {
  const kernel = report.kernels.find(
    (one) => one.name === place.kernel || one.copies?.names.includes(place.kernel),
  );
  return place.line && kernel?.span ? { ...kernel.span, line: place.line } : null;
}

const PATH_COLUMNS = [
  { title: "Where", class: "wraps", value: (step) => step.words },
  lineColumn((step) => synthesisSpan(step.place)),
  { title: "In cells", value: (step) => step.logic_ns, show: (step) => number(step.logic_ns, 2), numeric: true, tip: "ns in cells" },
  { title: "In wires", value: (step) => step.routing_ns, show: (step) => number(step.routing_ns, 2), numeric: true, tip: "ns in the wires in front of the cells" },
  { title: "Levels", value: (step) => step.levels, numeric: true, tip: "cells passed; a carry chain counts as one" },
];

const MAPPED_COLUMNS = [
  ["luts", "LUTs"],
  ["carries", "Carries"],
  ["lut_rams", "LUT RAMs"],
  ["registers", "Registers"],
  ["rams", "Block RAMs"],
  ["dsps", "DSPs"],
].map(([key, title]) => ({ title, numeric: true, value: (row) => row.mapped[key] }));

const COMPARED_COLUMNS = [
  { title: "Kernel", value: (row) => row.kernel || "shared" },
  ...[
    ["logic", "Logic"],
    ["registers", "Registers"],
    ["rams", "Block RAMs"],
    ["dsps", "DSPs"],
  ].flatMap(([key, title]) => [
    { title, numeric: true, value: (row) => row[key].mapped },
    {
      title: "est.",
      numeric: true,
      tip: `${title}: how much was estimated, and the error in percent of what was mapped`,
      value: (row) => row[key].estimated,
      show: (row) => estimateWords(row[key]),
    },
  ]),
];

function estimateWords({ estimated, error }) {
  return error === null ? number(estimated) : `${number(estimated)} (${error > 0 ? "+" : ""}${Math.round(error)} %)`;
}
