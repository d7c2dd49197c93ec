// Numbers as people read them, and elements made of text alone.

const counted = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number, its digits in groups. */
function whole(number) {
  return counted.format(number).replaceAll(",", "\u202f").replace("-", "−");
}

/** A value of a table: counts whole, quantities with about three digits. */
function cellText(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) || Math.abs(value) >= 100) return whole(value);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 3).replace("-", "−");
}

/** A number with about three digits. */
function short(number) {
  const size = Math.abs(number);
  for (const [unit, factor] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (size >= factor * (unit === "k" ? 10 : 1)) return Number((number / factor).toPrecision(3)) + " " + unit;
  }
  if (Number.isInteger(number)) return whole(number);
  return String(Number(number.toPrecision(3)));
}

/** A number of nanoseconds in its largest sensible unit. */
function time(ns) {
  for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= factor) return Number((ns / factor).toPrecision(3)) + " " + unit;
  }
  return ns + " ns";
}

function seconds(value) {
  return value.toFixed(value < 10 ? 2 : 1) + " s";
}

/** An element with attributes and children; strings become text, never markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** The value of a colour of the style sheet. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Which of the series' colours each migratetype has, by its number.
const TYPE_SERIES = [0, 2, 1, 5, 4, 6];

function typeTone(kind) {
  return "series-" + TYPE_SERIES[kind];
}

function eraTone(number) {
  return "series-" + (number % 8);
}

/** A labelled choice; `choose` gets the chosen option's number. */
function choice(label, names, chosen, choose) {
  const select = element("select", {}, ...names.map((name, at) => element("option", { value: at }, name)));
  select.value = String(chosen);
  select.addEventListener("change", () => choose(Number(select.value)));
  return element("label", {}, label + " ", select);
}

/** A labelled box to tick. */
function tick(label, chosen, choose) {
  const box = element("input", { type: "checkbox" });
  box.checked = chosen;
  box.addEventListener("change", () => choose(box.checked));
  return element("label", {}, box, " " + label);
}

function saveAs(name, type, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv(rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
}

function legendItem(name, tone, value, className = "swatch") {
  const swatch = element("span", { class: className });
  swatch.style.background = `var(--${tone})`;
  return element("li", {}, swatch, name + " ", ...(value === undefined ? [] : [element("b", {}, value)]));
}
