// Line and bar charts as SVG, with a cursor that a pointer or the arrow keys move.

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Where an axis has its marks: round numbers, or powers of ten where it is logarithmic. */
function marks(from, to, wanted, log) {
  if (log) {
    const powers = [];
    for (let power = Math.ceil(Math.log10(from) - 1e-9); 10 ** power <= to * 1.0001; power += 1) powers.push(10 ** power);
    const every = Math.max(1, Math.ceil(powers.length / wanted));
    return powers.filter((_, at) => at % every === 0);
  }
  const rough = (to - from) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9) + 0; at * step <= to + step * 1e-6; at += 1) found.push(at * step + 0);
  return found;
}

/** A chart in `host`, a figure element. */
class Chart {
  constructor(host, look) {
    this.host = host;
    this.look = { height: 260, xText: String, yText: cellText, legend: true, ...look };
    this.cursor = null;
    this.title = element("span");
    this.value = element("span");
    this.svg = shape("svg", { tabindex: "0", role: "img" });
    this.legend = element("ul", { class: "legend", "aria-live": "polite" });
    const save = element("span", { class: "save" });
    for (const [label, act] of [["SVG", () => this.saveSvg()], ["CSV", () => this.saveCsv()]]) {
      const button = element("button", { type: "button", title: `Save this chart as ${label}` }, label);
      button.addEventListener("click", act);
      save.append(button);
    }
    host.replaceChildren(element("figcaption", {}, this.title, this.value, save), this.svg, this.legend);
    this.svg.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** Shows series of `{name, tone, values}` over `xs`; several charts may share a cursor by `peers`. */
  show({ title, xs, series, from, to, peers }) {
    Object.assign(this, { xs, series, range: [from, to], peers });
    this.name = title;
    this.title.textContent = title;
    this.svg.setAttribute("aria-label", `${title}: ${series.map((one) => one.name).join(", ")}. Arrow keys move the cursor.`);
    if (this.cursor !== null && this.cursor >= xs.length) this.cursor = null;
    this.draw();
  }

  /** The box of the plot, in CSS pixels. */
  frame() {
    const width = Math.max(160, this.host.clientWidth);
    const { height, yTitle, xTitle } = this.look;
    return { width, height, left: yTitle ? 62 : 46, right: width - 10, top: 8, bottom: height - (xTitle ? 36 : 20) };
  }

  yRange() {
    const { yLog, bars } = this.look;
    const sums = bars ? this.xs.map((_, at) => this.series.reduce((sum, one) => sum + one.values[at], 0)) : [];
    const values = [...sums, ...(bars ? [] : this.series.flatMap((one) => one.values))].filter((value) => value !== null);
    let high = Math.max(...values, yLog ? 10 : 1e-9);
    let low = this.range[0] ?? 0;
    if (this.look.around) {
      low = Math.min(...values, high);
      const room = Math.max((high - low) * 0.08, 0.005);
      return [Math.max(0, low - room), Math.min(this.range[1] ?? Infinity, high + room)];
    }
    if (!yLog) return [low, this.range[1] ?? (high === 1e-9 ? 1 : high * 1.05)];
    return [0.8, high * 1.4];
  }

  draw() {
    if (!this.series || !this.host.clientWidth) return;
    const frame = this.frame();
    const { xLog, yLog, bars } = this.look;
    const scale = (from, to, start, end, log) => {
      const place = log ? Math.log : (value) => value;
      return (value) => start + ((place(value) - place(from)) / (place(to) - place(from) || 1)) * (end - start);
    };
    const [low, high] = this.yRange();
    const first = this.xs[0] ?? 0, last = this.xs[this.xs.length - 1] ?? 1;
    this.x = scale(first, last > first ? last : first + 1, frame.left, frame.right, xLog);
    this.y = scale(low, high, frame.bottom, frame.top, yLog);
    this.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.svg.style.height = frame.height + "px";
    this.svg.replaceChildren();
    this.axes(frame, low, high, first, last);
    if (bars) this.bars(frame);
    else this.lines(low);
    this.rule = shape("line", { y1: frame.top, y2: frame.bottom, stroke: colour("ink"), "stroke-width": 1, "stroke-dasharray": "2 2", visibility: "hidden" });
    this.svg.append(this.rule);
    this.mark();
  }

  axes(frame, low, high, first, last) {
    const { xTitle, yTitle, xText, yText, xLog, yLog } = this.look;
    const quiet = { fill: colour("quiet"), "font-size": 11, "font-family": "system-ui, sans-serif" };
    const line = { stroke: colour("line"), "stroke-width": 1 };
    for (const value of marks(low, high, frame.height > 180 ? 5 : 3, yLog)) {
      const at = Math.round(this.y(value)) + 0.5;
      this.svg.append(shape("line", { x1: frame.left, x2: frame.right, y1: at, y2: at, ...line }));
      this.svg.append(shape("text", { x: frame.left - 6, y: at + 4, "text-anchor": "end", ...quiet }, yText(value)));
    }
    for (const value of marks(first, last, frame.width > 480 ? 8 : 4, xLog)) {
      const at = Math.round(this.x(value)) + 0.5;
      this.svg.append(shape("line", { x1: at, x2: at, y1: frame.bottom, y2: frame.bottom + 4, ...line }));
      const near = at > frame.right - 14 ? "end" : "middle";
      this.svg.append(shape("text", { x: at, y: frame.bottom + 15, "text-anchor": near, ...quiet }, xText(value)));
    }
    if (xTitle) this.svg.append(shape("text", { x: (frame.left + frame.right) / 2, y: frame.height - 4, "text-anchor": "middle", ...quiet }, xTitle));
    if (yTitle) {
      const middle = (frame.top + frame.bottom) / 2;
      this.svg.append(shape("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})`, ...quiet }, yTitle));
    }
  }

  lines(low) {
    // The first lines are the widest, so that lines that lie on each other all show.
    const step = this.host.clientWidth > 480 ? 1.1 : 0.6;
    const widest = this.look.widest ?? 1.75 + (this.series.length - 1) * step;
    this.series.forEach(({ tone, values }, number) => {
      let path = "";
      values.forEach((value, at) => {
        if (value === null || (this.look.yLog && value < low)) return;
        path += `${path ? "L" : "M"}${this.x(this.xs[at]).toFixed(1)} ${this.y(value).toFixed(1)}`;
      });
      const share = this.series.length > 1 ? number / (this.series.length - 1) : 1;
      const width = widest + (1.75 - widest) * share;
      this.svg.append(shape("path", { d: path, fill: "none", stroke: colour(tone), "stroke-width": width.toFixed(2), "stroke-linejoin": "round", "stroke-linecap": "round" }));
    });
  }

  /** Stacked bars, each from the x before to its own. */
  bars(frame) {
    for (let at = 1; at < this.xs.length; at += 1) {
      const left = this.x(this.xs[at - 1]), width = Math.max(0.5, this.x(this.xs[at]) - left - 0.75);
      let sum = 0;
      for (const { tone, values } of this.series) {
        if (!values[at]) continue;
        const bottom = this.y(sum), top = this.y(sum + values[at]);
        this.svg.append(shape("rect", { x: left.toFixed(1), y: top.toFixed(1), width: width.toFixed(1), height: Math.max(0.5, Math.min(frame.bottom, bottom) - top).toFixed(1), fill: colour(tone) }));
        sum += values[at];
      }
    }
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect();
    const at = event.clientX - box.left;
    let best = 0;
    this.xs.forEach((value, number) => {
      if (Math.abs(this.x(value) - at) < Math.abs(this.x(this.xs[best]) - at)) best = number;
    });
    return best;
  }

  press(event) {
    const last = this.xs.length - 1;
    const now = this.cursor ?? (this.look.restsFirst ? 0 : last);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.point(to === null ? null : Math.min(last, Math.max(0, to)));
  }

  /** Moves the cursor of this chart and its peers. */
  point(at) {
    for (const chart of this.peers ?? [this]) {
      chart.cursor = at;
      chart.mark();
    }
  }

  /** Shows the values at the cursor, or at the end. */
  mark() {
    if (!this.series || !this.rule) return;
    const at = this.cursor ?? (this.look.restsFirst ? 0 : this.xs.length - 1);
    this.rule.setAttribute("visibility", this.cursor === null ? "hidden" : "visible");
    if (this.xs.length) {
      const x = this.x(this.xs[at]).toFixed(1);
      this.rule.setAttribute("x1", x);
      this.rule.setAttribute("x2", x);
    }
    const where = this.look.where ? this.look.where(this.xs, at) : this.look.xText(this.xs[at] ?? 0);
    const value = (one) => this.look.yText(one.values[at] ?? null);
    if (this.look.legend) {
      this.value.textContent = this.cursor === null && this.look.atEnd ? this.look.atEnd : where;
      this.legend.replaceChildren(...this.series.map((one) => legendItem(one.name, one.tone, value(one))));
    } else {
      // In small charts one line has the values, in the colours of their lines.
      const parts = this.series.map((one) => Object.assign(element("b", {}, value(one) + " "), { style: `color: ${colour(one.tone)}` }));
      this.value.replaceChildren(...(this.cursor === null ? [] : [where + ": "]), ...parts);
    }
  }

  saveSvg() {
    const copy = this.svg.cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    for (const [key, value] of [["xmlns", SVG], ["width", width], ["height", height]]) copy.setAttribute(key, value);
    copy.removeAttribute("tabindex");
    copy.prepend(shape("rect", { width, height, fill: colour("panel") }));
    saveAs(`${this.name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }

  saveCsv() {
    const head = [this.look.xTitle ?? "x", ...this.series.map((one) => one.name)];
    saveAs(`${this.name}.csv`, "text/csv", csv([head, ...this.xs.map((x, at) => [x, ...this.series.map((one) => one.values[at])])]));
  }
}
