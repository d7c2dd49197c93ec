// The contents of each pageblock: at the start, at the end, and at the time of the slider.

/** The maps of a zone, one byte for each cell, unpacked from runs of changes. */
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
      : `A cell is ${share} neighbouring pageblocks of ${bytes}, and shows the worst of them for large blocks.`)
      + " To read a cell, point at it, or use the arrow keys in its zone.";
    byId("map-legend").replaceChildren(...this.legend());
    this.figures.forEach((figure, number) => {
      const zones = this.trace.zones.map((zone, at) => {
        const canvas = element("canvas", { role: "img", tabindex: "0", "data-zone": String(at) });
        canvas.addEventListener("pointermove", (event) => this.read(number, at, cellAt(canvas, event)));
        canvas.addEventListener("pointerleave", () => { byId("map-readout").textContent = ""; });
        canvas.addEventListener("keydown", (event) => this.press(event, number, at, canvas));
        return [element("h3", {}, `zone ${zone.name}`), canvas];
      });
      figure.replaceChildren(element("figcaption", {}), ...zones.flat());
    });
    this.draw();
  }

  legend() {
    const isPresent = (kind) => this.maps().some((zone) => zone.some((map) => map.some((cell) => kindOf(cell) === kind)));
    return cellLegend(this.state.mode, DATA.types, isPresent);
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
    const edge = cellEdge(cells, width, number === 2 ? 420 : 300);
    const tones = cellTones(this.state.mode, DATA.types.length);
    figure.querySelectorAll("canvas").forEach((canvas, zone) => drawMap(canvas, maps[zone], edge, width, tones, this.state.mode === 0));
  }

  press(event, number, zone, canvas) {
    if (stepCell(canvas, event, this.maps()[zone][0].length)) this.read(number, zone, canvas.cell);
  }

  read(number, zone, at) {
    const cell = this.maps()[zone][this.moment(number)]?.[at];
    const said = byId("map-readout");
    if (cell === undefined) return void (said.textContent = "");
    const share = this.era().maps.pageblocks_per_cell ?? 1;
    const pages = share * 2 ** this.trace.pageblock_order;
    const pfn = (this.trace.zones[zone].first_pfn + at * pages).toString(16);
    said.textContent = `Zone ${this.trace.zones[zone].name}, pageblock at pfn 0x${pfn}: ${cellWords(cell, DATA.types)}`;
  }
}
