// The unusable index, and free blocks by order and type.

const indexLook = {
  height: 300, xTitle: "seconds since the first event", yTitle: "unusable index", around: true,
  xText: short, yText: (value) => (value === null ? "–" : value.toFixed(3)), where: (xs, at) => `at ${seconds(xs[at])}`, atEnd: "at the end",
};

/** The chart of the unusable index, with its controls. */
class UnusableView {
  constructor() {
    this.chart = new Chart(byId("unusable-chart"), indexLook);
  }

  show(trace) {
    const state = { zone: mainZone(trace), order: trace.pageblock_order };
    const draw = () => {
      const series = trace.eras.map((era, at) => ({
        name: era.name, tone: eraTone(at), values: era.unusable[state.zone][state.order].map((index) => index / 1000),
      }));
      this.chart.show({ title: `Zone ${trace.zones[state.zone].name}, order ${state.order}`, xs: trace.times_s, series, to: 1 });
    };
    byId("unusable-controls").replaceChildren(
      choice("Zone", trace.zones.map((zone) => zone.name), state.zone, (at) => { state.zone = at; draw(); }),
      choice("Order", orders(trace), state.order, (at) => { state.order = at; draw(); }));
    draw();
  }
}

/** A small chart for each order. Its lines are the types of an era, or the eras for a type. */
class BlocksView {
  show(trace) {
    byId("blocks-charts").replaceChildren();
    this.charts = orders(trace).map(() => {
      const host = element("figure");
      byId("blocks-charts").append(host);
      return new Chart(host, {
        height: 150, xText: short, yText: short, legend: false, where: (xs, at) => seconds(xs[at]), xTitle: "seconds",
      });
    });
    const state = { zone: mainZone(trace), lines: 0, era: trace.eras.length - 1, kind: 0 };
    const kinds = this.kinds = DATA.types.map((name, kind) => ({ name, kind }))
      .filter(({ kind }) => trace.eras.some((era) => era.blocks.some((zone) => zone.some((order) => order[kind]))));
    const draw = () => {
      const zeros = trace.times_s.map(() => 0);
      const of = (era, order, kind) => trace.eras[era].blocks[state.zone][order][kind] ?? zeros;
      const lines = (order) => state.lines === 0
        ? kinds.map(({ name, kind }) => ({ name, tone: typeTone(kind), values: of(state.era, order, kind) }))
        : trace.eras.map((era, at) => ({ name: era.name, tone: eraTone(at), values: of(at, order, kinds[state.kind]?.kind ?? 0) }));
      this.charts.forEach((chart, order) => {
        chart.look.widest = state.lines === 0 ? 1.75 : undefined;
        chart.show({ title: `Order ${order}`, xs: trace.times_s, series: lines(order), peers: this.charts });
      });
      byId("blocks-legend").replaceChildren(...lines(0).map(({ name, tone }) => legendItem(name, tone)));
      controls();
    };
    const set = (key) => (at) => { state[key] = at; draw(); };
    const controls = () => byId("blocks-controls").replaceChildren(
      choice("Zone", trace.zones.map((zone) => zone.name), state.zone, set("zone")),
      choice("Lines", ["types of an era", "eras for a type"], state.lines, set("lines")),
      state.lines === 0
        ? choice("Era", trace.eras.map((era) => era.name), state.era, set("era"))
        : choice("Type", kinds.map(({ name }) => name), state.kind, set("kind")),
      element("span", { class: "quiet" }, "blocks on the free lists, without per-CPU lists"));
    draw();
  }
}

function orders(trace) {
  return trace.eras[0].unusable[mainZone(trace)].map((_, order) => String(order));
}

function mainZone(trace) {
  return trace.zones.reduce((best, zone, at) => (zone.managed > trace.zones[best].managed ? at : best), 0);
}
