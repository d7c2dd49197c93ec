// A trace in two eras, side by side, at the time of the slider.

// The largest file that fits into the memory of WebAssembly together with its events.
const MOST_BYTES = 768 * 2 ** 20;
const MARKS = ["of this step", "so far", "hidden"];
const MOST_PLACES = 200;

class ReplayView {
  constructor(engine) {
    Object.assign(this, { engine, mode: 0, marks: 1, file: null, timer: null, follows: true });
    this.sides = [ERAS[0], ERAS[2]].map((era) => new Side(era, (kind) => this.changed(kind)));
    this.figures = [byId("side-0"), byId("side-1")];
    this.slider = byId("moment");
    this.slider.addEventListener("input", () => { this.stop(); this.draw(); });
    byId("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    byId("places").addEventListener("toggle", () => this.draw());
    this.controls();
    this.opening();
    this.chart = new Chart(byId("fallbacks-chart"), {
      height: 210, xTitle: "seconds since the first event", yTitle: "fallbacks", xText: short, yText: (value) => whole(value ?? 0),
      where: (xs, at) => seconds(xs[at]), atEnd: "at the end",
    });
    new ResizeObserver(() => this.draw()).observe(this.figures[0]);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.draw(); this.chart.draw(); });
  }

  controls() {
    const era = (number, label) => choice(label, ERAS, ERAS.indexOf(this.sides[number].era), (at) => {
      this.sides[number].era = ERAS[at];
      this.startSide(number);
    });
    const look = (key) => (at) => { this[key] = at; this.legend(); this.draw(); };
    byId("view-controls").replaceChildren(era(0, "Left"), era(1, "Right"),
      choice("Colour", MODES, this.mode, look("mode")), choice("Fallbacks", MARKS, this.marks, look("marks")));
  }

  opening() {
    const file = byId("open");
    file.addEventListener("change", () => {
      const [chosen] = file.files;
      if (chosen) this.open(chosen);
    });
    file.addEventListener("click", () => { file.value = ""; });
    byId("partial").addEventListener("change", () => { if (this.file) this.start(this.file.name, this.file.trace); });
    byId("sample").addEventListener("click", () => this.openSample());
    const section = byId("replay");
    section.addEventListener("dragover", () => section.classList.add("over"));
    section.addEventListener("dragleave", () => section.classList.remove("over"));
    // A file that is dropped anywhere must not replace the page.
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      section.classList.remove("over");
      const [dropped] = event.dataTransfer?.files ?? [];
      if (dropped) this.open(dropped);
    });
  }

  openSample() {
    this.start(byId("sample-trace").dataset.name, carried("sample-trace").buffer);
  }

  async open(file) {
    if (file.size > MOST_BYTES) {
      return this.refuse(`${file.name} has ${whole(file.size / 2 ** 20)} MiB, and this page takes up to ${whole(MOST_BYTES / 2 ** 20)} MiB: use freehold compare`);
    }
    try {
      this.start(file.name, await file.arrayBuffer());
    } catch (error) {
      this.refuse(`${file.name} cannot be read: ${error.message}`);
    }
  }

  /** Says why there is nothing to see. */
  refuse(sentence) {
    this.stop();
    this.file = null;
    for (const side of this.sides) side.reset();
    this.sides[0].error = sentence;
    this.changed("error");
  }

  start(name, trace) {
    this.stop();
    this.file = { name, trace };
    this.follows = true;
    this.sides.forEach((_, number) => this.startSide(number));
  }

  startSide(number) {
    if (!this.file) return;
    this.began = performance.now();
    this.sides[number].start(this.engine, this.file, byId("partial").checked);
    this.changed("start");
  }

  /** The number of moments that both sides have. */
  length() {
    return Math.min(...this.sides.map((side) => side.moments.length));
  }

  /** Takes notice of something new; what comes within a frame is drawn once. */
  changed(kind) {
    if (kind === "done" && this.sides.every((side) => side.isDone)) {
      this.took = performance.now() - this.began;
      performance.mark("replayed");
    }
    if (["head", "error", "start"].includes(kind)) this.canvases();
    if (this.isPending) return;
    this.isPending = true;
    setTimeout(() => {
      this.isPending = false;
      const last = Math.max(0, this.length() - 1);
      this.slider.max = String(last);
      // Until somebody moves the slider, it is where the replay is.
      if (this.follows) this.slider.value = String(last);
      this.state();
      this.legend();
      this.draw();
    }, 30);
  }

  state() {
    const error = this.sides.map((side) => side.error).find(Boolean);
    const share = Math.min(...this.sides.map((side) => side.share()));
    const events = this.sides[0].head?.events ?? 0;
    const said = byId("replay-state");
    byId("shown").hidden = Boolean(error) || !this.file;
    said.className = error ? "alarm" : "quiet";
    said.textContent = error ? error + (/[.!?]$/.test(error) ? "" : ".")
      : !this.file ? "Open a trace to see it replayed."
        : this.sides.every((side) => side.isDone) ? `Replayed in both eras in ${(this.took / 1000).toFixed(1)} s: ${whole(events)} events each.`
          : `Replaying… ${Math.floor(share * 100)} %`;
    const head = this.sides[0].head ?? this.sides[1].head;
    byId("trace-line").replaceChildren(...(head && !error ? this.headline(head) : []));
  }

  headline(head) {
    const mib = (head.managed_pages * head.page_bytes) / 2 ** 20;
    const size = mib >= 1024 ? `${(mib / 1024).toFixed(1)} GiB` : `${whole(mib)} MiB`;
    const facts = [`${whole(head.events)} events`, head.kernel ? `Linux ${head.kernel}` : "an unnamed kernel",
      `${whole(head.cpus)} CPUs`, size, head.command, head.is_cut_short ? "recording cut short" : ""];
    return [element("strong", {}, this.file?.name ?? ""), element("span", { class: "quiet" }, facts.filter(Boolean).join(" · "))];
  }

  play() {
    if (Number(this.slider.max) < 1) return;
    this.follows = false;
    if (this.slider.value === this.slider.max) this.slider.value = "0";
    byId("play").textContent = "Stop";
    this.timer = setInterval(() => {
      this.slider.value = String(Number(this.slider.value) + 1);
      this.draw();
      if (this.slider.value === this.slider.max) this.stop();
    }, 90);
    this.draw();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.follows = false;
    byId("play").textContent = "Play";
  }

  /** Makes a canvas for each zone on each side. */
  canvases() {
    this.figures.forEach((figure, number) => {
      const zones = (this.sides[number].head?.zones ?? []).map((zone, at) => {
        const canvas = element("canvas", { role: "img", tabindex: "0" });
        canvas.addEventListener("pointermove", (event) => this.read(number, at, cellAt(canvas, event)));
        canvas.addEventListener("pointerleave", () => { byId("map-readout").textContent = ""; });
        canvas.addEventListener("keydown", (event) => {
          const cells = this.moment(number)?.zones[at]?.length ?? 0;
          if (canvas.map && stepCell(canvas, event, cells)) this.read(number, at, canvas.cell);
        });
        return [element("h3", {}, `zone ${zone.name}`), canvas];
      });
      figure.replaceChildren(element("figcaption", {}), ...zones.flat());
    });
  }

  legend() {
    const { head } = this.sides[0];
    if (!head) return byId("map-legend").replaceChildren();
    const maps = this.sides.flatMap((side) => side.moments.slice(-1).flatMap((moment) => moment.zones));
    const kinds = new Set(maps.flatMap((map) => [...new Set(map)].map(kindOf)));
    const size = cellSize(head, this.sides[0].moments[0]?.pageblocks_per_cell ?? 1);
    const marks = this.marks === 2 ? [] : [frameItem("claim", "claim"), frameItem("steal", "steal")];
    byId("map-legend").replaceChildren(...cellLegend(this.mode, head.types, (kind) => kinds.has(kind)), ...marks,
      element("li", {}, element("small", {}, size)));
  }

  moment(number) {
    return this.sides[number].moments[Number(this.slider.value)];
  }

  draw() {
    if (!this.figures[0].firstChild) return;
    this.figures.forEach((_, number) => this.drawSide(number));
    const moment = this.moment(0) ?? this.moment(1);
    const words = moment ? `${seconds(moment.time_s)}, event ${whole(moment.events)}` : "";
    byId("moment-time").textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
    this.sums();
    this.lines();
    if (byId("places").open) this.places();
  }

  drawSide(number) {
    const figure = this.figures[number];
    const side = this.sides[number], moment = this.moment(number);
    figure.firstChild.textContent = side.era + (moment
      ? `: ${whole(moment.mixed)} mixed pageblocks, ${whole(moment.empty)} empty` : "");
    const width = figure.clientWidth;
    if (!width || !moment || !side.head) return;
    const cells = moment.zones.reduce((sum, zone) => sum + zone.length, 0);
    const edge = cellEdge(cells, width, 320, 20);
    const tones = cellTones(this.mode, side.head.types.length);
    figure.querySelectorAll("canvas").forEach((canvas, zone) => {
      drawMap(canvas, moment.zones[zone] ?? [], edge, width, tones, this.mode === 0);
      this.drawMarks(canvas, number, zone);
    });
  }

  /** Frames the cells in which fallbacks were: a claim's covers that of a steal. */
  drawMarks(canvas, number, zone) {
    const now = Number(this.slider.value) + 1;
    const from = [now - 1, 0, now][this.marks];
    const cells = new Map();
    for (const moment of this.sides[number].moments.slice(from, now)) {
      for (const [, inZone, cell, , , , , claim] of moment.places) {
        if (inZone === zone) cells.set(cell, Math.max(cells.get(cell) ?? 0, claim));
      }
    }
    const { edge, columns } = canvas.map;
    const context = canvas.getContext("2d");
    const tones = [colour("steal"), colour("claim")];
    const line = Math.max(1, Math.min(2.5, edge / 4));
    context.lineWidth = line;
    for (const [cell, claim] of cells) {
      context.strokeStyle = tones[claim];
      context.strokeRect((cell % columns) * edge + line / 2, Math.floor(cell / columns) * edge + line / 2, edge - line, edge - line);
    }
    canvas.dataset.marks = String(cells.size);
  }

  read(number, zone, at) {
    const { head, moments, era } = this.sides[number];
    const moment = this.moment(number);
    const cell = moment?.zones[zone]?.[at];
    if (cell === undefined) return void (byId("map-readout").textContent = "");
    const pages = 2 ** head.pageblock_order;
    const { name, first_pfn: first } = head.zones[zone];
    const pfn = Math.max(first, (Math.floor(first / pages) + at * moment.pageblocks_per_cell) * pages).toString(16);
    const had = moments.slice(0, Number(this.slider.value) + 1)
      .flatMap((one) => one.places.filter((place) => place[1] === zone && place[2] === at));
    const claims = had.filter((place) => place[7]).length;
    const sofar = had.length ? `; so far ${whole(claims)} claims and ${whole(had.length - claims)} steals` : "";
    byId("map-readout").textContent = `${era}, zone ${name}, pageblock at pfn 0x${pfn}: ${cellWords(cell, head.types)}${sofar}`;
  }

  sums() {
    const moments = [0, 1].map((number) => this.moment(number));
    const ends = this.sides.map((side) => side.end);
    const rows = [
      ["claims so far", moments.map((moment) => moment?.claims)],
      ["steals so far", moments.map((moment) => moment?.steals)],
      ["mixed pageblocks", moments.map((moment) => moment?.mixed)],
      ["pageblocks without a page in use", moments.map((moment) => moment?.empty)],
      ["free pages", moments.map((moment) => moment?.free_pages)],
      ["claims, whole trace", ends.map((end) => end?.claims)],
      ["steals, whole trace", ends.map((end) => end?.steals)],
      ["failed that did not on the machine", ends.map((end) => end?.failed)],
    ];
    const text = (value) => (value === undefined ? "–" : whole(value));
    byId("sums").replaceChildren(table(["", ...this.sides.map((side) => side.era)], rows.map(([name, values]) => [name, ...values.map(text)])));
  }

  lines() {
    const length = this.length();
    if (!length) return;
    const xs = this.sides[0].moments.slice(0, length).map((moment) => moment.time_s);
    const isSame = this.sides[0].era === this.sides[1].era;
    const series = this.sides.map((side, number) => ({
      name: isSame ? `${side.era}, ${["left", "right"][number]}` : side.era,
      tone: ["series-0", "series-2"][number],
      values: side.moments.slice(0, length).map((moment) => moment.claims + moment.steals),
    }));
    this.chart.show({ title: "Fallbacks so far", xs, series });
  }

  /** The fallbacks of the slider's step, one a row. */
  places() {
    byId("places-body").replaceChildren(...this.sides.map(({ head, era }, number) => {
      const all = this.moment(number)?.places ?? [];
      const rows = all.slice(0, MOST_PLACES).map(([time, zone, cell, order, found, wanted, other, claim]) => [
        `${time.toFixed(3)} s`, `${head.zones[zone].name} ${whole(cell)}`, `${head.types[wanted]}, order ${order}`,
        `${head.types[other]}, order ${found}`, claim ? "claim" : "steal"]);
      const more = all.length - rows.length;
      return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Fallbacks of ${era}` }, element("h3", {}, era),
        rows.length ? table(["time", "cell", "wanted", "found", ""], rows) : element("p", { class: "quiet" }, "none"),
        ...(more ? [element("p", { class: "quiet" }, `and ${whole(more)} more`)] : []));
    }));
  }
}

function cellSize(head, share) {
  const kib = (2 ** head.pageblock_order * head.page_bytes) / 1024;
  const size = kib >= 1024 ? `${short(kib / 1024)} MiB` : `${short(kib)} KiB`;
  return share === 1 ? `a cell is a pageblock of ${size}` : `a cell is ${share} pageblocks of ${size}`;
}

function frameItem(name, tone) {
  const swatch = element("span", { class: "swatch frame" });
  swatch.style.borderColor = `var(--${tone})`;
  return element("li", {}, swatch, name);
}
