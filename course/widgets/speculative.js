// Speculative decoding: which draft tokens are accepted, what replaces one, and which tokens come out.
import { ACCENT, SECOND, figure, fixed, line, rect, text } from "./kit.js";

/** Returns numbers of 0 to 1 (mulberry32), the same for the same seed. */
function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function sample(probabilities, random) {
  let rest = random * probabilities.reduce((sum, each) => sum + each, 0);
  const found = probabilities.findIndex((each) => (rest -= each) < 0);
  return found >= 0 ? found : probabilities.findLastIndex((each) => each > 0);
}

/** One step: the draft tokens with their judgement, and the tokens that come out. */
function step(p, q, accept, residual, drafts, seed) {
  const random = generator(seed);
  const guesses = Array.from({ length: drafts }, () => ({ token: sample(q, random()) }));
  const out = [];
  for (const guess of guesses) {
    guess.random = random();
    guess.accepted = guess.random < accept[guess.token];
    if (!guess.accepted) guess.replacement = sample(residual, random());
    out.push(guess.accepted ? guess.token : guess.replacement);
    if (!guess.accepted) return { guesses, out };
  }
  return { guesses, out: [...out, sample(p, random())] };
}

/**
 * { target, draft, likeness, drafts, steps, shown } => the rule's numbers, what must come out on average, the last step,
 * and how often each token came out of the finished steps. The last step is finished once all its tokens are shown.
 */
export function compute({ target: p, draft, likeness, drafts, steps, shown }) {
  const q = draft.map((each, token) => (1 - likeness) * each + likeness * p[token]);
  const accept = q.map((each, token) => (each > 0 ? Math.min(1, p[token] / each) : 1));
  const kept = q.map((each, token) => each * accept[token]);
  const rate = kept.reduce((sum, each) => sum + each, 0);
  const missing = p.map((each, token) => Math.max(0, each - q[token]));
  const total = missing.reduce((sum, each) => sum + each, 0);
  const residual = missing.map((each) => (total > 0 ? each / total : 0));
  const outcome = kept.map((each, token) => each + (1 - rate) * residual[token]);
  const expected = Array.from({ length: drafts + 1 }, (_, power) => rate ** power).reduce((sum, each) => sum + each, 0);
  const counts = p.map(() => 0);
  let last;
  for (let seed = 0; seed < steps; seed += 1) {
    last = step(p, q, accept, residual, drafts, seed);
    if (seed < steps - 1 || shown >= last.out.length) for (const token of last.out) counts[token] += 1;
  }
  const finished = shown >= last.out.length ? steps : steps - 1;
  return { q, accept, residual, rate, outcome, expected, last, counts, finished };
}

function models({ names, target: p }, { q, counts, finished }, width) {
  const gap = width / names.length;
  const each = gap * 0.32;
  const most = Math.max(...p, ...q);
  const y = (value) => 154 - (116 * value) / most;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const more = (x, low, high, mark) => {
    if (high - low < 1e-9) return "";
    const shape = rect(x, y(high), each * 2, y(low) - y(high), { "stroke-width": 1.5, fill: "none", stroke: mark === "rejected" ? SECOND : ACCENT, "stroke-dasharray": mark === "rejected" ? undefined : "2 3" });
    if (mark !== "rejected") return shape;
    const stripes = [];
    for (let at = y(high) + 6; at < y(low); at += 6) stripes.push(line(x, at, x + each * 2, at, { stroke: SECOND }));
    return shape + stripes.join("");
  };
  return names.map((name, token) => {
    const x = token * gap + gap * 0.18;
    const both = Math.min(p[token], q[token]);
    return rect(x, y(both), each * 2, 154 - y(both), { fill: "currentColor", "fill-opacity": 0.4 }) +
      more(x, both, q[token], "rejected") + more(x, both, p[token], "resampled") +
      text(x + each, 172, name) + text(x + each, 188, `q ${fixed(q[token])}  p ${fixed(p[token])}`, "middle", { class: "small" }) +
      text(x + each, 204, finished ? `came out ${fixed(counts[token] / total)}` : "", "middle", { class: "small" });
  }).join("") + text(2, 12, "filled: accepted; striped: rejected, q > p;", "start", { class: "small" }) +
    text(2, 27, "dotted frame: resampled, p > q", "start", { class: "small" });
}

function guesses({ names, shown }, { last, accept }, wide) {
  const width = wide ? 680 : 360;
  const columns = wide ? 9 : 3;
  const size = width / (wide ? Math.max(5, last.guesses.length + 1) : 3);
  const box = (index, lines, more) => {
    const [x, y] = [2 + size * (index % columns), 240 + 76 * Math.floor(index / columns)];
    return rect(x, y, size - 6, 70, { rx: 4, ...more }) +
      lines.map((content, row) => text(x + size / 2 - 3, y + 18 + 16 * row, content, "middle", { class: row === 0 ? "strong" : "small" })).join("");
  };
  const stop = last.guesses.findIndex((guess) => guess.accepted === false);
  const boxes = last.guesses.map((guess, index) => {
    const name = names[guess.token];
    if (index >= shown) return box(index, [name, "not judged yet"], { "stroke-dasharray": "2 3" });
    if (stop >= 0 && index > stop) return box(index, [name, "thrown away"], { "stroke-dasharray": "2 3", "stroke-opacity": 0.6 });
    const judged = `${fixed(guess.random, 3)} ${guess.accepted ? "<" : "\u2265"} ${fixed(accept[guess.token], 3)}`;
    return guess.accepted ? box(index, [name, judged, "accepted"], { "stroke-width": 2, fill: "currentColor", "fill-opacity": 0.12 })
      : box(index, [name, judged, "rejected:", `\u2192 ${names[guess.replacement]}`], { "stroke-width": 3, stroke: SECOND });
  });
  if (stop < 0 && shown > last.guesses.length) {
    boxes.push(box(last.guesses.length, [names[last.out[last.out.length - 1]], "one more, from", "the target model"], { "stroke-width": 2, stroke: ACCENT }));
  }
  const rows = Math.ceil((last.guesses.length + 1) / columns);
  return { svg: text(2, 230, "draft tokens: is a random number < min(1, p / q)?", "start", { class: "small" }) + boxes.join(""), height: 244 + 76 * rows };
}

function draw(state, numbers, wide) {
  const below = guesses(state, numbers, wide);
  return { height: below.height, svg: models(state, numbers, wide ? 680 : 360) + below.svg };
}

function describe({ names, drafts, shown }, { rate, expected, counts, last, finished }) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const now = shown >= last.out.length ? `This step returns ${last.out.map((token) => names[token]).join(", ")}.` : `${shown} of ${drafts} draft tokens of this step have been judged.`;
  return `${now} The acceptance rate is ${fixed(rate)}, so a call to the target model with ${drafts} draft ${drafts === 1 ? "token" : "tokens"} should return ${fixed(expected)} tokens on average. ` +
    (finished === 0 ? "" : `${finished} ${finished === 1 ? "step has" : "steps have"} returned ${total} ${total === 1 ? "token" : "tokens"}, ${fixed(total / finished)} per call: ` +
    `${names.map((name, token) => `${name} ${fixed(counts[token] / total)}`).join(", ")}.`);
}

const MOST = 5000;

const controls = (state) => [
  { label: "judge the next token", kind: "button", off: state.shown >= compute(state).last.out.length, does: ({ shown }) => ({ shown: shown + 1 }) },
  { label: "next step", kind: "button", off: state.steps >= MOST, does: ({ steps }) => ({ steps: steps + 1, shown: 0 }) },
  { label: "500 more steps", kind: "button", off: state.steps >= MOST,
    does: ({ steps, drafts }) => ({ steps: Math.min(steps + 500, MOST), shown: drafts + 1 }) },
  { name: "drafts", label: "draft tokens", kind: "range", min: 1, max: 8, step: 1 },
  { name: "likeness", label: "likeness of both models", kind: "range", min: 0, max: 1, step: 0.05, says: (value) => fixed(value) },
];

export default figure({ title: "Speculative decoding, token by token", controls, compute, draw, describe });
