// What was seen: the server's points from before this page, and those since.

// Points that are kept; older ones are thinned out to every other.
const MOST_POINTS = 4000;

export class History {
  constructor() {
    this.zones = [];
    this.points = [];
  }

  /** Takes the server's points; newer points stay. */
  begin({ zones, points }) {
    const mine = this.points;
    this.zones = zones.map(([node, name]) => key(node, name));
    this.points = points.map(([at, values]) => ({ at, values: values.map(([free, blocks]) => ({ free, blocks })) }));
    const last = this.points.length ? this.points[this.points.length - 1].at : 0;
    this.points.push(...mine.filter((point) => point.at > last));
  }

  /** Notes a model. */
  note(model) {
    const last = this.points[this.points.length - 1];
    if (last && model.unix_ms <= last.at) return;
    const values = this.zones.map(() => undefined);
    for (const zone of model.zones) {
      const name = key(zone.node, zone.name);
      let at = this.zones.indexOf(name);
      if (at < 0) at = this.zones.push(name) - 1;
      values[at] = { free: zone.free_pages, blocks: zone.blocks };
    }
    this.points.push({ at: model.unix_ms, values });
    if (this.points.length > MOST_POINTS) {
      const half = MOST_POINTS / 2;
      this.points = this.points.filter((_, at) => at >= half || at % 2 === 0);
    }
  }

  /** The last `seconds` of all zones together: times, and what `value` makes of the sums of each point. */
  machine(seconds, value) {
    const end = this.points.length ? this.points[this.points.length - 1].at : 0;
    const sums = (values) => values.reduce((sum, zone) => (zone ? { free: sum.free + zone.free, blocks: zone.blocks.map((blocks, order) => blocks + (sum.blocks[order] ?? 0)) } : sum), { free: 0, blocks: [] });
    return this.points.filter((point) => point.at >= end - seconds * 1000).map((point) => [point.at, value(sums(point.values))]);
  }

  /** The last `seconds` of a zone: times, and what `value` makes of each point. */
  series(zone, seconds, value) {
    const at = this.zones.indexOf(key(zone.node, zone.name));
    const end = this.points.length ? this.points[this.points.length - 1].at : 0;
    const chosen = this.points.filter((point) => point.at >= end - seconds * 1000 && point.values[at]);
    return chosen.map((point) => [point.at, value(point.values[at])]);
  }
}

function key(node, name) {
  return node + "/" + name;
}

/** The share of free memory that cannot serve a request of `order`. */
export function unusable({ free, blocks }, order) {
  return free === 0 ? 1 : 1 - (blocks[order] * 2 ** order) / free;
}
