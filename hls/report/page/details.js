// The pane with details: everything about what is selected, or all that a line of the source became.

/** Kinds of items whose names are those of the source, which are written as they are there. */
const SOURCE_NAMES = new Set(["kernel", "memory", "private", "variable", "channel", "network", "area", "global"]);

function titleOf(item) {
  return SOURCE_NAMES.has(item.kind) ? item.name : capital(item.name);
}

const DETAILS = {}; // kind of item -> function of (data, item) that makes its parts

function showDetails() {
  const root = document.getElementById("details");
  const item = items.get(selection.item);
  document.body.classList.toggle("idle", !item && !selection.line);
  if (item)
    root.replaceChildren(detailHead(item), ...[DETAILS[item.kind](item.data, item)].flat(Infinity).filter(Boolean));
  else if (selection.line) root.replaceChildren(...detailsOfLine(selection.line));
  else
    root.replaceChildren(
      h("h2", null, "Details"),
      h(
        "p",
        { class: "hint" },
        "Select a row, a node, or a line of the source: its facts are listed here. Press ? for keys and words.",
      ),
    );
  root.scrollTop = 0;
}

function detailHead(item) {
  const word = KIND_WORDS[item.kind];
  const place = item.spans[0] ? h("span", { class: "place" }, spanLink(item.spans[0])) : null;
  const kernel =
    item.kernel && item.kind !== "kernel"
      ? h("span", { class: "place" }, "kernel ", itemLink(itemOf("kernel", item.kernel), item.kernel))
      : null;
  return h("h2", null, titleOf(item), h("span", { class: "kind" }, word), place, kernel);
}

/** All that a line became, by kind. */
function detailsOfLine(place) {
  const found = byLine.get(place) ?? [];
  const [span] = spansOfLine(place);
  const area = report.lines.filter((one) => one.span && placeOf(one.span) === place);
  const heading = h(
    "h2",
    null,
    capital(lineWords(span)),
    h("span", { class: "kind" }, found.length ? "this line became" : "no hardware of its own"),
  );
  const parts = Object.keys(KIND_WORDS).map((kind) => {
    const some = found.filter((item) => item.kind === kind && kind !== "area");
    if (!some.length) return null;
    const most = 12;
    const links = some
      .slice(0, most)
      .map((item) =>
        h("li", null, itemLink(item, titleOf(item)), " ", h("span", { class: "quiet" }, itemHint(item))),
      );
    const more = some.length > most ? h("li", { class: "quiet" }, `and ${some.length - most} more`) : null;
    return section(
      `${capital(KIND_WORDS[kind])}${some.length > 1 ? ` (${some.length})` : ""}`,
      h("ul", { class: "links" }, links, more),
    );
  });
  const total = area.length
    ? section(
        "Area of this line",
        facts(RESOURCES.map(([key, word]) => [word, number(area.reduce((sum, one) => sum + one.resources[key], 0))])),
      )
    : null;
  return [heading, h("div", { class: "columns" }, total, ...parts.filter(Boolean))];
}

/** A few words that tell an item from others of its name. */
function itemHint({ kind, data, kernel }) {
  if (kind === "loop") return data.ii ? `II ${data.ii}, kernel ${kernel}` : `${data.verdict}, kernel ${kernel}`;
  if (kind === "access") return `${data.lsu}, kernel ${kernel}`;
  if (kind === "op") return `level ${data.op.level}, stage ${data.op.stage}`;
  if (kind === "channel") return `${data.writer} to ${data.reader}`;
  return kernel ? `kernel ${kernel}` : "";
}

function resourceFacts(used) {
  return RESOURCES.map(([key, word]) => {
    const share = report.device?.[key] ? ` (${percent(used[key] / report.device[key], 1)} of the device)` : "";
    return [word, `${number(used[key])}${share}`];
  });
}

function linksTo(ids) {
  return ids.map((id, index) => [index ? ", " : "", namedItem(id) ? itemLink(namedItem(id)) : id]);
}

function predictedLaunches(one) {
  const around = one.most > one.least ? ` (${number(Math.round(one.least))} to ${number(Math.round(one.most))})` : "";
  return `${number(Math.round(one.cycles))} cycles${around} in ${count(one.launches, "launch", "launches")}`;
}

DETAILS.kernel = (kernel) => [
  kernel.verdict ? h("p", { class: "verdict" }, kernel.verdict) : null,
  h(
    "div",
    { class: "columns" },
    section(
      "Properties",
      facts([
        ["kind", `${kernelKind(kernel)}${kernel.reason ? `: ${kernel.reason}` : ""}`],
        ["copies", kernel.copies ? `${kernel.copies.count} equal kernels` : ""],
        ["they differ in", kernel.copies?.differs.join(", ")],
        ["compute units", kernel.units > 1 ? number(kernel.units) : ""],
        ["lanes (SIMD)", kernel.lanes > 1 ? number(kernel.lanes) : ""],
        ["copied buffers", kernel.buffer_copies.filter((one) => one.most_bytes).map((one) => one.name).join(", ")],
        ["required group", kernel.required_size?.join(" × ")],
        ["largest group", kernel.most_work_items ? count(kernel.most_work_items, "work-item") : ""],
        ["most dimensions", number(kernel.max_dims)],
        ["predicted", kernel.predicted ? predictedLaunches(kernel.predicted) : ""],
        ["assumed", kernel.predicted?.assumed.join("; ")],
        ["attributes", kernel.attributes.length ? h("code", null, kernel.attributes.join(" ")) : ""],
      ]),
    ),
    section(
      "Resources",
      facts([
        ...resourceFacts(kernel.resources),
        ["of these, counters", kernel.counters.logic ? `${number(kernel.counters.logic)} ${report.logic_cell}` : ""],
      ]),
    ),
    kernel.ways.length
      ? section(
          "Latency between channels",
          facts(kernel.ways.map((way) => [`${way.source} to ${way.target}`, count(way.cycles, "cycle")])),
        )
      : null,
    kernel.copies ? section("Names", h("p", { class: "names" }, kernel.copies.names.join(" "))) : null,
  ),
];

function kernelKind(kernel) {
  return `${kernel.autorun ? "autorun, " : ""}${kernel.ndrange ? "NDRange" : "single work-item"}`;
}

DETAILS.access = (one) => [
  h("p", { class: "verdict" }, `${capital(one.lsu)}: ${one.reason}.`),
  h(
    "div",
    { class: "columns" },
    section(
      "Access",
      facts([
        ["text", one.expression ? h("code", null, one.expression) : ""],
        ["buffer", one.buffer],
        ["memory", one.memory],
        ["bytes", number(one.bytes)],
        ["units", one.count > 1 ? number(one.count) : ""],
        ["loop", one.loop && namedItem(one.loop) ? itemLink(namedItem(one.loop)) : ""],
        ["may stall", one.may_stall ? sign("warning", "yes") : sign("good", "no")],
      ]),
    ),
    section(
      "Pattern",
      facts([
        ["addresses", one.pattern],
        [
          "used of a word",
          one.used === null ? "depends on data" : `${number(one.used)} of ${count(one.word_bytes, "byte")}`,
        ],
        [
          "expected efficiency",
          one.efficiency === null
            ? "depends on data"
            : bar(one.efficiency, percent(one.efficiency), one.efficiency < 0.5 ? "warning" : "good"),
        ],
        ["cache", one.cache_bytes ? count(one.cache_bytes, "byte") : "none"],
        ["flushed", one.flush],
      ]),
    ),
    one.waits_for.length ? section("Waits for", h("ul", { class: "links" }, one.waits_for.map(waitWords))) : null,
  ),
];

function waitWords(wait) {
  const target = namedItem(wait.access);
  const when = wait.only_if_overlap
    ? "in launches in which the buffers overlap"
    : "the same address is not excluded";
  return h("li", null, target ? itemLink(target) : wait.access, " ", sign("note", when));
}

DETAILS.local = (one, item) =>
  facts([
    ["text", one.expression ? h("code", null, one.expression) : ""],
    ["memory", memoryLink(item.kernel, one.memory)],
    ["loop", one.loop && namedItem(one.loop) ? itemLink(namedItem(one.loop)) : ""],
    ["bytes", number(one.bytes)],
    ["latency", count(one.latency, "cycle")],
    ["banks it may use", one.banks.length ? one.banks.join(", ") : ""],
    ["forwarding", one.forwarding ? "sees stores that are still under way" : ""],
    ["stalls", "never"],
  ]);

function memoryLink(kernel, name) {
  const memory = itemOf("memory", `${kernel}/${name}`);
  return memory ? itemLink(memory, name) : name;
}

DETAILS.private = (one) =>
  facts([
    ["bits", number(one.bits)],
    ["built as", one.place],
  ]);

DETAILS.variable = (one) =>
  facts([
    ["bits", number(one.bits)],
    ["carried by", namedItem(one.loop) ? itemLink(namedItem(one.loop)) : one.loop],
    ["registers", one.depth > 1 ? `${number(one.depth)}, one for each slot` : "one"],
    ["register bits", number(one.bits * one.depth)],
  ]);

DETAILS.channel = (one) => [
  one.reason ? h("p", { class: "verdict" }, `${capital(one.reason)}.`) : null,
  facts([
    ["width", count(one.bits, "bit")],
    ["depth", one.depth ? `${number(one.depth)} in ${one.storage}` : "wires"],
    ["requested depth", number(one.requested)],
    ["channels of the array", one.count > 1 ? number(one.count) : ""],
    ["written by", [kernelLink(one.writer), " ", one.write_span ? spanLink(one.write_span) : ""]],
    ["read by", [kernelLink(one.reader), " ", one.read_span ? spanLink(one.read_span) : ""]],
  ]),
];

/** A link to the entry of a kernel, which may stand for several copies. */
function kernelLink(name) {
  const entry = report.kernels.find((kernel) => kernel.name === name || kernel.copies?.names.includes(name));
  return entry ? itemLink(itemOf("kernel", entry.name), name) : name;
}

DETAILS.network = (one) => [
  h("p", { class: "verdict" }, deadlockSign(one.deadlock), ` ${capital(one.reason)}.`),
  facts([
    ["kernels", one.kernels.map((name, index) => [index ? ", " : "", kernelLink(name)])],
    ["channels", one.channels.map((name, index) => [index ? ", " : "", itemLink(itemOf("channel", name), name)])],
    ["use", one.depths.map((depth) => `depth ${depth.depth} for ${depth.channel}`).join(", ")],
  ]),
];

DETAILS.area = (node) => [
  node.id && namedItem(node.id) ? h("p", null, "This is ", itemLink(namedItem(node.id)), ".") : null,
  facts([["role", node.role], ["copies", node.count > 1 ? number(node.count) : ""], ...resourceFacts(node.resources)]),
];

DETAILS.message = (one) => [
  h(
    "p",
    { class: "verdict" },
    sign(one.severity === "error" ? "error" : "warning", one.code ? `${one.severity} ${one.code}` : one.severity),
  ),
  one.hint ? h("p", null, capital(one.hint), ".") : null,
];

DETAILS.op = ({ op, region }, item) => {
  const word = (id) => region.operations.find((other) => other.id === id);
  const link = (id, edge) => {
    const target = items.get(item.key.replace(/[^/]*$/, id));
    return h(
      "li",
      null,
      itemLink(target, titleOf(target)),
      " ",
      h("span", { class: "quiet" }, edgeWords(edge, word(id))),
    );
  };
  const inputs = region.edges.filter((edge) => edge.target === op.id);
  const outputs = region.edges.filter((edge) => edge.source === op.id);
  const linked = op.loop || op.access;
  return h(
    "div",
    { class: "columns" },
    section(
      "Schedule",
      facts([
        ["cycle", number(cycleOf(region, op))],
        ["level, stage", `${op.level}, ${op.stage}`],
        [
          "latency",
          op.variable
            ? `${number(op.latency)} cycles expected, may take longer`
            : op.latency
              ? count(op.latency, "cycle")
              : "shares a cycle",
        ],
        ["part", op.part],
        ["it is", linked && namedItem(linked) ? itemLink(namedItem(linked)) : ""],
        ["on the critical recurrence", region.critical.includes(op.id) ? sign("warning", "yes") : ""],
      ]),
    ),
    inputs.length
      ? section(
          "Needs",
          h(
            "ul",
            { class: "links" },
            inputs.map((edge) => link(edge.source, edge)),
          ),
        )
      : null,
    outputs.length
      ? section(
          "Needed by",
          h(
            "ul",
            { class: "links" },
            outputs.map((edge) => link(edge.target, edge)),
          ),
        )
      : null,
  );
};

function edgeWords(edge) {
  if (edge.kind === "carried" || edge.distance) return `carried, distance ${edge.distance}`;
  return edge.kind === "token" ? "order of accesses" : "";
}

/** The cycle of an operation, counted from the issue of the iteration, if nothing stalls. */
function cycleOf(region, op) {
  return (region.levels.find((level) => level.index === op.level)?.start ?? 0) + op.stage;
}
