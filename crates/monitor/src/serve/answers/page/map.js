// What each pageblock holds, as a picture.

import { prepare } from "./chart.js";
import { colour, duration, element, percent, setText, whole } from "./words.js";

// Letter, name and colour, from the least to the most in the way of large blocks.
const KINDS = [
  [".", "free", "map-free", "free pages only"],
  ["m", "movable", "map-movable", "pages that compaction can move, and free ones"],
  ["x", "mixed", "map-mixed", "pages that stay beside pages that move"],
  ["S", "stuck", "map-stuck", "pages that stay, and free ones"],
  ["?", "not read yet", "map-unread", "not read yet"],
];

// Edges of a cell in CSS pixels, at most and at least.
const WIDEST = 10;
const NARROWEST = 3;

let zones = null;

/** Takes a new map. */
export function takeMap(map) {
  zones = map;
  const body = document.getElementById("map-zones");
  while (body.children.length > zones.length) body.lastChild.remove();
  while (body.children.length < zones.length) {
    body.append(element("figure", {}, element("figcaption"), element("canvas", { class: "blocks", role: "img" }), element("p", { class: "gigabytes" })));
  }
  zones.forEach((zone, number) => {
    const [caption, canvas, gigabytes] = body.children[number].children;
    setText(gigabytes, gigabyteWords(zone));
    setText(caption, words(zone));
    canvas.setAttribute("aria-label", words(zone));
  });
  showLegend();
  drawMap();
}

/** Says what there is of a map. */
export function showMapNote() {
  const note = document.getElementById("map-note");
  if (zones === null) {
    setText(note, "Not available here: what pageblocks hold is read from /proc/kpageflags, which needs root (CAP_DAC_READ_SEARCH).");
    return;
  }
  const shared = zones.map((zone) => Math.ceil(zone.blocks / Math.max(1, zone.cells.length)));
  const most = Math.max(1, ...shared);
  setText(note, most === 1
    ? "A cell is a pageblock, in the order of addresses."
    : `A cell is up to ${most} neighbouring pageblocks, in the order of addresses, and shows the one that is most in the way.`);
}

function words(zone) {
  const totals = zone.totals.filter(([name, count]) => count > 0 && name !== "no memory");
  const present = totals.reduce((sum, [, count]) => sum + count, 0);
  const shares = totals.map(([name, count]) => `${whole(count)} ${name} (${percent(count / present)})`);
  return `Node ${zone.node}, zone ${zone.name}: ${shares.join(", ") || "no memory"}`;
}

function gigabyteWords(zone) {
  const totals = zone.gigabyte_totals.filter(([, count]) => count > 0);
  if (!totals.length) return "";
  const counts = totals.map(([name, count]) => `${whole(count)} ${name}`).join(", ");
  return `Aligned gigabytes: ${counts}${zone.gigabytes ? `  ${zone.gigabytes}` : ""}`;
}

function showLegend() {
  const legend = document.getElementById("map-legend");
  if (legend.children.length) return;
  legend.append(...KINDS.map(([, name, tone, meaning]) =>
    element("li", {}, element("span", { class: `swatch ${tone}` }), `${name} `, element("small", {}, name === meaning ? "" : meaning))));
}

/** Draws the map at the size that it has on the page. */
export function drawMap() {
  if (zones === null) return;
  const tones = new Map(KINDS.map(([letter, , tone]) => [letter, colour(tone)]));
  document.querySelectorAll("#map-zones canvas").forEach((canvas, number) => drawZone(canvas, zones[number], tones));
}

function drawZone(canvas, zone, tones) {
  const width = canvas.parentElement.clientWidth;
  if (!width || !zone.cells.length) return;
  const edge = Math.min(WIDEST, Math.max(NARROWEST, Math.sqrt((width * 240) / zone.cells.length)));
  const columns = Math.max(1, Math.floor(width / edge));
  const height = `${Math.ceil(zone.cells.length / columns) * edge}px`;
  if (canvas.style.height !== height) canvas.style.height = height;
  const paper = prepare(canvas);
  if (!paper) return;
  const gap = edge > 5 ? 1 : 0;
  for (let at = 0; at < zone.cells.length; at += 1) {
    const tone = tones.get(zone.cells[at]);
    if (!tone) continue;
    paper.context.fillStyle = tone;
    paper.context.fillRect((at % columns) * edge, Math.floor(at / columns) * edge, edge - gap, edge - gap);
  }
}
