// The frame: the tree of views and kernels, panes that resize and fold, keys, and the help.

/** The views, in the order of the tree; each script of a view adds its own: {id, title, lead, make(), group, scope(),
 * wide}. ``make`` returns {element, select(), heat(), key(event)}; all but the first may be missing. ``group`` is the
 * heading in the tree, ``scope`` gives what else the view depends on, as a text: it is made anew where that changes;
 * ``wide``: it shows the source itself, and needs the room of that pane. */
const VIEWS = [];

function groupOf(view) {
  return view.group ?? "Views";
}

const frame = {
  shown: null, // what the view that is shown has made

  start() {
    this.nav = document.getElementById("nav");
    this.buildNav();
    document.querySelectorAll(".splitter").forEach((splitter) => makeSplitter(splitter));
    document.getElementById("help-button").addEventListener("click", openHelp);
    document.addEventListener("keydown", onGlobalKey);
  },

  buildNav() {
    const viewItems = VIEWS.map((view, index) => {
      const key = index < 9 ? [h("kbd", { "aria-hidden": "true" }, String(index + 1)), " "] : null;
      const label = [key, view.title].filter(Boolean);
      return this.leaf(label, { "data-view": view.id }, () => selection.set({ view: view.id }));
    });
    const kernels = report.kernels.map((kernel) => {
      const many = kernel.copies ? ` × ${kernel.copies.count}` : "";
      return this.leaf([kernel.name, many], { "data-item": `kernel:${kernel.name}` }, () =>
        selection.set({ item: `kernel:${kernel.name}` }),
      );
    });
    const group = (title, leaves) => [
      h(
        "li",
        { role: "treeitem", class: "group", "aria-expanded": "true", tabindex: -1 },
        h("span", { class: "leaf" }, title),
        h("ul", { role: "group" }, leaves),
      ),
    ];
    const groups = [...new Set(VIEWS.map(groupOf))];
    const tree = h(
      "ul",
      { role: "tree", "aria-label": "Views and kernels" },
      groups.map((title) =>
        group(
          title,
          viewItems.filter((_, index) => groupOf(VIEWS[index]) === title),
        ),
      ),
      group(`Kernels (${report.kernels.length})`, kernels),
    );
    tree.addEventListener("keydown", (event) => this.onKey(event));
    tree.addEventListener("click", (event) => {
      const title = event.target.closest(".group > .leaf");
      if (title) this.fold(title.parentElement);
    });
    this.nav.replaceChildren(tree);
  },

  leaf(label, props, act) {
    return h(
      "li",
      { role: "treeitem", tabindex: -1, ...props, "aria-selected": "false", onclick: act },
      h("span", { class: "leaf" }, label),
    );
  },

  fold(group) {
    group.setAttribute("aria-expanded", String(group.getAttribute("aria-expanded") !== "true"));
  },

  /** Show which view and kernel are chosen. */
  mark() {
    const kernel = kernelInFocus();
    for (const leaf of this.nav.querySelectorAll("[data-view], [data-item]")) {
      const chosen = leaf.dataset.view
        ? leaf.dataset.view === selection.view
        : leaf.dataset.item === `kernel:${kernel?.name}`;
      leaf.setAttribute("aria-selected", String(chosen));
      leaf.classList.toggle("chosen", chosen);
    }
    if (!this.nav.contains(document.activeElement)) this.stop(this.nav.querySelector("[data-view].chosen"));
  },

  onKey(event) {
    const shown = [...this.nav.querySelectorAll("[role=treeitem]")].filter(
      (leaf) => !leaf.parentElement.closest('[aria-expanded="false"]'),
    );
    const leaf = event.target.closest("[role=treeitem]");
    const at = shown.indexOf(leaf);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 };
    if (event.key in moves) this.focus(shown[Math.max(0, Math.min(shown.length - 1, moves[event.key]))]);
    else if (event.key === "ArrowLeft" && leaf.getAttribute("aria-expanded") === "true") this.fold(leaf);
    else if (event.key === "ArrowRight" && leaf.getAttribute("aria-expanded") === "false") this.fold(leaf);
    else if (event.key === "ArrowLeft") this.focus(leaf.parentElement.closest("[role=treeitem]") ?? leaf);
    else if (event.key === "Enter" || event.key === " ")
      leaf.classList.contains("group") ? this.fold(leaf) : leaf.click();
    else return;
    event.preventDefault();
  },

  /** The one leaf that the tab key stops at. */
  stop(leaf) {
    for (const other of this.nav.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    if (leaf) leaf.tabIndex = 0;
  },

  focus(leaf) {
    this.stop(leaf);
    leaf.focus();
  },
};

/** A border that resizes the pane beside it: by dragging or arrows; Enter or a double click folds the pane. */
function makeSplitter(splitter) {
  const { pane, side } = splitter.dataset;
  const upright = side !== "below";
  const limits = { nav: [120, 420], source: [200, 900], details: [80, 600] }[pane];
  const name = `--${pane}-size`;
  const root = document.documentElement;
  const size = () => parseFloat(getComputedStyle(root).getPropertyValue(name));
  const apply = (pixels) => {
    root.style.setProperty(name, `${Math.round(Math.max(limits[0], Math.min(limits[1], pixels)))}px`);
    splitter.setAttribute("aria-valuenow", String(Math.round(size())));
  };
  const fold = () => {
    const folded = document.body.classList.toggle(`folded-${pane}`);
    splitter.setAttribute("aria-label", `${folded ? "Folded" : "Size of"} pane ${pane}`);
  };
  const props = {
    role: "separator",
    tabindex: 0,
    "aria-controls": pane,
    "aria-label": `Size of pane ${pane}`,
    "aria-orientation": upright ? "vertical" : "horizontal",
    "aria-valuemin": limits[0],
    "aria-valuemax": limits[1],
  };
  for (const [key, value] of Object.entries(props)) splitter.setAttribute(key, value);
  splitter.title = "Drag to resize; double click, or Enter, to fold";
  apply(size());
  splitter.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    splitter.setPointerCapture(event.pointerId);
    const from = { size: size(), at: upright ? event.clientX : event.clientY };
    const move = (moved) =>
      apply(from.size + ((upright ? moved.clientX : moved.clientY) - from.at) * (side === "left" ? 1 : -1));
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("pointerup", () => splitter.removeEventListener("pointermove", move), { once: true });
  });
  splitter.addEventListener("dblclick", fold);
  splitter.addEventListener("keydown", (event) => {
    const steps = upright ? { ArrowRight: 20, ArrowLeft: -20 } : { ArrowDown: 20, ArrowUp: -20 };
    if (event.key in steps) apply(size() + steps[event.key] * (side === "left" ? 1 : -1));
    else if (event.key === "Enter") fold();
    else return;
    event.preventDefault();
  });
}

/** Keys that work everywhere but in fields of text. */
function onGlobalKey(event) {
  const typing = event.target.matches("input[type=search], select, textarea");
  if (event.key === "Escape" && typing) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
    event.target.blur();
    document.getElementById("view").focus();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
  const view = VIEWS[Number(event.key) - 1];
  if (event.key === "/") document.querySelector("#view .filter")?.focus();
  else if (event.key === "?") openHelp();
  else if (event.key === "g") focusPane("nav");
  else if (event.key === "v") focusPane("view");
  else if (event.key === "s") focusPane("source");
  else if (event.key === "d") focusPane("details");
  else if (view) selection.set({ view: view.id });
  else if (!frame.shown?.key?.(event.key)) return;
  event.preventDefault();
}

function focusPane(id) {
  document.body.classList.remove(`folded-${id}`);
  const pane = document.getElementById(id);
  const inside =
    id === "details"
      ? null
      : pane.querySelector(
          'tr[tabindex="0"], [role=treeitem][tabindex="0"], [role=option][tabindex="0"], svg[tabindex="0"]',
        );
  (inside ?? pane).focus();
}

const KEYS = [
  ["1 … 9", "show a view"],
  ["/", "filter the view; Escape clears the filter"],
  ["g  v  s  d", "go to the tree, the view, the source, the details"],
  ["↑ ↓ ← →", "move in trees, tables and graphs; open and fold"],
  ["Enter", "select: its lines in the source are marked, its details are shown"],
  ["+  −  0", "in graphs: zoom in, zoom out, show everything"],
  ["Tab", "next part; on the border of a pane arrows resize it and Enter folds it"],
  ["?", "this help"],
];

const WORDS = [
  ["II", "initiation interval: cycles between two successive iterations of one invocation of a loop"],
  ["interleaving", "iterations of so many invocations of the loop are issued in rotation"],
  ["concurrency", "most iterations in flight: latency × interleaving / II"],
  ["latency", "cycles from the issue of an iteration to its end when nothing stalls"],
  ["level", "a pipeline of fixed latency; between two levels there are operations that may wait"],
  ["serial region", "inner loops that one iteration of the outer loop passes at a time"],
  ["assumed", "a dependence through memory that is not excluded, but not proved either"],
  ["stall-free", "an access that always completes in a fixed number of cycles"],
  ["share, arbitrate", "accesses at one port: the schedule separates them, or they compete as the kernel runs"],
];

function openHelp() {
  const help = document.getElementById("help");
  const close = h("button", { type: "button", onclick: () => help.close() }, "Close");
  const list = (pairs, tag) =>
    h(
      "dl",
      { class: "facts wide" },
      pairs.map(([word, text]) => h("div", null, h("dt", null, h(tag, null, word)), h("dd", null, text))),
    );
  help.replaceChildren(
    h("h2", { id: "help-title" }, "Help"),
    h("h3", null, "Keys"),
    list(KEYS, "kbd"),
    h("h3", null, "Words"),
    list(WORDS, "span"),
    h(
      "p",
      null,
      "Signs: ",
      sign("good", "good"),
      ", ",
      sign("note", "to know"),
      ", ",
      sign("warning", "costs cycles or bandwidth"),
      ", ",
      sign("error", "wrong"),
    ),
    close,
  );
  help.showModal();
  close.focus();
}
