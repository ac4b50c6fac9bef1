// Rows of a long table are drawn when they come into view: styles, layout and painting of a row cost more than its figures.

/** Rows that are drawn at a time: more than a window of most screens shows. */
const ROWS_AT_A_TIME = 60;

window.addEventListener("beforeprint", drawAllTables);
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") drawAllTables();
});

function drawAllTables() {
  for (const table of document.querySelectorAll("table")) table.drawAll?.();
}

/** Draw rows of ``table`` into ``body`` as far as a reader looks. ``drawRow(place)`` makes the element of a place {row, ...};
 * ``widestRow(places)`` one that is as wide as any: it is in the table's foot, without a height, so that columns keep their
 * widths while rows are added. ``fit`` is called when rows were added. A reader who searches or prints gets all of them.
 * Returns {start(places), reach(row), rows()}: draw other rows from the first on; draw on until ``row`` is there, where it is
 * among them; all rows, drawn or not. */
function drawInView(table, body, drawRow, widestRow, fit) {
  const foot = h("tfoot", { class: "widest", "aria-hidden": "true" });
  let places = [];
  const observer = new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting && body.contains(one.target))) drawTo(body.rows.length + ROWS_AT_A_TIME);
  });
  table.drawAll = () => drawTo(places.length);
  return { start, reach, rows: () => places.map(({ row }) => row) };

  function start(all) {
    places = all;
    body.replaceChildren();
    if (places.length <= ROWS_AT_A_TIME) foot.remove();
    else {
      foot.replaceChildren(widestRow(places));
      table.append(foot);
    }
    drawTo(ROWS_AT_A_TIME);
  }

  function drawTo(count) {
    const from = body.rows.length;
    if (from >= Math.min(count, places.length)) return;
    body.append(...places.slice(from, count).map(drawRow));
    observer.disconnect();
    if (body.rows.length < places.length) watch();
    if (from) fit();
  }

  /** Draw on when a row in the middle of the last ones comes into view, or, where a reader goes there at once, the last. */
  function watch() {
    for (const behind of [ROWS_AT_A_TIME / 2, 1]) observer.observe(body.rows[body.rows.length - behind]);
  }

  function reach(row) {
    const at = places.findIndex((place) => place.row === row);
    if (at >= body.rows.length) drawTo(at + ROWS_AT_A_TIME);
  }
}
