// The report's data, and an index of all that can be selected in it: kernels, loops, accesses, memories, ...
// The fields are those of docs/report.schema.json.

/** The report: that of the program which the address names, where the page has several. */
const reportElement =
  document.getElementById(`report-${new URLSearchParams(location.hash.slice(1)).get("program")}`) ??
  document.querySelector('script[id^="report"]');
const packed = await opened(JSON.parse(reportElement.textContent));
const report = unpack(packed.data);
const colourData = JSON.parse(document.getElementById("colours").textContent);

/** Data as it was before hls/report/packing.py deflated it; other data as it is. */
async function opened(value) {
  if (!("deflate" in value)) return value;
  const bytes = Uint8Array.from(atob(value.deflate), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** Data as it was before hls/report/packing.py: records with equal keys are rows there, and equal ones are shared. */
function unpack(value, shared = packed.shared) {
  const inner = (item) => unpack(item, shared);
  if (Array.isArray(value)) return value.map(inner);
  if (value === null || typeof value !== "object") return value;
  if ("$same" in value) return shared[value.$same];
  if ("$keys" in value) {
    return value.$rows.map((row) => Object.fromEntries(row.map((item, index) => [value.$keys[index], inner(item)])));
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
}

/** Items by key. An item is {key, kind, name, kernel, spans, data}: ``spans`` are its places in the source, the first
 * of them where it is written, ``kernel`` is the name of its kernel or "". */
const items = new Map();
/** Items by "file:line". */
const byLine = new Map();
/** Keys of the parts of the area tree. */
const areaKeys = new Map();
/** All "file:line" that the report has a text for. */
const knownLines = new Set();

/** What fills the index when the page starts; a profile adds its own. */
const INDEXERS = [indexReport];

const KIND_WORDS = {
  kernel: "kernel",
  loop: "loop",
  access: "global memory access",
  local: "local memory access",
  memory: "memory",
  port: "port",
  private: "private array",
  variable: "carried variable",
  channel: "channel",
  network: "channel network",
  area: "part of the design",
  op: "operation",
  message: "message",
  global: "global memory",
};

function placeOf(span) {
  return `${span.file}:${span.line}`;
}

/** "line 23", with the file's name where that is not the compiled one. */
function lineWords(span) {
  return span.file !== report.source ? `${span.file.split("/").at(-1)}:${span.line}` : `line ${span.line}`;
}

function addItem(kind, id, name, kernel, spans, data) {
  const item = { key: `${kind}:${id}`, kind, name, kernel, spans: spans.filter(Boolean), data };
  items.set(item.key, item);
  for (const place of new Set(item.spans.map(placeOf))) {
    if (!byLine.has(place)) byLine.set(place, []);
    byLine.get(place).push(item);
  }
  return item;
}

function itemOf(kind, id) {
  return items.get(`${kind}:${id}`) ?? null;
}

/** The item that an id of the data names: a loop, or an access to memory outside or inside of the kernels. */
function namedItem(id) {
  return itemOf("loop", id) ?? itemOf("access", id) ?? itemOf("local", id);
}

/** Each loop of a kernel with those inside it, outer ones first, with their depth. */
function* loopsOf(kernel) {
  function* walk(loops, depth, around) {
    for (const loop of loops) {
      yield { loop, depth, around };
      yield* walk(loop.children, depth + 1, loop);
    }
  }
  yield* walk(kernel.loops, 0, null);
}

function loopName(loop) {
  if (loop.work_items) return "work-items";
  return loop.kind === "for" && loop.label ? `loop ${loop.label}` : `${loop.label || loop.kind} loop`;
}

function accessName(access) {
  const verb = { load: "load of", store: "store to", atomic: "atomic on" }[access.kind];
  return `${verb} ${access.expression || access.buffer || access.memory}`;
}

/** The scope of kernels that a reader chose: the kernel of what is selected, else the first one. */
function kernelInFocus() {
  const name = items.get(selection.item)?.kernel;
  return report.kernels.find((kernel) => kernel.name === name) ?? null;
}

function indexReport() {
  for (const { file, text } of report.sources)
    text.split("\n").forEach((_, index) => knownLines.add(`${file}:${index + 1}`));
  report.kernels.forEach(indexKernel);
  report.channels.forEach((one) =>
    addItem("channel", one.name, one.name, "", [one.span, one.write_span, one.read_span], one),
  );
  report.networks.forEach((one, index) =>
    addItem("network", index, one.kernels.join(", "), "", [one.span, ...one.circle.map((stop) => stop.span)], one),
  );
  report.messages.forEach((one, index) => addItem("message", index, one.message, "", [one.span], one));
  if (report.area) indexArea(report.area, report.area.name, "");
}

function indexKernel(kernel) {
  addItem("kernel", kernel.name, kernel.name, kernel.name, [kernel.span], kernel);
  for (const { loop } of loopsOf(kernel)) {
    const cause = loop.bottleneck;
    const shares = cause ? cause.shares.map((share) => share.span) : [];
    addItem("loop", loop.id, loopName(loop), kernel.name, [loop.span, cause?.span, cause?.other, ...shares], loop);
  }
  for (const one of kernel.accesses) addItem("access", one.id, accessName(one), kernel.name, [one.span], one);
  for (const one of kernel.local_accesses) addItem("local", one.id, accessName(one), kernel.name, [one.span], one);
  for (const one of kernel.memories) indexMemory(kernel, one);
  for (const one of kernel.privates)
    addItem("private", `${kernel.name}/${one.name}`, one.name, kernel.name, [one.span], one);
  kernel.variables.forEach((one, index) =>
    addItem("variable", `${kernel.name}/${one.name}#${index}`, one.name, kernel.name, [one.span], one),
  );
  kernel.messages.forEach((one, index) =>
    addItem("message", `${kernel.name}/${index}`, one.message, kernel.name, [one.span], one),
  );
  kernel.schedule.forEach((region, index) => {
    for (const op of region.operations)
      addItem("op", `${kernel.name}/${index}/${op.id}`, op.words, kernel.name, [op.span], { op, region });
  });
}

function indexMemory(kernel, memory) {
  const id = `${kernel.name}/${memory.name}`;
  const accesses = kernel.local_accesses.filter((one) => one.memory === memory.name);
  addItem("memory", id, memory.name, kernel.name, [memory.span, ...accesses.map((one) => one.span)], memory);
  memory.ports.forEach((port, index) => {
    const spans = port.accesses.map((access) => itemOf("local", access)?.spans[0]);
    addItem("port", `${id}/${index}`, `port ${port.kind} ${port.number} of bank ${port.bank}`, kernel.name, spans, {
      port,
      memory,
    });
  });
}

function indexArea(node, path, kernel) {
  const of = node.role === "kernel" ? node.name : kernel;
  const known = report.kernels.some((one) => one.name === of) ? of : "";
  areaKeys.set(node, addItem("area", path, node.name, known, [node.span], node).key);
  node.children.forEach((child, index) => indexArea(child, `${path}/${child.name}#${index}`, of));
}

/** What one loses in ``cycles`` of a launch, or in each iteration where trip counts are known only at run time. */
function lossWords(one) {
  if (one.cycles !== null && one.cycles !== undefined) return `${count(Math.round(one.cycles), "cycle")} a launch`;
  return one.lost ? `${number(one.lost, 1)} ${one.lost === 1 ? "cycle" : "cycles"} an iteration` : "";
}

/** The kinds of resources with their names. */
const RESOURCES = [
  ["logic", report.logic_cell],
  ["registers", "registers"],
  ["rams", "block RAMs"],
  ["dsps", "DSP blocks"],
];
