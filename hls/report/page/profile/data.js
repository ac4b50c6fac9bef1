// The data of a profile: profile.json without what is in the reports, and the samples' columns.
// The fields are those of docs/profile.schema.json; hls/report/profile_page.py says what is different here.

const packedProfile = JSON.parse(document.getElementById("profile").textContent);
const profile = unpack(packedProfile.data, packedProfile.shared);
/** The program whose report and kernels the page shows. */
const programNumber = Number(reportElement.id.split("-")[1]);
const kernelsShown = profile.kernels.filter((kernel) => kernel.program === programNumber);
const launchesShown = profile.launches.filter((launch) => launch.program === programNumber);
const launchByNumber = new Map(profile.launches.map((launch) => [launch.number, launch]));
const columnsOf = decodedColumns(
  await inflated(profile.columns),
  profile.launches.flatMap((launch) => launch.samples),
);

/** For tests. */
window.sluiceProfile = { profile, columnsOf };

/** The bytes of hls/profile/columns.py. */
async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A Map from each of the samples to its columns [{kind, id, values}]. */
function decodedColumns(bytes, samples) {
  const ordered = [...samples].sort((one, other) => one.first_column - other.first_column);
  const found = new Map();
  let at = 0;
  for (const one of ordered) {
    const columns = one.columns.map(({ kind, id, scale, length }) => {
      const values = new Float64Array(length);
      let value = 0;
      for (let row = 0; row < length; row++) {
        let step = 0;
        let weight = 1;
        let byte;
        do {
          byte = bytes[at++];
          step += (byte & 127) * weight;
          weight *= 128;
        } while (byte & 128);
        value += step % 2 ? -(step + 1) / 2 : step / 2;
        values[row] = value / scale;
      }
      return { kind, id, values };
    });
    found.set(one, columns);
  }
  return found;
}

/** The kinds of cycles in the order of the bars, with a tone of profile.css each. */
const CATEGORIES = [
  "issue",
  "recurrence",
  "memory",
  "memory order",
  "local memory",
  "channel",
  "barrier",
  "groups",
  "inner loop",
  "ramp-up",
  "latency",
  "drain",
];
const CATEGORY_WORDS = {
  issue: "an iteration or work-item was issued",
  recurrence: "a result of an earlier iteration was not there yet",
  memory: "waiting for global memory",
  "memory order": "a load waited for an earlier store",
  "local memory": "waiting for a port of memory inside the kernel",
  channel: "waiting at a channel",
  barrier: "waiting at a barrier",
  groups: "waiting for an earlier group",
  "inner loop": "waiting for an inner loop to end",
  "ramp-up": "before the first issue",
  latency: "nothing waits, and nothing could be issued",
  drain: "after the last issue",
};

function categoryClass(category) {
  return `cat-${category.replaceAll(" ", "-")}`;
}

function categorySwatch(category) {
  return h("span", { class: `swatch ${categoryClass(category)}`, "aria-hidden": "true" });
}

/** The category that most cycles without an issue are of, and its cycles; null if all have an issue. */
function largestWait(accounts) {
  const waits = accounts.filter((one) => one.category !== "issue" && one.cycles);
  return waits.reduce((most, one) => (most && most.cycles >= one.cycles ? most : one), null);
}

function issuedCycles(accounts) {
  return accounts.filter((one) => one.category === "issue").reduce((sum, one) => sum + one.cycles, 0);
}

/** A time in ns for a reader. */
function timeWords(ns) {
  const [unit, scale] = [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ].find(([, size]) => Math.abs(ns) >= size) ?? ["ns", 1];
  return `${Number((ns / scale).toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 })} ${unit}`;
}

function bytesWords(bytes) {
  const [unit, scale] = [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ].find(([, size]) => bytes >= size) ?? ["bytes", 1];
  return `${number(bytes / scale, scale === 1 ? 0 : 2)} ${unit}`;
}

function share(part, whole) {
  return whole ? part / whole : 0;
}

/** From this share of its memory's peak on it matters how much an access wastes. */
const MATTERS = 0.01;

/** The efficiency of an access; marked if it wastes more than it uses, and moves enough for that to matter. */
function efficiencyShow(one) {
  const wastes = one.efficiency !== null && one.efficiency < 0.5 && (one.bandwidth ?? 1) >= MATTERS;
  return wastes ? sign("warning", percent(one.efficiency, 1)) : percentOr(one.efficiency);
}

/** A share for a table; "" for none. */
function percentOr(value, digits = 1) {
  return value === null || value === undefined ? "" : percent(value, digits);
}
