// Positional encoding: the hands of two positions, the waves of one hand, and the dot product by distance.
import { ACCENT, SECOND, circle, dot, figure, fixed, line, path, rect, text } from "./kit.js";

/** { dim, length, position, other } => both rows of the table, each hand's part of their dot product, the sum, and the sum for distances 0, 1, … */
export function compute({ dim, length, position, other }) {
  const frequencies = Array.from({ length: dim / 2 }, (_, hand) => 10000 ** ((-2 * hand) / dim));
  const row = (at) => frequencies.flatMap((frequency) => [Math.sin(at * frequency), Math.cos(at * frequency)]);
  const [one, two] = [row(position), row(other)];
  const parts = frequencies.map((_, hand) => dot(one.slice(2 * hand, 2 * hand + 2), two.slice(2 * hand, 2 * hand + 2)));
  const curve = Array.from({ length }, (_, distance) => dot(row(distance), row(0)));
  return { frequencies, one, two, parts, dot: dot(one, two), curve };
}

const radius = 15;

function clocks({ hand }, { one, two }, wide) {
  const columns = wide ? one.length / 2 : Math.min(8, one.length / 2);
  const step = (wide ? 680 : 360) / columns;
  return one.filter((_, index) => index % 2 === 0).map((_, index) => {
    const [x, y] = [step * ((index % columns) + 0.5), 30 + 62 * Math.floor(index / columns)];
    const chosen = index === hand ? rect(x - step / 2 + 1, y - 20, step - 2, 58, { rx: 4, "stroke-width": 2 }) : "";
    const point = (row, size) => [x + size * row[2 * index], y - size * row[2 * index + 1]];
    return chosen + circle(x, y, radius, { fill: "none", stroke: "currentColor", "stroke-opacity": 0.5 }) +
      line(x, y, ...point(one, radius), { "stroke-width": 4 }) +
      line(x, y, ...point(two, radius), { "stroke-width": 1.5, stroke: SECOND, "stroke-dasharray": "3 2" }) +
      text(x, y + 32, index, "middle", { class: "small" });
  }).join("");
}

function waves({ length, position, other, hand }, { frequencies }, left, top, width, height) {
  const x = (at) => left + (width * at) / (length - 1);
  const y = (value) => top + (height * (1 - value)) / 2;
  const points = (wave) => Array.from({ length: 4 * length - 3 }, (_, step) => [x(step / 4), y(wave((step / 4) * frequencies[hand]))]
    .map((number) => Number(number.toFixed(2))));
  const marks = [[position, "p", { "stroke-width": 3 }], [other, "q", { "stroke-width": 1.5, stroke: SECOND, "stroke-dasharray": "3 2" }]].map(([at, name, more]) =>
    line(x(at), top - 4, x(at), top + height + 4, more) + text(x(at), top + height + 18, name, "middle", { class: "strong" }) +
    circle(x(at), y(Math.sin(at * frequencies[hand])), 4) +
    circle(x(at), y(Math.cos(at * frequencies[hand])), 4, { fill: "none", stroke: "currentColor", "stroke-width": 2 }));
  return text(left, top - 12, `hand ${hand}: sine (solid), cosine (dashed)`, "start") +
    line(left, y(0), left + width, y(0), { "stroke-opacity": 0.4 }) +
    text(left - 6, y(1) + 4, "1", "end", { class: "small" }) + text(left - 6, y(-1) + 4, "\u22121", "end", { class: "small" }) +
    path(points(Math.sin), { stroke: ACCENT, "stroke-width": 2 }) +
    path(points(Math.cos), { "stroke-dasharray": "5 4", "stroke-width": 1.5 }) + marks.join("");
}

function distances({ dim, length, position, other }, { curve, dot: sum }, left, top, width, height) {
  const lowest = Math.min(0, ...curve);
  const x = (distance) => left + (width * distance) / (length - 1);
  const y = (value) => top + (height * (dim / 2 - value)) / (dim / 2 - lowest);
  const distance = Math.abs(position - other);
  return text(left, top - 12, "dot product of both rows, by distance", "start") +
    line(left, y(0), left + width, y(0), { "stroke-opacity": 0.4 }) +
    text(left - 6, y(dim / 2) + 4, dim / 2, "end", { class: "small" }) + text(left - 6, y(0) + 4, "0", "end", { class: "small" }) +
    path(curve.map((value, at) => [x(at), y(value)].map((number) => Number(number.toFixed(2)))), { "stroke-width": 2, stroke: ACCENT }) +
    line(x(distance), y(0), x(distance), y(sum), { "stroke-dasharray": "2 3" }) + circle(x(distance), y(sum), 5) +
    [0, length - 1].map((at) => text(x(at), y(lowest) + 18, at, at ? "end" : "start", { class: "small" })).join("") +
    text(left + width / 2, y(lowest) + 18, "distance of p and q", "middle", { class: "small" });
}

function draw(state, numbers, wide) {
  const rows = wide ? 1 : Math.ceil(state.dim / 16);
  const top = 58 + 62 * rows;
  const [left, width] = [24, (wide ? 680 : 360) - 34];
  const svg = clocks(state, numbers, wide) + waves(state, numbers, left, top, width, 80) + distances(state, numbers, left, top + 146, width, 90);
  return { height: top + 262, svg };
}

function describe({ dim, position, other, hand }, { parts, dot: sum, frequencies }) {
  const angle = Math.abs(position - other) * frequencies[hand];
  return `Positions ${position} (p, thick hands) and ${other} (q, thin dashed hands): the distance is ${Math.abs(position - other)}. ` +
    `Hand ${hand} turns by ${frequencies[hand].toPrecision(2)} radians per position, so its two hands are ${fixed(angle)} radians apart; ` +
    `it adds ${fixed(parts[hand])} to the dot product. The sum over all ${dim / 2} hands is ${fixed(sum)} of at most ${dim / 2}.`;
}

const controls = ({ dim, length, position, other }) => [
  { name: "position", label: "position p", kind: "range", min: 0, max: length - 1, step: 1 },
  { name: "other", label: "position q", kind: "range", min: 0, max: length - 1, step: 1 },
  { name: "hand", label: "hand", kind: "range", min: 0, max: dim / 2 - 1, step: 1 },
  { label: "both one position on", kind: "button", off: Math.max(position, other) >= length - 1,
    does: (state) => ({ position: state.position + 1, other: state.other + 1 }) },
];

export default figure({ title: "Two positions and their hands", controls, compute, draw, describe });
