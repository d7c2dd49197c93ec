// The machine, the sensor, pressure and notes.

import { bytes, duration, element, setText, short, whole } from "./words.js";

const EXACTNESS = {
  bpf: "exact, read without any lock",
  pagetypeinfo: "counts stop at 100 000; the reading takes each zone's lock",
  buddyinfo: "exact totals",
};

// The colour of a state. Without a number that is needed there is none.
const SEVERITY = { "available-now": "now", "not-before-freed": "never", unknown: "unknown" };

/** The top lines. */
export function showSummary(model) {
  const { machine, sensor } = model;
  const facts = [
    `Linux ${machine.kernel_release || "of unknown release"}`,
    machine.cpus ? `${machine.cpus} CPU${machine.cpus === 1 ? "" : "s"}` : "",
    machine.memory_bytes ? bytes(machine.memory_bytes) : "",
    model.pageblock_order === null ? "" : `pageblocks of order ${model.pageblock_order}`,
  ];
  setText(document.getElementById("machine"), facts.filter(Boolean).join(" · "));
  setText(document.getElementById("sensor"), `${sensorWords(sensor)} · a reading took ${cost(sensor.cost_ns)}`);
}

/** What the machine can give, a verdict for each size, with the age of what it was made from. The first is what most ask for. */
export function showVerdicts(model) {
  const list = document.getElementById("verdicts");
  list.replaceChildren(...model.verdicts.map((verdict) => {
    const age = model.unix_ms - verdict.unix_ms + (verdict.survey_age_ms ?? 0);
    const old = age < 2000 ? "" : ` (up to ${duration(age / 1000)} old)`;
    const severity = verdict.need === null ? "plain" : SEVERITY[verdict.state] ?? "later";
    return element("li", { class: severity },
      element("strong", {}, verdict.title), element("span", {}, `${verdict.numbers}${old}`),
      ...(verdict.action ? [element("p", { class: "action" }, verdict.action)] : []));
  }));
}

function sensorWords({ source, types_age_ms: age }) {
  let types = "";
  if (age === null) types = ", free blocks by type not known";
  else if (source === "buddyinfo") types = `, types from pagetypeinfo ${duration(age / 1000)} before`;
  return `Free blocks from ${source}: ${EXACTNESS[source] ?? ""}${types}`;
}

function cost(ns) {
  return ns < 1e6 ? `${short(ns / 1e3)} µs` : `${short(ns / 1e6)} ms`;
}

/** How long tasks waited for memory. */
export function showPressure(pressure) {
  const body = document.getElementById("pressure-body");
  const said = pressure ? `some tasks waited ${pressure.some.avg10.toFixed(1)} %, all ${pressure.full.avg10.toFixed(1)} % of the last 10 s` : "not known";
  setText(document.getElementById("pressure-said"), said);
  if (!pressure) {
    body.replaceChildren(element("p", { class: "quiet" }, "This kernel keeps no pressure (CONFIG_PSI), or it cannot be read."));
    return;
  }
  const head = ["", "10 s", "1 min", "5 min", "since the boot"].map((text) => element("th", { scope: "col" }, text));
  const row = (name, stall) =>
    element("tr", {}, element("th", { scope: "row" }, name),
      ...[stall.avg10, stall.avg60, stall.avg300].map((share) => element("td", {}, `${share.toFixed(2)} %`)),
      element("td", {}, `${short(stall.total_us / 1e6)} s`));
  body.replaceChildren(
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "pressure-title" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, row("some tasks", pressure.some), row("all tasks", pressure.full)))));
}

/** What could not be had. */
export function showNotes(notes) {
  const list = document.getElementById("notes");
  setText(document.getElementById("notes-said"), notes.length ? `${notes.length} could not be had` : "nothing is missing");
  const said = notes.length ? notes : ["Nothing is missing."];
  if ([...list.children].map((item) => item.textContent).join("\n") === said.join("\n")) return;
  list.replaceChildren(...said.map((note) => element("li", {}, note)));
}

/** What a zone's trend says, as a sentence. */
export function trendWords(trend, order, blocks) {
  const name = `blocks of order ${order}`;
  if (blocks === 0) return `No ${name} are left.`;
  if (!trend) return `Too few samples for a trend of ${name}.`;
  const speed = Math.abs(trend.per_second);
  const over = `over ${duration(trend.over_s)}`;
  if (speed * 3600 < 1) return `${whole(blocks)} ${name}, steady ${over}.`;
  const pace = speed >= 1 ? `${short(speed)} a second` : speed * 60 >= 1 ? `${short(speed * 60)} a minute` : `${short(speed * 3600)} an hour`;
  const verb = trend.per_second < 0 ? "fall" : "rise";
  return `${whole(blocks)} ${name} ${verb} by ${pace} ${over}.`;
}
