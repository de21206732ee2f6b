// A convolution, one window at a time: the numbers it sees, their products with the weights, and the sums so far.
import { ACCENT, SECOND, field, figure, moved, rect, text } from "./kit.js";

function square(size, entry) {
  return Array.from({ length: size }, (_, row) => Array.from({ length: size }, (_, column) => entry(row, column)));
}

/**
 * { picture, size, weight, stride, padding, dilation, position } => the value of the formula, how many positions there are
 * per side (0: the window does not fit), its span, the padded picture, all sums, and the window at the position, or at the
 * last one.
 */
export function compute({ picture, size, weight, stride, padding, dilation, position }) {
  const k = weight.length;
  const span = dilation * (k - 1) + 1;
  const value = Math.floor((size + 2 * padding - span) / stride) + 1;
  const count = Math.max(0, value);
  const inside = (place) => place >= padding && place < padding + size;
  const padded = square(size + 2 * padding, (row, column) =>
    (inside(row) && inside(column) ? picture[row - padding][column - padding] : 0));
  const seenAt = (row, column) => square(k, (u, v) => padded[stride * row + dilation * u][stride * column + dilation * v]);
  const total = (seen) => seen.flat().reduce((sum, number, index) => sum + number * weight.flat()[index], 0);
  const sums = square(count, (row, column) => total(seenAt(row, column)));
  if (!count) return { value, count, span, padded, sums, at: -1 };
  const at = Math.min(position, count * count - 1);
  const [row, column] = [Math.floor(at / count), at % count];
  return { value, count, span, padded, sums, at, row, column, seen: seenAt(row, column) };
}

function short(number) {
  return String(number).replace("-", "\u2212");
}

function input({ size, weight, stride, padding, dilation }, { count, span, padded, row, column }, cell) {
  const marked = (place, first) => count > 0 && place >= first && (place - first) % dilation === 0 && (place - first) / dilation < weight.length;
  const cells = padded.map((numbers, y) => numbers.map((number, x) => {
    const frame = [y, x].some((place) => place < padding || place >= padding + size);
    const inWindow = marked(y, stride * row) && marked(x, stride * column);
    const look = { ...(frame && { "stroke-dasharray": "2 3" }), ...(inWindow && { stroke: ACCENT, "stroke-opacity": 1, "stroke-width": 2 }) };
    return field(x * cell, y * cell, cell, cell, inWindow ? 0.7 : 0, short(number), look);
  }).join("")).join("");
  return cells + (count ? rect(stride * column * cell, stride * row * cell, span * cell, span * cell, { stroke: ACCENT, "stroke-width": 3.5 }) : "");
}

function products({ weight }, { count, seen, sums, row, column }, cell) {
  if (!count) return text(0, 16, "The window does not fit.", "start");
  return weight.map((weights, u) => weights.map((each, v) =>
    field(v * cell, u * 28, cell, 28, each === 0 ? 0 : 0.7, `${short(each)} \u00b7 ${short(seen[u][v])}`)).join("")).join("") +
    text((cell * weight.length) / 2, 28 * weight.length + 22, `sum: ${short(sums[row][column])}`, "middle", { class: "strong" });
}

function result({ count, sums, at }, cell) {
  return sums.flat().map((sum, index) => {
    const [x, y] = [cell * (index % count), cell * Math.floor(index / count)];
    if (index > at) return rect(x, y, cell, cell, { "stroke-dasharray": "2 3", "stroke-opacity": 0.6 });
    return field(x, y, cell, cell, 0.3, short(sum), index === at ? { stroke: SECOND, "stroke-opacity": 1, "stroke-width": 3.5 } : {});
  }).join("");
}

function formula({ size, weight, stride, padding, dilation }, { value }) {
  const k = weight.length;
  return `\u230a(${size} + 2 \u00b7 ${padding} \u2212 ${dilation} \u00b7 (${k} \u2212 1) \u2212 1) / ${stride}\u230b + 1 = ${short(value)}`;
}

function draw(state, numbers, wide) {
  const titled = (x, y, title, part) => moved(x, y, text(0, -10, title, "start", { class: "small" }) + part);
  const [length, k] = [numbers.padded.length, state.weight.length];
  const cell = Math.min(34, (wide ? 276 : 356) / length);
  const out = Math.min(34, 196 / Math.max(1, numbers.count));
  const heights = { input: cell * length, products: numbers.count ? 28 * k + 30 : 24, result: out * numbers.count };
  const title = state.padding ? `input ${state.size} \u00d7 ${state.size}, padding ${state.padding}` : `input ${state.size} \u00d7 ${state.size}`;
  const below = wide ? 24 : 56 + heights.input;
  const end = Math.max(wide ? 24 + heights.input : 0, below + Math.max(heights.products, heights.result));
  const middle = wide ? 300 : 2;
  const parts = titled(2, 24, title, input(state, numbers, cell)) +
    titled(middle, below, "weight \u00b7 number below it", products(state, numbers, 46)) +
    titled(wide ? 480 : 162, below, `result ${numbers.count} \u00d7 ${numbers.count}`, result(numbers, out));
  return { height: end + 58, svg: parts + text(2, end + 30, "positions per side: \u230a(n + 2p \u2212 d (k \u2212 1) \u2212 1) / s\u230b + 1", "start", { class: "small" }) +
    text(2, end + 50, `= ${formula(state, numbers)}`, "start") };
}

function describe(state, numbers) {
  const { size, weight, stride, padding, dilation } = state;
  const { count, span, at, row, column, seen, sums } = numbers;
  const spans = `A filter of ${weight.length} by ${weight.length} weights with dilation ${dilation} spans ${span} ${span === 1 ? "pixel" : "pixels"} per side`;
  if (!count) return `${spans}, and there are only ${size + 2 * padding}: the window does not fit, and there is no sum.`;
  const terms = weight.flatMap((weights, u) => weights.map((each, v) => [each, seen[u][v]])).filter(([each]) => each !== 0);
  const bracketed = (number) => (number < 0 ? `(${short(number)})` : short(number));
  const sum = terms.map((pair) => pair.map(bracketed).join(" \u00b7 ")).join(" + ") || "0";
  const [top, left] = [stride * row - padding, stride * column - padding];
  return `Position ${at + 1} of ${count * count}: the window starts at row ${short(top)}, column ${short(left)} of the input` +
    `${Math.min(top, left) < 0 ? ", in the padding" : ""}. Leaving out weights of 0, the sum is ${sum} = ${short(sums[row][column])}. ` +
    `${spans}; with stride ${stride} and padding ${padding} it has ${formula(state, numbers)} ${count === 1 ? "position" : "positions"} per side.`;
}

const controls = (state) => {
  const { count, at } = compute(state);
  return [
    { label: "back", kind: "button", off: at <= 0, does: (now) => ({ position: compute(now).at - 1 }) },
    { label: "next position", kind: "button", off: at >= count * count - 1, does: (now) => ({ position: compute(now).at + 1 }) },
    { name: "weight", label: "filter", kind: "choice", options: state.filters },
    { name: "size", label: "input size n", kind: "range", min: 1, max: state.picture.length, step: 1 },
    { name: "stride", label: "stride s", kind: "range", min: 1, max: 4, step: 1 },
    { name: "padding", label: "padding p", kind: "range", min: 0, max: 2, step: 1 },
    { name: "dilation", label: "dilation d", kind: "range", min: 1, max: 3, step: 1 },
  ];
};

export default figure({ title: "A filter slides over a picture", controls, compute, draw, describe });
