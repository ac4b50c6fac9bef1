// Details of what was measured; those of a kernel are above what the report says of it.

const kernelInReport = DETAILS.kernel;

DETAILS.kernel = (kernel, item) => {
  const group = groupOfKernel(kernel.name);
  const measured = group ? measuredKernel(group) : h("p", { class: "quiet" }, "It was not launched.");
  return [measured, h("details", null, h("summary", null, "From the compilation"), kernelInReport(kernel, item))];
};

function measuredKernel(group) {
  const verdict = verdictGroups().find((one) => one.name === group.name)?.slowest.verdict;
  const issued = issuedCycles(group.accounts);
  return [
    verdict
      ? h("p", { class: "verdict" }, sign(verdictLevel(verdict), `${verdict.rule}: `), linked(verdict.sentence))
      : null,
    verdict?.remedies.map((remedy) => h("p", { class: "advice" }, linkedKernels(remedy))),
    h(
      "div",
      { class: "columns" },
      section(
        launchInScope() ? `In launch ${selection.launch}` : "In all launches",
        facts([
          ["cycles", `${number(Math.round(group.cycles))}${group.runs.length > 1 ? ", mean of the copies" : ""}`],
          ["issued", `${number(Math.round(issued))} (${percent(share(issued, group.cycles), 1)})`],
          ...group.accounts
            .filter((one) => one.category !== "issue")
            .slice(0, 5)
            .map((one) => [
              itemLink(itemOf("cause", `${group.name}/${one.id}`) ?? itemOf("kernel", group.name), one.cause, "cycles"),
              `${number(Math.round(one.cycles))} (${percent(share(one.cycles, group.cycles), 1)})`,
            ]),
        ]),
      ),
      verdict?.figures.length ? section("Figures of the verdict", facts(figurePairs(verdict))) : null,
    ),
  ];
}

DETAILS.cause = ({ id }, item) => {
  const group = groupOfKernel(item.kernel);
  const account = group?.accounts.find((one) => one.id === id);
  if (!account) return h("p", null, "No cycles in what is shown.");
  const victims = victimsOf(group, account);
  const blames = group.runs[0].blame.filter((one) => one.cause === account.cause && one.line === account.line);
  const launch = sampledLaunch(item.kernel);
  const stretches = launch ? stretchesOf(launch, id).slice(0, 5) : [];
  return h(
    "div",
    { class: "columns" },
    section(
      "Cycles",
      facts([
        [
          "cycles",
          `${number(Math.round(account.cycles))} of ${number(Math.round(group.cycles))} (${percent(share(account.cycles, group.cycles), 1)})`,
        ],
        ["kind", [categorySwatch(account.category), `${account.category}: ${CATEGORY_WORDS[account.category]}`]],
        [
          "copies",
          group.runs.length > 1
            ? `${number(account.least)} to ${number(account.most)}, mean of ${group.runs.length}`
            : "",
        ],
      ]),
    ),
    victims.length
      ? section(
          "Holds up",
          factsList(victims.map((one) => [linked(victimWords(one)), count(Math.round(one.cycles), "cycle")])),
        )
      : null,
    blames.length
      ? section(
          "Because",
          factsList(
            blames
              .sort((one, other) => other.cycles - one.cycles)
              .slice(0, 6)
              .map((one) => [linked(blameEnd(one)), count(one.cycles, "cycle")]),
          ),
        )
      : null,
    stretches.length
      ? section(
          `When, in launch ${launch.number}`,
          factsList(
            stretches.map((one) => [
              `cycles ${number(one.begin)} to ${number(one.end)}`,
              `${number(one.cycles)} (${percent(share(one.cycles, one.end - one.begin))})`,
            ]),
          ),
        )
      : null,
  );
};

/** Pairs whose first parts may be elements. */
function factsList(pairs) {
  return h(
    "dl",
    { class: "facts amounts" },
    pairs.map(([word, value]) => h("div", null, h("dt", null, word), h("dd", null, value))),
  );
}

DETAILS.use = ({ id }, item) => {
  const group = groupOfKernel(item.kernel);
  const one = group?.runs[0].accesses.find((access) => access.id === id);
  if (!one) return h("p", null, "Nothing was measured of it in what is shown.");
  const held = group.runs[0].held.filter((part) => part.id === id).sort((a, b) => b.cycles - a.cycles);
  const inReport = reportItem("access", item.kernel, one.line, one.buffer);
  return h(
    "div",
    { class: "columns" },
    section(
      "Access",
      facts([
        ["unit", one.unit],
        ["memory", one.memory],
        ["bytes of a request", number(one.access_bytes)],
        ["loop", one.loop ? itemLink(itemOf("pace", `${item.kernel}/${one.loop}`) ?? item) : ""],
        ["from the compilation", fromReport(inReport, inReport?.name)],
      ]),
    ),
    section(
      "Cycles",
      facts([
        ["occupancy", percentOr(one.occupancy)],
        ["activity", percentOr(one.activity)],
        ["stall", one.stall >= RED ? sign("error", percent(one.stall, 1)) : percentOr(one.stall)],
        ["stall + occupancy", percent((one.stall ?? 0) + (one.occupancy ?? 0))],
        ["requests in vain", percentOr(one.in_vain)],
      ]),
    ),
    section(
      "Bytes",
      facts([
        ["requested", bytesWords(one.bytes_used)],
        ["moved", bytesWords(one.bytes_moved)],
        [
          "efficiency",
          one.efficiency === null
            ? ""
            : bar(one.efficiency, percent(one.efficiency, 1), one.efficiency < 0.5 ? "warning" : "good"),
        ],
        ["reuse", one.reuse === null ? "" : `${number(one.reuse, 2)} requests of each byte`],
        ["bandwidth", `${number(one.bytes_per_ns, 2)} GB/s, ${percentOr(one.bandwidth)} of the peak`],
        ["average burst", one.average_burst === null ? "" : count(Number(one.average_burst.toFixed(1)), "word")],
        ["full bursts", one.full_bursts === null ? "" : `${percentOr(one.full_bursts)}, of ${one.max_burst} words`],
        ["longest burst", one.max_burst ? count(one.max_burst, "word") : ""],
        ["unaligned requests", percentOr(one.unaligned)],
        ["cache hits", percentOr(one.cache_hit)],
      ]),
    ),
    held.length
      ? section(
          "Held up by",
          factsList(held.slice(0, 6).map((part) => [linked(heldWords(part)), count(part.cycles, "cycle")])),
        )
      : null,
  );
};

DETAILS.pace = ({ id }, item) => {
  const group = groupOfKernel(item.kernel);
  const one = group?.runs[0].loops.find((loop) => loop.id === id);
  if (!one) return h("p", null, "Nothing was measured of it in what is shown.");
  const inReport = reportItem("loop", item.kernel, one.line, one.name);
  return h(
    "div",
    { class: "columns" },
    section(
      "Interval",
      facts([
        ["static II", number(one.static_ii)],
        ["interleaving", number(one.interleaving)],
        ["scheduled II", number(one.scheduled_ii, 2)],
        ["measured II", one.measured_ii === null ? "never two in a row" : number(one.measured_ii, 2)],
        ["iterations", number(one.iterations)],
        ["invocations", number(one.invocations)],
      ]),
    ),
    inReport
      ? section(
          "From the compilation",
          facts([
            ["loop", itemLink(inReport, inReport.name, "loops")],
            ["schedule", itemLink(inReport, "its operations", "schedule")],
            ["verdict", inReport.data.verdict],
            ["limited by", inReport.data.category],
            ["advice", inReport.data.advice],
          ]),
        )
      : null,
  );
};

DETAILS.pipe = ({ name }) => {
  const channel = channelsInScope().find((one) => one.name === name);
  if (!channel) return h("p", null, "Nothing was measured of it in what is shown.");
  const one = measuredChannel(channel);
  const inReport = itemOf("channel", name);
  return [
    one.advice ? h("p", { class: "verdict" }, one.advice) : null,
    h(
      "div",
      { class: "columns" },
      section(
        "Channel",
        facts([
          ["values", number(one.values)],
          ["depth", number(one.depth)],
          ["mean level", one.mean === null ? "" : number(one.mean, 2)],
          ["highest level", number(one.most)],
          ["from the compilation", fromReport(inReport, inReport?.name)],
        ]),
      ),
      section(
        "Writer",
        one.writer
          ? facts([
              ["kernel", linked(endWords(one.writer))],
              ["waits for room", percentOr(one.writeStall)],
            ])
          : "not in what is shown",
      ),
      section(
        "Reader",
        one.reader
          ? facts([
              ["kernel", linked(endWords(one.reader))],
              ["waits for a value", percentOr(one.readStall)],
            ])
          : "not in what is shown",
      ),
    ),
  ];
};

DETAILS.launch = (launch) => {
  const captures = launchesShown.filter((one) => one.capture && one.of === launch.number);
  const issued = issuedCycles(launch.accounts);
  const alone = h(
    "button",
    { type: "button", onclick: () => selection.set({ launch: String(launch.number) }) },
    "Show this launch alone",
  );
  return [
    launch.capture ? null : h("p", null, alone),
    h(
      "div",
      { class: "columns" },
      section(
        "Launch",
        facts([
          [
            "kernel",
            itemOf("kernel", reportEntry(launch.kernel)?.name)
              ? itemLink(itemOf("kernel", reportEntry(launch.kernel).name), launch.kernel)
              : launch.kernel,
          ],
          ["global size", launch.global_size.join(" × ")],
          ["size of a group", launch.local_size.join(" × ")],
          ["queue", launch.capture ? "" : number(launch.queue)],
          ["captured in", launch.capture && launch.of !== null ? launchLink(launch.of) : ""],
          ["start", timeWords(launch.start_ns)],
          ["time", timeWords(launch.end_ns - launch.start_ns)],
          ["cycles", number(launch.cycles)],
          ["issued", `${number(issued)} (${percent(share(issued, launch.cycles), 1)})`],
        ]),
      ),
      section(
        "Most cycles",
        factsList(
          [...launch.accounts]
            .sort((one, other) => other.cycles - one.cycles)
            .slice(0, 6)
            .map((one) => [
              linked(one.line ? `${one.cause} (line ${one.line})` : one.cause),
              `${number(one.cycles)} (${percent(share(one.cycles, launch.cycles), 1)})`,
            ]),
        ),
      ),
      launch.units.length
        ? section(
            "Compute units",
            factsList(
              launch.units.map((unit) => [
                `unit ${unit.number}${unit.groups === null ? "" : `, ${count(unit.groups, "group")}`}`,
                percentOr(unit.occupancy),
              ]),
            ),
          )
        : null,
      captures.length
        ? section(
            "Autorun kernels meanwhile",
            h(
              "ul",
              { class: "links" },
              captures.slice(0, 12).map((one) => h("li", null, launchLink(one.number, one.kernel))),
            ),
          )
        : null,
    ),
  ];
};

DETAILS.command = (command) =>
  facts([
    ["queue", command.queue === null ? "none" : number(command.queue)],
    ["launch", command.launch === null ? "" : launchLink(command.launch)],
    ["bytes", command.bytes ? bytesWords(command.bytes) : ""],
    ["queued", timeWords(command.queued_ns)],
    ["submitted", timeWords(command.submit_ns)],
    ["start", timeWords(command.start_ns)],
    ["time", timeWords(command.end_ns - command.start_ns)],
    ["host's own time at its end", `${number(command.host_s, 3)} s`],
  ]);

WORDS.push(
  [
    "cause",
    "what a cycle is attributed to: in each cycle the most important one that holds, so that causes sum to the cycles",
  ],
  ["held up", "a request or call that could not go on; the cause of that cycle is what holds it up"],
  ["capture", "what an autorun kernel did while a launch of another kernel ran"],
  ["occupancy", "iterations that passed an access / cycles"],
  ["efficiency", "bytes requested / bytes moved, at most 100 %"],
);
KEYS.splice(3, 0, ["n  p", "in Source: the next red line, the previous one"]);
