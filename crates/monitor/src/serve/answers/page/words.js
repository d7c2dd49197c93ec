// Numbers and times as people read them, and elements made of text alone.

const counted = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number, its digits in groups. */
export function whole(number) {
  return counted.format(number).replaceAll(",", "\u202f");
}

/** A count of free blocks; where its source stopped counting, the least that there are. */
export function count({ blocks, capped }) {
  return (capped ? "≥" : "") + whole(blocks);
}

/** A number with about three digits. */
export function short(number) {
  const size = Math.abs(number);
  if (size >= 1e9) return (number / 1e9).toFixed(size >= 1e10 ? 0 : 1) + " G";
  if (size >= 1e6) return (number / 1e6).toFixed(size >= 1e7 ? 0 : 1) + " M";
  if (size >= 1e4) return (number / 1e3).toFixed(0) + " k";
  if (size >= 100 || Number.isInteger(number)) return whole(number);
  return number.toFixed(size >= 10 ? 1 : 2);
}

/** Bytes in the unit that suits them. */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  while (number >= 1024 && at < units.length - 1) {
    number /= 1024;
    at += 1;
  }
  return (number >= 100 || Number.isInteger(number) ? number.toFixed(0) : number.toFixed(1)) + " " + units[at];
}

/** A duration in its largest sensible unit. */
export function duration(seconds) {
  if (seconds < 1) return Math.round(seconds * 1000) + " ms";
  if (seconds < 120) return Math.round(seconds) + " s";
  if (seconds < 7200) return Math.round(seconds / 60) + " min";
  if (seconds < 172800) return Math.round(seconds / 3600) + " h";
  return Math.round(seconds / 86400) + " days";
}

/** The time of day. */
export function clock(unixMs) {
  return new Date(unixMs).toLocaleTimeString("en-GB");
}

/** A share of 0 to 1 in percent. */
export function percent(share) {
  const value = share * 100;
  return (value !== 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)) + " %";
}

/** An element with attributes and children; strings become text, never markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets a text where it changed, so that nothing is laid out for nothing. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** The value of a colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
