// The page: what the server tells, shown.

import { Connection } from "./connection.js";
import { History } from "./history.js";
import { showMachine } from "./machine.js";
import { drawMap, showMapNote, takeMap } from "./map.js";
import { showRates } from "./rates.js";
import { showNotes, showPressure, showSummary, showVerdicts } from "./summary.js";
import { USUAL_PAGEBLOCK_ORDER, ZoneView } from "./zone.js";
import { element, setText } from "./words.js";

const history = new History();
const views = new Map();
const order = document.getElementById("order");
const span = document.getElementById("span");
let newest = null;
let requested = false;
let opened = false;

/** Offers the machine's orders; a pageblock's is chosen at first. */
function offerOrders(model) {
  const orders = Math.max(...model.zones.map((zone) => zone.free.length));
  if (order.options.length === orders) return;
  const chosen = order.value === "" ? model.pageblock_order ?? USUAL_PAGEBLOCK_ORDER : Number(order.value);
  order.replaceChildren(...Array.from({ length: orders }, (_, at) => element("option", { value: at }, String(at))));
  order.value = String(Math.min(chosen, orders - 1));
}

function chooseOrder(chosen) {
  order.value = String(chosen);
  showAll();
}

/** Zones by node; the largest of each comes first, as it is what most requests are about. */
function largestFirst(zones) {
  const managed = (zone) => zone.pages?.managed ?? 0;
  return [...zones].sort((a, b) => a.node - b.node || managed(b) - managed(a));
}

function showZones() {
  if (newest === null) return;
  const root = document.getElementById("zones");
  const present = new Set();
  for (const zone of largestFirst(newest.zones)) {
    const name = `${zone.node}/${zone.name}`;
    present.add(name);
    if (!views.has(name)) {
      views.set(name, new ZoneView(zone, chooseOrder));
      root.append(views.get(name).root);
    }
    views.get(name).show(newest, zone, history, Number(order.value), Number(span.value));
  }
  // The zone that most requests are about is open, until somebody folds it away.
  if (!opened && views.size) {
    views.values().next().value.root.open = true;
    opened = true;
  }
  setText(document.getElementById("zones-said"), newest.zones.map((zone) => zone.name).join(", "));
  for (const [name, view] of views) {
    if (present.has(name)) continue;
    view.root.remove();
    views.delete(name);
  }
}

function showHistory() {
  if (newest === null || !newest.zones.length) return;
  const pageblock = Math.min(newest.pageblock_order ?? USUAL_PAGEBLOCK_ORDER, order.options.length - 1);
  showMachine(newest, history, Number(order.value), pageblock, Number(span.value));
}

function showAll() {
  showHistory();
  showZones();
}

function takeModel(model) {
  if (model.zones.length) offerOrders(model);
  newest = model;
  history.note(model);
  showSummary(model);
  showVerdicts(model);
  showRates(model.rates);
  showPressure(model.pressure);
  showNotes(model.notes);
  showMapNote(model.machine);
  if (!document.hidden) showAll();
  if (!requested) performance.mark("shown");
  if (!requested) askHistory();
}

/** The past is fetched once the present is shown. */
async function askHistory() {
  requested = true;
  try {
    const answer = await fetch("/history");
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    history.begin(await answer.json());
    showAll();
  } catch {
    // Charts then start now; the next model asks again.
    requested = false;
  }
}

function redraw() {
  showAll();
  drawMap();
}

order.addEventListener("change", showAll);
span.addEventListener("change", showAll);
// What is unfolded is drawn at the size that it then has.
for (const root of document.querySelectorAll("#details > details")) root.addEventListener("toggle", showAll, true);
document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("resize", redraw);
document.addEventListener("visibilitychange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new Connection(document.getElementById("state"), takeModel, (map) => {
  takeMap(map);
  showMapNote(newest?.machine);
});
