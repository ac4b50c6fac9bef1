// Schedule: in which cycle each operation of an iteration starts, and what it waits for.

VIEWS.push({
  id: "schedule",
  title: "Schedule",
  lead: "Operations by region and level; a column is a cycle. Dependences of a row appear while it is pointed at or focused.",
  make() {
    const kernels = report.kernels.filter((kernel) => kernel.schedule.length);
    if (!kernels.length) return { element: h("p", null, "There is no schedule in this report.") };
    const picker = h(
      "select",
      { "aria-label": "Kernel", onchange: () => show(picker.value) },
      kernels.map(({ name }) => h("option", { value: name }, name)),
    );
    const filter = h("input", {
      type: "search",
      class: "filter",
      placeholder: "filter",
      "aria-label": "Filter operations",
      oninput: () => chart.filter(filter.value),
    });
    const zoomTools = [
      ["Zoom in", "+", 1.4],
      ["Zoom out", "−", 1 / 1.4],
    ].map(([label, text, factor]) =>
      h("button", { type: "button", "aria-label": label, onclick: () => chart.zoom(factor) }, text),
    );
    const copy = h(
      "button",
      { type: "button", onclick: () => copyText(chart.markdown()).then(() => announce("schedule copied as Markdown")) },
      "Copy as Markdown",
    );
    const legend = h(
      "p",
      { class: "legend" },
      swatch("plainop", "operation"),
      swatch("variable", "may take longer"),
      swatch("critical", "▲ on the recurrence that limits the II"),
      swatch("carriedline", "value for a later iteration, with its distance"),
    );
    const holder = h("div", { class: "fillheight" });
    const element = h(
      "div",
      { class: "tall" },
      h("div", { class: "tools" }, picker, filter, zoomTools, copy),
      legend,
      holder,
    );
    let chart;
    let shown;
    show(kernels[0].name);
    return {
      element,
      select() {
        const kernel = kernelInFocus();
        if (kernel && kernel.schedule.length && kernel.name !== shown) show(kernel.name);
        chart.select();
      },
    };

    function show(name) {
      shown = picker.value = name;
      filter.value = "";
      chart = makeGantt(kernels.find((kernel) => kernel.name === name));
      holder.replaceChildren(chart.element);
    }
  },
});

function swatch(kind, text) {
  return h("span", { class: "key" }, h("span", { class: `keymark ${kind}`, "aria-hidden": "true" }), text);
}

/** Rows of a kernel's schedule, loops in the order of their nest: a heading for each region and level, then its operations in the order of their start. */
function scheduleRows(kernel) {
  const nest = ["", ...[...loopsOf(kernel)].map(({ loop }) => loop.id)]; // outer loops first
  const order = [...kernel.schedule.keys()].sort(
    (one, other) => nest.indexOf(kernel.schedule[one].loop) - nest.indexOf(kernel.schedule[other].loop),
  );
  return order.flatMap((index) => {
    const region = kernel.schedule[index];
    const loop = itemOf("loop", region.loop)?.data;
    const title = loop
      ? `${loopName(loop)}: II ${region.ii}, latency ${region.latency}`
      : `outside of loops: latency ${region.latency}`;
    const rows = [{ kind: "region", text: title, key: loop ? `loop:${loop.id}` : `kernel:${kernel.name}`, region }];
    for (const level of [...region.levels].sort((one, other) => one.index - other.index)) {
      rows.push({
        kind: "level",
        text: `level ${level.index}: ${count(level.depth, "cycle")}${level.elastic ? ", elastic" : ""}`,
        region,
        level,
        key: null,
      });
      const ops = region.operations
        .filter((op) => op.level === level.index)
        .sort((one, other) => one.stage - other.stage || one.id - other.id);
      rows.push(
        ...ops.map((op) => ({
          kind: "op",
          text: op.words,
          op,
          region,
          key: `op:${kernel.name}/${index}/${op.id}`,
          cycle: cycleOf(region, op),
        })),
      );
    }
    return rows;
  });
}

const ROW_HEIGHT = 20;

/** The chart of a kernel. Only the rows in the window are in the document, so that thousands of them scroll smoothly;
 * all of them are while the page is printed. */
function makeGantt(kernel) {
  const all = scheduleRows(kernel);
  const cycles = Math.max(8, ...all.map((row) => (row.kind === "op" ? row.cycle + Math.max(1, row.op.latency) : 0)));
  const state = { rows: all, cell: Math.max(3, Math.min(18, 360 / cycles)), active: 0, first: -1, last: -1 };
  const ruler = h("div", { class: "ruler", "aria-hidden": "true" });
  const body = h("div", { class: "rows", role: "rowgroup" });
  const arrows = s("svg", { class: "arrows", "aria-hidden": "true" });
  const scroller = h(
    "div",
    { class: "gantt", role: "grid", "aria-label": `Schedule of ${kernel.name}`, "aria-readonly": "true" },
    ruler,
    h("div", { class: "sheet" }, body, arrows),
  );
  const sheet = scroller.lastChild;
  let queued = false;
  scroller.addEventListener("scroll", () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => ((queued = false), draw()));
  });
  new ResizeObserver(() => draw()).observe(scroller);
  window.addEventListener("beforeprint", () => scroller.isConnected && draw(true));
  body.addEventListener("keydown", onKey);
  layout();
  return { element: scroller, select, filter, zoom, markdown, rows: () => state.rows.length };

  function layout() {
    state.first = -1;
    const height = state.rows.length * ROW_HEIGHT;
    sheet.style.height = `${height}px`;
    scroller.style.setProperty("--cell", `${state.cell}px`);
    scroller.style.setProperty("--chart", `${Math.ceil(cycles * state.cell + 20)}px`);
    scroller.setAttribute("aria-rowcount", state.rows.length);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find((one) => one * state.cell >= 34) ?? 10000;
    const ticks = [];
    for (let cycle = 0; cycle <= cycles; cycle += step)
      ticks.push(h("span", { style: `left:${cycle * state.cell}px` }, number(cycle)));
    ruler.replaceChildren(h("span", { class: "corner" }, "operation"), h("span", { class: "ticks" }, ticks));
    draw();
  }

  function draw(everything = false) {
    const top = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - 10);
    const first = everything ? 0 : top;
    const last = everything
      ? state.rows.length
      : Math.min(state.rows.length, top + Math.ceil(scroller.clientHeight / ROW_HEIGHT) + 30);
    if (first === state.first && last === state.last) return;
    Object.assign(state, { first, last });
    const focused = body.contains(document.activeElement);
    body.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    body.replaceChildren(...state.rows.slice(first, last).map((row, index) => drawRow(row, first + index)));
    if (focused) elementOf(state.active)?.focus({ preventScroll: true });
  }

  function drawRow(row, index) {
    const selected = row.key && row.key === selection.item;
    const critical = row.kind === "op" && row.region.critical.includes(row.op.id);
    const label = h(
      "div",
      { class: "oplabel", role: "rowheader", title: row.text },
      critical ? h("span", { class: "mark" }, "▲ ") : null,
      row.text,
      row.op?.span ? h("span", { class: "quiet" }, ` ${lineWords(row.op.span)}`) : null,
    );
    const cell = h(
      "div",
      { class: "chart", role: "gridcell" },
      row.kind === "op" ? opBar(row, critical) : row.kind === "level" ? levelBar(row) : null,
    );
    return h(
      "div",
      {
        role: "row",
        class: `row ${row.kind}`,
        "aria-rowindex": index + 1,
        "aria-selected": row.key ? String(Boolean(selected)) : null,
        tabindex: index === state.active ? 0 : -1,
        "data-index": index,
        onclick: () => row.key && ((state.active = index), selection.set({ item: row.key })),
        onpointerenter: () => drawArrows(row),
        onpointerleave: () => drawArrows(null),
        onfocus: () => ((state.active = index), drawArrows(row)),
      },
      label,
      cell,
    );
  }

  function opBar({ op, cycle }, critical) {
    const width = Math.max(op.latency, 0.35) * state.cell;
    const kinds = [
      "opbar",
      op.variable ? "variable" : op.latency ? "plainop" : "logic",
      critical ? "critical" : "",
    ].join(" ");
    const spoken = `cycle ${cycle}, ${op.latency ? count(op.latency, "cycle") : "shares the cycle"}${op.variable ? ", may take longer" : ""}`;
    return h(
      "span",
      { class: kinds, style: `left:${cycle * state.cell}px;width:${width.toFixed(1)}px`, title: spoken },
      h("span", { class: "offscreen" }, spoken),
    );
  }

  function levelBar({ level }) {
    return h("span", {
      class: "levelbar",
      "aria-hidden": "true",
      style: `left:${level.start * state.cell}px;width:${Math.max(1, level.depth) * state.cell}px`,
    });
  }

  /** The dependences of an operation: straight lines within an iteration, dashed ones back for carried values. */
  function drawArrows(row) {
    if (row?.kind !== "op") return arrows.replaceChildren();
    const place = new Map(state.rows.map((one, index) => [one.key, index]));
    const keyOf = (id) => row.key.replace(/[^/]*$/, id);
    const edges = row.region.edges.filter((edge) => edge.source === row.op.id || edge.target === row.op.id);
    const paths = edges.map((edge) => {
      const [from, to] = [place.get(keyOf(edge.source)), place.get(keyOf(edge.target))];
      return from === undefined || to === undefined ? null : arrow(edge, from, to);
    });
    arrows.replaceChildren(...paths.filter(Boolean).flat());
  }

  function arrow(edge, from, to) {
    const [source, target] = [state.rows[from], state.rows[to]];
    const x1 = (source.cycle + Math.max(source.op.latency, 0.35)) * state.cell;
    const x2 = target.cycle * state.cell;
    const [y1, y2] = [(from + 0.5) * ROW_HEIGHT, (to + 0.5) * ROW_HEIGHT];
    const carried = edge.kind === "carried" || edge.distance > 0;
    const bend = Math.max(14, Math.abs(x2 - x1) / 3);
    const path = s("path", {
      class: carried ? "carried" : edge.kind,
      d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    });
    const head = s("path", { class: `head ${carried ? "carried" : edge.kind}`, d: `M${x2} ${y2}l-6 -3.5v7z` });
    const words = carried
      ? s("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 3, "text-anchor": "middle" }, `distance ${edge.distance}`)
      : null;
    return [path, head, words].filter(Boolean);
  }

  function elementOf(index) {
    return body.querySelector(`[data-index="${index}"]`);
  }

  function reveal(index) {
    const top = index * ROW_HEIGHT;
    const visible = scroller.clientHeight - 2 * ROW_HEIGHT;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + visible) scroller.scrollTop = top - visible / 2;
    draw();
  }

  function onKey(event) {
    const { length } = state.rows;
    const moves = {
      ArrowDown: state.active + 1,
      ArrowUp: state.active - 1,
      Home: 0,
      End: length - 1,
      PageDown: state.active + 20,
      PageUp: state.active - 20,
    };
    if (event.key in moves) {
      const old = elementOf(state.active);
      if (old) old.tabIndex = -1;
      state.active = Math.max(0, Math.min(length - 1, moves[event.key]));
      reveal(state.active);
      const row = elementOf(state.active);
      if (row) row.tabIndex = 0;
      row?.focus({ preventScroll: true });
    } else if (event.key === "Enter" || event.key === " ")
      state.rows[state.active].key && selection.set({ item: state.rows[state.active].key });
    else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else return;
    event.preventDefault();
  }

  function select() {
    const index = state.rows.findIndex((row) => row.key && row.key === selection.item);
    if (index >= 0) {
      state.active = index;
      reveal(index);
    }
    state.first = -1;
    draw();
  }

  function filter(text) {
    const wanted = text.trim().toLowerCase();
    const matches = (row) =>
      row.kind !== "op" ||
      row.text.toLowerCase().includes(wanted) ||
      (row.op.span && lineWords(row.op.span).includes(wanted));
    const kept = all.filter(matches);
    state.rows = wanted ? kept.filter((row, index) => row.kind !== "level" || kept[index + 1]?.kind === "op") : all;
    state.active = 0;
    scroller.scrollTop = 0;
    layout();
  }

  function zoom(factor) {
    state.cell = Math.max(0.5, Math.min(60, state.cell * factor));
    layout();
  }

  function markdown() {
    const lines = ["| operation | line | cycle | latency |", "| :-- | --: | --: | --: |"];
    for (const row of state.rows)
      lines.push(
        row.kind === "op"
          ? `| ${row.text} | ${row.op.span?.line ?? ""} | ${row.cycle} | ${row.op.latency} |`
          : `| **${row.text}** | | | |`,
      );
    return lines.join("\n") + "\n";
  }
}
