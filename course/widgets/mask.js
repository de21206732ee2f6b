// A mask between scores and weights: which keys it hides from which queries, and what the softmax makes of the rest.
import { ACCENT, field, figure, fixed, listed, path, rect, softmax, text } from "./kit.js";

const FIRST = "first"; // the mask sets scores to -Infinity before the softmax
const ZERO = "zero"; // scores are set to 0 before the softmax
const AFTER = "after"; // weights are set to 0 after the softmax

/** { scores (T, L), padding: how many of the last keys are padding, causal, how } => hidden, masked scores, weights, and the sum of each row of weights. */
export function compute({ scores, padding, causal, how }) {
  const hidden = scores.map((row, query) => row.map((_, key) => key >= row.length - padding || (causal && key > query)));
  const fill = (rows, value) => rows.map((row, query) => row.map((number, key) => (hidden[query][key] ? value : number)));
  const masked = how === AFTER ? scores : fill(scores, how === FIRST ? -Infinity : 0);
  const weights = how === AFTER ? fill(scores.map(softmax), 0) : masked.map(softmax);
  return { hidden, masked, weights, sums: weights.map((row) => row.reduce((sum, weight) => sum + weight, 0)) };
}

const number = (value, digits) => (value === -Infinity ? "\u2212\u221e" : Number.isNaN(value) ? "nan" : fixed(value, digits));

/** Draws rows of numbers: masked fields have a filled corner, and shade stands for what `share` says. */
function grid({ names, query }, { hidden }, rows, digits, share, left, top, step, high) {
  const fields = rows.map((row, at) => row.map((value, key) => {
    const [x, y] = [left + step * key, top + high * at];
    const corner = [[x + step - 8, y], [x + step, y], [x + step, y + 8]];
    return field(x, y, step, high, share(value), number(value, digits)) + (hidden[at][key] ? path(corner, { fill: "currentColor", stroke: "none" }) : "");
  }).join(""));
  return names.map((name, key) => text(left + step * (key + 0.5), top - 8, name, "middle", { class: "small" })).join("") + fields.join("") +
    rect(left, top + high * query, step * names.length, high, { "stroke-width": 3, stroke: ACCENT });
}

function draw(state, numbers, wide) {
  const { names, query } = state;
  const high = 27;
  const step = (wide ? 266 : 264) / names.length;
  const [label, top] = [wide ? 46 : 44, 44];
  const [across, down] = wide ? [label + 266 + 12, 0] : [label, high * names.length + 62];
  const queries = (y) => names.map((name, at) => text(label - 7, y + high * (at + 0.5) + 4.5, name, "end", at === query ? { class: "strong" } : {})).join("");
  const digits = state.scores.flat().every(Number.isInteger) ? 0 : 1;
  const most = Math.max(1e-9, ...numbers.masked.flat().filter(Number.isFinite).map(Math.abs));
  const sums = numbers.sums.map((sum, at) => text(across + step * names.length + (wide ? 42 : 46), top + down + high * (at + 0.5) + 4.5, number(sum, 2), "end", at === query ? { class: "strong" } : {}));
  const masking = numbers.hidden.flat().some(Boolean);
  const heading = (x, y, words) => text(x, y, words, "start", { class: "strong" });
  return {
    height: top + down + high * names.length + 28,
    svg: queries(top) + (wide ? "" : queries(top + down)) +
      heading(label, 14, masking ? `scores, ${state.how === AFTER ? "not " : ""}masked` : "scores") + heading(across, 14 + down, masking && state.how === AFTER ? "weights, masked" : "weights") +
      grid(state, numbers, numbers.masked, digits, (value) => (Number.isFinite(value) ? Math.abs(value) / most : 0), label, top, step, high) +
      grid(state, numbers, numbers.weights, 2, (value) => value || 0, across, top + down, step, high) +
      text(across + step * names.length + (wide ? 42 : 46), top + down - 8, "sum", "end", { class: "small" }) + sums.join("") +
      text(label, top + down + high * names.length + 20, "rows: queries, columns: keys, filled corner: masked", "start", { class: "small" }),
  };
}

function describe({ names, query, padding, causal, how }, { hidden, masked, weights, sums }) {
  const kinds = [causal ? "a causal mask" : "", padding ? `a padding mask on ${listed(names.slice(-padding))}` : ""].filter(Boolean);
  const gone = names.filter((_, key) => hidden[query][key]);
  const row = names.map((name, key) => `${name} ${number(weights[query][key], 2)}`).join(", ");
  const start = `${kinds.length ? `There is ${kinds.join(", and ")}` : "There is no mask"}. `;
  const all = gone.length === names.length;
  const about = `The query of ${names[query]} ${all ? "should see no key" : gone.length ? `should not see ${listed(gone)}` : "sees every key"}. `;
  const lost = gone.length ? {
    [FIRST]: all ? "All its scores are \u2212\u221e, and 0 divided by 0 is not a number. " : "Their scores are \u2212\u221e, so their weights are 0, and the softmax shares 1 among the others. ",
    [ZERO]: "Their scores are 0, and a score of 0 still gets a weight. ",
    [AFTER]: "The softmax still gave them a share, which was set to 0 afterwards and went to no other key. ",
  }[how] : "";
  return `${start}${about}${lost}Its scores: ${masked[query].map((value) => number(value, Number.isInteger(value) ? 0 : 1)).join(", ")}. Its weights: ${row}. Their sum is ${number(sums[query], 2)}.`;
}

const controls = ({ names }) => [
  { name: "padding", label: "padding at the end", kind: "range", min: 0, max: names.length, step: 1 },
  { name: "causal", label: "causal mask", kind: "check" },
  { name: "how", label: "masked keys get", kind: "choice", options: [[FIRST, "a score of \u2212\u221e"], [ZERO, "a score of 0"], [AFTER, "a weight of 0"]] },
  { name: "query", label: "query", kind: "choice", options: names.map((name, at) => [at, name]) },
];

export default figure({ title: "From masked scores to weights", controls, compute, draw, describe });
