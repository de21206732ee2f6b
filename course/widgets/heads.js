// Vectors split into heads: what each head sees, where it looks, and what it adds to the output of a query.
import { ACCENT, dot, field, figure, fixed, listed, path, rect, softmax, text } from "./kit.js";

/** { x (L, D), query, heads } => scores (H, L) and weights (H, L) of the query, and its output (D), the heads side by side. */
export function compute({ x, query, heads }) {
  const size = x[0].length / heads;
  const blocks = Array.from({ length: heads }, (_, head) => x.map((row) => row.slice(head * size, (head + 1) * size)));
  const scores = blocks.map((block) => block.map((key) => dot(block[query], key)));
  const weights = scores.map(softmax);
  const outputs = blocks.map((block, head) => block[0].map((_, feature) => dot(weights[head], block.map((value) => value[feature]))));
  return { scores, weights, output: outputs.flat() };
}

const short = (number) => (Number.isInteger(number) ? fixed(number, 0) : fixed(number, 1));
const looked = ({ head, heads }) => head % heads;
const vector = (numbers) => (numbers.length > 1 ? `(${numbers.map((number) => fixed(number)).join(", ")})` : fixed(numbers[0]));

function draw(state, { scores, weights, output }, wide) {
  const { names, features, x, query, heads } = state;
  const head = looked(state);
  const size = features.length / heads;
  const high = 28;
  const top = 52;
  const left = wide ? 56 : 40;
  const step = (wide ? 248 : 160) / features.length;
  const score = left + step * features.length + (wide ? 62 : 32);
  const right = score + (wide ? 22 : 8);
  const each = Math.min(wide ? 72 : 60, (wide ? 288 : 118) / heads);
  const small = { class: "small" };
  const bottom = top + high * names.length + 34;
  const sees = (feature) => Math.floor(feature / size) === head;
  const most = Math.max(1e-9, ...x.flat().map(Math.abs), ...output.map(Math.abs));
  const cell = (column, y, label, value, more) => field(left + step * column, y, step, high, sees(column) ? Math.abs(value) / most : 0, label, more);
  const unseen = (column) => (sees(column) ? {} : { "stroke-opacity": 0.25 });
  const rows = names.map((name, word) => {
    const y = top + high * word;
    return text(left - 7, y + 18.5, name, "end", word === query ? { class: "strong" } : {}) +
      x[word].map((value, column) => cell(column, y, short(value), value, unseen(column))).join("") +
      text(score, y + 18.5, short(scores[head][word]), "end") +
      weights.map((row, at) => field(right + each * at, y, each, high, row[word], heads > 2 && !wide ? fixed(row[word]).slice(1) : fixed(row[word]), at === head ? {} : { "stroke-opacity": 0.25 })).join("");
  });
  const block = (y, height) => rect(left + step * size * head, y, step * size, height, { "stroke-width": 3, stroke: ACCENT });
  const middle = left + step * size * (head + 0.5);
  return {
    height: bottom + high + 26,
    svg: text(left, 14, `head ${head} sees`, "start", { class: "strong" }) + text(right, 14, wide ? `weights of the query ${names[query]}` : "weights", "start", { class: "strong" }) +
      features.map((name, column) => text(left + step * (column + 0.5), top - 10, name, "middle", small)).join("") +
      text(score, top - 10, "score", "end", small) +
      weights.map((_, at) => text(right + each * (at + 0.5), top - 10, wide ? `head ${at}` : at, "middle", small)).join("") +
      rows.join("") + block(top, high * names.length) + rect(right + each * head, top, each, high * names.length, { "stroke-width": 3, stroke: ACCENT }) +
      path([[middle, top + high * names.length + 6], [middle, bottom - 8]], { "stroke-width": 2 }) + path([[middle - 5, bottom - 14], [middle, bottom - 7], [middle + 5, bottom - 14]], { "stroke-width": 2 }) +
      text(left - 7, bottom + 18.5, "output", "end", wide ? { class: "strong" } : { class: "small strong" }) +
      output.map((value, column) => cell(column, bottom, fixed(value), value)).join("") + block(bottom, high) +
      text(left, bottom + high + 18, "each column: weighted sum, with the weights of its head", "start", small),
  };
}

function describe(state, { scores, weights, output }) {
  const { names, features, query, heads } = state;
  const head = looked(state);
  const size = features.length / heads;
  const mine = features.slice(head * size, (head + 1) * size);
  const row = names.map((name, word) => `${name} ${fixed(weights[head][word])}`).join(", ");
  const even = scores[head].every((score) => score === scores[head][0]);
  return `${heads === 1 ? "The only head sees all features" : `Head ${head} of ${heads} heads sees ${listed(mine)}`}. For the query of ${names[query]}, its weights are ${row}` +
    `${even ? ": all scores are equal, so it takes the mean" : ""}. ${heads === 1 ? "The" : `Its part of the output is ${vector(output.slice(head * size, (head + 1) * size))}. With the parts of all heads side by side, the`} output is ${vector(output)}.`;
}

const controls = ({ names, features, heads }) => [
  { name: "heads", label: "heads", kind: "choice", options: features.map((_, index) => index + 1).filter((count) => features.length % count === 0).map((count) => [count, String(count)]) },
  { label: "next head", kind: "button", off: heads === 1, does: (state) => ({ head: (looked(state) + 1) % state.heads }) },
  { name: "query", label: "query", kind: "choice", options: names.map((name, at) => [at, name]) },
];

export default figure({ title: "One vector, several heads", controls, compute, draw, describe });
