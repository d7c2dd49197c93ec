// One era's replay of a trace: a worker, and what it has reply.

class Side {
  constructor(era, changed) {
    this.era = era;
    this.changed = changed;
    this.reset();
  }

  reset() {
    this.worker?.terminate();
    Object.assign(this, { worker: null, head: null, moments: [], end: null, error: null, isDone: false });
  }

  start(engine, { name, trace }, partial) {
    this.reset();
    const source = `"use strict";\n${runner}\n${byId("worker").textContent}`;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(address);
    this.worker = worker;
    worker.onmessage = ({ data: { reply, bytes } }) => { if (this.worker === worker) this.take(reply, bytes); };
    worker.onerror = (event) => {
      this.take({ kind: "error", sentence: `the replay could not be started: ${event.message || "the browser refuses a worker"}` });
      this.take({ kind: "done" });
    };
    worker.addEventListener("message", () => URL.revokeObjectURL(address), { once: true });
    worker.postMessage({ engine, trace, command: { do: "replay", file: name, era: this.era, partial } });
  }

  take(reply, bytes) {
    if (reply.kind === "head") this.head = reply;
    else if (reply.kind === "moment") this.moments.push(this.momentOf(reply, bytes));
    else if (reply.kind === "end") this.end = reply;
    else if (reply.kind === "error") this.error = reply.sentence;
    else if (reply.kind === "done") {
      this.isDone = true;
      this.worker?.terminate();
      this.worker = null;
    }
    this.changed(reply.kind);
  }

  /** A moment with the cells of each zone, and fallbacks counted from the start. */
  momentOf(reply, bytes) {
    const before = this.moments[this.moments.length - 1];
    let at = 0;
    const zones = reply.cells.map((cells) => (bytes ?? new Uint8Array(0)).subarray(at, (at += cells)));
    const claims = reply.places.filter((place) => place[7]).length;
    return { ...reply, zones, claims: (before?.claims ?? 0) + claims, steals: (before?.steals ?? 0) + reply.places.length - claims };
  }

  /** The share of the trace that was followed. */
  share() {
    if (this.isDone) return 1;
    return this.head ? (this.moments[this.moments.length - 1]?.events ?? 0) / Math.max(1, this.head.events) : 0;
  }
}
