// Deadlock: networks of kernels that channels connect, with the verdict, and the circle in which they would wait.

VIEWS.push({
  id: "deadlock",
  title: "Deadlock",
  lead: "Kernels that channels connect, and whether they can wait for each other for ever.",
  make() {
    const columns = [
      { title: "Deadlock", value: (one) => one.deadlock, show: (one) => deadlockSign(one.deadlock) },
      { title: "Kernels", value: (one) => one.kernels.join(", "), show: (one) => shortList(one.kernels) },
      { title: "Reason", value: (one) => one.reason },
      {
        title: "Depths that would help",
        value: (one) => one.depths.map((depth) => `${depth.channel}: ${depth.depth}`).join(", "),
      },
    ];
    const rows = report.networks.map((network, index) => ({ key: `network:${index}`, data: network }));
    const networks = makeTable({
      caption: "Channel networks",
      columns,
      rows,
      empty: "no kernels are connected by channels",
    });
    const channels = makeTable({
      caption: "Channels",
      columns: CHANNEL_COLUMNS,
      rows: report.channels.map((one) => ({ key: `channel:${one.name}`, data: one })),
      empty: "none",
    });
    const circles = report.networks
      .filter((one) => one.circle.length)
      .map((one) => section(circleName(one), drawCircle(one), stopsTable(one)));
    const element = h("div", null, networks.element, circles, section("Channels", channels.element));
    return { element, select: () => networks.select() || channels.select() };
  },
});

const CHANNEL_COLUMNS = [
  { title: "Channel", value: (one) => one.name },
  lineColumn((one) => one.span),
  { title: "Channels", value: (one) => one.count, numeric: true, usual: 1 },
  { title: "Bits", value: (one) => one.bits, numeric: true },
  { title: "Requested", value: (one) => one.requested, numeric: true, tip: "depth in the source" },
  { title: "Depth", value: (one) => one.depth, numeric: true },
  { title: "Storage", value: (one) => one.storage },
  { title: "From", value: (one) => one.writer },
  { title: "To", value: (one) => one.reader },
  { title: "Reason", value: (one) => one.reason, usual: "" },
];

function deadlockSign(verdict) {
  return sign({ impossible: "good", certain: "error", possible: "warning" }[verdict] ?? "note", `deadlock ${verdict}`);
}

function shortList(names) {
  const most = 6;
  return names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");
}

function stopWords(stop) {
  return stop.writes
    ? `waits for ${stop.other} to make room in ${stop.channel}`
    : `waits for ${stop.other} to send a value through ${stop.channel}`;
}

/** A circle by the kernels that wait in it. */
function circleName(network) {
  return `Circle of waiting: ${shortList([...new Set(network.circle.map((stop) => stop.kernel))])}`;
}

function stopsTable(network) {
  const columns = [
    { title: "Kernel", value: (stop) => stop.kernel },
    lineColumn((stop) => stop.span),
    { title: "Waits", value: stopWords },
  ];
  const table = makeTable({
    caption: circleName(network),
    columns,
    rows: network.circle.map((stop) => ({ key: null, place: stop.span ? placeOf(stop.span) : null, data: stop })),
  });
  return table.element;
}

/** The kernels of a circle on a ring, each with an arrow to the one it waits for. */
function drawCircle(network) {
  const stops = network.circle;
  const id = `waits-${report.networks.indexOf(network)}`; // an id of the whole document
  const radius = Math.max(70, stops.length * 26);
  const widest = Math.max(...stops.flatMap((stop) => [textWidth(stop.kernel, true) / 2, textWidth(stop.channel)]));
  const [width, height] = [2 * (radius + 60 + Math.max(120, widest)), 2 * radius + 80];
  const at = stops.map((_, index) => {
    const angle = (2 * Math.PI * index) / stops.length - Math.PI / 2;
    return { x: width / 2 + (radius + 40) * Math.cos(angle), y: height / 2 + radius * Math.sin(angle) };
  });
  const arrows = stops.map((stop, index) => {
    const [from, to] = [at[index], at[(index + 1) % stops.length]];
    const line = shortened(from, to, 34);
    const aside = { x: (to.y - from.y) * 0.14, y: (from.x - to.x) * 0.14 };
    const middle = { x: (from.x + to.x) / 2 + aside.x, y: (from.y + to.y) / 2 + aside.y };
    // beside its arrow, on the side to which that bends
    const side = Math.abs(aside.x) < 4 ? 0 : Math.sign(aside.x);
    const anchor = ["end", "middle", "start"][side + 1];
    return s(
      "g",
      { class: "edge channel alert" },
      s("path", {
        d: `M${line.from.x} ${line.from.y}Q${middle.x} ${middle.y} ${line.to.x} ${line.to.y}`,
        "marker-end": `url(#${id})`,
      }),
      s("text", { x: middle.x + 4 * side, y: middle.y, "text-anchor": anchor }, stop.channel),
    );
  });
  const nodes = stops.map((stop, index) => {
    const wide = textWidth(stop.kernel, true) + 22;
    return s(
      "g",
      { class: "node kernel" },
      s("rect", { class: "outline", x: at[index].x - wide / 2, y: at[index].y - 14, width: wide, height: 28, rx: 2 }),
      s("text", { class: "title", x: at[index].x, y: at[index].y + 4, "text-anchor": "middle" }, stop.kernel),
    );
  });
  const marker = s(
    "marker",
    { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    s("path", { d: "M0 0 8 4 0 8z", class: "arrowhead alert" }),
  );
  const label = stops.map((stop) => `${stop.kernel} ${stopWords(stop)}`).join("; ");
  return s(
    "svg",
    { class: "ring", role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, width, height },
    s("defs", null, marker),
    arrows,
    nodes,
  );
}

/** A line without ``gap`` at both its ends. */
function shortened(from, to, gap) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [dx, dy] = [((to.x - from.x) / length) * gap, ((to.y - from.y) / length) * gap];
  return { from: { x: from.x + dx, y: from.y + dy }, to: { x: to.x - dx, y: to.y - dy } };
}
