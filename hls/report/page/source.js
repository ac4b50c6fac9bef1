// The pane with the sources: colours, marks of what is selected, and a heat column where a view gives one.

const source = {
  file: null,
  heat: null, // Map of "file:line" to {share, text}, set by a view
  lines: [], // elements of the file shown

  start() {
    this.root = document.getElementById("source");
    this.files = (report.sources ?? []).map((one) => one.file);
    this.picker = h(
      "select",
      { "aria-label": "File", onchange: () => this.open(this.picker.value) },
      this.files.map((file) => h("option", { value: file }, file)),
    );
    this.list = h("div", {
      class: "code",
      role: "listbox",
      "aria-label": "Lines of the source",
      tabindex: this.files.length ? null : 0,
    });
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    const title = this.files.length > 1 ? this.picker : h("span", { class: "filename" }, this.files[0] ?? "no source");
    this.root.replaceChildren(h("h2", null, "Source"), title, this.list);
    if (this.files.length) this.open(this.files.includes(report.source) ? report.source : this.files[0]);
  },

  open(file) {
    if (file === this.file || !this.files.includes(file)) return;
    this.file = file;
    this.picker.value = file;
    const text = report.sources.find((one) => one.file === file).text.split("\n");
    if (text.at(-1) === "") text.pop();
    this.lines = text.map((line, index) => this.makeLine(line, index));
    this.list.replaceChildren(...this.lines);
    if (this.lines[0]) this.lines[0].tabIndex = 0;
    this.paintHeat();
  },

  makeLine(text, index) {
    const place = `${this.file}:${index + 1}`;
    const known = byLine.get(place);
    const element = h(
      "div",
      {
        role: "option",
        class: known ? "line known" : "line",
        tabindex: -1,
        "aria-selected": "false",
        onclick: () => selection.set({ line: place }),
      },
      h("span", { class: "heat", "aria-hidden": "true" }),
      h("span", { class: "lineno" }, String(index + 1)),
      h("span", { class: "mark", "aria-hidden": "true" }),
      h("code", null, coloured(text, (colourData[this.file] ?? [])[index])),
    );
    return element;
  },

  /** Show heat beside the lines, or none: ``heat`` is a Map of "file:line" to {share of the largest, text}. */
  setHeat(heat) {
    this.heat = heat;
    this.root.classList.toggle("heated", Boolean(heat));
    this.paintHeat();
  },

  paintHeat() {
    this.lines.forEach((line, index) => {
      const heat = this.heat?.get(`${this.file}:${index + 1}`);
      const cell = line.firstChild;
      cell.textContent = heat?.text ?? "";
      cell.style.setProperty("--heat-share", heat ? Math.sqrt(heat.share).toFixed(3) : 0);
    });
  },

  /** Mark the lines of what is selected, and bring the first into view. */
  mark(spans, scroll = true) {
    const first = spans[0];
    if (first) this.open(first.file);
    const lines = new Set(spans.filter((span) => span.file === this.file).map((span) => span.line));
    this.lines.forEach((line, index) => {
      const marked = lines.has(index + 1);
      const primary = marked && first.file === this.file && first.line === index + 1;
      line.classList.toggle("marked", marked);
      line.classList.toggle("primary", primary);
      line.setAttribute("aria-selected", String(marked));
      line.querySelector(".mark").textContent = primary ? "▶" : marked ? "▷" : "";
    });
    const target = first && first.file === this.file ? this.lines[first.line - 1] : null;
    if (target) {
      this.activate(target);
      if (scroll) this.bring(target);
    }
  },

  /** Scroll only where the line is not visible, and then to the middle. */
  bring(target) {
    const pane = this.list.getBoundingClientRect();
    const line = target.getBoundingClientRect();
    if (line.top < pane.top || line.bottom > pane.bottom) target.scrollIntoView({ block: "center", inline: "nearest" });
  },

  activate(target) {
    for (const line of this.list.querySelectorAll('[tabindex="0"]')) line.tabIndex = -1;
    target.tabIndex = 0;
  },

  onKey(event) {
    const at = this.lines.indexOf(event.target);
    if (at < 0) return;
    const moves = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: this.lines.length - 1,
      PageDown: at + 20,
      PageUp: at - 20,
    };
    if (event.key in moves) {
      const next = this.lines[Math.max(0, Math.min(this.lines.length - 1, moves[event.key]))];
      this.activate(next);
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") selection.set({ line: `${this.file}:${at + 1}` });
    else return;
    event.preventDefault();
  },
};

/** A line of text as nodes; ``pieces`` is a flat list of (first column, length, class), counted in code points. */
function coloured(text, pieces = []) {
  const points = Array.from(text);
  const nodes = [];
  let done = 0;
  for (let at = 0; at < pieces.length; at += 3) {
    const [first, length, colour] = pieces.slice(at, at + 3);
    if (first > done) nodes.push(points.slice(done, first).join(""));
    nodes.push(h("span", { class: `c-${colour}` }, points.slice(first, first + length).join("")));
    done = first + length;
  }
  nodes.push(points.slice(done).join("") || (nodes.length ? "" : " "));
  return nodes;
}
