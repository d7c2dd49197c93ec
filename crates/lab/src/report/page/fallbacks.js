// Fallbacks over time, and by requested and found type.

class FallbacksView {
  constructor() {
    this.chart = new Chart(byId("fallbacks-chart"), {
      height: 240, bars: true, xTitle: "seconds since the first event", yTitle: "events a sample", xText: short,
      yText: (value) => whole(value ?? 0), where: (xs, at) => (at ? `${seconds(xs[at - 1])} to ${seconds(xs[at])}` : "before the first event"), atEnd: "last sample",
    });
  }

  show(trace) {
    // The recorded machine comes first, if its fallbacks were recorded.
    const sides = trace.eras.map((era) => ({ name: era.name, rows: era.fallbacks }));
    if (trace.machine_fallbacks) sides.unshift({ name: "the recorded machine", rows: trace.machine_fallbacks });
    const state = { side: sides.length - 1, by: 0 };
    const draw = () => {
      const { rows } = sides[state.side];
      const keys = new Map();
      for (const [at, wanted, found, claimed, events] of rows) {
        const [name, tone] = state.by === 0 ? (claimed ? ["claims", "series-0"] : ["steals", "series-2"])
          : state.by === 1 ? [`for ${DATA.types[wanted]}`, typeTone(wanted)] : [`from ${DATA.types[found]}`, typeTone(found)];
        if (!keys.has(name)) keys.set(name, { name, tone, values: trace.times_s.map(() => 0) });
        keys.get(name).values[at] += events;
      }
      const series = [...keys.values()].sort((a, b) => (a.name < b.name ? 1 : -1));
      const title = `${sides[state.side].name}: ${whole(rows.reduce((sum, row) => sum + row[4], 0))} fallbacks`;
      this.chart.show({ title, xs: trace.times_s, series });
      pairs(sides);
    };
    const set = (key) => (at) => { state[key] = at; draw(); };
    byId("fallbacks-controls").replaceChildren(
      choice("Of", sides.map(({ name }) => name), state.side, set("side")),
      choice("Colour", ["claims and steals", "requested type", "found type"], state.by, set("by")),
      element("span", { class: "quiet" }, "a claim changes the pageblock’s type, a steal does not"));
    draw();
  }
}

/** The table of all sides by requested and found type. */
function pairs(sides) {
  const sums = sides.map(({ rows }) => {
    const sum = new Map();
    for (const [, wanted, found, claimed, events] of rows) {
      const key = `${wanted} ${found} ${claimed}`;
      sum.set(key, (sum.get(key) ?? 0) + events);
    }
    return sum;
  });
  const keys = [...new Set(sums.flatMap((sum) => [...sum.keys()]))].sort();
  const rows = keys.map((key) => {
    const [wanted, found, claimed] = key.split(" ").map(Number);
    const measure = `${DATA.types[wanted]} from ${DATA.types[found]}, ${claimed ? "claims" : "steals"}`;
    return { group: "", measure, unit: "", cells: sums.map((sum) => sum.get(key) ?? 0) };
  });
  const table = { title: "Fallbacks by type", columns: sides.map(({ name }) => name), rows };
  if (rows.length) showTable(byId("fallbacks-table"), table, false, []);
  else byId("fallbacks-table").replaceChildren(element("p", { class: "quiet" }, "No request was answered from another type’s block."));
}
