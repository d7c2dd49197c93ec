// The machine's history: the zones' sums over time.

import { chart } from "./figure.js";
import { unusable } from "./history.js";
import { bytes, short } from "./words.js";

const charts = [chart(), chart(), chart()];
document.getElementById("history-charts").append(...charts.map(({ root }) => root));

/** Draws the last `seconds`; `pageblock` is the order of a huge page, `order` the chosen one. */
export function showMachine(model, history, order, pageblock, seconds) {
  const sum = (value) => model.zones.reduce((all, zone) => all + value(zone), 0);
  const now = { free: sum((zone) => zone.free_pages), blocks: model.zones[0]?.blocks.map((_, at) => sum((zone) => zone.blocks[at])) ?? [] };
  if (!now.blocks.length) return;
  const [blocks, free, index] = charts;
  const size = bytes(model.machine.page_bytes * 2 ** pageblock);
  blocks.show(`Blocks of ${size} on free lists`, short(now.blocks[pageblock]), history.machine(seconds, (point) => point.blocks[pageblock]), seconds, { tone: "cool" });
  free.show("Free memory in pages", `${short(now.free)} (${bytes(now.free * model.machine.page_bytes)})`, history.machine(seconds, (point) => point.free), seconds, { tone: "accent" });
  index.show(`Unusable index, order ${order}`, unusable(now, order).toFixed(3), history.machine(seconds, (point) => unusable(point, order)), seconds, { most: 1, tone: "warm" });
}
