// What memory holds, as a picture: a row is a gigabyte, a cell a pageblock.

import { prepare } from "./chart.js";
import { bytes, colour, element, percent, setText, whole } from "./words.js";

// Letter, name and colour of what a pageblock holds when nobody keeps it.
const KINDS = new Map([
  [".", ["free", "map-free"]],
  ["l", ["free, on CPUs' lists", "map-listed"]],
  ["m", ["movable", "map-movable"]],
  ["?", ["not read yet", "map-unread"]],
]);

// The holders that have a colour of their own; the others share one.
const HOLDERS = new Map([
  ["kernel", ["kernel and drivers", "map-kernel"]],
  ["slab", ["slab caches", "map-slab"]],
  ["page-table", ["page tables", "map-table"]],
  ["hugetlb", ["hugetlb", "map-hugetlb"]],
  ["pinned", ["pinned", "map-pinned"]],
]);
const OTHERS = ["others", "map-other"];

// The narrowest cell and the height of rows in CSS pixels.
const NARROWEST = 2.5;
const ROW = { least: 3, most: 14 };
const LABEL = 44;

// Pictures narrower than this leave more of the screen to what is below them.
const NARROW = 560;

const canvas = document.getElementById("map-canvas");
const who = document.getElementById("map-who");

/** The last map, its rows, and the pageblock that is pointed at. */
let map = null;
let rows = [];
let pointed = null;
let pageBytes = 4096;
let laidOut = null;

/** Takes a new map. */
export function takeMap(reported) {
  map = reported;
  rows = rowsOf(map);
  canvas.hidden = false;
  showLegend();
  showGigabytes();
  drawMap();
}

/** Says what there is of a map. */
export function showMapNote(machine) {
  pageBytes = machine?.page_bytes || pageBytes;
  const note = document.getElementById("map-note");
  if (map === null) {
    setText(note, "Not available here: what pageblocks hold is read from /proc/kpageflags, which needs root (CAP_DAC_READ_SEARCH).");
    return;
  }
  const most = Math.max(1, ...map.zones.map((zone) => zone.in_cell));
  const row = rows.length && rows[0].gigabytes > 1 ? `${rows[0].gigabytes} gigabytes` : "a gigabyte";
  setText(note, most === 1 ? `a row is ${row}, a cell a pageblock` : `a row is ${row}, a cell up to ${most} pageblocks, by the one that is most in the way`);
}

/** Rows by address, each with its cells; gigabytes without memory have none. */
function rowsOf({ zones, in_gigabyte: inGigabyte }) {
  const found = new Map();
  const numbers = new Set();
  zones.forEach((zone) => {
    for (let at = 0; at < zone.cells.length; at += 1) {
      if (zone.cells[at] !== " ") numbers.add(Math.floor((zone.first_block + at * zone.in_cell) / inGigabyte));
    }
  });
  // Twice as many gigabytes a row until there are at most 64 rows.
  let together = 1;
  while (new Set([...numbers].map((number) => Math.floor(number / together))).size > 64) together *= 2;
  const inRow = inGigabyte * together;
  zones.forEach((zone) => {
    for (let at = 0; at < zone.cells.length; at += 1) {
      if (zone.cells[at] === " ") continue;
      const block = zone.first_block + at * zone.in_cell;
      const number = Math.floor(block / inRow);
      if (!found.has(number)) found.set(number, { number, first: number * inRow, gigabytes: together, cells: [], size: inRow });
      found.get(number).cells.push({ block, span: zone.in_cell, zone, letter: zone.cells[at], holder: zone.holders[at] ?? " " });
    }
  });
  return [...found.values()].sort((a, b) => a.number - b.number);
}

function holderName(letter) {
  return map.holders.find(([known]) => known === letter)?.[1];
}

/** The name and the colour of the owner of a cell. */
function holder(cell) {
  return HOLDERS.get(holderName(cell.holder)) ?? OTHERS;
}

function showLegend() {
  const legend = document.getElementById("map-legend");
  const unmovable = new Map();
  for (const { cells } of rows) for (const cell of cells) if ("xS".includes(cell.letter)) unmovable.set(holder(cell)[0], holder(cell)[1]);
  const kinds = [...KINDS].filter(([known]) => !"l?".includes(known) || rows.some(({ cells }) => cells.some((cell) => cell.letter === known))).map(([, kind]) => kind);
  const items = [...kinds, ...[...unmovable].map(([name, tone]) => [`in use by ${name}`, tone])];
  const wanted = items.map(([name]) => name).join();
  if (legend.dataset.shown === wanted) return;
  legend.dataset.shown = wanted;
  legend.replaceChildren(...items.map(([name, tone]) => element("li", {}, element("span", { class: `swatch ${tone}` }), name)));
}

/** Draws the map at the size that it has on the page. */
export function drawMap() {
  if (map === null || !rows.length) return;
  const width = canvas.clientWidth;
  if (!width) return;
  const room = width < NARROW ? 0.25 * window.innerHeight : Math.min(0.3 * window.innerHeight, 480);
  const height = Math.max(ROW.least, Math.min(ROW.most, Math.floor(room / rows.length)));
  const inColumn = Math.max(1, Math.ceil((rows[0].size * NARROWEST) / (width - LABEL)));
  laidOut = { height, inColumn, edge: (width - LABEL) / Math.ceil(rows[0].size / inColumn) };
  const style = `${rows.length * height}px`;
  if (canvas.style.height !== style) canvas.style.height = style;
  const paper = prepare(canvas);
  if (!paper) return;
  const tones = new Map([...KINDS.values(), ...HOLDERS.values(), OTHERS].map(([, tone]) => [tone, colour(tone)]));
  rows.forEach((row, number) => drawRow(paper.context, row, number, tones));
  drawPointed(paper.context);
  sayWho();
}

function drawRow(context, row, number, tones) {
  const { height, inColumn, edge } = laidOut;
  const top = number * height;
  if (number % Math.max(1, Math.ceil(14 / height)) === 0) {
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colour("quiet");
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(`${row.number * row.gigabytes} G`, LABEL - 6, top + Math.max(height / 2, 5));
  }
  // Pageblocks of each colour in each column.
  const columns = new Map();
  for (const cell of row.cells) {
    for (let at = Math.floor((cell.block - row.first) / inColumn); at * inColumn < cell.block - row.first + cell.span; at += 1) {
      if (!columns.has(at)) columns.set(at, new Map());
      const column = columns.get(at);
      const add = (tone, share) => column.set(tone, (column.get(tone) ?? 0) + share);
      if (cell.letter === "S") add(holder(cell)[1], 1);
      else if (cell.letter !== "x") add(KINDS.get(cell.letter)[1], 1);
      else {
        add("map-movable", 0.5);
        add(holder(cell)[1], 0.5);
      }
    }
  }
  const gap = edge > 4 ? 1 : 0;
  const order = [...tones.keys()];
  for (const [at, column] of columns) {
    const all = [...column.values()].reduce((sum, share) => sum + share, 0);
    let y = top;
    for (const tone of order.filter((known) => column.has(known))) {
      const part = (column.get(tone) / all) * (height - 1);
      context.fillStyle = tones.get(tone);
      context.fillRect(LABEL + at * edge, y, edge - gap, part);
      y += part;
    }
  }
}

function drawPointed(context) {
  if (!pointed) return;
  const { height, inColumn, edge } = laidOut;
  const row = rows[pointed.row];
  const at = Math.floor((pointed.block - row.first) / inColumn);
  context.strokeStyle = colour("ink");
  context.lineWidth = 1.5;
  context.strokeRect(LABEL + at * edge - 1, pointed.row * height - 0.5, Math.max(edge, 3) + 1, height);
}

/** Says what is pointed at, or what all of memory is. */
function sayWho() {
  setText(who, pointed ? ofPointed() : ofAll());
}

function ofPointed() {
  const row = rows[pointed.row];
  const cell = row.cells.find(({ block, span }) => pointed.block >= block && pointed.block < block + span);
  const number = Math.floor(pointed.block / map.in_gigabyte);
  const inIt = map.gigabytes.filter((gigabyte) => gigabyte.number === number).map(gigabyteWords).join("; ");
  const what = cell ? `Pageblock ${whole(cell.block)}, node ${cell.zone.node}, zone ${cell.zone.name}: ${holds(cell)}.` : "No memory here.";
  return `${what}${inIt ? ` Gigabyte ${number}: ${inIt}.` : ""}`;
}

function holds(cell) {
  if (cell.letter === "S") return `in use by ${holder(cell)[0]}`;
  if (cell.letter === "x") return `${holder(cell)[0]} are in it, beside movable pages`;
  return KINDS.get(cell.letter)[0];
}

function gigabyteWords({ free, listed, movable, reclaimable, unmovable }) {
  const parts = [[free, "free"], [listed, "free on CPUs' lists"], [movable, "movable"], [reclaimable, "reclaimable"], ...unmovable.map(([name, pages]) => [pages, `in use by ${HOLDERS.get(name)?.[0] ?? name}`])];
  return parts.filter(([pages]) => pages > 0).map(([pages, name]) => `${bytes(pages * pageBytes)} ${name}`).join(", ");
}

function ofAll() {
  const sums = new Map();
  for (const zone of map.zones) for (const [name, count] of zone.totals) if (name !== "no memory") sums.set(name, (sums.get(name) ?? 0) + count);
  const present = [...sums.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...sums].filter(([, count]) => count > 0).map(([name, count]) => `${whole(count)} ${name} (${percent(count / present)})`);
  return `Pageblocks: ${shares.join(", ") || "no memory"}.`;
}

/** Every gigabyte as a row of a table, for who does not see the picture. */
function showGigabytes() {
  const totals = map.gigabyte_totals.filter(([, count]) => count > 0).map(([name, count]) => `${whole(count)} ${name}`);
  setText(document.getElementById("gigabytes-said"), totals.join(", "));
  const body = document.querySelector("#gigabytes-table tbody");
  if (!document.getElementById("gigabytes").open) return;
  body.replaceChildren(...map.gigabytes.map((gigabyte) => {
    const unmovable = gigabyte.unmovable.map(([name, pages]) => `${name} ${bytes(pages * pageBytes)}`).join(", ");
    const cells = [`${gigabyte.node} ${gigabyte.zone}`, gigabyte.state, ...[gigabyte.free, gigabyte.movable, gigabyte.reclaimable].map((pages) => bytes(pages * pageBytes)), unmovable];
    return element("tr", {}, element("th", { scope: "row" }, String(gigabyte.number)), ...cells.map((text) => element("td", {}, text)));
  }));
}

/** Points at a pageblock, or at none. */
function point(row, block) {
  pointed = row === null ? null : { row, block };
  drawMap();
}

function pointAt(event) {
  if (!laidOut || !rows.length) return;
  const box = canvas.getBoundingClientRect();
  const row = Math.max(0, Math.min(rows.length - 1, Math.floor((event.clientY - box.top) / laidOut.height)));
  const at = Math.floor((event.clientX - box.left - LABEL) / laidOut.edge) * laidOut.inColumn;
  point(row, rows[row].first + Math.max(0, Math.min(rows[row].size - 1, at)));
}

function pointByKey(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (event.key === "Escape") return point(null);
  if (!steps[event.key] || !rows.length) return;
  event.preventDefault();
  const [down, right] = steps[event.key];
  if (!pointed) return point(0, rows[0].cells[0].block);
  const row = Math.max(0, Math.min(rows.length - 1, pointed.row + down));
  const at = pointed.block - rows[pointed.row].first + right * laidOut.inColumn;
  point(row, rows[row].first + Math.max(0, Math.min(rows[row].size - 1, at)));
}

canvas.addEventListener("pointermove", pointAt);
canvas.addEventListener("pointerdown", pointAt);
canvas.addEventListener("pointerleave", () => point(null));
canvas.addEventListener("keydown", pointByKey);
canvas.addEventListener("blur", () => point(null));
document.getElementById("gigabytes").addEventListener("toggle", () => map && showGigabytes());
