// Cells of a map of pageblocks: a byte each, which tells type, mixing and fill.

const HOLE = 7;
const MODES = ["type and fill", "mixing", "fill"];
// Edges of a cell in CSS pixels, at most and at least.
const WIDEST = 11;
const NARROWEST = 2.5;

const kindOf = (cell) => cell >> 4;
const isMixed = (cell) => (cell & 8) !== 0;
const fillOf = (cell) => cell & 7;

/** What a map of these types shows in a mode. */
function cellLegend(mode, names, isPresent) {
  const present = names.map((name, kind) => ({ name, kind })).filter(({ kind }) => isPresent(kind));
  if (mode === 0) {
    return [...present.map(({ name, kind }) => legendItem(name, typeTone(kind))),
      element("li", {}, element("small", {}, "paler: more of it free")),
      legendItem("mixed: holds pages of another type than its own", "ink", undefined, "swatch dot")];
  }
  if (mode === 1) {
    return [legendItem("mixed", "series-0"), legendItem("not mixed, in use", "series-3"), legendItem("free", "line")];
  }
  return [legendItem("not one free page", "series-2"), element("li", {}, element("small", {}, "paler: more of it free")), legendItem("free", "line")];
}

/** The edge at which so many cells fill a width and about a height. */
function cellEdge(cells, width, height, widest = WIDEST) {
  const wanted = Math.sqrt((width * height) / Math.max(1, cells));
  return Math.min(widest, Math.max(NARROWEST, Math.floor(wanted * 2) / 2));
}

/** The colour of each of the 128 values that a cell can have; none for a hole. */
function cellTones(mode, types) {
  const base = rgb(colour("line")), tones = Array.from({ length: types }, (_, kind) => rgb(colour(typeTone(kind))));
  const mixed = rgb(colour("series-0")), used = rgb(colour("series-3")), full = rgb(colour("series-2"));
  const blend = (tone, share) => `rgb(${tone.map((part, at) => Math.round(base[at] + (part - base[at]) * share)).join()})`;
  return Array.from({ length: 128 }, (_, cell) => {
    if (kindOf(cell) === HOLE || kindOf(cell) >= types) return null;
    const fill = fillOf(cell);
    if (mode === 0) return blend(tones[kindOf(cell)], 0.22 + (0.78 * fill) / 7);
    if (mode === 1) return isMixed(cell) ? blend(mixed, 1) : fill ? blend(used, 0.6) : blend(base, 0);
    return blend(full, fill / 7);
  });
}

/** The number of the cell under a pointer; -1 beside the cells. */
function cellAt(canvas, event) {
  const { edge, columns } = canvas.map ?? { edge: 1, columns: 1 };
  const column = Math.floor(event.offsetX / edge);
  return column < columns ? Math.floor(event.offsetY / edge) * columns + column : -1;
}

/** Moves the cell that is read by an arrow key. Returns false for another key. */
function stepCell(canvas, event, cells) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -canvas.map.columns, ArrowDown: canvas.map.columns }[event.key];
  if (!step) return false;
  event.preventDefault();
  canvas.cell = Math.min(cells - 1, Math.max(0, (canvas.cell ?? (step > 0 ? -step : 0)) + step));
  return true;
}

/** What a cell holds. */
function cellWords(cell, names) {
  if (kindOf(cell) === HOLE) return "no memory";
  const fill = ["free", "up to two sevenths in use", "two sevenths in use", "three sevenths in use", "four sevenths in use", "five sevenths in use", "six sevenths in use or more", "not one free page"][fillOf(cell)];
  return `${names[kindOf(cell)]}, ${isMixed(cell) ? "mixed, " : ""}${fill}`;
}

function rgb(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function drawMap(canvas, map, edge, width, tones, dots) {
  const columns = Math.max(1, Math.floor(width / edge));
  canvas.map = { edge, columns };
  const height = Math.max(1, Math.ceil(map.length / columns)) * edge;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const gap = edge >= 6 ? 1 : edge >= 4 ? 0.5 : 0;
  const dot = Math.max(1, Math.round(edge / 3));
  const ink = colour("ink");
  let mixed = 0, free = 0;
  map.forEach((cell, at) => {
    const tone = tones[cell];
    if (!tone) return;
    const x = (at % columns) * edge, y = Math.floor(at / columns) * edge;
    context.fillStyle = tone;
    context.fillRect(x, y, edge - gap, edge - gap);
    if (fillOf(cell) === 0) free += 1;
    if (!isMixed(cell)) return;
    mixed += 1;
    if (!dots) return;
    context.fillStyle = ink;
    context.fillRect(x + (edge - gap - dot) / 2, y + (edge - gap - dot) / 2, dot, dot);
  });
  canvas.setAttribute("aria-label", `${whole(map.length)} cells, ${whole(mixed)} mixed, ${whole(free)} free`);
}
