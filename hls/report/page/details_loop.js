// Details of loops, and the words for what limits them.

/** Cause of a bottleneck as nodes: what waits, for what, and where. */
function causeWords(cause, loop) {
  const at = cause.span ? [" (", spanLink(cause.span), ")"] : "";
  const earlier = cause.distance > 1 ? `, ${cause.distance} iterations earlier` : "";
  const words = {
    data: () => ["loop-carried dependence on ", h("b", null, cause.subject), at, earlier],
    memory: () => [
      "loop-carried memory dependence: ",
      h("b", null, loop?.waits || cause.subject),
      at,
      cause.proved ? " needs " : " may need ",
      h("b", null, loop?.waits_for || "the access"),
      cause.other ? [" (", spanLink(cause.other), ")"] : "",
      " of an earlier iteration",
      earlier,
    ],
    condition: () => ["the exit condition is known late", at],
    resource: () => ["several operations share ", h("b", null, cause.subject), at],
    turns: () => [h("b", null, cause.subject), at, " of one iteration use one port after the other"],
    request: () => ["the source requests it", at],
    concurrency: () => [`the source limits the concurrency to ${cause.subject}`, at],
    ahead: () => [`the source limits speculation to ${cause.subject} iterations`, at],
    invocations: () => ["an invocation waits for the accesses of the one before: ", h("b", null, cause.subject), at],
  };
  return (words[cause.kind] ?? (() => [cause.kind, " ", cause.subject, at]))();
}

function causeText(cause, loop) {
  return h("span", null, causeWords(cause, loop)).textContent;
}

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
  h("p", { class: "verdict" }, verdictSign(loop), " ", loopSentence(loop)),
  loop.advice ? h("p", { class: "advice" }, `${loop.advice}.`) : null,
  h(
    "div",
    { class: "columns" },
    loop.ii ? section("Figures", loopFacts(loop)) : null,
    loop.bottleneck
      ? section(
          "What limits it",
          h("p", null, capitalFirst(causeWords(loop.bottleneck, loop)), recurrenceWords(loop.bottleneck)),
          assumedWords(loop),
          sharesTable(loop.bottleneck.shares),
        )
      : null,
    loop.would_be.length ? section("What would help", wouldBeTable(loop)) : null,
    loop.serial.length
      ? section(
          "Serial region",
          loop.serial.map((region) => serialWords(region, loop)),
        )
      : null,
    loop.additional.length
      ? section(
          "Also",
          h(
            "ul",
            { class: "links" },
            loop.additional.map((cause) => h("li", null, causeWords(cause))),
          ),
        )
      : null,
    loop.conflicts.length
      ? section("Address conflicts", h("ul", { class: "links" }, loop.conflicts.map(conflictWords)))
      : null,
    loop.path ? section(`Critical path ${number(loop.path.ns, 2)} ns`, sharesTable(loop.path.steps)) : null,
    partsOfLoop(loop, item),
  ),
];

function capitalFirst(nodes) {
  const [first, ...rest] = nodes;
  return [typeof first === "string" ? capital(first) : first, ...rest];
}

function loopSentence(loop) {
  if (loop.part_of) return `${loop.part_of[0]} with another loop, whose figures are of both.`;
  if (loop.unroll?.factor) {
    const by = loop.unroll.reason === "pragma" ? "#pragma unroll" : "the compiler (#pragma unroll 1 prevents it)";
    return `${loop.unroll.full ? "Fully unrolled" : "Unrolled"} by ${by}: ${count(loop.unroll.factor, "copy", "copies")} of the body.`;
  }
  if (!loop.ii)
    return (
      {
        "runs once": "It runs once: no loop is left.",
        "never runs": "It never runs.",
        removed: "Its result is never used.",
        replaced: "Other hardware does its work.",
      }[loop.gone] ?? ""
    );
  const every =
    loop.scheduled_ii === 1 ? "every cycle" : `every ${number(Math.max(loop.scheduled_ii, loop.paced ?? 0), 2)} cycles`;
  const inner = loop.paced && loop.paced > loop.ii ? ", paced by the inner loop" : "";
  return `II ${rateText(loop)}${loop.interleaving > 1 ? `, ${loop.interleaving} invocations interleaved` : ""}: an iteration starts ${every}${inner}.`;
}

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
    ["copies in hardware", loop.copies > 1 ? number(loop.copies) : ""],
    ["slots", number(loop.slots)],
    ["fmax", loop.fmax_mhz ? fmaxWords(loop.fmax_mhz) : ""],
    ["speculated iterations", loop.speculative ? `up to ${number(loop.speculated)}` : ""],
    ["lost to II 1", loop.lost ? `${number(loop.lost, 1)} cycles an iteration` : ""],
    ["why no more interleaving", loop.one_at_a_time],
  ]);
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
      [now, ...loop.would_be.map(row)].map((cells, index) =>
        h(
          "tr",
          { class: index ? null : "quiet" },
          cells.map((cell) => h("td", null, String(cell))),
        ),
      ),
    ),
  );
}

function serialWords(region, loop) {
  const names = region.loops.map(([label, span], index) => [
    index ? " and " : "",
    `loop ${label} (`,
    spanLink(span),
    ")",
  ]);
  return h("p", null, "One iteration at a time executes ", names, ", because of ", causeWords(region.cause, loop), ".");
}

function conflictWords(one) {
  return h(
    "li",
    null,
    `load of ${one.memory} (`,
    spanLink(one.span),
    `) waits up to ${count(one.cycles, "cycle")} for the store (`,
    spanLink(one.other),
    ") of an earlier iteration to the same address",
  );
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
          `${one.name}: carried, ${count(one.bits, "bit")}, ${number(one.registers)} × ${number(one.depth)} registers`,
        ),
      ),
    ),
  );
}
