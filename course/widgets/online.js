// Online softmax: the running maximum, sum and output, tile by tile.
import { ACCENT, bar, figure, fixed, rect, softmax, text } from "./kit.js";

/** Returns the statistics of some positions; if all are masked, they are -Infinity, 0 and zeros. */
function summarise(scores, values, width) {
  const m = Math.max(...scores);
  const counts = scores.map((score) => (m === -Infinity ? 0 : Math.exp(score - m)));
  return { m, l: counts.reduce((sum, count) => sum + count, 0), o: weighted(counts, values, width) };
}

function weighted(counts, values, width) {
  return Array.from({ length: width }, (_, feature) => counts.reduce((sum, count, index) => sum + count * values[index][feature], 0));
}

function merge(a, b) {
  const m = Math.max(a.m, b.m);
  const [left, right] = [a, b].map((part) => (part.m === -Infinity ? 0 : Math.exp(part.m - m)));
  return { m, l: a.l * left + b.l * right, o: a.o.map((number, feature) => number * left + b.o[feature] * right) };
}

/** { scores (null: masked), values, tile } => the tiles' statistics, those after each tile (first: after none), and the softmax's output at once. */
export function compute({ scores, values, tile }) {
  const all = scores.map((score) => score ?? -Infinity);
  const width = values[0].length;
  const starts = Array.from({ length: Math.ceil(all.length / tile) }, (_, index) => index * tile);
  const tiles = starts.map((start) => summarise(all.slice(start, start + tile), values.slice(start, start + tile), width));
  const running = [{ m: -Infinity, l: 0, o: Array(width).fill(0) }];
  for (const each of tiles) running.push(merge(running[running.length - 1], each));
  const { l, o } = running[running.length - 1];
  return { starts, tiles, running, out: o.map((number) => number / l), full: weighted(softmax(all), values, width) };
}

const number = (value) => (value === -Infinity ? "\u2212\u221e" : fixed(value));
const vector = (values) => `(${values.map(number).join(", ")})`;
const done = ({ step }, { tiles }) => Math.min(step, tiles.length);

function draw(state, numbers, wide) {
  const { names, scores, tile } = state;
  const { running, tiles, starts } = numbers;
  const read = done(state, numbers);
  const width = wide ? 680 : 360;
  const step = width / names.length;
  const { m } = running[read];
  const bars = names.map((name, index) => {
    const x = index * step + step * 0.16;
    const seen = index < read * tile;
    const score = text((index + 0.5) * step, 188, `${wide ? "x = " : ""}${scores[index] === null ? "\u2212\u221e" : fixed(scores[index], Math.abs(scores[index]) > 99 ? 0 : 2)}`, "middle", { class: "small" });
    if (!seen) return rect(x, 48, step * 0.68, 102, { "stroke-dasharray": "2 4", "stroke-opacity": 0.6 }) + text((index + 0.5) * step, 103, "?") +
      text((index + 0.5) * step, 168, name) + score;
    const count = scores[index] === null || m === -Infinity ? 0 : Math.exp(scores[index] - m);
    return bar(x, 152, step * 0.68, 104 * count, fixed(count), name) + score;
  });
  const frames = starts.map((start, index) => {
    const size = Math.min(tile, names.length - start);
    const now = index === read - 1;
    return rect(start * step + 3, 26, size * step - 6, 170, now ? { "stroke-width": 3, stroke: ACCENT, rx: 4 } : { "stroke-opacity": 0.4, rx: 4 });
  });
  const columns = wide ? [10, 250, 370, 480] : [4, 132, 200, 254];
  const row = (y, cells, more = {}) => cells.map((cell, index) => text(columns[index], y, cell, "start", more)).join("");
  const line = (name, { m: most, l, o }) => [name, number(most), number(l), vector(o)];
  const table = [["", "m", "l", "o"], ...(read ? [line("tiles before", running[read - 1]), line(`tile ${read}`, tiles[read - 1]), line("together", running[read])]
    : [line("before any tile", running[0])])];
  const text0 = text(2, 14, "count of each score, e to the power x \u2212 m", "start", { class: "small" });
  const rows = table.map((cells, index) => row(222 + 22 * index, cells, index === 0 || index === 3 ? { class: "strong" } : {}));
  return { height: 300, svg: text0 + frames.join("") + bars.join("") + rows.join("") };
}

function describe(state, numbers) {
  const { running, tiles, out, full } = numbers;
  const read = done(state, numbers);
  if (read === 0) return `No tile has been read yet, of ${tiles.length}: m is \u2212\u221e, l and o are 0.`;
  const { m, l, o } = running[read];
  const before = running[read - 1];
  const shrink = before.l === 0 ? "There was nothing to rescale."
    : m > before.m ? `Its maximum is larger, so l and o of the tiles before were multiplied by ${fixed(Math.exp(before.m - m), 4)}.`
      : "Its maximum is not larger, so l and o of the tiles before stayed as they were.";
  const quotient = l === 0 ? "All positions so far are masked, so there is nothing to divide by." : `o / l is ${vector(o.map((each) => each / l))}` +
    (read < tiles.length ? ", the output for the positions read so far." : `, the output of the softmax at once: ${vector(full)}.`);
  const large = out.length && tiles.length === read && l > 0 ? " The whole row of weights was never stored." : "";
  return `Tile ${read} of ${tiles.length} has been read. ${shrink} Now m = ${number(m)}, l = ${fixed(l)}, o = ${vector(o)}. ${quotient}${large}`;
}

const controls = (state) => [
  { label: "back", kind: "button", off: state.step <= 0, does: ({ step, scores, tile }) => ({ step: Math.min(step, Math.ceil(scores.length / tile)) - 1 }) },
  { label: "read a tile", kind: "button", off: state.step >= Math.ceil(state.scores.length / state.tile), does: ({ step }) => ({ step: step + 1 }) },
  { name: "tile", label: "positions per tile", kind: "choice", options: [1, 2, 3, state.scores.length].map((size) => [size, String(size)]) },
  { name: "scores", label: "scores", kind: "choice", options: state.rows },
];

export default figure({ title: "Online softmax, tile by tile", controls, compute, draw, describe });
