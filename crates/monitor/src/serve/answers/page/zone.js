// One zone: its free blocks, how usable they are, and how both went.

import { chart } from "./figure.js";
import { unusable } from "./history.js";
import { trendWords } from "./summary.js";
import { bytes, count, element, percent, setText, short, whole } from "./words.js";

export const USUAL_PAGEBLOCK_ORDER = 9;

// How old numbers by type may be before they are shown to be old.
const LATE_MS = 2000;

/** A zone's part of the page. */
export class ZoneView {
  constructor(zone, chooseOrder) {
    this.id = `zone-${zone.node}-${zone.name}`;
    this.title = `Node ${zone.node}, zone ${zone.name}`;
    this.chooseOrder = chooseOrder;
    this.cells = new Map();
    this.shape = "";
    this.trend = element("span", { class: "trend quiet" });
    this.bar = watermarkBar();
    this.table = element("table", { class: "blocks-table" });
    this.charts = ["unusable", "free", "blocks"].map(() => chart());
    const table = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${this.title}: free blocks` }, this.table);
    this.root = element("details", { class: "zone" },
      element("summary", {}, element("h3", { id: this.id }, this.title), " ", this.trend), this.bar.root, table,
      element("div", { class: "charts" }, ...this.charts.map(({ root }) => root)));
  }

  show(model, zone, history, order, seconds) {
    const pageblock = Math.min(model.pageblock_order ?? USUAL_PAGEBLOCK_ORDER, zone.free.length - 1);
    setText(this.trend, trendWords(zone.trend, pageblock, zone.blocks[pageblock]));
    this.bar.show(zone, model.machine.page_bytes);
    this.showTable(model, zone, order);
    this.showCharts(zone, history, order, pageblock, seconds);
  }

  showTable(model, zone, order) {
    const rows = [...typeRows(model, zone), ...totalRows(zone)];
    const orders = zone.free.length;
    if (`${orders},${rows.map((row) => row.name).join()}` !== this.shape) this.buildTable(rows, orders);
    this.table.classList.toggle("late", (model.sensor.types_age_ms ?? 0) > LATE_MS);
    for (const row of rows) {
      row.values.forEach((value, at) => {
        const cell = this.cells.get(`${row.name} ${at}`);
        setText(cell, value);
        cell.classList.toggle("zero", value === "0");
        cell.classList.toggle("chosen", at === order);
        if (row.shares) cell.style.setProperty("--share", row.shares[at].toFixed(3));
      });
      setText(this.cells.get(`${row.name} pageblocks`), row.pageblocks ?? "");
    }
    this.heads.forEach((head, at) => head.setAttribute("aria-pressed", String(at === order)));
  }

  buildTable(rows, orders) {
    this.heads = Array.from({ length: orders }, (_, order) => {
      const head = element("button", { type: "button", title: `Show order ${order} in the charts` }, String(order));
      head.addEventListener("click", () => this.chooseOrder(order));
      return head;
    });
    const heads = this.heads.map((head) => element("th", { scope: "col" }, head));
    const line = ({ name, kind, meaning }) => {
      const cells = Array.from({ length: orders }, (_, order) => {
        const cell = element("td");
        this.cells.set(`${name} ${order}`, cell);
        return cell;
      });
      const pageblocks = element("td", { class: "pageblocks" });
      this.cells.set(`${name} pageblocks`, pageblocks);
      return element("tr", { class: kind }, element("th", { scope: "row", title: meaning ?? "" }, name), ...cells, pageblocks);
    };
    this.shape = `${orders},${rows.map((row) => row.name).join()}`;
    this.table.replaceChildren(
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "order"), ...heads, element("th", { scope: "col" }, "pageblocks"))),
      element("tbody", {}, ...rows.map(line)));
  }

  showCharts(zone, history, order, pageblock, seconds) {
    const [index, free, blocks] = this.charts;
    index.show(`Unusable index, order ${order}`, zone.unusable_index[order].toFixed(3),
      history.series(zone, seconds, (point) => unusable(point, order)), seconds, { most: 1, tone: "warm" });
    free.show("Free pages", short(zone.free_pages), history.series(zone, seconds, (point) => point.free), seconds, { tone: "accent" });
    blocks.show(`Available blocks of order ${pageblock}`, short(zone.blocks[pageblock]),
      history.series(zone, seconds, (point) => point.blocks[pageblock]), seconds, { tone: "cool" });
  }
}

function typeRows(model, zone) {
  if (!zone.by_type) return [];
  return model.types.map((name, at) => {
    const pageblocks = zone.pageblocks ? whole(zone.pageblocks[at]) : "";
    return { name, kind: "type", values: zone.by_type[at].map(count), pageblocks };
  });
}

function totalRows(zone) {
  const pageblocks = zone.pageblocks ? whole(zone.pageblocks.reduce((sum, blocks) => sum + blocks, 0)) : "";
  return [
    { name: "all types", kind: "total", values: zone.free.map(count), pageblocks },
    { name: "available", kind: "total", values: zone.blocks.map(whole),
      meaning: "Blocks of each order that the free blocks of that order and above make up" },
    { name: "unusable index", kind: "index", values: zone.unusable_index.map((index) => index.toFixed(3)),
      shares: zone.unusable_index, meaning: "Share of free memory that cannot serve a request of each order" },
    { name: "extfrag index", kind: "index", values: zone.extfrag_index.map((index) => (index === null ? "–" : index.toFixed(3))),
      shares: zone.extfrag_index.map((index) => index ?? 0),
      meaning: "Why a request would fail: 0 for lack of memory, 1 for fragmentation; – where it would not" },
  ];
}

/** Free pages against the watermarks. */
function watermarkBar() {
  const fill = element("span", { class: "fill" });
  const marks = ["min", "low", "high"].map((name) => [name, element("span", { class: `mark ${name}`, title: name })]);
  const track = element("div", { class: "track", "aria-hidden": "true" }, fill, ...marks.map(([, mark]) => mark));
  const words = element("p", { class: "quiet" });
  const show = (zone, pageBytes) => {
    const pages = zone.pages;
    track.hidden = !pages;
    const free = `${whole(zone.free_pages)} pages free (${bytes(zone.free_pages * pageBytes)})`;
    if (!pages) return setText(words, free);
    const full = Math.max(1, pages.managed);
    fill.style.width = percentOf(zone.free_pages / full);
    for (const [name, mark] of marks) mark.style.left = percentOf((pages[name] + pages.boost) / full);
    const boost = pages.boost ? `, boost ${whole(pages.boost)}` : "";
    setText(words, `${free}, ${percent(zone.free_pages / full)} of ${whole(pages.managed)} managed · ${whole(pages.percpu)} on per-CPU lists · `
      + `watermarks: min ${whole(pages.min)}, low ${whole(pages.low)}, high ${whole(pages.high)}${boost}`);
  };
  return { root: element("div", { class: "watermarks" }, track, words), show };
}

function percentOf(share) {
  return `${Math.min(100, share * 100).toFixed(2)}%`;
}
