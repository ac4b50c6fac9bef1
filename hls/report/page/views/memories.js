// Memories inside the kernels: a list, and for one of them banks, ports, and the accesses that share them.

VIEWS.push({
  id: "memories",
  title: "Memories",
  lead: "Local and private arrays in RAM: size, banks, copies, ports. Select one to see which access uses which port.",
  make() {
    const rows = report.kernels.flatMap((kernel) =>
      kernel.memories.map((memory) => ({ key: `memory:${kernel.name}/${memory.name}`, data: { memory, kernel } })),
    );
    const list = makeTable({
      caption: "Memories",
      columns: MEMORY_COLUMNS,
      rows,
      empty: "no kernel has an array in RAM",
    });
    const others = report.kernels.flatMap((kernel) =>
      kernel.privates.map((one) => ({ key: `private:${kernel.name}/${one.name}`, data: { one, kernel } })),
    );
    const scalars = report.kernels.flatMap((kernel) =>
      kernel.variables.map((one, index) => ({
        key: `variable:${kernel.name}/${one.name}#${index}`,
        data: { one, kernel },
      })),
    );
    const privates = makeTable({
      caption: "Private arrays and tables",
      columns: PRIVATE_COLUMNS,
      rows: others,
      empty: "none",
    });
    const variables = makeTable({
      caption: "Carried variables",
      columns: VARIABLE_COLUMNS,
      rows: scalars,
      empty: "none",
    });
    const holder = h("div");
    const element = h(
      "div",
      null,
      list.element,
      holder,
      section("Private arrays and constant tables", privates.element),
      section("Variables that loops carry", variables.element),
    );
    let shown = null;
    let graph = null;
    const select = () => {
      const item = chosenMemory() ?? (rows[0] ? items.get(rows[0].key) : null);
      if (item && item !== shown) {
        shown = item;
        holder.replaceChildren(memoryPicture(item, (made) => (graph = made)));
      }
      graph?.select();
      list.select() || privates.select() || variables.select();
    };
    return { element, select };
  },
});

const MEMORY_COLUMNS = [
  { title: "Memory", value: ({ memory }) => memory.name },
  { title: "Kernel", value: ({ kernel }) => kernel.name },
  lineColumn(({ memory }) => memory.span),
  {
    title: "Rating",
    class: "breaks",
    value: ({ memory }) => memory.rating,
    show: ({ memory }) =>
      sign({ optimal: "good", "good but replicated": "note" }[memory.rating] ?? "warning", memory.rating),
  },
  { title: "Bytes", value: ({ memory }) => memory.requested, numeric: true, tip: "requested by the source" },
  { title: "Built", value: ({ memory }) => memory.implemented, numeric: true, tip: "bytes implemented, with all copies" },
  { title: "Banks", value: ({ memory }) => memory.banks, numeric: true },
  { title: "Copies", value: ({ memory }) => memory.copies, numeric: true, tip: "of the bank with the most" },
  {
    title: "Private",
    value: ({ memory }) => memory.groups,
    numeric: true,
    usual: 1,
    tip: "parts for groups, work-items or iterations in flight",
  },
  {
    title: "Reads / writes",
    value: ({ memory }) => `${number(memory.reads)} / ${number(memory.writes)}`,
    numeric: true,
    tip: "accesses in the source, after unrolling",
  },
  { title: "RAMs", value: ({ memory }) => memory.blocks, numeric: true },
  {
    title: "Stall-free",
    value: ({ memory }) => (memory.stall_free ? "yes" : "no"),
    show: ({ memory }) => (memory.stall_free ? sign("good", "yes") : sign("warning", "no")),
    tip: "no: accesses of an iteration share a port one after the other",
  },
];

const PRIVATE_COLUMNS = [
  { title: "Name", value: ({ one }) => one.name },
  { title: "Kernel", value: ({ kernel }) => kernel.name },
  lineColumn(({ one }) => one.span),
  { title: "Bits", value: ({ one }) => one.bits, numeric: true },
  { title: "Built as", value: ({ one }) => one.place },
];

const VARIABLE_COLUMNS = [
  { title: "Name", value: ({ one }) => one.name },
  { title: "Kernel", value: ({ kernel }) => kernel.name },
  lineColumn(({ one }) => one.span),
  {
    title: "Loop",
    value: ({ one }) => one.loop.split("/").slice(1).join(" / "),
    show: ({ one }) => (namedItem(one.loop) ? itemLink(namedItem(one.loop)) : one.loop),
  },
  { title: "Bits", value: ({ one }) => one.bits, numeric: true },
  { title: "Registers", value: ({ one }) => one.depth, numeric: true, tip: "one for each slot of the loop" },
  { title: "Register bits", value: ({ one }) => one.bits * one.depth, numeric: true },
];

/** The memory that is selected, or that of the port or access that is. */
function chosenMemory() {
  const item = items.get(selection.item);
  if (item?.kind === "memory") return item;
  if (item?.kind === "port") return itemOf("memory", item.key.slice("port:".length).replace(/\/[^/]*$/, ""));
  return item?.kind === "local" ? itemOf("memory", `${item.kernel}/${item.data.memory}`) : null;
}

/** The graph of one memory with a box to tick for each bank; ``made`` is given each graph that is made. */
function memoryPicture(item, made) {
  const memory = item.data;
  const banks = [...Array(memory.banks).keys()];
  const alike = equalBanks(memory);
  const ticked = new Set(firstBanks(memory, alike));
  const holder = h("div");
  const boxes = banks.map((bank) => {
    const box = h("input", {
      type: "checkbox",
      checked: ticked.has(bank),
      onchange: () => (box.checked ? ticked.add(bank) : ticked.delete(bank), build()),
    });
    return h("label", { class: "toggle" }, box, ` ${bank}`);
  });
  build();
  return section(
    `Ports of ${memory.name}`,
    banks.length > 1 ? h("fieldset", { class: "banks" }, h("legend", null, "Banks shown"), boxes, equalWords(alike)) : null,
    holder,
  );

  function build() {
    const parts = memoryGraph(item, ticked);
    const graph = makeGraph({ label: `Banks and ports of ${memory.name}`, ...parts });
    made(graph);
    holder.replaceChildren(graph.element, graphTable(`Ports of ${memory.name}`, parts.nodes, parts.edges));
  }
}

/** The banks of a memory in lists of those whose ports and accesses are the same. */
function equalBanks(memory) {
  const lists = new Map();
  for (let bank = 0; bank < memory.banks; bank++) {
    const ports = memory.ports.filter((port) => port.bank === bank);
    const text = JSON.stringify(ports.map(({ kind, number, use, accesses }) => [kind, number, use, accesses]));
    lists.set(text, [...(lists.get(text) ?? []), bank]);
  }
  return [...lists.values()];
}

/** Most ports in a graph that can be read without zooming. */
const PORTS_AT_FIRST = 24;

/** The first of each list of equal banks, while their graph is small; one bank in any case. */
function firstBanks(memory, alike) {
  const chosen = [];
  let ports = 0;
  for (const [bank] of alike) {
    ports += memory.ports.filter((port) => port.bank === bank).length;
    if (chosen.length && ports > PORTS_AT_FIRST) break;
    chosen.push(bank);
  }
  return chosen;
}

function equalWords(alike) {
  const words = alike.filter((banks) => banks.length > 1).map((banks) => `${rangeWords(banks)} are alike`);
  return words.length ? h("span", { class: "quiet" }, `banks ${words.join("; ")}`) : null;
}

/** Ascending numbers as text: "0 to 3, 7". */
function rangeWords(numbers) {
  const runs = [];
  for (const one of numbers) {
    if (runs.at(-1)?.at(-1) === one - 1) runs.at(-1).push(one);
    else runs.push([one]);
  }
  return runs.map((run) => (run.length > 1 ? `${run[0]} to ${run.at(-1)}` : run[0])).join(", ");
}

/** Memory > bank > port > SHARE or ARB > access, for the ticked banks. */
function memoryGraph(item, ticked) {
  const memory = item.data;
  const graph = { nodes: [], edges: [] };
  const copies = copiesOfAccesses(memory, ticked);
  graph.nodes.push({
    id: "memory",
    title: memory.name,
    lines: [`${number(memory.requested)} bytes`],
    tone: "memory",
    key: item.key,
  });
  for (const bank of [...ticked].sort((one, other) => one - other)) {
    graph.nodes.push({ id: `bank${bank}`, title: `bank ${bank}`, lines: [], tone: "memory", key: item.key });
    graph.edges.push({ from: "memory", to: `bank${bank}`, tone: "memory" });
  }
  memory.ports.forEach((port, index) => ticked.has(port.bank) && addPort(port, index));
  return graph;

  function addPort(port, index) {
    const id = `port${index}`;
    const key = `port:${item.key.slice("memory:".length)}/${index}`;
    graph.nodes.push({ id, title: `${port.kind} ${port.number}`, lines: [], tone: "port", key });
    graph.edges.push({ from: `bank${port.bank}`, to: id, tone: "memory" });
    let from = id;
    if (port.use) {
      from = `use${index}`;
      const arbitrated = port.use === "arbitrate";
      graph.nodes.push({
        id: from,
        title: arbitrated ? "ARB" : "SHARE",
        lines: [],
        tone: "level",
        key,
        alert: arbitrated ? "accesses compete for the port" : null,
      });
      graph.edges.push({ from: id, to: from, tone: "memory", alert: arbitrated });
    }
    for (const to of new Set(port.accesses.map(addAccess)))
      graph.edges.push({ from, to, tone: "memory", alert: port.use === "arbitrate" });
  }

  function addAccess(one) {
    const same = copies.get(one);
    const [id] = same;
    if (!graph.nodes.some((node) => node.id === id)) {
      const access = itemOf("local", id);
      graph.nodes.push({
        id,
        title: (access ? access.name : id) + (same.length > 1 ? ` × ${same.length}` : ""),
        lines: access?.spans[0] ? [lineWords(access.spans[0])] : [],
        tone: "access",
        key: access?.key ?? null,
      });
    }
    return id;
  }
}

/** By id of an access: the ids of those at the same ports of the ticked banks that an unrolled loop made of the same
 * expression. A graph shows them as one node. */
function copiesOfAccesses(memory, ticked) {
  const ports = new Map();
  memory.ports.forEach((port, index) => {
    if (!ticked.has(port.bank)) return;
    for (const id of port.accesses) ports.set(id, [...(ports.get(id) ?? []), index]);
  });
  const copies = new Map();
  for (const [id, at] of ports) {
    const access = itemOf("local", id);
    const text = JSON.stringify(access ? [access.name, access.data.span, at] : [id]);
    if (!copies.has(text)) copies.set(text, []);
    copies.get(text).push(id);
  }
  return new Map([...copies.values()].flatMap((ids) => ids.map((id) => [id, ids])));
}

DETAILS.memory = (memory, item) => [
  h(
    "p",
    { class: "verdict" },
    sign({ optimal: "good", "good but replicated": "note" }[memory.rating] ?? "warning", memory.rating),
  ),
  memory.advice ? h("p", { class: "advice" }, capital(memory.advice)) : null,
  h(
    "div",
    { class: "columns" },
    section(
      "Size",
      facts([
        ["requested", count(memory.requested, "byte")],
        [
          "implemented",
          `${count(memory.implemented, "byte")}, ${memory.blocks ? count(memory.blocks, "block RAM") : "in logic tables"}`,
        ],
        ["dimensions", memory.dims.length ? memory.dims.join(" × ") : ""],
        ["word", count(memory.word_bytes, "byte")],
        ["memory space", memory.space],
        ["merged", memory.merged.length ? `${memory.merged.join(", ")}, by ${memory.merged_by}` : ""],
        ["pumping", memory.pumping],
        ["attributes", memory.attributes.join(" ")],
      ]),
    ),
    section(
      "Banks and copies",
      facts([
        ["banks", number(memory.banks)],
        ["bank of an address", memory.bank_of || memory.banked],
        ["copies", number(memory.copies)],
        ["because of", memory.replicated.map((one) => `${one.reason} × ${one.count}`).join(", ")],
        ["parts", memory.groups > 1 ? `${memory.groups}, for ${memory.owners} in flight` : ""],
        ["block RAMs of one part", memory.groups > 1 ? number(memory.of_one_group) : ""],
        ["write ports", number(memory.write_ports)],
        [
          "accesses",
          `${count(memory.reads, "read")}, ${count(memory.writes, "write")}${memory.atomics ? `, ${count(memory.atomics, "atomic")}` : ""}`,
        ],
        [
          "stalls",
          memory.stall_free
            ? sign("good", "stall-free")
            : sign("warning", "accesses of an iteration share a port one after the other"),
        ],
      ]),
    ),
    memory.turns.length
      ? section(
          "One after the other",
          h(
            "ul",
            { class: "links" },
            memory.turns.map((one) =>
              h("li", null, `${one.kind}s of lines ${one.lines.join(", ")}: ${count(one.cycles, "cycle")}`),
            ),
          ),
        )
      : null,
    memory.sharing.length
      ? section(
          "Shared copies",
          h(
            "ul",
            { class: "links" },
            memory.sharing.map((one) => h("li", null, `lines ${one.lines.join(", ")}: ${one.reason}`)),
          ),
        )
      : null,
    section(
      "Accesses",
      h(
        "ul",
        { class: "links" },
        report.kernels
          .find((one) => one.name === item.kernel)
          .local_accesses.filter((one) => one.memory === memory.name)
          .map((one) =>
            h(
              "li",
              null,
              itemLink(itemOf("local", one.id), capital(accessName(one))),
              " ",
              one.span ? h("span", { class: "quiet" }, lineWords(one.span)) : "",
            ),
          ),
      ),
    ),
  ),
];

DETAILS.port = ({ port, memory }, item) => [
  facts([
    ["memory", memoryLink(item.kernel, memory.name)],
    ["bank", number(port.bank)],
    ["kind", { R: "read", W: "write", RW: "read and write in one cycle" }[port.kind]],
    [port.kind === "R" ? "copy" : "port", number(port.number)],
    [
      "use",
      {
        "": "one access",
        share: sign("good", "shared: the schedule gives the accesses different cycles"),
        arbitrate: sign("warning", "arbitrated: one access may take the port from another"),
      }[port.use],
    ],
    ["accesses", linksTo(port.accesses)],
  ]),
];
