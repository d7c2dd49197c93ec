// A chart with its title and its value.

import { drawLine } from "./chart.js";
import { element, setText } from "./words.js";

/** An empty chart; `show` draws points of `[unix ms, value]` over so many seconds. */
export function chart() {
  const title = element("span");
  const value = element("strong");
  const canvas = element("canvas", { class: "chart", role: "img" });
  const root = element("figure", {}, element("figcaption", {}, title, " ", value), canvas);
  const show = (name, text, points, seconds, look) => {
    setText(title, name);
    setText(value, text);
    canvas.setAttribute("aria-label", `${name} over time, now ${text}`);
    drawLine(canvas, points, seconds, look);
  };
  return { root, show };
}
