// Small line charts on a canvas.

import { clock, colour, short } from "./words.js";

// The shortest time that an axis spans.
const LEAST_SECONDS = 60;

const MARGIN = { left: 46, right: 8, top: 8, bottom: 20 };

/** A canvas ready to draw on in CSS pixels; none where it is not laid out. */
export function prepare(canvas) {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return null;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function nice(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return power * [1, 2, 5, 10].find((step) => step * power >= number);
}

/** Where the axis of `points` begins and ends: 0 to `most`, or around the values where they are far from 0. */
function range(points, most) {
  if (most !== undefined) return [0, most];
  const values = points.map(([, value]) => value);
  const high = Math.max(1, ...values);
  const low = Math.min(...values, high);
  if (low < high / 2) return [0, nice(high)];
  const step = nice(Math.max(high - low, high * 0.02, 2) / 2);
  return [Math.floor(low / step) * step, Math.ceil((high + 1e-9) / step) * step];
}

/** Draws `points` of `[unix ms, value]` over at most so many seconds; the axis ends at `most` where it is given. */
export function drawLine(canvas, points, mostSeconds, { most, tone }) {
  const paper = prepare(canvas);
  if (!paper) return;
  const { context, width, height } = paper;
  const [low, high] = range(points, most);
  const end = points.length ? points[points.length - 1][0] : Date.now();
  const known = points.length ? (end - points[0][0]) / 1000 : 0;
  const seconds = Math.min(mostSeconds, Math.max(known, LEAST_SECONDS));
  const left = MARGIN.left, right = width - MARGIN.right, top = MARGIN.top, bottom = height - MARGIN.bottom;
  const x = (at) => right - ((end - at) / (seconds * 1000)) * (right - left);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  drawGrid(context, { left, right, top, bottom, low, high, end, seconds, y });
  context.strokeStyle = colour(tone);
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.beginPath();
  points.forEach(([at, value], number) => {
    if (number === 0) context.moveTo(x(at), y(value));
    else context.lineTo(x(at), y(value));
  });
  context.stroke();
  if (points.length) {
    const [at, value] = points[points.length - 1];
    context.fillStyle = colour(tone);
    context.beginPath();
    context.arc(x(at), y(value), 2.5, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawGrid(context, { left, right, top, bottom, low, high, end, seconds, y }) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colour("quiet");
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of [low, (low + high) / 2, high]) {
    const at = Math.round(y(value)) + 0.5;
    context.beginPath();
    context.moveTo(left, at);
    context.lineTo(right, at);
    context.stroke();
    context.fillText(short(value), left - 6, Math.min(Math.max(at, top + 4), bottom));
  }
  context.textBaseline = "bottom";
  context.textAlign = "left";
  context.fillText(clock(end - seconds * 1000), left, bottom + MARGIN.bottom - 2);
  context.textAlign = "right";
  context.fillText(clock(end), right, bottom + MARGIN.bottom - 2);
}

/** Draws values without axes, from 0 to the largest. */
export function drawSpark(canvas, values, tone) {
  const paper = prepare(canvas);
  if (!paper || values.length < 2) return;
  const { context, width, height } = paper;
  const most = Math.max(...values, 1e-9);
  context.strokeStyle = colour(tone);
  context.lineWidth = 1.25;
  context.beginPath();
  values.forEach((value, number) => {
    const x = (number / (values.length - 1)) * (width - 2) + 1;
    const y = height - 1.5 - (value / most) * (height - 3);
    if (number === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
}
