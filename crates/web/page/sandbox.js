// A small zone: the script of all steps is its state, and the engine plays it anew after each.

const KINDS = [["u", "Unmovable"], ["m", "Movable"], ["r", "Reclaimable"]];
const EXAMPLES = [
  ["a claim", "linux-7.3~6~0~m0x500~u0"],
  ["a steal", "linux-7.3~6~0~m0x1024~f101~f235~u0"],
  ["split and merge", "linux-7.3~6~0~m0~m0~f1~f0"],
  ["mixing before 6.10", "linux-6.1~6~0~m0x1024~h~u0x40"],
  ["a CPU’s lists", "linux-7.3~6~1~m0x20~h~d"],
];
const PAGEBLOCK_ORDERS = [6, 7, 8, 9];
// Edge of a page and width of its border, in the units of a drawing.
const PAGE = 9;
const BORDER = 0.8;

class SandboxView {
  constructor(run) {
    Object.assign(this, { run, settings: { era: "linux-7.3", order: 6, lists: 0 }, steps: [], order: 0 });
    const isShared = this.fromAddress();
    window.addEventListener("hashchange", () => { if (this.fromAddress()) this.begin(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    this.begin();
    if (isShared) byId("sandbox").scrollIntoView();
  }

  begin() {
    this.controls();
    this.play();
  }

  script() {
    return [this.settings.era, this.settings.order, this.settings.lists, ...this.steps].join("~");
  }

  /** Takes the script of the page's address. Returns false if there is no other one. */
  fromAddress() {
    const script = location.hash.startsWith("#sandbox=") ? location.hash.slice(9) : "";
    if (!script || script === this.script()) return false;
    this.take(script);
    return true;
  }

  take(script) {
    const [era, order, lists, ...steps] = script.split("~");
    this.settings = { era, order, lists };
    this.steps = steps.filter(Boolean);
  }

  controls() {
    const { era, lists } = this.settings;
    const order = Number(this.settings.order);
    const set = (key) => (value) => { this.settings[key] = value; this.steps = []; this.begin(); };
    byId("sandbox-settings").replaceChildren(
      choice("Era", ERAS, ERAS.indexOf(era), (at) => set("era")(ERAS[at])),
      choice("Pageblock", PAGEBLOCK_ORDERS.map((one) => `${2 ** one} pages`), PAGEBLOCK_ORDERS.indexOf(order), (at) => set("order")(PAGEBLOCK_ORDERS[at])),
      tick("CPU’s lists keep pages", Number(lists) === 1, (on) => set("lists")(on ? 1 : 0)),
      choice("Example", ["choose…", ...EXAMPLES.map(([name]) => name)], 0, (at) => {
        if (!at) return;
        this.take(EXAMPLES[at - 1][1]);
        this.begin();
      }));
    this.order = Math.min(this.order, order + 1) || 0;
    const sizes = Array.from({ length: (order || 6) + 2 }, (_, at) => `${at}: ${2 ** at} page${at ? "s" : ""}`);
    byId("sandbox-actions").replaceChildren(
      choice("Allocate order", sizes, this.order, (at) => { this.order = at; }),
      ...KINDS.map(([letter, name], kind) => this.button(name, () => this.step(`${letter}${this.order}`), typeTone(kind))),
      this.button("Fill with movable pages", () => this.step(`m0x${2 ** (order + 4)}`)),
      this.button("Free every second movable block", () => this.step("h")),
      ...(Number(lists) === 1 ? [this.button("Drain CPU’s lists", () => this.step("d"))] : []),
      this.button("Undo", () => { this.steps.pop(); this.play(); }),
      this.button("Start over", () => {
        if (!this.isFine) this.settings = { era: "linux-7.3", order: 6, lists: 0 };
        this.steps = [];
        this.begin();
      }));
  }

  button(name, act, tone) {
    const swatch = element("span", { class: "swatch" });
    if (tone) swatch.style.background = `var(--${tone})`;
    const button = element("button", { type: "button" }, ...(tone ? [swatch] : []), name);
    button.addEventListener("click", act);
    return button;
  }

  step(step) {
    this.steps.push(step);
    this.play();
  }

  play() {
    const script = this.script();
    let log = null;
    try {
      this.run({ do: "sandbox", script }, null, (message) => { log = message; });
    } catch (error) {
      log = { sentence: `the sandbox stopped (${error.message}); please report the address of this page` };
    }
    this.isFine = log?.kind === "sandbox";
    const state = byId("sandbox-state");
    state.className = this.isFine ? "quiet" : "alarm";
    if (!this.isFine) {
      const sentence = log?.sentence ?? "the engine said nothing";
      state.textContent = `${sentence[0].toUpperCase()}${sentence.slice(1)}. Start over, or choose an example.`;
      return;
    }
    state.textContent = `${whole(log.steps)} step${log.steps === 1 ? "" : "s"}: ${whole(log.claims)} claim${log.claims === 1 ? "" : "s"}, ${whole(log.steals)} steal${log.steals === 1 ? "" : "s"}.`
      + (log.steps ? " The page’s address holds them all: share it." : "");
    if (this.steps.length) history.replaceState(null, "", `#sandbox=${script}`);
    else if (location.hash.startsWith("#sandbox=")) history.replaceState(null, "", "#sandbox");
    this.zone = log;
    this.show();
  }

  show() {
    if (!this.zone) return;
    this.legend();
    this.blocks();
    this.log();
    const { free, types } = this.zone;
    byId("sandbox-free").replaceChildren(table(["order", ...free.map((_, order) => String(order))],
      KINDS.map((_, kind) => [types[kind], ...free.map((blocks) => whole(blocks[kind]))])));
  }

  legend() {
    const item = (name, className) => element("li", {}, element("span", { class: `swatch ${className}` }), name);
    byId("sandbox-legend").replaceChildren(
      ...KINDS.map(([, name], kind) => legendItem(`${name}, in use`, typeTone(kind))),
      item("free, by block", "free"), ...(Number(this.settings.lists) === 1 ? [item("on a CPU’s list", "hatched")] : []),
      element("li", {}, element("small", {}, "the bar above a pageblock is its type")));
  }

  blocks() {
    const place = byId("sandbox-blocks");
    const { pageblocks, types, pages } = this.zone;
    if (place.children.length !== pageblocks.length) place.replaceChildren(...pageblocks.map((_, number) => this.pageblock(number)));
    this.size = pages / pageblocks.length;
    this.owners = [];
    for (const block of this.zone.blocks) for (let page = 0; page < 2 ** block[1]; page += 1) this.owners.push(block);
    [...place.children].forEach((figure, number) => {
      const [kind, free, isMixed] = pageblocks[number];
      const [caption, canvas] = figure.children;
      caption.textContent = `${number}${isMixed ? " · mixed" : ""}`;
      caption.style.borderColor = `var(--${typeTone(kind ?? 0)})`;
      canvas.setAttribute("aria-label", `Pageblock ${number}, ${types[kind]}, ${free} of ${this.size} pages free${isMixed ? ", mixed" : ""}`);
      this.drawBlock(canvas, number * this.size);
    });
  }

  pageblock(number) {
    const canvas = element("canvas", { role: "button", tabindex: "0", "aria-description": "Arrow keys read its pages, Enter frees a block" });
    canvas.addEventListener("pointermove", (event) => this.point(canvas, number, this.pageAt(canvas, event)));
    canvas.addEventListener("pointerleave", () => { byId("sandbox-readout").textContent = ""; });
    canvas.addEventListener("click", (event) => this.free(number, this.pageAt(canvas, event)));
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.free(number, canvas.cell ?? 0);
      } else if (stepCell(canvas, event, this.size)) this.point(canvas, number, canvas.cell);
    });
    return element("figure", { class: "pageblock" }, element("figcaption", {}), canvas);
  }

  drawBlock(canvas, first) {
    const columns = this.size <= 64 ? 8 : this.size <= 256 ? 16 : 32;
    const rows = this.size / columns;
    canvas.map = { columns, rows };
    const scale = this.size > 128 ? 2 : 3;
    canvas.width = columns * PAGE * scale;
    canvas.height = rows * PAGE * scale;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const tones = KINDS.map((_, kind) => colour(typeTone(kind)));
    const [paper, quiet, ink] = ["paper", "quiet", "ink"].map(colour);
    for (let page = 0; page < this.size; page += 1) {
      const [start, , state, kind] = this.owners[first + page];
      const column = page % columns, row = Math.floor(page / columns);
      const x = column * PAGE, y = row * PAGE;
      context.globalAlpha = [0.16, 0.4, 1][state];
      context.fillStyle = tones[kind] ?? quiet;
      context.fillRect(x, y, PAGE, PAGE);
      context.globalAlpha = 1;
      if (state === 1) {
        context.strokeStyle = ink;
        context.lineWidth = 0.7;
        context.beginPath();
        context.moveTo(x + 2, y + PAGE - 2);
        context.lineTo(x + PAGE - 2, y + 2);
        context.stroke();
      }
      // Where a neighbour belongs to another block there is an edge.
      context.fillStyle = state === 2 ? paper : quiet;
      const isOther = (inside, at) => !inside || this.owners[first + at][0] !== start;
      if (isOther(column > 0, page - 1)) context.fillRect(x, y, BORDER, PAGE);
      if (isOther(row > 0, page - columns)) context.fillRect(x, y, PAGE, BORDER);
      if (isOther(column < columns - 1, page + 1)) context.fillRect(x + PAGE - BORDER, y, BORDER, PAGE);
      if (isOther(row < rows - 1, page + columns)) context.fillRect(x, y + PAGE - BORDER, PAGE, BORDER);
    }
  }

  pageAt(canvas, event) {
    const { columns, rows } = canvas.map;
    const at = (offset, length, count) => Math.min(count - 1, Math.max(0, Math.floor((offset / length) * count)));
    return at(event.offsetY, canvas.clientHeight, rows) * columns + at(event.offsetX, canvas.clientWidth, columns);
  }

  point(canvas, number, page) {
    canvas.cell = page;
    const pfn = number * this.size + page;
    const [start, order, state, kind] = this.owners[pfn];
    const what = ["free", "on a CPU’s list", "in use: click or press Enter to free it"][state];
    byId("sandbox-readout").textContent =
      `pfn 0x${pfn.toString(16)}, in a block of order ${order} at pfn 0x${start.toString(16)}: ${this.zone.types[kind]}, ${what}`;
  }

  free(number, page) {
    const [start, , state] = this.owners[number * this.size + page];
    if (state === 2) this.step(`f${start.toString(16)}`);
  }

  log() {
    const place = byId("sandbox-log");
    const last = this.zone.steps - 1;
    place.replaceChildren(...this.zone.log.map(([step, line]) => {
      const [kind] = /^(claim|steal|split|merge|fallback|page allocation failure)/.exec(line) ?? [""];
      return element("li", { class: `${kind.split(" ").pop()}${step === last ? " last" : ""}` }, line);
    }));
    if (!this.zone.log.length) place.replaceChildren(element("li", {}, "Nothing yet: allocate something."));
    place.scrollTop = place.scrollHeight;
  }
}
