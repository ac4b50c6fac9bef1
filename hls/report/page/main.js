// Starts the page: index, frame, and the view that the hash names.

const viewRoot = document.getElementById("view");
const made = new Map(); // views that were shown: their elements keep filters, sorting and what is open

function showSelection() {
  const began = performance.now();
  const view = VIEWS.find((one) => one.id === selection.view) ?? VIEWS[0];
  const fresh = !made.has(view.id);
  if (fresh) made.set(view.id, view.make());
  const shown = made.get(view.id);
  if (viewRoot.firstChild?.dataset?.view !== view.id) {
    const body = h(
      "div",
      { class: "viewbody", "data-view": view.id },
      h("h2", { id: "view-title" }, view.title),
      h("p", { class: "lead" }, view.lead),
      shown.element,
    );
    viewRoot.replaceChildren(body);
    viewRoot.scrollTop = 0;
    source.setHeat(shown.heat?.() ?? null);
    document.title = `${view.title} - ${report.source}`;
  }
  frame.mark();
  showDetails(); // before the view, whose height depends on it
  shown.select?.();
  const item = items.get(selection.item);
  source.mark(item ? item.spans : spansOfLine(selection.line));
  timing.views[view.id] = performance.now() - began;
}

function spansOfLine(place) {
  if (!place) return [];
  const at = place.lastIndexOf(":");
  return [{ file: place.slice(0, at), line: Number(place.slice(at + 1)) }];
}

/** Milliseconds, for tests: of the start, and of the last change to each view. */
const timing = { start: 0, views: {} };
window.sluiceReport = { report, timing, items, selection };

indexReport();
frame.start();
source.start();
selection.listeners.push(showSelection);
window.addEventListener("hashchange", () => selection.read());
selection.read();
timing.start = performance.now();
document.documentElement.dataset.ready = "yes";
