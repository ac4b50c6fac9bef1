// Execution: commands and launches over simulated time, with the levels of channels below; zoom by wheel and keys.

VIEWS.push({
  id: "execution",
  group: "Profile",
  title: "Execution",
  lead: "What ran when, in simulated time: queues with their commands (pale: queued, not begun), kernels with their launches, autorun kernels with their captures (hatched). A double click on a launch shows the other views for that launch alone.",
  scope: scopeName,
  make() {
    const drawing = makeTimeline(executionLanes(), levelLanes());
    const table = makeTable({
      caption: "Launches",
      columns: LAUNCH_COLUMNS,
      rows: profile.launches.map((launch) => ({ key: itemOf("launch", launch.number)?.key ?? null, data: launch })),
    });
    const commands = makeTable({
      caption: "Commands of the host",
      columns: COMMAND_COLUMNS,
      rows: profile.commands.map((command) => ({ key: `command:${command.number}`, data: command })),
    });
    const element = h(
      "div",
      null,
      scopeTools(),
      drawing.element,
      section("Launches and captures", table.element),
      section("Commands of the host", commands.element),
    );
    const select = () => (drawing.select(), table.select() || commands.select());
    return { element, select, drawn: drawing.draw };
  },
});

const LAUNCH_COLUMNS = [
  { title: "Launch", numeric: true, value: (one) => one.number },
  { title: "Kernel", class: "short", value: (one) => one.kernel },
  {
    title: "Kind",
    class: "narrow",
    value: launchKind,
  },
  {
    title: "Size",
    spare: true,
    value: (one) => (one.capture ? "" : `${sizeWords(one.global_size)} / ${sizeWords(one.local_size)}`),
    tip: "global size / size of a group",
  },
  { title: "Cycles", numeric: true, value: (one) => one.cycles },
  { title: "Start", numeric: true, value: (one) => one.start_ns, show: (one) => timeWords(one.start_ns) },
  {
    title: "Time",
    numeric: true,
    value: (one) => one.end_ns - one.start_ns,
    show: (one) => timeWords(one.end_ns - one.start_ns),
  },
  {
    title: "Issuing",
    numeric: true,
    value: (one) => share(issuedCycles(one.accounts), one.cycles),
    show: (one) =>
      bar(share(issuedCycles(one.accounts), one.cycles), percent(share(issuedCycles(one.accounts), one.cycles), 1)),
  },
  { title: "Most of the rest", class: "wraps", value: (one) => largestWait(one.accounts)?.cause ?? "" },
];

function launchKind(one) {
  if (!one.capture) return `queue ${one.queue}`;
  return one.of === null ? "capture of the host, or of the run" : `capture in launch ${one.of}`;
}

/** A size without dimensions of 1 at its end. */
function sizeWords(size) {
  const last = size.findLastIndex((one) => one !== 1);
  return size.slice(0, Math.max(1, last + 1)).join("×");
}

const COMMAND_COLUMNS = [
  { title: "Command", numeric: true, value: (one) => one.number },
  { title: "Kind", value: (one) => `${one.kind} ${one.name}`.trim() },
  { title: "Queue", numeric: true, value: (one) => one.queue },
  { title: "Bytes", numeric: true, value: (one) => one.bytes || null },
  { title: "Queued", numeric: true, value: (one) => one.queued_ns, show: (one) => timeWords(one.queued_ns) },
  { title: "Start", numeric: true, value: (one) => one.start_ns, show: (one) => timeWords(one.start_ns) },
  {
    title: "Time",
    numeric: true,
    value: (one) => one.end_ns - one.start_ns,
    show: (one) => timeWords(one.end_ns - one.start_ns),
  },
  {
    title: "Host",
    numeric: true,
    digits: 3,
    value: (one) => one.host_s,
    tip: "seconds of the host's own time since the program began, when the command ended",
  },
];

const LANE = { label: 150, row: 18, gap: 6, axis: 20, level: 30 };
/** Channels drawn at most. */
const MOST_LEVELS = 12;

/** A drawing of lanes against time: {element, draw(), select()}. */
function makeTimeline(lanes, levels) {
  const drawing = s("svg", {
    class: "timeline",
    role: "group",
    tabindex: 0,
    "aria-label":
      "Time line: up and down select, left and right move, + and − zoom, 0 shows everything; the tables below list the same",
  });
  const times = lanes.flatMap((lane) => lane.slices.flatMap((slice) => [slice.start, slice.end]));
  const whole = { from: Math.min(0, ...times), to: Math.max(1, ...times) };
  const shown = { ...whole };
  const heights = lanes.map((lane) => stackSlices(lane.slices) * LANE.row + LANE.gap);
  const ordered = lanes.flatMap((lane) => lane.slices.filter((slice) => slice.key && slice.row !== null));
  ordered.sort((one, other) => one.start - other.start || one.end - other.end);
  const drawn = levels.slice(0, MOST_LEVELS);
  const height = LANE.axis + heights.reduce((sum, one) => sum + one, 0) + drawn.length * (LANE.level + LANE.gap);
  const tools = [
    h("button", { type: "button", onclick: () => zoom(0.5), "aria-label": "Zoom in" }, "+"),
    h("button", { type: "button", onclick: () => zoom(2), "aria-label": "Zoom out" }, "−"),
    h("button", { type: "button", onclick: all }, "Show all"),
  ];
  const few =
    levels.length > drawn.length
      ? h(
          "p",
          { class: "quiet" },
          `levels of the ${drawn.length} channels with the most waits; ${levels.length - drawn.length} more are in Channels`,
        )
      : null;
  const element = h("div", null, h("div", { class: "graphbox" }, h("div", { class: "zoom" }, tools), drawing), few);
  drawing.addEventListener("wheel", onWheel, { passive: false });
  drawing.addEventListener("keydown", onKey);
  drawing.addEventListener("pointerdown", onDrag);
  new ResizeObserver(draw).observe(drawing);
  return { element, draw, select: draw };

  function width() {
    return Math.max(200, drawing.clientWidth) - LANE.label - 10;
  }

  function x(ns) {
    return LANE.label + ((ns - shown.from) / (shown.to - shown.from)) * width();
  }

  function draw() {
    if (!drawing.isConnected) return;
    drawing.setAttribute("height", height);
    drawing.style.height = `${height}px`;
    const clip = s("clipPath", { id: "lanes" }, s("rect", { x: LANE.label, y: 0, width: width() + 10, height }));
    const parts = [s("defs", null, clip, hatch()), axis()];
    let y = LANE.axis;
    lanes.forEach((lane, index) => {
      parts.push(laneLabel(lane.title, y, heights[index]), s("g", { "clip-path": "url(#lanes)" }, drawSlices(lane, y)));
      y += heights[index];
    });
    for (const lane of drawn) {
      parts.push(laneLabel(lane.title, y, LANE.level + LANE.gap, `0 to ${lane.depth}`), drawLevels(lane, y));
      y += LANE.level + LANE.gap;
    }
    drawing.replaceChildren(...parts);
  }

  function hatch() {
    return s(
      "pattern",
      { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { width: 3, height: 6, class: "hatched" }),
    );
  }

  function axis() {
    const span = shown.to - shown.from;
    const rough = span / Math.max(2, width() / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
    const ticks = [];
    for (let at = Math.ceil(shown.from / step) * step; at <= shown.to; at += step)
      ticks.push(
        s("line", { x1: x(at), x2: x(at), y1: 14, y2: height, class: "tick" }),
        s("text", { x: x(at) + 3, y: 12, class: "small" }, timeWords(at)),
      );
    return s("g", { class: "ticks" }, ticks);
  }

  function laneLabel(title, y, tall, hint = "") {
    const most = Math.floor(LANE.label / 7);
    const words = title.length > most ? `${title.slice(0, most - 1)}…` : title;
    return s(
      "g",
      { class: "lanelabel" },
      s("line", {
        x1: 0,
        x2: LANE.label + width() + 10,
        y1: y + tall - LANE.gap / 2,
        y2: y + tall - LANE.gap / 2,
        class: "tick",
      }),
      s("text", { x: words.startsWith(" ") ? 20 : 6, y: y + 13 }, words.trim(), s("title", null, title.trim())),
      hint ? s("text", { x: 6, y: y + 26, class: "small" }, hint) : null,
    );
  }

  /** The slices within the window; neighbours that are narrower than a pixel together are one block. */
  function drawSlices(lane, top) {
    const found = [];
    let last = null;
    const placed = lane.slices.filter((slice) => slice.row !== null);
    for (const slice of placed.sort((one, other) => one.row - other.row || one.start - other.start)) {
      if (slice.end < shown.from || slice.start > shown.to) continue;
      const left = Math.max(LANE.label - 2, x(slice.start));
      const right = Math.min(LANE.label + width() + 12, x(slice.end));
      if (last && last.row === slice.row && right - left < 1 && left - last.right < 1) {
        last.right = Math.max(last.right, right);
        last.many += 1;
      } else {
        last = { ...slice, left, right, many: 1 };
        found.push(last);
      }
    }
    return found.map((one) => drawSlice(one, top + one.row * LANE.row + 2));
  }

  function drawSlice(one, y) {
    const wide = Math.max(1.5, one.right - one.left);
    const tall = LANE.row - 4;
    const words =
      one.many > 1
        ? `${one.many} slices, zoom in to tell them apart`
        : `${one.words}: ${timeWords(one.end - one.start)} from ${timeWords(one.start)} on`;
    const level = one.level === undefined ? 1 : Math.max(0.08, one.level);
    const chosen = one.key !== null && one.key === selection.item;
    return s(
      "g",
      {
        class: `slice ${one.tone}${chosen ? " chosen" : ""}`,
        onclick: () => one.many === 1 && one.key && selection.set({ item: one.key }),
        ondblclick: () =>
          one.many === 1 && one.launch !== undefined && selection.set({ launch: String(one.launch), view: "cycles" }),
      },
      s("title", null, words),
      s("rect", { x: one.left, y: y + tall * (1 - level), width: wide, height: tall * level, rx: 1.5 }),
      wide > 7 * one.words.length + 6 && one.tone !== "unit"
        ? s("text", { x: Math.max(one.left, LANE.label) + 4, y: y + 11 }, one.words)
        : null,
    );
  }

  function drawLevels(lane, y) {
    const bottom = y + LANE.level;
    const most = Math.max(1, lane.depth);
    const area = (kind) =>
      lane.pieces.map((piece) => {
        const steps = [...(piece[kind] ?? [])].map((value, row) => {
          const until = Math.min(piece.end, piece.start + (row + 1) * piece.step);
          return `V${(bottom - (value / most) * LANE.level).toFixed(1)}H${x(until).toFixed(1)}`;
        });
        return `M${x(piece.start).toFixed(1)} ${bottom}${steps.join("")}V${bottom}Z`;
      });
    return s(
      "g",
      { "clip-path": "url(#lanes)", class: "levels", onclick: () => selection.set({ item: lane.key }) },
      s(
        "title",
        null,
        `values in channel ${lane.title}: least, mean and most of each interval, from dark to light; depth ${lane.depth}`,
      ),
      ["most", "values", "least"].map((kind) => s("path", { class: kind, d: area(kind).join("") })),
    );
  }

  function zoom(factor, at = (shown.from + shown.to) / 2) {
    const span = Math.min(whole.to - whole.from, Math.max(20, (shown.to - shown.from) * factor));
    const part = (at - shown.from) / (shown.to - shown.from);
    move(at - part * span, span);
  }

  function move(from, span) {
    shown.from = Math.max(whole.from, Math.min(whole.to - span, from));
    shown.to = shown.from + span;
    draw();
  }

  function all() {
    Object.assign(shown, whole);
    draw();
  }

  /** Select the next slice in time, or the one before. */
  function step(by) {
    const keys = [...new Set(ordered.map((slice) => slice.key))];
    const at = keys.indexOf(selection.item);
    const next = at < 0 ? (by > 0 ? 0 : keys.length - 1) : at + by;
    if (keys[next]) selection.set({ item: keys[next] });
  }

  function nsAt(event) {
    const left = event.clientX - drawing.getBoundingClientRect().left - LANE.label;
    return shown.from + (left / width()) * (shown.to - shown.from);
  }

  function onWheel(event) {
    if (
      !event.ctrlKey &&
      !event.shiftKey &&
      Math.abs(event.deltaX) < Math.abs(event.deltaY) &&
      document.activeElement !== drawing
    )
      return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, nsAt(event));
  }

  function onDrag(event) {
    const from = { at: event.clientX, start: shown.from };
    const span = shown.to - shown.from;
    const onMove = (moved) => move(from.start - ((moved.clientX - from.at) / width()) * span, span);
    const stop = () => window.removeEventListener("pointermove", onMove);
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", stop, { once: true });
  }

  function onKey(event) {
    const span = shown.to - shown.from;
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-" || event.key === "−") zoom(2);
    else if (event.key === "0") all();
    else if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "ArrowRight") move(shown.from + span / 8, span);
    else if (event.key === "ArrowLeft") move(shown.from - span / 8, span);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
