// System: kernels, channels and global memories; inside an opened kernel its pipeline with loops and access units.

VIEWS.push({
  id: "system",
  title: "System",
  lead: "Kernels, the channels between them, and global memories. Double-click a kernel, or press o on it, to see its pipeline. ▲ marks what costs cycles.",
  make() {
    const opened = new Set(report.kernels.length === 1 ? [report.kernels[0].name] : []);
    const wanted = { control: true, memory: true, channel: true };
    const boxes = [
      ["control", "Control"],
      ["memory", "Memory"],
      ["channel", "Channels"],
    ].map(([tone, title]) => {
      const box = h("input", {
        type: "checkbox",
        checked: true,
        onchange: () => ((wanted[tone] = box.checked), build()),
      });
      return h("label", { class: "toggle" }, box, ` ${title}`);
    });
    const chooser = h("select", {
      "aria-label": "Open or close a kernel",
      onchange: () => (flip(chooser.value), (chooser.value = "")),
    });
    const holder = h("div", { class: "tallgraph" });
    const element = h("div", { class: "tall" }, h("div", { class: "tools" }, boxes, chooser), holder);
    let graph;
    build();
    return { element, select: () => graph.select() };

    function flip(name) {
      if (!opened.delete(name)) opened.add(name);
      build();
    }

    function build() {
      const kernels = report.kernels.map(({ name }) =>
        h("option", { value: name }, `${opened.has(name) ? "close" : "open"} ${name}`),
      );
      chooser.replaceChildren(h("option", { value: "" }, "open kernel …"), ...kernels);
      const parts = systemGraph(opened);
      parts.edges = parts.edges.filter((edge) => wanted[edge.tone]);
      graph = makeGraph({ label: "System", ...parts, onOpen: (node) => node.kernel && flip(node.kernel) });
      holder.replaceChildren(graph.element, graphTable("Connections of the system", parts.nodes, parts.edges));
      graph.ready.catch((error) =>
        holder.prepend(h("p", null, sign("error", `the graph could not be laid out: ${error.message}`))),
      );
    }
  },
});

function systemGraph(opened) {
  const graph = { nodes: [], edges: [], groups: [] };
  for (const kernel of report.kernels) {
    if (opened.has(kernel.name) && kernel.schedule.length) addPipeline(graph, kernel);
    else addClosedKernel(graph, kernel);
  }
  addChannels(graph, opened);
  return graph;
}

function addClosedKernel(graph, kernel) {
  const loops = [...loopsOf(kernel)].map(({ loop }) => loop);
  const bad = loops.filter(slow);
  const lines = [kernelKind(kernel), slowestText(kernel)].filter(Boolean);
  const alert = bad.length ? `${count(bad.length, "loop")} with less than an iteration a cycle` : null;
  graph.nodes.push({
    id: `kernel:${kernel.name}`,
    title: kernelTitle(kernel),
    lines,
    tone: "kernel",
    key: `kernel:${kernel.name}`,
    alert,
    kernel: kernel.name,
  });
  const uses = new Map();
  for (const access of kernel.accesses) {
    const name = globalMemory(graph, access);
    const known = uses.get(name) ?? { load: 0, store: 0, atomic: 0, stalls: false };
    known[access.kind] += access.count;
    known.stalls ||=
      access.kind !== "store" && access.may_stall && access.efficiency !== null && access.efficiency < 0.5;
    uses.set(name, known);
  }
  for (const [memory, use] of uses) {
    const node = `kernel:${kernel.name}`;
    if (use.load)
      graph.edges.push({ from: memory, to: node, tone: "memory", label: count(use.load, "load"), alert: use.stalls });
    if (use.store) graph.edges.push({ from: node, to: memory, tone: "memory", label: count(use.store, "store") });
    if (use.atomic) graph.edges.push({ from: node, to: memory, tone: "memory", label: count(use.atomic, "atomic") });
  }
}

function kernelTitle(kernel) {
  const many = (kernel.copies?.count ?? 1) * kernel.units;
  return many > 1 ? `${kernel.name} × ${many}` : kernel.name;
}

/** The node of the global memory that an access uses. */
function globalMemory(graph, access) {
  const title = access.memory ?? "global memory";
  const id = `global:${title}`;
  if (!graph.nodes.some((node) => node.id === id))
    graph.nodes.push({ id, title, lines: [], tone: "memory", key: null });
  return id;
}

/** The pipeline of a kernel: a group for each region, its levels in a row, what waits between them, and its loops. */
function addPipeline(graph, kernel) {
  const top = `open:${kernel.name}`;
  graph.groups.push({ id: top, title: `kernel ${kernelTitle(kernel)}`, group: undefined });
  const regions = new Map(kernel.schedule.map((region) => [region.loop, region]));
  addRegion(regions.get("") ?? kernel.schedule[0], top);

  function levelNode(region, index) {
    return `${kernel.name}/${region.loop}/level${index}`;
  }

  function addRegion(region, group) {
    const loop = itemOf("loop", region.loop)?.data;
    const rows = [...region.levels].sort((one, other) => one.index - other.index);
    rows.forEach((level, position) => {
      const ops = region.operations.filter((op) => op.level === level.index);
      const id = levelNode(region, level.index);
      graph.nodes.push({
        id,
        title: position ? `level ${level.index}` : loop ? `${loopName(loop)}: level 0` : "level 0",
        lines: [`${count(level.depth, "cycle")}, ${count(ops.length, "operation")}`],
        tone: "level",
        group,
        key: loop ? `loop:${loop.id}` : `kernel:${kernel.name}`,
        alert: !position && loop && slow(loop) ? `${loopName(loop)}: II ${rateText(loop)}` : null,
        kernel: kernel.name,
      });
      const before = rows[position - 1];
      if (before && !before.waits.length) link(levelNode(region, before.index), id, "control");
    });
    rows.forEach((level, position) =>
      level.waits.forEach((wait) => addWait(region, level, rows[position + 1], wait, group)),
    );
    if (!loop) return;
    const [first, last] = [levelNode(region, rows[0].index), levelNode(region, rows.at(-1).index)];
    graph.edges.push({
      from: last,
      to: first,
      tone: "control",
      label: `II ${rateText(loop)}`,
      alert: slow(loop),
      back: true,
    });
  }

  /** An operation of variable latency between a level and the next: an access unit, a channel call, or an inner loop. */
  function addWait(region, level, next, wait, group) {
    const op = region.operations.find((one) => one.id === wait);
    const from = levelNode(region, level.index);
    const to = next ? levelNode(region, next.index) : null;
    const inner = op?.loop ? regions.get(op.loop) : null;
    if (inner) {
      const id = `${kernel.name}/${op.loop}`;
      graph.groups.push({ id, title: loopName(itemOf("loop", op.loop).data), group });
      addRegion(inner, id);
      link(from, levelNode(inner, inner.levels[0].index), "control");
      if (to) link(levelNode(inner, inner.levels.at(-1).index), to, "control");
    } else if (op) addUnit(region, op, from, to, group);
  }

  function addUnit(region, op, from, to, group) {
    const access = itemOf("access", op.access)?.data;
    const id = `${kernel.name}/${region.loop}/op${op.id}`;
    const index = kernel.schedule.indexOf(region);
    const poor = access && access.efficiency !== null && access.efficiency < 0.5;
    graph.nodes.push({
      id,
      title: access ? accessName(access) : op.words,
      lines: [access ? access.lsu : op.part].filter(Boolean),
      tone: "access",
      group,
      key: access ? `access:${access.id}` : `op:${kernel.name}/${index}/${op.id}`,
      alert: poor ? "uses less than half of each word" : null,
    });
    link(from, id, "control");
    if (to) link(id, to, "control");
    if (!access) return;
    const memory = globalMemory(graph, access);
    const [source, target] = access.kind === "load" ? [memory, id] : [id, memory];
    // a load goes against the direction, so that its place is that in the pipeline
    graph.edges.push({ from: source, to: target, tone: "memory", alert: poor, back: access.kind === "load" });
  }

  function link(from, to, tone) {
    graph.edges.push({ from, to, tone });
  }
}

/** Channels between two kernels are one arrow; kernels of the environment are nodes of their own. */
function addChannels(graph, opened) {
  const between = new Map();
  const end = (name) => {
    const entry = report.kernels.find((kernel) => kernel.name === name || kernel.copies?.names.includes(name));
    if (!entry) {
      const id = `outside:${name}`;
      if (!graph.nodes.some((node) => node.id === id))
        graph.nodes.push({ id, title: name || "outside", tone: "kernel", key: null });
      return id;
    }
    return opened.has(entry.name) && entry.schedule.length ? `${entry.name}//level0` : `kernel:${entry.name}`;
  };
  for (const channel of report.channels) {
    const pair = `${end(channel.writer)}\n${end(channel.reader)}`;
    if (!between.has(pair)) between.set(pair, []);
    between.get(pair).push(channel);
  }
  for (const [pair, channels] of between) {
    const [from, to] = pair.split("\n");
    graph.edges.push({ from, to, tone: "channel", label: channelsWords(channels), key: `channel:${channels[0].name}` });
  }
}

/** Channels between the same kernels: their names, how many there are, and width and depth if these are the same. */
function channelsWords(channels) {
  const [first] = channels;
  const total = channels.reduce((sum, one) => sum + one.count, 0);
  const stems = new Set(channels.map((one) => one.name.replace(/\[.*/, "")));
  const words = total > 1 ? [`${total} channels`] : [];
  if (channels.every((one) => one.depth === first.depth && one.bits === first.bits))
    words.push(`${first.bits} bits`, first.depth ? `${first.depth} deep` : "wires");
  return `${channels.length > 1 ? shortList([...stems]) : first.name}: ${words.join(", ")}`;
}
