// The stream of events, and what is said when it breaks.

import { clock, setText } from "./words.js";

// After how many intervals without a model the connection counts as lost, and at least after how long.
const LATE_INTERVALS = 4;
const LATE_MS = 5000;
const RETRY_MS = 3000;

/** Listens to the server for good; `onModel` and `onMap` get what it tells, `state` says how it goes. */
export class Connection {
  constructor(state, onModel, onMap) {
    Object.assign(this, { state, onModel, onMap, heard: 0, model: null, failing: null, intervalMs: 1000 });
    this.open();
    setInterval(() => this.look(), 1000);
  }

  open() {
    this.source?.close();
    this.opened = performance.now();
    this.source = new EventSource("/events");
    this.source.addEventListener("model", (event) => {
      const reported = JSON.parse(event.data);
      this.heard = performance.now();
      this.intervalMs = reported.interval_ms;
      this.model = reported.model;
      this.failing = reported.failing;
      this.tell();
      this.onModel(reported.model);
    });
    this.source.addEventListener("map", (event) => this.onMap(JSON.parse(event.data)));
    this.source.addEventListener("error", () => {
      this.heard = 0;
      this.tell();
    });
  }

  isLost() {
    const patience = Math.max(LATE_MS, LATE_INTERVALS * this.intervalMs);
    return this.heard === 0 || performance.now() - this.heard > patience;
  }

  look() {
    this.tell();
    // The browser gives up on answers that are errors; this does not.
    const waited = performance.now() - this.opened;
    const closed = this.source.readyState === EventSource.CLOSED;
    if ((closed && waited > RETRY_MS) || (this.isLost() && waited > 10 * RETRY_MS)) this.open();
  }

  tell() {
    const lost = this.isLost();
    document.body.classList.toggle("lost", lost && this.model !== null);
    this.state.classList.toggle("alarm", (lost && this.model !== null) || this.failing !== null);
    if (this.model === null) return setText(this.state, "Connecting …");
    const last = clock(this.model.unix_ms);
    if (lost) return setText(this.state, `Connection lost, last data of ${last}; trying again`);
    if (this.failing) return setText(this.state, `The machine cannot be read, last data of ${last}: ${this.failing}`);
    setText(this.state, `Live, last data of ${last}`);
  }
}
