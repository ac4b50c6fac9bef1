// Graphs: boxes and arrows in SVG, with zoom, paths that light up, and everything by keyboard.

const LINE_HEIGHT = 15;
const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, bold) {
  measure.font = `${bold ? "600 " : ""}12px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

/** A graph of nodes [{id, title, lines, tone, alert, key, group, label}] and edges [{from, to, label, tone, alert, back}] in
 * groups [{id, title, group}]; it runs to the right or down, whichever fits the box better. An edge with ``back`` goes against that. ``onOpen`` is called with a node that was double-clicked, or on which o was pressed.
 * Returns {element, select(), ready}; ``ready`` is a promise. */
function makeGraph({ label, nodes, edges, groups = [], onOpen }) {
  const drawing = s("svg", { role: "group", "aria-label": label, class: "graph" });
  const view = { x: 0, y: 0, scale: 1, width: 0, height: 0, fitted: true }; // fitted: until zoomed or moved
  const zoomTools = [
    h("button", { type: "button", onclick: () => zoom(1.25), "aria-label": "Zoom in" }, "+"),
    h("button", { type: "button", onclick: () => zoom(0.8), "aria-label": "Zoom out" }, "−"),
    h("button", { type: "button", onclick: fit }, "Show all"),
  ];
  const element = h("div", { class: "graphbox" }, h("div", { class: "zoom" }, zoomTools), drawing);
  const shapes = new Map();
  const lines = [];
  nodes.forEach(size);
  const sized = new Map(nodes.map((node) => [node.id, node]));
  edges.forEach((edge) =>
    Object.assign(
      edge,
      edge.label ? { width: textWidth(edge.label) + 8, height: LINE_HEIGHT } : { width: 0, height: 0 },
    ),
  );
  const request = {
    nodes: nodes.map(({ id, width, height, group }) => ({ id, width, height, group })),
    edges: edges.map(({ from, to, width, height, back }) =>
      back ? { from: to, to: from, width, height } : { from, to, width, height },
    ),
    groups: groups.map(({ id, group }) => ({ id, group })),
  };
  const waiting = h("p", { class: "waiting", role: "status" }, `laying out ${count(nodes.length, "node")} …`);
  element.append(waiting);
  const ready = place().then(draw);
  bindZoom();
  return { element, select, ready };

  /** Places in the direction that fits better; the second one is tried only if the first has to be made small. */
  async function place() {
    const right = await layOut({ ...request, direction: "LR" });
    if (scaleOf(right) > 0.9) return right;
    const down = await layOut({ ...request, direction: "TB" });
    return scaleOf(down) > 1.15 * scaleOf(right) ? down : right;
  }

  function draw(places) {
    waiting.remove();
    view.width = places.width;
    view.height = places.height;
    const fitted = Math.min(1.15, (drawing.clientWidth || places.width) / places.width);
    drawing.style.setProperty("--graph-height", `${Math.ceil(places.height * fitted)}px`);
    const marker = (tone) =>
      s(
        "marker",
        {
          id: `arrow-${tone}`,
          viewBox: "0 0 8 8",
          refX: 7,
          refY: 4,
          markerWidth: 7,
          markerHeight: 7,
          orient: "auto-start-reverse",
        },
        s("path", { d: "M0 0 8 4 0 8z", class: `arrowhead ${tone}` }),
      );
    drawing.append(s("defs", null, ["control", "memory", "channel", "alert"].map(marker)));
    drawing.append(
      ...groups.filter(({ id }) => places.groups[id]).map((group) => drawGroup(group, places.groups[group.id])),
    );
    edges.forEach((edge, index) => lines.push({ edge, shape: drawEdge(edge, places.edges[index], places) }));
    drawing.append(...lines.map((line) => line.shape));
    nodes.forEach((node) => shapes.set(node.id, drawNode(node, places.nodes[node.id])));
    drawing.append(...shapes.values());
    shapes.values().next().value?.setAttribute("tabindex", 0);
    fit();
    select();
  }

  function drawGroup({ title }, { x, y, width, height }) {
    const left = x - width / 2;
    const top = y - height / 2;
    return s(
      "g",
      { class: "group" },
      s("rect", { x: left, y: top, width, height, rx: 6 }),
      s("text", { x: left + 8, y: top + 15 }, title),
    );
  }

  function drawEdge({ from, to, tone, alert, back, label: text }, { points, x, y }, places) {
    const path =
      from === to ? selfLoop(sized.get(from), places.nodes[from]) : curve(back ? points.toReversed() : points);
    const line = s("path", { d: path, "marker-end": `url(#arrow-${alert ? "alert" : tone})` });
    const near = from === to ? places.nodes[from].x + sized.get(from).width / 2 + 30 + textWidth(text ?? "") / 2 : x;
    const words = text ? s("text", { x: near, y: y + 4, "text-anchor": "middle" }, text) : null;
    return s("g", { class: `edge ${tone}${alert ? " alert" : ""}` }, line, words);
  }

  function drawNode(node, { x, y }) {
    const { width, height, title, alert, tone } = node;
    const words = [`${alert ? "▲ " : ""}${title}`, ...(node.lines ?? [])];
    const texts = words.map((text, index) => [
      index ? " " : null, // between the words of what is read out; not drawn
      s(
        "text",
        {
          x,
          y: y - height / 2 + 7 + LINE_HEIGHT * (index + 0.8),
          "text-anchor": "middle",
          class: index ? "small" : "title",
        },
        text,
      ),
    ]);
    const spoken = words.join(" ") + (alert ? `: ${alert}` : "");
    const shape = s(
      "g",
      {
        class: `node ${tone}${alert ? " alert" : ""}`,
        role: "button",
        tabindex: -1,
        "aria-label": spoken,
        "aria-pressed": "false",
        "data-node": node.id,
      },
      alert ? s("title", null, alert) : null,
      outline(tone, x, y, width, height),
      texts,
    );
    shape.addEventListener("click", () => node.key && selection.set({ item: node.key }));
    shape.addEventListener("dblclick", () => onOpen?.(node));
    shape.addEventListener("pointerenter", () => light(node.id));
    shape.addEventListener("pointerleave", () => light(null));
    shape.addEventListener("focus", () => (rove(shape), light(node.id)));
    shape.addEventListener("blur", () => light(null));
    Object.assign(node, { x, y });
    return shape;
  }

  function rove(shape) {
    for (const other of shapes.values()) other.setAttribute("tabindex", -1);
    shape.setAttribute("tabindex", 0);
  }

  /** Light all that leads to a node and all that it leads to; null: everything is as before. */
  function light(id) {
    drawing.classList.toggle("lit", id !== null);
    if (id === null) return;
    const before = reach(id, "to", "from");
    const after = reach(id, "from", "to");
    for (const [other, shape] of shapes) shape.classList.toggle("on", before.has(other) || after.has(other));
    for (const { edge, shape } of lines) {
      const on = (before.has(edge.from) && before.has(edge.to)) || (after.has(edge.from) && after.has(edge.to));
      shape.classList.toggle("on", on);
    }
  }

  function reach(id, near, far) {
    const found = new Set([id]);
    for (const one of found) for (const edge of edges) if (edge[near] === one) found.add(edge[far]);
    return found;
  }

  function select() {
    for (const node of nodes)
      shapes.get(node.id)?.setAttribute("aria-pressed", String(Boolean(node.key) && node.key === selection.item));
  }

  // zoom and movement

  function apply() {
    const { clientWidth: width, clientHeight: height } = drawing;
    if (!width) return;
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${width / view.scale} ${height / view.scale}`);
  }

  /** The scale at which places fit the box, at most a little enlarged. */
  function scaleOf(places) {
    return Math.min(1.15, (drawing.clientWidth || 620) / places.width, (drawing.clientHeight || 420) / places.height);
  }

  function fit() {
    const { clientWidth: width, clientHeight: height } = drawing;
    if (!width || !view.width) return;
    view.fitted = true;
    view.scale = Math.max(0.25, scaleOf(view));
    view.x = Math.min(0, (view.width - width / view.scale) / 2);
    view.y = Math.min(0, (view.height - height / view.scale) / 2);
    apply();
  }

  /** Zoom by a factor around a point of the element, or its centre. */
  function zoom(factor, at = { x: drawing.clientWidth / 2, y: drawing.clientHeight / 2 }) {
    const scale = Math.max(0.1, Math.min(4, view.scale * factor));
    view.x += at.x / view.scale - at.x / scale;
    view.y += at.y / view.scale - at.y / scale;
    view.scale = scale;
    view.fitted = false;
    apply();
  }

  function bindZoom() {
    new ResizeObserver(() => (view.fitted ? fit() : apply())).observe(drawing);
    drawing.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = drawing.getBoundingClientRect();
        zoom(event.deltaY < 0 ? 1.15 : 0.87, { x: event.clientX - box.left, y: event.clientY - box.top });
      },
      { passive: false },
    );
    drawing.addEventListener("pointerdown", (event) => {
      if (event.target.closest(".node")) return;
      const from = { x: event.clientX, y: event.clientY, left: view.x, top: view.y };
      const move = (moved) => {
        view.x = from.left - (moved.clientX - from.x) / view.scale;
        view.y = from.top - (moved.clientY - from.y) / view.scale;
        view.fitted = false;
        apply();
      };
      drawing.setPointerCapture(event.pointerId);
      drawing.addEventListener("pointermove", move);
      drawing.addEventListener("pointerup", () => drawing.removeEventListener("pointermove", move), { once: true });
    });
    drawing.addEventListener("keydown", onKey);
  }

  function onKey(event) {
    const node = nodes.find((one) => shapes.get(one.id) === event.target);
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if ((event.key === "Enter" || event.key === " ") && node?.key) selection.set({ item: node.key });
    else if (event.key === "o" && node) onOpen?.(node);
    else if (event.key.startsWith("Arrow") && node) nearest(node, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Focus the nearest node in the direction of an arrow; what is off the straight line counts twice. */
  function nearest(node, arrow) {
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[arrow];
    const cost = (other) => {
      const ahead = (other.x - node.x) * dx + (other.y - node.y) * dy;
      const aside = Math.abs((other.x - node.x) * dy) + Math.abs((other.y - node.y) * dx);
      return ahead > 1 ? ahead + 2 * aside : Infinity;
    };
    const best = nodes.reduce((least, other) => (cost(other) < cost(least) ? other : least), node);
    if (cost(best) < Infinity) shapes.get(best.id).focus();
  }
}

/** The size of a node from its texts. */
function size(node) {
  const widths = [
    textWidth(`${node.alert ? "▲ " : ""}${node.title}`, true),
    ...(node.lines ?? []).map((text) => textWidth(text)),
  ];
  node.width = Math.max(...widths) + 24;
  node.height = LINE_HEIGHT * widths.length + 14;
}

/** Memories are drums, accesses have cut corners, all else is a box: kinds differ by shape, not by colour alone. */
function outline(tone, x, y, width, height) {
  const [left, top, right, bottom] = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
  if (tone === "memory")
    return s("path", {
      class: "outline",
      d: `M${left} ${top + 5}C${left} ${top - 3} ${right} ${top - 3} ${right} ${top + 5}V${bottom - 5}C${right} ${bottom + 3} ${left} ${bottom + 3} ${left} ${bottom - 5}Z`,
    });
  if (tone === "access")
    return s("path", {
      class: "outline",
      d: `M${left + 8} ${top}H${right - 8}L${right} ${y}L${right - 8} ${bottom}H${left + 8}L${left} ${y}Z`,
    });
  return s("rect", { class: "outline", x: left, y: top, width, height, rx: tone === "kernel" ? 2 : 8 });
}

/** An arrow from the right side of a node back to it. */
function selfLoop({ width, height }, { x, y }) {
  const [right, dy] = [x + width / 2, height / 4];
  return `M${right} ${y - dy}C${right + 34} ${y - 2 * dy} ${right + 34} ${y + 2 * dy} ${right} ${y + dy}`;
}

/** A smooth line through points. */
function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first.x.toFixed(1)} ${first.y.toFixed(1)}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) path += `L${point.x.toFixed(1)} ${point.y.toFixed(1)}`;
    else
      path += `Q${point.x.toFixed(1)} ${point.y.toFixed(1)} ${((point.x + next.x) / 2).toFixed(1)} ${((point.y + next.y) / 2).toFixed(1)}`;
  });
  return path;
}

/** The edges of a graph as a table, for those who cannot see it. */
function graphTable(caption, nodes, edges) {
  const title = (id) => nodes.find((node) => node.id === id)?.title ?? id;
  const key = (edge) => nodes.find((node) => node.id === edge.from)?.key ?? null;
  const columns = [
    { title: "From", value: (edge) => title(edge.from) },
    { title: "To", value: (edge) => title(edge.to) },
    { title: "Kind", value: (edge) => edge.tone },
    { title: "What", value: (edge) => edge.label ?? "" },
  ];
  const table = makeTable({
    caption,
    columns,
    rows: edges.map((edge) => ({ key: edge.key ?? key(edge), data: edge })),
  });
  return h(
    "details",
    { class: "astable" },
    h("summary", null, `The graph as a table (${count(edges.length, "connection")})`),
    table.element,
  );
}
