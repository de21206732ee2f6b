// Beam search, half a step at a time: the candidates of a step, then which of them are kept and which are pruned.
import { ACCENT, SECOND, figure, fixed, line, listed, rect, text } from "./kit.js";

const byProbability = (one, other) => other.log - one.log;

/** Returns the possible continuations of a hypothesis, in the order of the vocabulary. */
function grown(rows, { tokens, log }) {
  return rows.get(tokens.join()).flatMap((p, token) => (p > 0 ? [{ tokens: [...tokens, token], p, log: log + Math.log(p) }] : []));
}

/**
 * { table, bos, eos, beam, longest, half } => the candidates of each step of the whole search, with their ranks from 0;
 * then, after `half` half steps: the hypotheses that have ended, those still open, the result so far, and the most
 * probable of all sequences. A half step lists the candidates of a step, and the next one prunes them.
 */
export function compute({ table, bos, eos, beam, longest, half }) {
  const rows = new Map(table.map(([tokens, row]) => [tokens.join(), row]));
  const start = { tokens: [bos], log: 0 };
  const isOpen = ({ tokens }) => tokens.length === 1 || tokens[tokens.length - 1] !== eos;
  const steps = [];
  let last = [start];
  while (last.length && steps.length < longest) {
    const candidates = last.flatMap((each) => grown(rows, each));
    // The sort is stable: of equally probable candidates the first ones are kept, as with Python's `sorted`.
    [...candidates].sort(byProbability).forEach((each, rank) => Object.assign(each, { rank, kept: rank < beam, open: isOpen(each) }));
    steps.push(candidates);
    last = candidates.filter((each) => each.kept && each.open);
  }
  const at = Math.min(half, 2 * steps.length);
  const pruned = steps.slice(0, Math.floor(at / 2));
  const ended = pruned.flatMap((candidates) => candidates.filter((each) => each.kept && !each.open).sort(byProbability));
  const open = pruned.length ? pruned[pruned.length - 1].filter((each) => each.kept && each.open).sort(byProbability) : [start];
  let [all, unfinished] = [[], [start]];
  for (let length = 0; length < longest; length += 1) {
    const next = unfinished.flatMap((each) => grown(rows, each));
    all = [...all, ...next.filter((each) => !isOpen(each))];
    unfinished = next.filter(isOpen);
  }
  const best = [...all, ...unfinished].sort(byProbability)[0];
  return { steps, at, ended, open, result: [...ended, ...open].sort(byProbability).slice(0, beam), best, finished: at === 2 * steps.length };
}

const ROW = 42;

/** Returns the row of each hypothesis of the search, by its tokens: a parent is in the middle of its children. */
function places({ steps }, bos) {
  const found = new Map();
  let free = 0;
  function place(tokens) {
    const children = (steps[tokens.length - 1] ?? []).filter((each) => each.tokens.slice(0, -1).join() === tokens.join());
    const rows = children.map((each) => place(each.tokens));
    const row = rows.length ? (rows[0] + rows[rows.length - 1]) / 2 : free++;
    found.set(tokens.join(), row);
    return row;
  }
  place([bos]);
  return { found, height: ROW * free };
}

function draw({ names, bos, start, longest }, numbers, wide) {
  const { steps, at } = numbers;
  const { found, height } = places(numbers, bos);
  const [left, gap, top] = wide ? [104, 40, 26] : [0, 14, 44];
  const width = (wide ? 676 - left - gap * longest : 356 - gap * (longest - 1)) / longest;
  const x = (step) => (wide ? left + gap : 2) + step * (width + gap);
  const y = (tokens) => top + ROW * (found.get(tokens.join()) + 0.5);
  const box = (each, step, pruned) => {
    const kept = pruned && each.kept;
    const [from, middle] = [x(step), y(each.tokens)];
    const look = kept ? { "stroke-width": 3, stroke: each.open ? ACCENT : SECOND, fill: "currentColor", "fill-opacity": 0.12 }
      : pruned ? { "stroke-dasharray": "2 3", "stroke-opacity": 0.7 } : {};
    const parent = each.tokens.slice(0, -1);
    const edge = step || wide ? line(step ? x(step - 1) + width : left, y(parent), from, middle, kept ? { "stroke-width": 2.5 } : pruned ? { "stroke-dasharray": "2 3", "stroke-opacity": 0.7 } : {}) : "";
    const mark = pruned ? (kept ? `${each.rank + 1}. ` : "\u2717 ") : "";
    return edge + rect(from, middle - 17, width, 34, { rx: 4, ...look }) +
      text(from + 7, middle - 2, mark + names[each.tokens[each.tokens.length - 1]], "start", kept ? { class: "strong" } : {}) +
      text(from + width - 7, middle - 2, `\u00d7 ${fixed(each.p)}`, "end", { class: "small" }) +
      text(from + 7, middle + 12, `${wide ? "log p " : ""}${fixed(each.log)}`, "start", { class: "small" }) +
      text(from + width - 7, middle + 12, `p ${fixed(Math.exp(each.log), 3)}`, "end", { class: "small" });
  };
  const boxes = steps.slice(0, Math.ceil(at / 2)).map((candidates, step) => candidates.map((each) => box(each, step, step < Math.floor(at / 2))).join(""));
  const heads = Array.from({ length: longest }, (_, step) => text(x(step) + width / 2, wide ? 14 : 34, `step ${step + 1}`, "middle", { class: "small" }));
  const root = wide ? text(left - 6, y([bos]) + 4, start, "end") : text(2, 14, `after: ${start}`, "start");
  const legend = ["\u00d7: probability of the token; p and log p: of the whole path", "numbered: kept, with its rank; \u2717 and dashed: pruned"];
  const below = legend.map((words, index) => text(2, top + height + 20 + 16 * index, words, "start", { class: "small" }));
  return { height: top + height + 44, svg: root + heads.join("") + boxes.join("") + below.join("") };
}

function describe({ names, beam, half }, { steps, at, ended, open, result, best, finished }) {
  const said = ({ tokens, log }) => `${tokens.slice(1).map((token) => names[token]).join(" ")} (${fixed(log)})`;
  const all = (hypotheses) => listed(hypotheses.map(said)) || "nothing";
  const size = `Beam size ${beam}${beam === 1 ? ", which is greedy search" : ""}.`;
  if (at === 0) return `${size} Nothing has been written yet: one prefix is open, with log-probability 0.`;
  const step = Math.ceil(at / 2);
  const candidates = [...steps[step - 1]];
  if (at % 2) return `${size} Step ${step} has ${candidates.length} ${candidates.length === 1 ? "candidate" : "candidates"}, with total log-probabilities in brackets: ` +
    `${all(candidates)}. The search will keep ${Math.min(beam, candidates.length)}.`;
  candidates.sort(byProbability);
  const lost = candidates.filter((each) => !each.kept);
  const now = `${size} Step ${step} keeps ${all(candidates.filter((each) => each.kept))}, and prunes ${all(lost)}.`;
  if (!finished) return `${now} Ended so far: ${all(ended)}. Still open: ${all(open)}.`;
  const verdict = best.log > result[0].log + 1e-12 ? `It has missed the most probable sequence, ${said(best)}.` : "No sequence is more probable than the first one.";
  return `${now} The search is over. It returns ${all(result)}. ${verdict}`;
}

const controls = (state) => {
  const { at, finished } = compute(state);
  return [
    { label: "back", kind: "button", off: at === 0, does: (now) => ({ half: compute(now).at - 1 }) },
    { label: "next", kind: "button", off: finished, does: (now) => ({ half: compute(now).at + 1 }) },
    { name: "beam", label: "beam size", kind: "range", min: 1, max: state.widest, step: 1, says: (value) => (value === 1 ? "1 (greedy)" : String(value)) },
  ];
};

export default figure({ title: "Beam search, step by step", controls, compute, draw, describe });
