// Details of loops. What is said of them are the sentences of the data; only their places become links.

/** A verdict with a sign: what became of the loop, and whether that costs cycles. */
function verdictSign(loop) {
  if (!loop.ii) return h("span", { class: "quiet" }, loop.verdict);
  if (loop.verdict === "sequential") return sign("warning", loop.verdict);
  return slow(loop) ? sign("warning", loop.verdict) : sign("good", loop.verdict);
}

/** Whether the hardware of a loop starts iterations less often than every cycle, or has a serial region. */
function slow(loop) {
  return loop.ii > loop.interleaving || loop.serial.length > 0 || loop.verdict === "sequential";
}

function rateText(loop) {
  if (!loop.ii) return "";
  return `${loop.at_most && loop.ii > 1 ? "≤ " : ""}${loop.ii}`;
}

DETAILS.loop = (loop, item) => [
  h("p", { class: "verdict" }, verdictSign(loop), " ", linked(loop.sentence)),
  loop.advice ? h("p", { class: "advice" }, `${loop.advice}.`) : null,
  h(
    "div",
    { class: "columns" },
    loop.ii ? section("Figures", loopFacts(loop)) : null,
    loop.bottleneck
      ? section(
          "What limits it",
          h("p", null, linked(capital(loop.bottleneck.sentence)), recurrenceWords(loop.bottleneck)),
          assumedWords(loop),
          accessesFacts(loop),
          sharesTable(loop.bottleneck.shares),
        )
      : null,
    loop.would_be.length ? section("What would help", wouldBeTable(loop)) : null,
    loop.clock_points?.length ? section("II against clock", clockPointsTable(loop)) : null,
    loop.serial.length
      ? section(
          "Serial region",
          [loop.serial.map(serialWords), loop.bottleneck ? null : accessesFacts(loop)],
        )
      : null,
    loop.additional.length
      ? section(
          "Also",
          h(
            "ul",
            { class: "links" },
            loop.additional.map((cause) => h("li", null, linked(capital(cause.sentence)))),
          ),
        )
      : null,
    loop.conflicts.length
      ? section("Address conflicts", h("ul", { class: "links" }, loop.conflicts.map((one) => h("li", null, linked(capital(one.sentence))))))
      : null,
    loop.path ? section(`Critical path ${number(loop.path.ns, 2)} ns`, sharesTable(loop.path.steps)) : null,
    partsOfLoop(loop, item),
  ),
];

function loopFacts(loop) {
  const formula = `${number(loop.latency)} × ${loop.interleaving} / ${loop.ii}`;
  return facts([
    ["II", rateText(loop)],
    ["interleaving", number(loop.interleaving)],
    ["latency", `${count(loop.latency, "cycle")}, ${count(loop.levels, "level")}`],
    [
      "concurrency",
      h(
        "span",
        { title: "latency × interleaving / II" },
        `${number(loop.concurrency)} (${formula}${loop.limit ? `, limit ${loop.limit}` : ""})`,
      ),
    ],
    ["trip count", loop.trip_count === null ? "known at run time" : number(loop.trip_count)],
    ["iterations a launch", loop.iterations === null ? "" : number(loop.iterations)],
    ["predicted iterations", loop.predicted ? predictedRuns(loop.predicted) : ""],
    ["predicted interval", loop.predicted?.iterations ? predictedPace(loop.predicted) : ""],
    ["copies in hardware", loop.copies > 1 ? number(loop.copies) : ""],
    ["slots", number(loop.slots)],
    ["fmax", loop.fmax_mhz ? fmaxWords(loop.fmax_mhz) : ""],
    ["speculated iterations", loop.speculative || loop.speculated ? `${number(loop.speculated)} if nothing stalls` : ""],
    ["lost to II 1", loop.lost ? `${number(loop.lost, 1)} cycles an iteration` : ""],
    ["why no more interleaving", loop.one_at_a_time],
  ]);
}

function predictedRuns(one) {
  return `${number(Math.round(one.iterations))} in ${count(Math.round(one.invocations), "invocation")}`;
}

function predictedPace(one) {
  return `${number(one.interval, 2)} cycles apart: ${one.cause}`;
}

function fmaxWords(mhz) {
  const text = `${number(mhz, 1)} MHz`;
  return mhz < report.clock_mhz ? sign("warning", `${text}, below the clock`) : text;
}

function recurrenceWords(cause) {
  return cause.cycles
    ? `: a recurrence of ${count(cause.cycles, "cycle")}${cause.distance > 1 ? ` over ${cause.distance} iterations` : ""}.`
    : ".";
}

function assumedWords(loop) {
  return loop.assumed
    ? h("p", null, sign("note", "assumed: that both touch the same address is not excluded, but not proved"))
    : null;
}

/** The source texts of the two accesses of a memory dependence. */
function accessesFacts(loop) {
  const texts = [
    ["waiting access", loop.waits],
    ["waits for", loop.waits_for],
  ].filter(([, text]) => text);
  return texts.length ? facts(texts.map(([word, text]) => [word, h("code", null, text)])) : null;
}

/** The operations of a recurrence or a path, the longest first; equal ones are one row. */
function sharesTable(shares) {
  if (!shares.length) return null;
  const merged = new Map();
  for (const one of shares) {
    const key = `${one.operation} ${one.span ? placeOf(one.span) : ""}`;
    const known = merged.get(key) ?? { ...one, share: 0, times: 0 };
    known.share += one.share;
    known.times += 1;
    merged.set(key, known);
  }
  const rows = [...merged.values()].sort((one, other) => other.share - one.share);
  return h(
    "table",
    { class: "small" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "share"),
        h("th", { scope: "col" }, "operation"),
        h("th", { scope: "col" }, "line"),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map((one) =>
        h(
          "tr",
          null,
          h("td", null, bar(one.share, percent(one.share))),
          h("td", null, one.operation, one.times > 1 ? ` × ${one.times}` : ""),
          h("td", null, one.span ? spanLink(one.span) : ""),
        ),
      ),
    ),
  );
}

function wouldBeTable(loop) {
  const heads = ["change", "II", "interleaving", "fmax", "cycles an iteration"];
  const row = (one) => [
    one.change + (one.at_best ? " (at best)" : ""),
    one.ii,
    one.interleaving,
    one.fmax_mhz ? `${number(one.fmax_mhz, 1)} MHz` : "",
    number(one.interval ?? one.ii / one.interleaving, 2),
  ];
  const now = [
    "as it is",
    loop.ii,
    loop.interleaving,
    loop.fmax_mhz ? `${number(loop.fmax_mhz, 1)} MHz` : "",
    number(Math.max(loop.scheduled_ii, loop.paced ?? 0), 2),
  ];
  return besideNow(heads, [now, ...loop.would_be.map(row)]);
}

/** The loop as it is, and at another II with the clock that this permits. */
function clockPointsTable(loop) {
  const heads = ["", "II", "fmax", "iterations a µs"];
  const rows = loop.clock_points.map((one) => [one.how, one.ii, `${number(one.fmax_mhz, 1)} MHz`, number(one.iterations_per_us, 1)]);
  return besideNow(heads, rows);
}

/** A table whose first row is the loop as it is. */
function besideNow(heads, rows) {
  return h(
    "table",
    { class: "small" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        heads.map((head) => h("th", { scope: "col" }, head)),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map((cells, index) =>
        h(
          "tr",
          { class: index ? null : "quiet" },
          cells.map((cell) => h("td", null, String(cell))),
        ),
      ),
    ),
  );
}

function serialWords(region) {
  const names = region.loops.map(([label, span], index) => [
    index ? " and " : "",
    `loop ${label} (`,
    spanLink(span),
    ")",
  ]);
  return h("p", null, "One iteration at a time executes ", names, ", because of ", linked(region.cause.sentence), ".");
}

/** Accesses and carried variables of the loop. */
function partsOfLoop(loop, item) {
  const kernel = report.kernels.find((one) => one.name === item.kernel);
  const accesses = [...kernel.accesses, ...kernel.local_accesses].filter((one) => one.loop === loop.id);
  const variables = kernel.variables.filter((one) => one.loop === loop.id);
  if (!accesses.length && !variables.length) return null;
  return section(
    "In it",
    h(
      "ul",
      { class: "links" },
      accesses.map((one) => h("li", null, itemLink(namedItem(one.id), capital(accessName(one))))),
      variables.map((one) =>
        h(
          "li",
          null,
          `${one.name}: carried, ${count(one.bits, "bit")}, ${count(one.depth, "register")}`,
        ),
      ),
    ),
  );
}
