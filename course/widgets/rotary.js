// Rotary position embedding: pairs of features as arrows that rotate with their positions, and the score by distance.
import { ACCENT, SECOND, arrow, circle, dot, figure, fixed, line, path, text } from "./kit.js";

function rotated(vector, position, base) {
  return vector.flatMap((first, index) => {
    if (index % 2) return [];
    const second = vector[index + 1];
    const angle = position * base ** (-index / vector.length);
    return [first * Math.cos(angle) - second * Math.sin(angle), first * Math.sin(angle) + second * Math.cos(angle)];
  });
}

/** { q, k, base, query, key, positions } => both vectors rotated by their positions, each pair's part of the score, the score, and scores by distance. */
export function compute({ q, k, base, query, key, positions }) {
  const [one, two] = [rotated(q, query, base), rotated(k, key, base)];
  const parts = q.flatMap((_, index) => (index % 2 ? [] : [one[index] * two[index] + one[index + 1] * two[index + 1]]));
  const distances = Array.from({ length: 8 * positions - 7 }, (_, step) => step / 4 - positions + 1);
  const curve = distances.map((distance) => dot(rotated(q, distance, base), k));
  return { one, two, parts, score: dot(one, two), distances, curve };
}

function pair(index, { q, k }, { one, two, parts }, x, y, radius) {
  const longest = Math.max(...[q, k].flatMap((vector) => vector.filter((_, at) => at % 2 === 0).map((first, at) => Math.hypot(first, vector[2 * at + 1]))), 1e-9);
  const tip = (vector) => [vector[2 * index], vector[2 * index + 1]].map((number) => (radius * number) / longest);
  const ahead = tip(one)[0] * tip(two)[1] - tip(one)[1] * tip(two)[0] > 0;
  // Names stand beyond the tips, and a little apart from each other where the arrows meet.
  const named = (name, [right, up], turn, more) => {
    const angle = Math.atan2(up, right) + turn;
    const far = Math.hypot(right, up) + 20;
    return arrow(x, y, x + right, y - up, more) + text(x + far * Math.cos(angle), y - far * Math.sin(angle) + 4, name, "middle", { class: "small" });
  };
  return circle(x, y, radius, { fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }) +
    line(x, y, x + radius, y, { "stroke-dasharray": "3 3", "stroke-opacity": 0.6 }) +
    named("query", tip(one), ahead ? -0.3 : 0.3, { "stroke-width": 3.5, stroke: ACCENT }) +
    named("key", tip(two), ahead ? 0.3 : -0.3, { "stroke-width": 1.5, stroke: SECOND }) +
    text(x, y - radius - 30, `pair ${index}: ${fixed(parts[index])}`, "middle", { class: "strong" });
}

function chart({ query, key, positions }, { distances, curve, score }, left, top, width, height) {
  const most = Math.max(...curve.map(Math.abs), 1e-9);
  const x = (distance) => left + (width * (distance + positions - 1)) / (2 * positions - 2);
  const y = (value) => top + (height * (most - value)) / (2 * most);
  return text(left + width / 2, top - 16, `score: ${fixed(score)}`, "middle", { class: "strong" }) +
    line(left, y(0), left + width, y(0), { "stroke-opacity": 0.4 }) + line(x(0), top, x(0), top + height, { "stroke-opacity": 0.4 }) +
    text(left - 6, y(most) + 4, fixed(most, 1), "end", { class: "small" }) + text(left - 6, y(0) + 4, "0", "end", { class: "small" }) +
    text(left - 6, y(-most) + 4, fixed(-most, 1), "end", { class: "small" }) +
    path(distances.map((distance, index) => [x(distance), y(curve[index])].map((number) => Number(number.toFixed(2)))), { "stroke-width": 2 }) +
    circle(x(query - key), y(score), 6) +
    [1 - positions, 0, positions - 1].map((at) => text(x(at), top + height + 16, fixed(at, 0), "middle", { class: "small" })).join("") +
    text(left + width / 2, top + height + 33, "query position \u2212 key position", "middle", { class: "small" });
}

function draw(state, numbers, wide) {
  const pairs = numbers.parts.map((_, index) => pair(index, state, numbers, wide ? 95 + 190 * index : 90 + 180 * index, wide ? 122 : 110, wide ? 64 : 56));
  const rest = wide ? chart(state, numbers, 420, 46, 240, 150) : chart(state, numbers, 40, 240, 300, 130);
  return { height: wide ? 236 : 410, svg: pairs.join("") + rest };
}

function describe({ query, key, base }, { parts, score }) {
  const distance = query - key;
  const each = parts.map((part, index) => {
    const degrees = (distance * base ** ((-index) / parts.length) * 180) / Math.PI;
    return `pair ${index} has rotated the query ${fixed(Math.abs(degrees), 0)} degrees ${degrees < 0 ? "less" : "more"} than the key and adds ${fixed(part)}`;
  });
  return `Query at position ${query} (thick arrow), key at position ${key} (thin arrow), distance ${fixed(distance, 0)}: ${each.join("; ")}. The score is ${fixed(score)}.`;
}

const controls = ({ positions, query, key }) => [
  { name: "query", label: "query at", kind: "range", min: 0, max: positions - 1, step: 1 },
  { name: "key", label: "key at", kind: "range", min: 0, max: positions - 1, step: 1 },
  { label: "both back", kind: "button", off: Math.min(query, key) <= 0, does: (state) => ({ query: state.query - 1, key: state.key - 1 }) },
  { label: "both on", kind: "button", off: Math.max(query, key) >= positions - 1, does: (state) => ({ query: state.query + 1, key: state.key + 1 }) },
  { name: "base", label: "base", kind: "choice", options: [[10, "10"], [100, "100"], [10000, "10,000"]] },
];

export default figure({ title: "Rotary arrows", controls, compute, draw, describe });
