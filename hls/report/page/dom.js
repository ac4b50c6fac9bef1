// Building blocks of the document: elements, numbers, small charts.

/** An element with properties and children. Keys that begin with "on" are listeners; children that are null, undefined
 * or false are left out. Text is always text: nothing is ever parsed as HTML. */
function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
function s(tag, props, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A number for a reader: thousands with commas, at most ``digits`` behind the point. "" for none. */
function number(value, digits = 0) {
  if (value === null || value === undefined) return "";
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }));
  return formats.get(digits).format(value);
}

/** Formats by digits behind the point: to make one for each number takes most of the time of a long table. */
const formats = new Map();

function count(value, one, many = one + "s") {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A share between 0 and 1 as per cent. */
function percent(share, digits = 0) {
  return `${number(100 * share, digits)} %`;
}

function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}

/** A finding with a sign in front of it, so that no meaning is in the colour alone. ``level``: "good", "note", "warning"
 * or "error". */
const SIGNS = { good: "✓", note: "●", warning: "▲", error: "■" };

function sign(level, text, title) {
  return h("span", { class: `sign ${level}`, title }, h("span", { "aria-hidden": "true" }, SIGNS[level] + " "), text);
}

/** A bar of ``share`` (0 to 1) of its width, with its value as text beside it. */
function bar(share, text, level = "plain") {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return h(
    "span",
    { class: "bar" },
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      h("span", { class: `fill ${level}`, style: `width:${width.toFixed(2)}%` }),
    ),
    h("span", { class: "figure" }, text),
  );
}

/** A definition list of [word, value] pairs; pairs without a value are left out. */
function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return h(
    "dl",
    { class: "facts" },
    shown.map(([word, value]) => h("div", null, h("dt", null, word), h("dd", null, value))),
  );
}

/** A section of a view or of the details. */
function section(title, ...children) {
  return h("section", null, h("h3", null, title), ...children);
}

/** Text for the clipboard. A page that was opened from a file may have no clipboard interface; then a text area serves. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function announce(text) {
  document.getElementById("announcer").textContent = text;
}
