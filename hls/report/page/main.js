// Starts the page: index, frame, and the view that the hash names.

const viewRoot = document.getElementById("view");
const made = new Map(); // views that were shown: their elements keep filters, sorting and what is open

function showSelection() {
  const began = performance.now();
  const view = VIEWS.find((one) => one.id === selection.view) ?? VIEWS[0];
  const name = [view.id, view.scope?.()].filter(Boolean).join(" ");
  if (!made.has(name)) made.set(name, view.make());
  const shown = made.get(name);
  if (viewRoot.firstChild?.dataset?.made !== name) {
    const body = h(
      "div",
      { class: "viewbody", "data-view": view.id, "data-made": name },
      h("h2", { id: "view-title" }, view.title),
      h("p", { class: "lead" }, view.lead),
      shown.element,
    );
    viewRoot.replaceChildren(body);
    viewRoot.scrollTop = 0;
    document.body.classList.toggle("wide", Boolean(view.wide));
    source.setHeat(shown.heat?.() ?? null);
    document.title = `${view.title} - ${document.getElementById("title").textContent}`;
    shown.drawn?.();
  }
  frame.shown = shown;
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

INDEXERS.forEach((index) => index());
frame.start();
source.start();
selection.listeners.push(showSelection);
window.addEventListener("hashchange", () => selection.read());
selection.read();
timing.start = performance.now();
document.documentElement.dataset.ready = "yes";
