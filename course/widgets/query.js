// A query that turns among keys: scores, weights and output follow. Each key is its own value.
import { ACCENT, SECOND, arrow, circle, dot, figure, fixed, line, listed, rect, softmax, text } from "./kit.js";

const LONGEST = 3;

/** { keys: [[x, y], …], angle (degrees), length } => the query, its score and weight for each key, and the output, which is the weighted sum of the keys. */
export function compute({ keys, angle, length }) {
  const turn = (angle * Math.PI) / 180;
  const query = [length * Math.cos(turn), length * Math.sin(turn)];
  const scores = keys.map((key) => dot(query, key));
  const weights = softmax(scores);
  return { query, scores, weights, output: [0, 1].map((axis) => dot(weights, keys.map((key) => key[axis]))) };
}

const point = (vector) => `(${vector.map((number) => fixed(number)).join(", ")})`;

/** Returns the different keys with their names: keys in the same place have one arrow. */
function places({ names, keys }) {
  const found = new Map();
  keys.forEach((key, index) => found.set(String(key), { key, names: [...(found.get(String(key))?.names ?? []), names[index]] }));
  return [...found.values()];
}

function plane(state, { query, output }, left, size) {
  const reach = 1.15 * Math.max(LONGEST, ...state.keys.map((key) => Math.hypot(...key)));
  const at = ([x, y]) => [left + (size * (reach + x)) / (2 * reach), (size * (reach - y)) / (2 * reach)];
  const [middle, centre] = at([0, 0]);
  const faint = { "stroke-opacity": 0.35 };
  const ticks = Array.from({ length: 2 * Math.floor(reach) + 1 }, (_, index) => {
    const [x, y] = at([index - Math.floor(reach), index - Math.floor(reach)]);
    return line(x, centre - 3, x, centre + 3, faint) + line(middle - 3, y, middle + 3, y, faint);
  });
  const axes = line(left, centre, left + size, centre, faint) + line(middle, 0, middle, size, faint) + ticks.join("") +
    text(left + size, centre + 17, state.axes[0], "end", { class: "small" }) + text(middle - 8, 11, state.axes[1], "end", { class: "small" });
  const keys = places(state).map(({ key, names }) => {
    const [x, y] = at(key);
    const far = Math.hypot(...key);
    const name = names.join(", ");
    if (far === 0) return circle(x, y, 3.5) + text(x - 8, y + 18, name, "end");
    const [u, v] = [key[0] / far, key[1] / far];
    const [across, up] = [0.5 * u - v, 0.5 * v + u];
    return arrow(middle, centre, x, y, { "stroke-width": 1.5 }) +
      text(x + 13 * across, y - 13 * up + 4, name, across > 0.15 ? "start" : across < -0.15 ? "end" : "middle");
  });
  const [x, y] = at(output);
  // The query is below the names, which can be read on its colour.
  return axes + arrow(middle, centre, ...at(query), { "stroke-width": 4, stroke: ACCENT }) + keys.join("") +
    circle(x, y, 7, { fill: "none", stroke: SECOND, "stroke-width": 3 });
}

function legend(left, y) {
  return arrow(left, y - 4, left + 26, y - 4, { "stroke-width": 4, stroke: ACCENT }) + text(left + 33, y, "query", "start") +
    arrow(left + 92, y - 4, left + 118, y - 4, { "stroke-width": 1.5 }) + text(left + 125, y, "key", "start") +
    circle(left + 175, y - 4, 7, { fill: "none", stroke: SECOND, "stroke-width": 3 }) + text(left + 189, y, "output", "start");
}

function table({ names }, { scores, weights, output }, left, top, width) {
  const [score, start] = [left + 120, left + 150];
  const full = left + width - 48 - start;
  const rows = names.map((name, index) => {
    const y = top + 30 * index;
    return text(left, y + 15, name, "start") + text(score, y + 15, fixed(scores[index]), "end") +
      rect(start, y, full * weights[index], 21, { fill: "currentColor", "fill-opacity": 0.3 }) +
      text(start + full * weights[index] + 7, y + 15, fixed(weights[index]), "start", { class: "strong" });
  });
  const end = top + 30 * names.length;
  return text(left, top - 14, "key", "start", { class: "small" }) + text(score, top - 14, "score q \u00b7 k", "end", { class: "small" }) +
    text(start, top - 14, "weight", "start", { class: "small" }) + rows.join("") +
    line(start, top - 4, start, end - 4) + text(left, end + 18, "output", "start", { class: "strong" }) +
    text(start, end + 18, point(output), "start", { class: "strong" });
}

function draw(state, numbers, wide) {
  const rows = 30 * state.names.length;
  if (wide) return { height: Math.max(330, rows + 90), svg: plane(state, numbers, 0, 296) + legend(22, 324) + table(state, numbers, 340, 52, 340) };
  return { height: 420 + rows, svg: plane(state, numbers, 32, 296) + legend(54, 324) + table(state, numbers, 4, 378, 352) };
}

function describe({ names, angle, length }, { query, weights, output }) {
  const most = Math.max(...weights);
  const first = names.filter((_, index) => most - weights[index] < 1e-9);
  const winner = first.length === names.length ? "All weights are equal, so the output is the mean."
    : first.length > 1 ? `The largest weight, ${fixed(most)}, is shared by ${listed(first)}.` : `The largest weight is that of ${first[0]}.`;
  return `The query ${point(query)} has length ${fixed(length)} at an angle of ${angle} degrees. ` +
    `Weights: ${names.map((name, index) => `${name} ${fixed(weights[index])}`).join(", ")}. ${winner} The output is ${point(output)}.`;
}

const controls = () => [
  { name: "angle", label: "angle", kind: "range", min: 0, max: 360, step: 5, says: (value) => `${value}\u00b0` },
  { name: "length", label: "length", kind: "range", min: 0, max: LONGEST, step: 0.25, says: (value) => fixed(value) },
];

export default figure({ title: "A query among the keys", controls, compute, draw, describe });
