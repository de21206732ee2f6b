// Temperature, top-k and top-p: what each leaves of the probabilities of the next token.
import { ACCENT, bar, figure, fixed, line, rect, softmax, text } from "./kit.js";

const CLOSE = 1e-9; // tokens whose probabilities differ by less are tied

/** { logits (null: forbidden), temperature, k (0: off), p (1: off) } => the probabilities as they are, and after temperature, top-k and top-p. */
export function compute({ logits, temperature, k, p }) {
  const scores = logits.map((logit) => logit ?? -Infinity);
  const plain = softmax(scores);
  const warm = temperature === 0 ? shared(scores.map((score) => score === Math.max(...scores))) : softmax(scores.map((score) => score / temperature));
  const ordered = (values) => [...values].sort((a, b) => b - a);
  let left = warm;
  if (temperature > 0 && k > 0) {
    const last = ordered(scores)[Math.min(k, scores.length) - 1];
    left = renormalised(warm, (_, token) => scores[token] >= last - CLOSE * temperature);
  }
  const byK = left;
  if (temperature > 0 && p < 1) {
    let before = 0;
    let last = 1;
    for (const each of ordered(left)) {
      if (before >= p - CLOSE) break;
      before += each;
      last = each;
    }
    left = renormalised(left, (each) => each >= last - CLOSE);
  }
  return { plain, warm, byK, left };
}

function shared(chosen) {
  const count = chosen.filter(Boolean).length;
  return chosen.map((each) => (each ? 1 / count : 0));
}

function renormalised(values, keeps) {
  const kept = values.map((value, token) => (keeps(value, token) ? value : 0));
  const total = kept.reduce((sum, value) => sum + value, 0);
  return kept.map((value) => value / total);
}

function draw({ names }, { plain, left }, wide) {
  const step = (wide ? 680 : 360) / names.length;
  const bars = names.map((name, token) => {
    const [x, width] = [token * step + step * 0.16, step * 0.68];
    const before = rect(x, 170 - 130 * plain[token], width, 130 * plain[token], { "stroke-dasharray": "3 3" });
    if (left[token] === 0) return before + text(x + width / 2, 162 - 130 * plain[token], "\u2717") + text(x + width / 2, 186, name);
    return before + bar(x, 170, width, 130 * left[token], "", name, { stroke: ACCENT, "stroke-width": 2 }) +
      text(x + width / 2, 164 - 130 * Math.max(plain[token], left[token]), fixed(left[token], 3), "middle", { class: "strong" });
  });
  const was = names.map((_, token) => text((token + 0.5) * step, 204, `was ${fixed(plain[token], 3)}`, "middle", { class: "small" }));
  return { height: 228, svg: bars.join("") + was.join("") + line(0, 170, wide ? 680 : 360, 170) +
    text((wide ? 680 : 360) / 2, 224, "dashed: temperature 1, nothing cut off; \u2717 cut off", "middle", { class: "small" }) };
}

function describe({ names, temperature, k, p }, { left, warm, byK }) {
  const kept = names.filter((_, token) => left[token] > 0);
  const dropped = (one, other) => names.filter((_, token) => one[token] > 0 && other[token] === 0).join(", ") || "nothing";
  if (temperature === 0) return `Temperature 0 is greedy: ${kept.join(", ")} gets everything, and top-k and top-p change nothing.`;
  return `Temperature ${fixed(temperature)}. ${k ? `Top-k with k = ${k} drops ${dropped(warm, byK)}.` : "Top-k is off."} ` +
    `${p < 1 ? `Top-p with p = ${fixed(p)} drops ${dropped(byK, left)}.` : "Top-p is off."} Left: ` +
    `${names.map((name, token) => (left[token] > 0 ? `${name} ${fixed(left[token], 3)}` : "")).filter(Boolean).join(", ")}.`;
}

const controls = ({ names }) => [
  { name: "temperature", label: "temperature", kind: "range", min: 0, max: 3, step: 0.25, says: (value) => fixed(value) },
  { name: "k", label: "top-k", kind: "range", min: 0, max: names.length, step: 1, says: (value) => (value ? String(value) : "off") },
  { name: "p", label: "top-p", kind: "range", min: 0.05, max: 1, step: 0.05, says: (value) => (value < 1 ? fixed(value) : "off") },
];

export default figure({ title: "Temperature, top-k and top-p", controls, compute, draw, describe });
