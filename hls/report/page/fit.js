// Tables within their pane: what does not fit gets narrower, then breaks its names, then leaves out spare columns.

/** What is tried, one after the other, until a table fits: classes of its box. */
const NARROWER = ["tight", "broken"];

/** Keep ``table`` within ``box``, now and whenever the box gets another width. Columns that are ``spare``, whose figures are
 * in the details of a row as well, are left out from the right as far as needed, and ``note`` names them. Returns a
 * function that is to be called after rows are drawn anew. */
function keepWithin(box, table, columns, note) {
  let width = null;
  const observer = new ResizeObserver(() => {
    if (box.clientWidth !== width) fit();
  });
  observer.observe(box);
  return fit;

  function fit() {
    if (!box.isConnected || !box.clientWidth) return;
    width = box.clientWidth;
    box.classList.remove(...NARROWER);
    const left = new Set();
    show(left);
    for (const name of NARROWER) {
      if (fits()) break;
      box.classList.add(name);
    }
    for (let index = columns.length - 1; index > 0 && !fits(); index--) {
      if (!columns[index].spare) continue;
      left.add(index);
      show(left);
    }
    const names = columns.filter((_, index) => left.has(index)).map((column) => column.title);
    note.textContent = names.length ? `no room for: ${names.join(", ")}` : "";
    note.title = names.length ? "The details of a row have these figures, and so has the copy as Markdown; or widen the pane." : "";
  }

  function fits() {
    return box.scrollWidth <= box.clientWidth;
  }

  /** Hide the columns ``left`` out. A row of one cell for all columns stays. */
  function show(left) {
    for (const row of table.rows)
      if (row.cells.length === columns.length)
        [...row.cells].forEach((cell, index) => (cell.hidden = left.has(index)));
  }
}
