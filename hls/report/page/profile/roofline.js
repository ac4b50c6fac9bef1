// Roofline: how many operations a launch made in a ns, against how many it made for each byte of memory, and what holds
// it: the memory, what memory gives accesses in this order, the kernel's own operators, the device's DSP blocks.

VIEWS.push({
  id: "roofline",
  group: "Profile",
  title: "Roofline",
  lead: "Operations in a ns against operations for each byte; a launch is below all roofs. Its two points are joined: of the bytes that were moved (filled), and of those that were requested (hollow). A launch far below its lowest roof waits for something else: see Cycles.",
  scope: scopeName,
  make() {
    const points = rooflinePoints();
    const chart = h("div");
    const table = makeTable({
      caption: "Launches against their roofs",
      columns: ROOF_COLUMNS,
      rows: points.map((point) => ({ key: `launch:${point.launch.number}`, data: point })),
      empty: "no launch made arithmetic operations",
    });
    const element = h("div", null, scopeTools(), chart, table.element);
    const select = () => {
      const chosen = items.get(selection.item);
      const mine = points.find((one) => chosen?.kind === "launch" && one.launch === chosen.data);
      const ofKernel = points.find((one) => chosen && reportEntry(one.launch.kernel)?.name === chosen.kernel);
      chart.replaceChildren(points.length ? drawRoofline(points, mine ?? ofKernel ?? points[0]) : "");
      table.select();
    };
    return { element, select };
  },
});

/** Launches drawn at most: the longest ones. */
const MOST_POINTS = 40;

/** The launches in scope that made operations, longest first: [{launch, kind, rate, moved, used, perMoved, perUsed,
 * roofs}]. Rates are in operations and bytes a ns. */
function rooflinePoints() {
  const chosen = launchInScope();
  const shown = chosen ? [chosen] : launchesShown.filter((launch) => launch.detailed && !launch.capture);
  const points = shown.filter((launch) => launch.work.length).map(rooflinePoint);
  return points.sort((one, other) => other.launch.cycles - one.launch.cycles).slice(0, MOST_POINTS);
}

function rooflinePoint(launch) {
  const work = launch.work.find((one) => one.kind === "floating-point") ?? launch.work[0];
  const sum = (get) => launch.accesses.reduce((total, one) => total + get(one), 0);
  const moved = sum((one) => one.bytes_moved);
  const used = sum((one) => one.bytes_used);
  const ns = (launch.cycles / launch.clock_mhz) * 1000;
  const point = {
    launch,
    kind: work.kind,
    operations: work.operations,
    rate: share(work.operations, ns),
    moved,
    used,
    perMoved: moved ? work.operations / moved : null,
    perUsed: used ? work.operations / used : null,
  };
  point.roofs = roofsOf(launch, work, point);
  return { ...point, lowest: lowestRoof(point) };
}

/** The roofs of a launch: [{name, slope}] of memory in bytes a ns, [{name, height}] of operators in operations a ns. */
function roofsOf(launch, work) {
  const names = new Set(launch.accesses.filter((one) => one.bytes_moved).map((one) => one.memory));
  const memories = profile.memories.filter((one) => names.has(one.name));
  const peak = memories.reduce((sum, one) => sum + one.peak_bytes_per_ns, 0);
  const roofs = [];
  if (peak) roofs.push({ name: `peak of ${memories.map((one) => one.name).join(" and ")}`, slope: peak });
  if (launch.roof_bytes_per_ns !== null && memories.length === 1)
    roofs.push({ name: `memory in this order (${launch.roof_by})`, slope: launch.roof_bytes_per_ns });
  if (work.per_ns) roofs.push({ name: "the kernel's operators", height: work.per_ns });
  const dsps = report.device?.dsps ?? 0;
  if (dsps) roofs.push({ name: "the device's DSP blocks", height: (dsps * launch.clock_mhz) / 1000 });
  return roofs;
}

function roofAt(roof, perByte) {
  return roof.height ?? (perByte === null ? Infinity : roof.slope * perByte);
}

/** The roof that is lowest above a launch; the DSP blocks are no roof of what needs none. */
function lowestRoof(point) {
  const own = point.roofs.filter((roof) => roof.slope || roof.name === "the kernel's operators");
  return own.reduce(
    (low, roof) => (low && roofAt(low, point.perMoved) <= roofAt(roof, point.perMoved) ? low : roof),
    null,
  );
}

const ROOF_COLUMNS = [
  { title: "Launch", numeric: true, value: (one) => one.launch.number },
  { title: "Kernel", class: "short", value: (one) => one.launch.kernel },
  { title: "Operations", numeric: true, value: (one) => one.operations },
  { title: "Kind", class: "narrow", value: (one) => one.kind },
  { title: "Op/ns", numeric: true, digits: 3, value: (one) => one.rate },
  {
    title: "Moved",
    numeric: true,
    spare: true,
    value: (one) => one.moved,
    show: (one) => (one.moved ? bytesWords(one.moved) : "none"),
    tip: "bytes moved",
  },
  { title: "Op/byte", numeric: true, digits: 3, value: (one) => one.perMoved, tip: "operations for each byte moved" },
  {
    title: "Op/req. byte",
    numeric: true,
    spare: true,
    digits: 3,
    value: (one) => one.perUsed,
    tip: "operations for each byte requested",
  },
  { title: "Lowest roof", class: "narrow", value: (one) => one.lowest?.name ?? "" },
  {
    title: "Of it",
    numeric: true,
    value: (one) => (one.lowest ? share(one.rate, roofAt(one.lowest, one.perMoved)) : null),
    show: (one) => {
      if (!one.lowest) return "";
      const value = share(one.rate, roofAt(one.lowest, one.perMoved));
      return bar(value, percent(value, 1), value >= 0.8 ? "good" : "plain");
    },
    tip: "what the launch reached / its lowest roof",
  },
];

const ROOF_BOX = { width: 900, height: 380, left: 62, right: 16, top: 14, bottom: 40 };

/** The drawing, with logarithmic axes, of the points and the roofs of ``focus``. */
function drawRoofline(points, focus) {
  const drawn = points.filter((point) => point.perMoved !== null);
  if (!drawn.length)
    return h("p", { class: "quiet" }, "No launch moved bytes of memory: the table has its operations.");
  const scale = roofScale(drawn, focus);
  const parts = [
    ...roofGrid(scale),
    ...roofLines(focus, scale),
    ...roofPoints(drawn, focus, scale),
  ];
  const words = `roofline with ${drawn.length} launches; the table below has the same figures`;
  return h(
    "div",
    { class: "graphbox" },
    s(
      "svg",
      { class: "roofline", viewBox: `0 0 ${ROOF_BOX.width} ${ROOF_BOX.height}`, role: "img", "aria-label": words },
      parts,
    ),
    h(
      "p",
      { class: "quiet" },
      `roofs of launch ${focus.launch.number} of ${focus.launch.kernel}, ${focus.kind} operations`,
    ),
  );
}

/** Functions from operations a byte and operations a ns to pixels, and the powers of ten between which both lie. */
function roofScale(drawn, focus) {
  const xs = drawn.flatMap((point) => [point.perMoved, point.perUsed ?? point.perMoved]);
  const tops = focus.roofs.filter((roof) => roof.height).map((roof) => roof.height);
  const ys = [...drawn.map((point) => point.rate), ...tops].filter((value) => value > 0);
  const low = (values) => Math.floor(Math.log10(Math.min(...values)) - 0.3);
  const high = (values) => Math.ceil(Math.log10(Math.max(...values)) + 0.3);
  const range = { x0: low(xs), x1: high(xs), y0: low(ys), y1: high(ys) };
  const { width, height, left, right, top, bottom } = ROOF_BOX;
  const x = (value) => left + ((Math.log10(value) - range.x0) / (range.x1 - range.x0)) * (width - left - right);
  const y = (value) =>
    height - bottom - ((Math.log10(value) - range.y0) / (range.y1 - range.y0)) * (height - top - bottom);
  return { ...range, x, y };
}

function roofGrid({ x0, x1, y0, y1, x, y }) {
  const { width, height, left, right, top, bottom } = ROOF_BOX;
  const powers = (first, last) => Array.from({ length: last - first + 1 }, (_, step) => 10 ** (first + step));
  const words = (value) => (value >= 0.001 ? number(value, 3) : value.toExponential(0));
  const below = (value) =>
    value < 10 ** x1 ? { x: x(value), "text-anchor": "middle" } : { x: width - 2, "text-anchor": "end" };
  return [
    ...powers(x0, x1).map((value) => [
      s("line", { class: "tick", x1: x(value), x2: x(value), y1: top, y2: height - bottom }),
      s("text", { class: "small", y: height - bottom + 15, ...below(value) }, words(value)),
    ]),
    ...powers(y0, y1).map((value) => [
      s("line", { class: "tick", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      s("text", { class: "small", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, words(value)),
    ]),
    s(
      "text",
      { class: "small", x: (left + width) / 2, y: height - 6, "text-anchor": "middle" },
      "operations for each byte",
    ),
    s(
      "text",
      {
        class: "small",
        x: 12,
        y: (top + height - bottom) / 2,
        transform: `rotate(-90 12 ${(top + height - bottom) / 2})`,
        "text-anchor": "middle",
      },
      "operations a ns",
    ),
  ];
}

/** The roofs of a launch as lines, cut where the frame ends, with their names. */
function roofLines(focus, { x0, x1, y0, y1, x, y }) {
  const clip = (value, low, high) => Math.max(10 ** low, Math.min(10 ** high, value));
  return focus.roofs.map((roof, index) => {
    const from = roof.slope ? clip(10 ** y0 / roof.slope, x0, x1) : 10 ** x0;
    const to = roof.slope ? clip(10 ** y1 / roof.slope, x0, x1) : 10 ** x1;
    const at = (perByte) => y(clip(roofAt(roof, perByte), y0, y1));
    const label = roof.slope
      ? { x: ROOF_BOX.left + 8, y: ROOF_BOX.top + 14 + 15 * index }
      : { x: x(10 ** x1) - 6, y: at(to) - 5, "text-anchor": "end" };
    const rate = roof.slope ? `${number(roof.slope, 2)} GB/s` : `${number(roof.height, 2)} op/ns`;
    return s(
      "g",
      { class: `roof roof${index}` },
      s("line", { x1: x(from), y1: at(from), x2: x(to), y2: at(to) }),
      roof.slope ? s("line", { x1: label.x, x2: label.x + 22, y1: label.y - 4, y2: label.y - 4 }) : null,
      s("text", { ...label, x: label.x + (roof.slope ? 28 : 0) }, `${roof.name}, ${rate}`),
    );
  });
}

/** The points with their names where these find room; that of the chosen one first, then in the order of the list. */
function roofPoints(drawn, focus, { x, y }) {
  const placed = drawn.map((point) => {
    const ends = [x(point.perMoved), x(point.perUsed ?? point.perMoved)];
    const name = `${point.launch.kernel} ${point.launch.number}`;
    const [moved, used] = ends;
    return { point, name, at: y(point.rate), moved, used, left: Math.min(...ends), right: Math.max(...ends) };
  });
  const taken = placed.map(({ at, left, right }) => ({ left: left - 5, right: right + 5, top: at - 5, bottom: at + 5 }));
  const ordered = [...placed].sort((one, other) => (other.point === focus) - (one.point === focus));
  const labels = new Map(ordered.map((one) => [one, roofLabel(one, taken)]));
  return placed.map((one) => roofPoint(one, one.point === focus, labels.get(one)));
}

/** Where the name of a point overlaps nothing: to the left of it, to the right, or above or below these; null if
 *  nowhere. What is found is ``taken``. */
function roofLabel({ name, at, left, right }, taken) {
  const wide = 6.6 * name.length;
  const places = [0, -11, 11].flatMap((step) => [
    { x: left - 9, y: at + 4 + step, "text-anchor": "end" },
    { x: right + 9, y: at + 4 + step, "text-anchor": "start" },
  ]);
  for (const place of places) {
    const from = place["text-anchor"] === "end" ? place.x - wide : place.x;
    const box = { left: from, right: from + wide, top: place.y - 10, bottom: place.y + 2 };
    const inside = box.left >= ROOF_BOX.left && box.right <= ROOF_BOX.width - ROOF_BOX.right;
    const beside = (other) => box.right < other.left || other.right < box.left;
    const free = taken.every((other) => beside(other) || box.bottom < other.top || other.bottom < box.top);
    if (inside && free) {
      taken.push(box);
      return place;
    }
  }
  return null;
}

function roofPoint({ point, name, at, moved, used }, chosen, label) {
  return s(
    "g",
    {
      class: `roofpoint${chosen ? " chosen" : ""}`,
      onclick: () => selection.set({ item: `launch:${point.launch.number}` }),
    },
    s("title", null, `${name}: ${number(point.rate, 3)} operations a ns, ${number(point.perMoved, 3)} for each byte`),
    s("line", { x1: moved, x2: used, y1: at, y2: at }),
    s("circle", { class: "hollow", cx: used, cy: at, r: 5 }),
    s("circle", { cx: moved, cy: at, r: 5 }),
    label ? s("text", label, name) : null,
  );
}
