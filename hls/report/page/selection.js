// What is shown and selected. It lives in the hash of the URL, so that going back, reloading and links work:
// #view=loops&item=loop:matmul/i/j&line=kernel.cl:7

const selection = {
  view: null,
  item: null, // the key of an item
  line: null, // "file:line", where no item but a line of the source was chosen
  launch: null, // number of the launch that a profile's views are of, as text
  program: null, // number of the program that a profile's page is of, as text
  listeners: [],

  /** Change some of view, item and line. An item replaces a line and the other way round. */
  set(change) {
    const { view, item, line, launch, program } = this;
    const next = { view, item, line, launch, program, ...change };
    if ("item" in change && !("line" in change)) next.line = null;
    if ("line" in change && !("item" in change)) next.item = null;
    const hash = hashOf(next);
    if (hash !== location.hash) location.hash = hash;
    else this.read();
  },

  /** Take what the hash says, and tell those who show it. */
  read() {
    const parts = new URLSearchParams(location.hash.slice(1));
    this.view = parts.get("view") ?? VIEWS[0].id;
    for (const name of ["item", "line", "launch", "program"]) this[name] = parts.get(name);
    for (const listener of this.listeners) listener(this);
  },
};

/** The hash of a selection; a launch or program that is not named is the one that is chosen. */
function hashOf(selected) {
  const { view, item, line } = selected;
  const { launch, program } = { launch: selection.launch, program: selection.program, ...selected };
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries({ view, item, line, launch, program })) if (value) parts.set(name, value);
  return "#" + parts.toString();
}

/** A link that selects an item, and shows it in ``view`` or where the reader is. */
function itemLink(item, text, view) {
  const link = h(
    "a",
    { href: hashOf({ view: view ?? selection.view, item: item.key }), "data-item": item.key },
    text ?? item.name,
  );
  link.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    selection.set({ item: item.key, view: view ?? selection.view });
  });
  return link;
}

/** A sentence of the report whose places, as in "(line 11)" or "(weights.h:3)", are links. */
function linked(text) {
  return text.split(/(\((?:line \d+|[^\s():]+:\d+)\))/).map((part, index) => (index % 2 ? linkedPlace(part) : part));
}

function linkedPlace(part) {
  const [, name, line] = part.match(/^\((?:line |(.+):)(\d+)\)$/);
  const file = name ? report.sources.find((one) => one.file.split("/").at(-1) === name)?.file : report.source;
  return file ? ["(", spanLink({ file, line: Number(line) }), ")"] : part;
}

/** A link to a line of the source: "line 11", or with the file's name where that is another one; ``short``: "11". */
function spanLink(span, short = false) {
  if (!span) return null;
  const place = placeOf(span);
  const words = short ? lineWords(span).replace("line ", "") : lineWords(span);
  if (!knownLines.has(place)) return words;
  const link = h("a", { class: "place", href: hashOf({ view: selection.view, line: place }) }, words);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    selection.set({ line: place });
  });
  return link;
}
