// Summary: the verdict, how the report was made, the kernels, the resources against the device, the warnings.

VIEWS.push({
  id: "summary",
  title: "Summary",
  lead: "What was built, whether it fits, and what the compiler warns of.",
  make() {
    const kernels = makeTable({
      caption: "Kernels",
      columns: KERNEL_COLUMNS,
      rows: report.kernels.map((kernel) => ({ key: `kernel:${kernel.name}`, data: kernel })),
    });
    const messages = allMessages();
    const warnings = makeTable({
      caption: "Messages",
      columns: MESSAGE_COLUMNS,
      rows: messages.map((item) => ({ key: item.key, data: item.data })),
      empty: "no messages",
    });
    const element = h(
      "div",
      null,
      verdictList(),
      section("Kernels", kernels.element),
      section("Estimated resources", resourceBars()),
      section(`Messages (${messages.length})`, warnings.element),
      section("This report", infoFacts()),
    );
    return { element, select: () => kernels.select() || warnings.select() };
  },
});

const KERNEL_COLUMNS = [
  { title: "Kernel", value: (one) => one.name },
  lineColumn((one) => one.span),
  { title: "Kind", value: kernelKind },
  {
    title: "Copies",
    value: (one) => (one.copies?.count ?? 1) * one.units,
    numeric: true,
    usual: 1,
    tip: "equal kernels × compute units",
  },
  { title: "Lanes", value: (one) => one.lanes, numeric: true, usual: 1, tip: "work-items side by side (SIMD)" },
  {
    title: "Group",
    value: (one) =>
      one.required_size?.join("×") ?? (one.most_work_items ? `≤ ${one.most_work_items}` : one.ndrange ? "any" : ""),
    usual: "",
    tip: "size of a work-group",
  },
  {
    title: "Loops",
    value: (one) => [...loopsOf(one)].filter(({ loop }) => loop.ii).length,
    numeric: true,
    tip: "loops in hardware",
  },
  {
    title: "Slowest loop",
    value: slowestText,
    tip: "that with the most cycles between two iterations",
  },
  ...RESOURCES.map(([key, title]) => ({ title, value: (one) => one.resources[key], numeric: true })),
];

const MESSAGE_COLUMNS = [
  {
    title: "Number",
    value: (one) => one.code ?? "",
    show: (one) =>
      sign(
        one.severity === "error" ? "error" : one.severity === "warning" ? "warning" : "note",
        one.code ?? one.severity,
      ),
  },
  lineColumn((one) => one.span),
  {
    title: "Message",
    value: (one) => one.message,
    show: (one) => [one.message, one.hint ? h("div", { class: "quiet" }, one.hint) : null],
  },
];

function slowestLoop(kernel) {
  const running = [...loopsOf(kernel)].map(({ loop }) => loop).filter((loop) => loop.ii);
  const worse = (one, other) => one.scheduled_ii - other.scheduled_ii || one.ii - other.ii;
  return running.reduce((slowest, loop) => (slowest && worse(slowest, loop) >= 0 ? slowest : loop), null);
}

function slowestText(kernel) {
  const loop = slowestLoop(kernel);
  return loop ? `${loopName(loop)}: II ${rateText(loop)}${loop.interleaving > 1 ? ` / ${loop.interleaving}` : ""}` : "";
}

function allMessages() {
  return [...items.values()].filter((item) => item.kind === "message");
}

function verdictList() {
  const over = RESOURCES.filter(([key]) => report.device?.[key] && report.resources[key] > report.device[key]);
  const worst = report.bottlenecks[0];
  const fits = over.length
    ? sign(
        "error",
        `does not fit: ${over.map(([key, word]) => `${percent(report.resources[key] / report.device[key], 1)} of the ${word}`).join(", ")}`,
      )
    : report.device
      ? sign("good", `fits ${report.info.device || report.board}`)
      : null;
  const deadlock = report.networks.filter((one) => one.deadlock !== "impossible");
  const first = worst ? worstWords(worst) : slowWords();
  const counters = report.counters.logic
    ? sign(
        "note",
        `hardware counters (${report.info.counters}): ${number(report.counters.logic)} of ${number(report.resources.logic)} ${report.logic_cell}`,
      )
    : null;
  return h(
    "ul",
    { class: "verdicts" },
    [
      fits,
      first,
      ...deadlock.map((one) => [deadlockSign(one.deadlock), ` ${one.reason}`]),
      counters,
      warningsLine(),
      ...kernelVerdicts(),
    ]
      .filter(Boolean)
      .map((line) => h("li", null, line)),
  );
}

/** How many warnings there are, with the first ones as links. */
function warningsLine() {
  const found = allMessages().filter((item) => item.data.severity !== "note");
  if (!found.length) return null;
  const words = ({ data }) => [data.code, data.span && lineWords(data.span)].filter(Boolean).join(" in ");
  const links = found.slice(0, 8).map((item, index) => [index ? ", " : "", itemLink(item, words(item) || item.name)]);
  return [sign("warning", `${count(found.length, "warning")}: `), links, found.length > 8 ? ", ..." : ""];
}

/** A line for each kernel, the largest ones if there are many. */
function kernelVerdicts() {
  const largest = [...report.kernels].sort((one, other) => other.resources.logic - one.resources.logic).slice(0, 6);
  const listed = report.kernels.filter((kernel) => largest.includes(kernel) && kernel.verdict);
  return listed.map((kernel) => h("span", { class: "quiet" }, kernel.verdict));
}

function worstWords(worst) {
  const loss = lossWords(worst) ? h("span", { class: "quiet" }, `(${lossWords(worst)}) `) : "";
  return [sign("warning", "largest bottleneck: "), worst.sentence, " ", loss, rankedLink(worst)];
}

/** What is known where no bottleneck is listed. */
function slowWords() {
  const found = [...items.values()].filter((item) => item.kind === "loop" && item.data.ii && slow(item.data));
  if (!found.length) return sign("good", "every loop starts an iteration each cycle");
  const links = found.slice(0, 5).map((item, index) => [index ? ", " : "", itemLink(item, item.name, "loops")]);
  const many = count(found.length, "loop starts", "loops start");
  return [sign("warning", `${many} fewer than one iteration in a cycle: `), links, found.length > 5 ? ", ..." : ""];
}

/** The resources as bars of the device, with a part for each kernel; the same figures are in a table below them. */
function resourceBars() {
  const parts = resourceParts();
  const bars = RESOURCES.map(([key, word]) => {
    const whole = report.device?.[key];
    const scale = Math.max(whole ?? 0, report.resources[key], 1);
    const pieces = parts.map(({ used, tone }) => {
      const width = (100 * used[key]) / scale;
      const thin = width < THIN ? " thin" : "";
      return h("span", { class: `piece tone${tone}${thin}`, style: `width:${width.toFixed(3)}%` });
    });
    const total = whole
      ? `${number(report.resources[key])} of ${number(whole)} (${percent(report.resources[key] / whole, 1)})`
      : number(report.resources[key]);
    const limit =
      whole && whole < scale
        ? h("span", { class: "limit", style: `left:${((100 * whole) / scale).toFixed(2)}%` })
        : null;
    return h(
      "div",
      { class: "stack" },
      h("span", { class: "stackname" }, word),
      h("span", { class: "stacktrack", "aria-hidden": "true" }, pieces, limit),
      h("span", { class: "figure" }, total),
    );
  });
  const columns = [
    {
      title: "Part",
      value: (one) => one.name,
      show: (one) => [h("span", { class: `swatch tone${one.tone}`, "aria-hidden": "true" }), one.name],
    },
    ...RESOURCES.map(([key, title]) => ({ title, numeric: true, value: (one) => one.used[key] })),
  ];
  const table = makeTable({
    caption: "Resources by part",
    columns,
    rows: parts.map((part) => ({ key: part.key, data: part })),
  });
  return [h("div", { class: "stacks" }, bars), table.element];
}

/** Per cent of a bar below which a border would cover a good part of a piece. */
const THIN = 2;

/** Colours of parts: --tone0 to --tone7. */
const TONES = 8;

/** The largest kernels, the other ones together, and what they share: a colour for each. */
function resourceParts() {
  const kernels = report.kernels.map((kernel) => ({
    name: `kernel ${kernelTitle(kernel)}`,
    used: kernel.resources,
    key: `kernel:${kernel.name}`,
  }));
  kernels.sort((one, other) => other.used.logic - one.used.logic);
  const listed = (report.area?.children ?? [])
    .filter((node) => node.role !== "kernel")
    .map((node) => ({ name: node.name, used: node.resources, key: areaKeys.get(node) }));
  const together = { name: "shared: interconnect, ports, control", key: null, used: report.shared };
  const shared = listed.length && listed.length <= 4 ? listed : [together];
  const room = TONES - shared.length;
  const few = kernels.slice(0, kernels.length > room ? room - 1 : room);
  const rest = kernels.slice(few.length);
  const small = { name: `${rest.length} smaller kernels`, key: null, used: sumResources(rest.map((one) => one.used)) };
  return [...few, ...(rest.length ? [small] : []), ...shared].map((part, tone) => ({ ...part, tone }));
}

function sumResources(list) {
  return Object.fromEntries(RESOURCES.map(([key]) => [key, list.reduce((sum, one) => sum + one[key], 0)]));
}

function infoFacts() {
  const { info } = report;
  return facts([
    ["source", report.source],
    ["board", `${report.board}${info.device ? `, ${info.device}` : ""}`],
    ["kernel clock", `${number(report.clock_mhz, 1)} MHz`],
    ["compiler", info.version ? `sluice ${info.version}` : ""],
    ["command", info.command ? h("code", null, info.command) : ""],
    ["options", info.options.map(([name, value]) => `${name} ${value}`).join(", ")],
    ["date", info.date],
    ["hardware counters", info.counters],
    [
      "digests",
      report.sources.map((one) =>
        h("div", null, `${one.file} `, h("code", { class: "quiet", title: one.sha256 }, one.sha256.slice(0, 12))),
      ),
    ],
  ]);
}
