// Charts of cycles: a stacked bar, and stacked areas over time from samples.

/** A bar of ``cycles`` out of ``most`` whose pieces are accounts; a click on a piece selects its cause. */
function cyclesBar(group, most) {
  const pieces = CATEGORIES.flatMap((category) => group.accounts.filter((one) => one.category === category));
  return h(
    "span",
    { class: "stacktrack", "aria-hidden": "true" },
    pieces.map((one) =>
      h("span", {
        class: `piece ${categoryClass(one.category)}`,
        style: `width:${((100 * one.cycles) / most).toFixed(3)}%`,
        title: `${one.cause}: ${count(Math.round(one.cycles), "cycle")} (${percent(share(one.cycles, group.cycles), 1)})`,
        "data-item": `cause:${group.name}/${one.id}`,
        onclick: () => selection.set({ item: `cause:${group.name}/${one.id}` }),
      }),
    ),
  );
}

function categoryLegend(groups) {
  const used = new Set(groups.flatMap((group) => group.accounts.map((one) => one.category)));
  return h(
    "p",
    { class: "legend" },
    CATEGORIES.filter((category) => used.has(category)).map((category) =>
      h("span", { class: "key", title: CATEGORY_WORDS[category] }, categorySwatch(category), category),
    ),
  );
}

/** The cycles of each interval: [{begin, cycles}]. */
function intervalsOf(samples) {
  const rows = Math.max(0, ...samples.columns.map((column) => column.length));
  return Array.from({ length: rows }, (_, row) => ({
    begin: row * samples.interval,
    cycles: row === rows - 1 && samples.last ? samples.last : samples.interval,
  }));
}

/** Stacked areas of the accounts of a launch over its cycles, in the first compute unit. With a cause selected, that one
 * is at the bottom and the others are pale. */
function overTime(launch, chosen) {
  const samples = launch.samples[0];
  const intervals = intervalsOf(samples);
  const category = new Map(launch.accounts.map((one) => [one.id, one.category]));
  const columns = columnsOf.get(samples).filter((column) => column.kind === "account");
  const layers = columns.map((column) => ({ ...column, category: category.get(column.id) ?? "latency" }));
  const order = (layer) => (layer.id === chosen ? -1 : CATEGORIES.indexOf(layer.category));
  layers.sort((one, other) => order(one) - order(other));
  const width = 1000;
  const height = 100;
  const end = intervals.at(-1).begin + intervals.at(-1).cycles;
  const base = intervals.map(() => 0);
  const paths = layers.map((layer) => {
    const below = base.slice();
    layer.values.forEach((value, row) => (base[row] += value));
    return s("path", {
      class: `${categoryClass(layer.category)} ${chosen && layer.id !== chosen ? "pale" : ""}`,
      d: areaPath(intervals, below, base, { width, height, end }),
    });
  });
  const most = layers.map((layer) => layer.category);
  const words = `cycles of launch ${launch.number} over time: ${[...new Set(most)].join(", ")}`;
  return h(
    "div",
    { class: "overtime" },
    s(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
      paths,
    ),
    h(
      "div",
      { class: "axis", "aria-hidden": "true" },
      [0, 0.25, 0.5, 0.75, 1].map((at) => h("span", null, number(Math.round(at * end)))),
    ),
    h(
      "p",
      { class: "quiet" },
      `cycles of launch ${launch.number} of ${launch.kernel}${launch.samples.length > 1 ? ", compute unit 0" : ""}; ` +
        `each step is an interval of ${count(samples.interval, "cycle")}`,
    ),
  );
}

/** A closed path with a step for each interval; cycles are shares of their interval. */
function areaPath(intervals, below, above, { width, height, end }) {
  const x = (cycle) => ((cycle / end) * width).toFixed(2);
  const y = (row, cycles) => (height - (cycles[row] / intervals[row].cycles) * height).toFixed(2);
  const top = intervals.map(({ begin, cycles }, row) => `L${x(begin)} ${y(row, above)}H${x(begin + cycles)}`);
  const bottom = intervals
    .map(({ begin, cycles }, row) => `L${x(begin + cycles)} ${y(row, below)}H${x(begin)}`)
    .reverse();
  return `M0 ${y(0, below)}${top.join("")}${bottom.join("")}Z`;
}

/** The longest stretches of intervals in which a cause has at least half of its highest share: [{begin, end, cycles}],
 * most cycles first. */
function stretchesOf(launch, id) {
  const found = [];
  for (const samples of launch.samples) {
    const column = columnsOf.get(samples).find((one) => one.kind === "account" && one.id === id);
    if (!column) continue;
    const intervals = intervalsOf(samples);
    const shares = intervals.map(({ cycles }, row) => column.values[row] / cycles);
    const bound = Math.max(...shares) / 2;
    let open = null;
    intervals.forEach(({ begin, cycles }, row) => {
      if (shares[row] >= bound && shares[row] > 0) {
        open ??= { unit: samples.unit, begin, end: begin, cycles: 0 };
        open.end = begin + cycles;
        open.cycles += column.values[row];
      } else if (open) {
        found.push(open);
        open = null;
      }
    });
    if (open) found.push(open);
  }
  return found.sort((one, other) => other.cycles - one.cycles);
}
