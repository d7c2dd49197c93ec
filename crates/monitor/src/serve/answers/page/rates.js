// Counters of vmstat and how fast they move.

import { drawSpark } from "./chart.js";
import { element, setText, short, whole } from "./words.js";

// Values that a sparkline shows.
const MOST_VALUES = 300;

const rows = new Map();

/** Shows the rates of a model. */
export function showRates(rates) {
  const body = document.querySelector("#rates-table tbody");
  const said = ["pgalloc", "compact_stall"].map((name) => rates.find((rate) => rate.name === name)).filter((rate) => rate && rate.per_second !== null);
  setText(document.getElementById("rates-said"), said.map((rate) => `${rate.name} ${short(rate.per_second)} a second`).join(", "));
  for (const rate of rates) {
    if (!rows.has(rate.name)) {
      const spark = element("canvas", { class: "spark", "aria-hidden": "true" });
      const cells = [element("td"), element("td", { class: "sparkcell" }, spark), element("td")];
      body.append(element("tr", {}, element("th", { scope: "row" }, rate.name), ...cells));
      rows.set(rate.name, { cells, spark, values: [] });
    }
    const row = rows.get(rate.name);
    const known = rate.per_second !== null;
    if (known) row.values.push(rate.per_second);
    if (row.values.length > MOST_VALUES) row.values.shift();
    setText(row.cells[0], known ? short(rate.per_second) : "–");
    row.cells[0].classList.toggle("zero", !rate.per_second);
    setText(row.cells[2], whole(rate.total));
    drawSpark(row.spark, row.values, "accent");
  }
}
