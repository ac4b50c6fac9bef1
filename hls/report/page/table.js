// Tables and tree tables: sorting, filtering, folding, selection by mouse and keyboard, and a copy as Markdown.

/** A table of ``rows`` [{key, place, data, children, open, class}]; ``key`` is that of the item that the row selects, or
 * null, ``alias`` that of another one that is the same; ``place`` is the line ("file:line") that it selects instead.
 *
 * A column is {title, value(data), show(data, row), numeric, digits, class, tip, usual}: ``value`` is what sorts, filters and
 * is copied, a text or a number; ``show`` makes what is displayed where that is more than the value; a column whose value is
 * ``usual`` in every row is left out, and a ``spare`` one where there is no room for it. Returns {element, select(scroll)},
 * which marks the row of what is selected, and brings it into view unless ``scroll`` is false. ``sortedBy`` is the title of the column by which rows are sorted at first, the largest on top.
 */
function makeTable({ caption, columns: possible, rows, empty = "nothing to list", tools = [], sortedBy = null }) {
  const columns = possible.filter((column) => !("usual" in column) || differs(rows, column));
  const first = columns.findIndex((column) => column.title === sortedBy);
  const state = { filter: "", sorted: first < 0 ? null : first, descending: first >= 0, active: null };
  const tree = rows.some((row) => row.children?.length);
  linkParents(rows, null);
  const head = h(
    "tr",
    null,
    columns.map((column, index) => headCell(column, index)),
  );
  const body = h("tbody");
  const table = h("table", { role: tree ? "treegrid" : "grid", "aria-label": caption }, h("thead", null, head), body);
  const filter = h("input", {
    type: "search",
    class: "filter",
    placeholder: "filter",
    "aria-label": `Filter ${caption}`,
  });
  filter.addEventListener("input", () => {
    state.filter = filter.value.trim().toLowerCase();
    draw();
  });
  const copy = h(
    "button",
    { type: "button", onclick: () => copyText(markdown()).then(() => announce("table copied as Markdown")) },
    "Copy as Markdown",
  );
  const folds = tree ? [button("Open all", () => openAll(true)), button("Fold all", () => openAll(false))] : [];
  const note = h("span", { class: "quiet" });
  const box = h("div", { class: "scroll" }, table);
  const fit = keepWithin(box, table, columns, note);
  const drawn = drawInView(table, body, drawRow, widestRow, fit);
  const element = h(
    "div",
    { class: "tablebox" },
    h("div", { class: "tools" }, filter, ...tools, ...folds, copy, note),
    box,
  );
  body.addEventListener("keydown", onKey);
  draw();
  return { element, select, redraw: draw, markdown };

  function button(text, act) {
    return h("button", { type: "button", onclick: act }, text);
  }

  function headCell(column, index) {
    const order = h("span", { class: "order", "aria-hidden": "true" });
    const sorter = h(
      "button",
      { type: "button", title: column.tip, onclick: () => sortBy(index) },
      column.title,
      order,
    );
    return h("th", { scope: "col", class: column.numeric ? "numeric" : null }, sorter);
  }

  function sortBy(index) {
    state.descending = state.sorted === index ? !state.descending : Boolean(columns[index].numeric);
    state.sorted = index;
    draw();
  }

  function openAll(open) {
    every(rows, (row) => (row.open = open));
    draw();
  }

  function draw() {
    const focused = body.contains(document.activeElement);
    const shown = visible(rows, 1);
    if (!shown.some(({ row }) => row === state.active)) state.active = shown[0]?.row ?? null;
    every(rows, (row) => (row.element = null));
    drawn.start(shown);
    if (!shown.length)
      body.append(
        h(
          "tr",
          null,
          h("td", { colspan: columns.length, class: "empty" }, state.filter ? "nothing matches the filter" : empty),
        ),
      );
    [...head.children].forEach((cell, index) => {
      const sorted = state.sorted === index;
      if (sorted) cell.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      cell.querySelector(".order").textContent = sorted ? (state.descending ? " ▾" : " ▴") : "";
    });
    fit();
    if (focused) focus(state.active);
  }

  /** Draw the rows down to ``row``, and give it the focus. */
  function focus(row) {
    if (!row) return;
    drawn.reach(row);
    row.element?.focus();
  }

  /** The rows to draw, with their depth, position and number of siblings. */
  function visible(siblings, level) {
    const kept = ordered(siblings.filter(matches));
    return kept.flatMap((row, index) => {
      const place = { row, level, position: index + 1, of: kept.length };
      const open = row.open || (state.filter && row.children?.some(matches));
      return [place, ...(open && row.children ? visible(row.children, level + 1) : [])];
    });
  }

  function matches(row) {
    if (!state.filter) return true;
    const own = columns.some((column) =>
      String(column.value(row.data) ?? "")
        .toLowerCase()
        .includes(state.filter),
    );
    return own || Boolean(row.children?.some(matches));
  }

  function ordered(list) {
    if (state.sorted === null) return list;
    const { value } = columns[state.sorted];
    const sign = state.descending ? -1 : 1;
    return [...list].sort((one, other) => sign * compare(value(one.data), value(other.data)));
  }

  function drawRow({ row, level, position, of }) {
    const folds = row.children?.length > 0;
    const open = folds && (row.open || (Boolean(state.filter) && row.children.some(matches)));
    const cells = columns.map((column, index) =>
      drawCell(column, row, index === 0 && tree ? { level, folds, open } : null),
    );
    row.element = h(
      "tr",
      {
        tabindex: row === state.active ? 0 : -1,
        "aria-level": tree ? level : null,
        "aria-expanded": folds ? String(open) : null,
        "aria-posinset": tree ? position : null,
        "aria-setsize": tree ? of : null,
        "aria-selected": row.key || row.place ? String(isSelected(row)) : null,
        class: row.class,
        onclick: () => choose(row),
        onfocus: () => activate(row),
      },
      cells,
    );
    return row.element;
  }

  function drawCell(column, row, fold) {
    const content = column.show ? column.show(row.data, row) : breakable(shownValue(column, row.data));
    const props = { class: column.class ?? (column.numeric ? "numeric" : null) };
    if (!fold) return h("td", props, content);
    props.class = [props.class, "branch"].filter(Boolean).join(" ");
    const twist = h(
      "span",
      { class: "twist", "aria-hidden": "true", onclick: (event) => (event.stopPropagation(), toggle(row)) },
      fold.folds ? (fold.open ? "▾" : "▸") : "",
    );
    return h("td", { ...props, style: `padding-left:${0.4 + 1.1 * fold.level}rem` }, twist, content);
  }

  function shownValue(column, data) {
    const value = column.value(data);
    return typeof value === "number" ? number(value, column.digits ?? 0) : (value ?? "");
  }

  /** A row whose cells are as wide as the widest of each column, by the number of their characters. */
  function widestRow(places) {
    const cells = columns.map((column, index) => {
      const branch = index === 0 && tree;
      const length = ({ row, level }) => String(shownValue(column, row.data)).length + (branch ? 2 * level : 0);
      const lengths = places.map(length);
      const { row, level } = places[lengths.indexOf(Math.max(...lengths))];
      return drawCell(column, row, branch ? { level, folds: false, open: false } : null);
    });
    return h("tr", null, cells);
  }

  function toggle(row) {
    if (!row.children?.length) return;
    row.open = !row.open;
    draw();
  }

  function activate(row) {
    if (state.active?.element) state.active.element.tabIndex = -1;
    state.active = row;
    row.element.tabIndex = 0;
  }

  function choose(row) {
    activate(row);
    if (row.key) selection.set({ item: row.key });
    else if (row.place) selection.set({ line: row.place });
    else toggle(row);
  }

  function isSelected(row) {
    return row.key ? [row.key, row.alias].includes(selection.item) : row.place === selection.line;
  }

  /** Mark the row of what is selected, if there is one, and open what contains it. */
  function select(scroll = true) {
    let found = null;
    every(rows, (row) => (found ??= (row.key || row.place) && isSelected(row) ? row : null));
    let folded = false;
    for (let above = found?.parent; above; above = above.parent) {
      folded ||= !above.open;
      above.open = true;
    }
    if (folded) draw();
    else markRows();
    if (found) drawn.reach(found);
    if (found?.element?.isConnected) {
      activate(found);
      if (scroll) found.element.scrollIntoView({ block: "nearest" });
    }
    return Boolean(found);
  }

  /** Say of each row that is drawn whether it is selected. */
  function markRows() {
    every(rows, (row) => {
      if (row.element && (row.key || row.place)) row.element.setAttribute("aria-selected", String(isSelected(row)));
    });
  }

  function onKey(event) {
    if (event.target.tagName !== "TR") return;
    const list = drawn.rows();
    const row = state.active;
    const at = list.indexOf(row);
    const open = event.target.getAttribute("aria-expanded");
    const moves = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: list.length - 1,
      PageDown: at + 15,
      PageUp: at - 15,
    };
    if (event.key in moves) focus(list[Math.max(0, Math.min(list.length - 1, moves[event.key]))]);
    else if (event.key === "ArrowRight" && open === "false") toggle(row);
    else if (event.key === "ArrowRight" && open === "true") focus(list[at + 1]);
    else if (event.key === "ArrowLeft" && open === "true") toggle(row);
    else if (event.key === "ArrowLeft" && row.parent) focus(row.parent);
    else if (event.key === "Enter" || event.key === " ") choose(row);
    else return;
    event.preventDefault();
  }

  /** The rows that are visible, as a table in Markdown. */
  function markdown() {
    const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");
    const lines = [
      columns.map((column) => cell(column.title)),
      columns.map((column) => (column.numeric ? "--:" : ":--")),
    ];
    for (const { row, level } of visible(rows, 1)) {
      lines.push(
        columns.map(
          (column, index) => (index === 0 && tree ? "  ".repeat(level - 1) : "") + cell(shownValue(column, row.data)),
        ),
      );
    }
    return lines.map((line) => `| ${line.join(" | ")} |`).join("\n") + "\n";
  }
}

function linkParents(rows, parent) {
  for (const row of rows) {
    row.parent = parent;
    linkParents(row.children ?? [], row);
  }
}

function every(rows, act) {
  for (const row of rows) {
    act(row);
    every(row.children ?? [], act);
  }
}

/** A text that may go on in another line after each underscore of a long name. */
function breakable(text) {
  return String(text)
    .split(/(?<=_)/)
    .flatMap((part, index) => (index ? [h("wbr"), part] : [part]));
}

/** Whether the value of a column is not its usual one in some row. */
function differs(rows, column) {
  return rows.some((row) => column.value(row.data) !== column.usual || differs(row.children ?? [], column));
}

/** The column with the line of ``spanOf(data)``. */
function lineColumn(spanOf) {
  const words = (span) => (span ? lineWords(span).replace("line ", "") : "");
  return { title: "Line", value: (data) => words(spanOf(data)), show: (data) => spanLink(spanOf(data), true) };
}

/** Numbers by size, texts by the alphabet with numbers in them by size, and what is missing last. */
function compare(one, other) {
  const missing = (value) => value === null || value === undefined || value === "";
  if (missing(one) || missing(other)) return missing(one) - missing(other);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}
