// Source: what was measured at each line. Lines that stall, or to which cycles are attributed, for 20 % and more are red.

/** From this share on a line is red; n and p go to the next one and the one before. */
const RED = 0.2;

VIEWS.push({
  id: "lines",
  group: "Profile",
  title: "Source",
  lead: "What was measured at each line. From 20 % of stalls or attributed cycles on a line is red (■), darker for more; n and p go from one to the next.",
  scope: scopeName,
  wide: true,
  make() {
    const measured = measuredLines();
    const file = report.sources.find((one) => one.file === report.source) ?? report.sources[0];
    const text = (file?.text ?? "").replace(/\n$/, "").split("\n");
    const rows = text.map((line, index) => lineRow(line, index + 1, measured.get(index + 1) ?? [], file.file));
    const red = rows.filter((row) => row.data.hot >= RED);
    const next = h("button", { type: "button", onclick: () => go(1) }, "Next red line (n)");
    const before = h("button", { type: "button", onclick: () => go(-1) }, "Previous (p)");
    const tools = red.length ? [before, next] : [];
    const table = makeTable({ caption: "Lines of the source", columns: LINE_COLUMNS, rows, tools });
    const none = red.length ? null : h("p", null, sign("good", "no line has 20 % of stalls or of a kernel's cycles"));
    return { element: h("div", { class: "lines" }, scopeTools(), none, table.element), select: table.select, key };

    function go(step) {
      const at = Number(selection.line?.split(":").at(-1) ?? 0);
      const ahead =
        step > 0 ? red.filter((row) => row.data.line > at) : red.filter((row) => row.data.line < at).reverse();
      const target = ahead[0] ?? (step > 0 ? red[0] : red.at(-1));
      if (target) selection.set({ line: target.place });
    }

    function key(name) {
      if (!red.length || !["n", "p"].includes(name)) return false;
      go(name === "n" ? 1 : -1);
      return true;
    }
  },
});

/** What was measured, by line: [{what, kernel, attributes, stall, occupancy, activity, ...}]. */
function measuredLines() {
  const found = new Map();
  const add = (line, one) => {
    if (!line) return;
    if (!found.has(line)) found.set(line, []);
    found.get(line).push({ blamed: null, ...one });
  };
  for (const group of groupsInScope()) {
    const [run] = group.runs;
    for (const one of run.accesses) add(one.line, accessAtLine(one, group));
    for (const one of run.channels) add(one.line, channelAtLine(one, group, run));
    for (const one of run.loops) add(one.line, loopAtLine(one, group, run));
    for (const one of group.accounts)
      if (one.category !== "issue" && one.cycles >= 1)
        add(one.line, {
          what: one.cause,
          key: `cause:${group.name}/${one.id}`,
          kernel: group.title,
          attributes: `cycles of ${group.title}`,
          blamed: one.cycles,
          blamedShare: share(one.cycles, group.cycles),
        });
  }
  return found;
}

function accessAtLine(one, group) {
  const words = [
    one.memory,
    one.kind,
    one.unit,
    one.cache_hit === null ? "" : `cache hits ${percent(one.cache_hit, 1)}`,
  ];
  if (one.unaligned) words.push(`${percent(one.unaligned, 1)} unaligned`);
  return {
    what: `${one.kind} of ${one.buffer}`,
    key: `use:${group.name}/${one.id}`,
    kernel: group.title,
    attributes: words.filter(Boolean).join(", "),
    stall: one.stall,
    occupancy: one.occupancy,
    activity: one.activity,
    rate: one.bytes_per_ns,
    bandwidth: one.bandwidth,
    efficiency: one.efficiency,
  };
}

function channelAtLine(one, group, run) {
  return {
    what: `${one.end} of channel ${one.name}`,
    key: `pipe:${one.name}`,
    kernel: group.title,
    attributes: `channel, depth ${one.depth}`,
    stall: one.end === "read" ? one.read_stall : one.write_stall,
    occupancy: share(one.values, run.cycles),
  };
}

function loopAtLine(one, group, run) {
  const measured = one.measured_ii === null ? "" : `, measured ${number(one.measured_ii, 2)}`;
  return {
    what: loopWords(one),
    key: `pace:${group.name}/${one.id}`,
    kernel: group.title,
    attributes: `loop, II ${number(one.scheduled_ii, 2)}${measured}`,
    occupancy: share(one.iterations, run.cycles),
  };
}

/** The largest of some shares, null if there is none. */
function largest(list, get) {
  const known = list.map(get).filter((value) => value !== null && value !== undefined);
  return known.length ? Math.max(...known) : null;
}

function lineRow(text, line, all, file) {
  const several = all.length > 1;
  const [only] = all;
  const data = {
    line,
    text,
    pieces: (colourData[file] ?? [])[line - 1],
    attributes: several ? `${all.length} operations` : (only?.attributes ?? ""),
    blamed: all.some((one) => one.blamed !== null) ? all.reduce((sum, one) => sum + (one.blamed ?? 0), 0) : null,
    blamedShare: largest(all, (one) => one.blamedShare),
    rate: several ? largest(all, (one) => one.rate) : only?.rate,
    efficiency: several ? leastEfficiency(all) : only?.efficiency,
  };
  for (const name of ["stall", "occupancy", "activity", "bandwidth"]) data[name] = largest(all, (one) => one[name]);
  data.hot = Math.max(data.stall ?? 0, data.blamedShare ?? 0);
  const heat = (hot) => (hot >= RED ? `hot${Math.min(4, Math.floor(hot / RED))}` : null);
  return {
    key: null,
    place: `${file}:${line}`,
    class: heat(data.hot),
    data,
    children: several
      ? all.map((one) => ({
          key: one.key,
          class: "operation",
          data: { ...one, hot: one.stall ?? one.blamedShare ?? 0 },
        }))
      : [],
  };
}

function leastEfficiency(all) {
  const known = all.map((one) => one.efficiency).filter((value) => value !== null && value !== undefined);
  return known.length ? Math.min(...known) : null;
}

const LINE_COLUMNS = [
  { title: "Line", value: (one) => one.line ?? "", class: "linecell" },
  {
    title: "Source",
    class: "codecell",
    value: (one) => one.text ?? `${one.kernel}: ${one.what}`,
    show: (one) =>
      one.text === undefined
        ? h("span", { class: "quiet" }, `${one.kernel}: ${one.what}`)
        : h("code", null, coloured(one.text, one.pieces)),
  },
  {
    title: "Attributes",
    class: "attributes",
    value: (one) => one.attributes ?? "",
    tip: "memory, kind and unit of an access; hits only where there is a cache",
  },
  {
    title: "Stall",
    numeric: true,
    value: (one) => one.stall,
    show: (one) => (one.stall >= RED ? sign("error", percent(one.stall, 1)) : percentOr(one.stall)),
    tip: "cycles in which a request or call was not taken / cycles of the kernel",
  },
  {
    title: "Occup.",
    numeric: true,
    value: (one) => one.occupancy,
    show: (one) => percentOr(one.occupancy),
    tip: "occupancy: iterations that passed / cycles of the kernel; with the stalls about 100 % for what stalls the others",
  },
  {
    title: "Activity",
    numeric: true,
    value: (one) => one.activity,
    show: (one) => percentOr(one.activity),
    tip: "requests / cycles: less than the occupancy where the access is conditional",
  },
  {
    title: "GB/s",
    numeric: true,
    digits: 2,
    value: (one) => one.rate,
    show: (one) =>
      one.rate === null || one.rate === undefined ? "" : `${number(one.rate, 2)} (${percent(one.bandwidth ?? 0, 1)})`,
    tip: "bytes moved in a ns, and their share of the memory's peak",
  },
  {
    title: "Effic.",
    numeric: true,
    value: (one) => one.efficiency,
    show: efficiencyShow,
    tip: "efficiency: bytes requested / bytes moved, at most 100 %",
  },
  {
    title: "Blamed",
    numeric: true,
    value: (one) => one.blamed,
    show: (one) =>
      one.blamed === null || one.blamed === undefined
        ? ""
        : one.blamedShare >= RED
          ? sign("error", number(Math.round(one.blamed)))
          : number(Math.round(one.blamed)),
    tip: "cycles attributed to this line",
  },
];
