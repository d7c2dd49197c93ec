// Shows the chosen trace.

const DATA = JSON.parse(byId("data").textContent);

const views = [new UnusableView(), new BlocksView(), new MapView(), new HoldsView(), new FallbacksView()];

function showTrace(trace) {
  const eras = trace.eras.map((era) => era.name);
  document.title = `Freehold: ${trace.stem}`;
  showAnswer(trace, eras);
  showFindings(trace);
  byId("holds-time").hidden = !trace.times;
  const [overview, ...others] = trace.tables;
  tableWithTick(byId("eras-body"), overview, eras, trace.stem, false);
  byId("tables-body").replaceChildren(...others.map((table) => {
    const body = element("div");
    const details = element("details", {}, element("summary", {}, table.title), body);
    // Large tables are laid out only when they are opened.
    details.addEventListener("toggle", () => { if (details.open) tableWithTick(body, table, table.columns, trace.stem, false); });
    return details;
  }));
  for (const view of views) view.show(trace);
  showFacts(trace);
}

/** The summary, as `freehold compare` prints it. */
function showAnswer({ summary }, eras) {
  byId("answer").replaceChildren(...summary.sections.map(({ title, lines, lists, table }) => {
    const place = element("div");
    if (table) showTable(place, table, false, eras);
    return element("div", {}, element("h3", {}, title),
      ...lines.map((line) => element("p", {}, line)),
      ...lists.map(([name, clauses]) => element("div", {}, element("h4", {}, name), element("ul", {}, ...clauses.map((clause) => element("li", {}, clause))))),
      place);
  }));
}

/** The difference from the machine first, then the findings, grouped by system. */
function showFindings({ trust, distance, findings }) {
  byId("distance").textContent = distance
    ? `Agreement with the machine: ${distance.variant}, the era nearest to the recorded kernel, ends with free lists that differ `
      + `from the machine’s pagetypeinfo by ${whole(distance.blocks)} blocks (${whole(distance.pages)} pages, ${cellText(distance.percent)} % of the free pages).${trust ? ` Checks: ${trust}.` : ""}`
    : "Agreement with the machine unknown: the trace has no state at its end, or no readable kernel release.";
  const groups = new Map();
  for (const sentence of findings) {
    const at = sentence.indexOf(": ");
    const [name, rest] = at < 0 ? ["", sentence] : [sentence.slice(0, at), sentence.slice(at + 2)];
    if (distance && at < 0 && sentence.includes("pagetypeinfo")) continue;
    groups.set(name, [...(groups.get(name) ?? []), rest]);
  }
  byId("findings").replaceChildren(...[...groups].map(([name, list]) =>
    element("div", {}, element("h3", {}, name), element("ul", {}, ...list.map((text) => element("li", {}, text))))));
}

function showFacts(trace) {
  const { program, machine, settings } = DATA.provenance;
  const started = trace.started_unix_s ? [["recorded", new Date(trace.started_unix_s * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC"]] : [];
  const step = trace.times_s.length > 1 ? ` over ${seconds(trace.times_s[trace.times_s.length - 1])}` : "";
  const maps = trace.eras[0]?.maps.samples.length ?? 0;
  const facts = [
    ["trace", trace.name], ...trace.facts, ...started,
    ["start state", trace.start.replace("start state: ", "")],
    ["samples", `${trace.times_s.length}${step}; pageblocks in ${maps} of them`],
    ["replayed by", program], ["replayed on", machine], ["settings", settings],
  ];
  byId("facts").replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
}

function start() {
  const line = byId("trace-line");
  const headline = (trace) => [element("strong", {}, trace.name), element("span", { class: "quiet" },
    trace.facts.filter(([name]) => ["events", "recorded kernel", "recorded machine"].includes(name)).map(([, text]) => text).join(" · "))];
  const choose = (at, again) => {
    const [strong, facts] = headline(DATA.traces[at]);
    const names = DATA.traces.map((trace) => trace.stem);
    const chooser = names.length > 1 ? choice("Trace", names, at, (to) => choose(to, true)) : strong;
    line.replaceChildren(chooser, facts);
    showTrace(DATA.traces[at]);
    if (again) line.querySelector("select").focus({ preventScroll: true });
  };
  byId("contents").replaceChildren(...[...document.querySelectorAll("main section")].map((section) =>
    element("a", { href: "#" + section.id }, section.querySelector("h2").firstChild.textContent.trim())));
  if (DATA.traces.length) choose(0, false);
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  // Redraws with the colours of the new scheme.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const view of views) for (const chart of [view, view.chart, view.time, view.touched, ...(view.charts ?? [])]) chart?.draw?.();
  });
  // The page is usable after the next frame.
  requestAnimationFrame(() => setTimeout(() => performance.mark("interactive"), 0));
}

start();
