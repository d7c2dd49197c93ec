// What each pageblock holds: at the start, at the end, and at the time of the slider.

const HOLE = 7;
const MODES = ["type and fill", "mixing", "fill"];
// Edges of a cell in CSS pixels, at most and at least.
const WIDEST = 11;
const NARROWEST = 2.5;

/** The maps of a zone: a byte a cell, unpacked from runs of what changes. */
function unpack({ cells, runs }) {
  let before = new Uint8Array(cells ?? 0);
  return (runs ?? "").split("|").map((text) => {
    const map = before.slice();
    let at = 0;
    for (const [, bits, letters] of text.matchAll(/([0-7][0-9a-f])([A-Z]*)/g)) {
      let length = letters ? 0 : 1;
      for (const letter of letters) length = length * 26 + letter.charCodeAt(0) - 65;
      const change = parseInt(bits, 16);
      if (change) for (let cell = at; cell < at + length; cell += 1) map[cell] ^= change;
      at += length;
    }
    before = map;
    return map;
  });
}

const kindOf = (cell) => cell >> 4;
const isMixed = (cell) => (cell & 8) !== 0;
const fillOf = (cell) => cell & 7;

class MapView {
  constructor() {
    this.slider = byId("map-slider");
    this.slider.addEventListener("input", () => this.slide());
    this.figures = ["map-start", "map-end", "map-now"].map((id) => byId(id));
    new ResizeObserver(() => this.draw()).observe(byId("map-now"));
  }

  show(trace) {
    this.trace = trace;
    this.unpacked = new Map();
    this.state = { era: trace.eras.length - 1, mode: this.state?.mode ?? 0 };
    const set = (key) => (at) => { this.state[key] = at; this.fill(); };
    byId("map-controls").replaceChildren(
      choice("Era", trace.eras.map((era) => era.name), this.state.era, set("era")),
      choice("Colour", MODES, this.state.mode, set("mode")),
      ...[["Start", 0], ["End", 1]].map(([name, end]) => {
        const button = element("button", { type: "button" }, name);
        button.addEventListener("click", () => { this.slider.value = end ? this.slider.max : "0"; this.slide(); });
        return button;
      }));
    this.slider.max = String(Math.max(0, this.era().maps.samples.length - 1));
    this.slider.value = String(Math.floor(Number(this.slider.max) / 2));
    this.fill();
  }

  era() {
    return this.trace.eras[this.state.era];
  }

  /** The maps of the era's zones. */
  maps() {
    if (!this.unpacked.has(this.state.era)) this.unpacked.set(this.state.era, this.era().maps.zones.map(unpack));
    return this.unpacked.get(this.state.era);
  }

  /** Makes a canvas for each zone in each figure, and the legend. */
  fill() {
    const share = this.era().maps.pageblocks_per_cell ?? 1;
    const size = (2 ** this.trace.pageblock_order * this.trace.page_bytes) / 1024;
    const bytes = size >= 1024 ? `${size / 1024} MiB` : `${size} KiB`;
    byId("map-note").textContent = (share === 1
      ? `A cell is a pageblock of ${bytes}.`
      : `A cell is ${share} neighbouring pageblocks of ${bytes}, and shows the one that is most in the way of large blocks.`)
      + " Point at a cell, or at its zone with the arrow keys, to read it.";
    byId("map-legend").replaceChildren(...this.legend());
    this.figures.forEach((figure, number) => {
      const zones = this.trace.zones.map((zone, at) => {
        const canvas = element("canvas", { role: "img", tabindex: "0", "data-zone": String(at) });
        canvas.addEventListener("pointermove", (event) => this.read(number, at, this.cellAt(canvas, event)));
        canvas.addEventListener("pointerleave", () => { byId("map-readout").textContent = ""; });
        canvas.addEventListener("keydown", (event) => this.press(event, number, at, canvas));
        return [element("h3", {}, `zone ${zone.name}`), canvas];
      });
      figure.replaceChildren(element("figcaption", {}), ...zones.flat());
    });
    this.draw();
  }

  legend() {
    const present = DATA.types.map((name, kind) => ({ name, kind }))
      .filter(({ kind }) => this.maps().some((zone) => zone.some((map) => map.some((cell) => kindOf(cell) === kind))));
    if (this.state.mode === 0) {
      return [...present.map(({ name, kind }) => legendItem(name, typeTone(kind))),
        element("li", {}, element("small", {}, "paler: more of it free")),
        legendItem("mixed: holds pages of another type than its own", "ink", undefined, "swatch dot")];
    }
    if (this.state.mode === 1) {
      return [legendItem("mixed", "series-0"), legendItem("not mixed, in use", "series-3"), legendItem("free", "line")];
    }
    return [legendItem("not one free page", "series-2"), element("li", {}, element("small", {}, "paler: more of it free")), legendItem("free", "line")];
  }

  /** The moment of a figure: the first, the last, or the slider's. */
  moment(number) {
    return [0, Number(this.slider.max), Number(this.slider.value)][number];
  }

  slide() {
    this.drawFigure(2);
  }

  draw() {
    if (!this.trace) return;
    this.figures.forEach((_, number) => this.drawFigure(number));
  }

  drawFigure(number) {
    const figure = this.figures[number];
    const moment = this.moment(number);
    const at = this.trace.times_s[this.era().maps.samples[moment] ?? 0] ?? 0;
    const words = `${seconds(at)}: ${whole(this.era().mixed[moment] ?? 0)} mixed pageblocks`;
    figure.firstChild.textContent = `${["Start", "End", "At the slider"][number]}, ${words}`;
    if (number === 2) {
      byId("map-time").textContent = words;
      this.slider.setAttribute("aria-valuetext", words);
    }
    const width = figure.clientWidth;
    if (!width) return;
    const maps = this.maps().map((zone) => zone[moment] ?? new Uint8Array(0));
    const cells = maps.reduce((sum, map) => sum + map.length, 0);
    const wanted = Math.sqrt((width * (number === 2 ? 420 : 300)) / Math.max(1, cells));
    const edge = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(wanted * 2) / 2));
    const tones = this.tones();
    figure.querySelectorAll("canvas").forEach((canvas, zone) => drawMap(canvas, maps[zone], edge, width, tones, this.state.mode === 0));
  }

  /** The colour of each of the 128 values that a cell can have; none for a hole. */
  tones() {
    const base = rgb(colour("line")), types = DATA.types.map((_, kind) => rgb(colour(typeTone(kind))));
    const mixed = rgb(colour("series-0")), used = rgb(colour("series-3")), full = rgb(colour("series-2"));
    const blend = (tone, share) => `rgb(${tone.map((part, at) => Math.round(base[at] + (part - base[at]) * share)).join()})`;
    return Array.from({ length: 128 }, (_, cell) => {
      if (kindOf(cell) === HOLE || kindOf(cell) >= types.length) return null;
      const fill = fillOf(cell);
      if (this.state.mode === 0) return blend(types[kindOf(cell)], 0.22 + (0.78 * fill) / 7);
      if (this.state.mode === 1) return isMixed(cell) ? blend(mixed, 1) : fill ? blend(used, 0.6) : blend(base, 0);
      return blend(full, fill / 7);
    });
  }

  cellAt(canvas, event) {
    const { edge, columns } = canvas.map ?? { edge: 1, columns: 1 };
    const column = Math.floor(event.offsetX / edge);
    return column < columns ? Math.floor(event.offsetY / edge) * columns + column : -1;
  }

  press(event, number, zone, canvas) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -canvas.map.columns, ArrowDown: canvas.map.columns }[event.key];
    if (!step) return;
    event.preventDefault();
    const last = this.maps()[zone][0].length - 1;
    canvas.cell = Math.min(last, Math.max(0, (canvas.cell ?? (step > 0 ? -step : 0)) + step));
    this.read(number, zone, canvas.cell);
  }

  read(number, zone, at) {
    const cell = this.maps()[zone][this.moment(number)]?.[at];
    const said = byId("map-readout");
    if (cell === undefined) return void (said.textContent = "");
    const share = this.era().maps.pageblocks_per_cell ?? 1;
    const pages = share * 2 ** this.trace.pageblock_order;
    const pfn = (this.trace.zones[zone].first_pfn + at * pages).toString(16);
    const where = `Zone ${this.trace.zones[zone].name}, pageblock at pfn 0x${pfn}: `;
    if (kindOf(cell) === HOLE) return void (said.textContent = where + "no memory");
    const fill = ["free", "up to two sevenths in use", "two sevenths in use", "three sevenths in use", "four sevenths in use", "five sevenths in use", "six sevenths in use or more", "not one free page"][fillOf(cell)];
    said.textContent = `${where}${DATA.types[kindOf(cell)]}, ${isMixed(cell) ? "mixed, " : ""}${fill}`;
  }
}

function rgb(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function drawMap(canvas, map, edge, width, tones, dots) {
  const columns = Math.max(1, Math.floor(width / edge));
  canvas.map = { edge, columns };
  const height = Math.max(1, Math.ceil(map.length / columns)) * edge;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const gap = edge >= 6 ? 1 : edge >= 4 ? 0.5 : 0;
  const dot = Math.max(1, Math.round(edge / 3));
  const ink = colour("ink");
  let mixed = 0, free = 0;
  map.forEach((cell, at) => {
    const tone = tones[cell];
    if (!tone) return;
    const x = (at % columns) * edge, y = Math.floor(at / columns) * edge;
    context.fillStyle = tone;
    context.fillRect(x, y, edge - gap, edge - gap);
    if (fillOf(cell) === 0) free += 1;
    if (!isMixed(cell)) return;
    mixed += 1;
    if (!dots) return;
    context.fillStyle = ink;
    context.fillRect(x + (edge - gap - dot) / 2, y + (edge - gap - dot) / 2, dot, dot);
  });
  canvas.setAttribute("aria-label", `${whole(map.length)} cells, ${whole(mixed)} mixed, ${whole(free)} free`);
}
