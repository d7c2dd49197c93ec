// Distributions of zone lock holds.

const HOLD_LOOK = {
  height: 300, restsFirst: true, xLog: true, yLog: true, yTitle: "holds", yText: (value) => (value === null ? "–" : short(value)),
};

class HoldsView {
  constructor() {
    this.time = new Chart(byId("holds-time"), {
      ...HOLD_LOOK, xTitle: "nanoseconds", xText: time, where: (xs, at) => this.where(time(xs[at]), time(2 * xs[at])),
    });
    this.touched = new Chart(byId("holds-touched"), {
      ...HOLD_LOOK, xTitle: "pages and list nodes touched", xText: short, where: (xs, at) => this.where(whole(xs[at]), whole(2 * xs[at])),
    });
    this.sums = true;
  }

  where(from, to) {
    return this.sums ? `at least ${from}` : `${from} to ${to}`;
  }

  show(trace) {
    const draw = () => {
      for (const [chart, key, title] of [[this.time, "holds_ns", "Hold time"], [this.touched, "holds_touched", "Pages and list nodes touched"]]) {
        const length = Math.max(1, ...trace.eras.map((era) => era[key].length));
        const first = Math.min(...trace.eras.map((era) => Math.max(0, era[key].findIndex((count) => count > 0))));
        const xs = Array.from({ length: length - first }, (_, at) => 2 ** (first + at));
        const counts = (era) => xs.map((_, at) => era[key][first + at] ?? 0);
        const sums = (values) => values.map((_, at) => values.slice(at).reduce((sum, value) => sum + value, 0));
        const values = (era) => (this.sums ? sums(counts(era)) : counts(era)).map((value) => value || null);
        const series = trace.eras.map((era, at) => ({ name: era.name, tone: eraTone(at), values: values(era) }));
        chart.show({ title, xs, series });
      }
    };
    byId("holds-controls").replaceChildren(
      choice("Show", ["holds of at least that size", "holds of that size"], this.sums ? 0 : 1, (at) => { this.sums = at === 0; draw(); }),
      element("span", { class: "quiet" }, trace.times
        ? "times on the replaying machine: the shortest of all runs for each hold"
        : "no times: the replaying machine was not idle"));
    draw();
  }
}
