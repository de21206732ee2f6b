// Scores become weights: what a temperature and one score do to softmax.
import { bar, figure, fixed, softmax, text } from "./kit.js";

/** { names, scores, temperature } => the weights, and their entropy in bits. */
export function compute({ scores, temperature }) {
  const weights = softmax(scores.map((score) => score / temperature));
  const entropy = -weights.reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log2(weight) : 0), 0);
  return { weights, entropy };
}

function draw({ names, scores }, { weights }, wide) {
  const width = wide ? 680 : 360;
  const step = width / names.length;
  const bars = names.map((name, index) =>
    bar(index * step + step * 0.15, 170, step * 0.7, 140 * weights[index], fixed(weights[index]), name) +
    text((index + 0.5) * step, 206, fixed(scores[index], 1), "middle", { class: "small" }));
  return { height: 228, svg: bars.join("") + text(width / 2, 224, "score of each word", "middle", { class: "small" }) };
}

function describe({ names, temperature }, { weights, entropy }) {
  const largest = weights.indexOf(Math.max(...weights));
  return `Temperature ${fixed(temperature)}: ${names[largest]} has the largest weight, ${fixed(weights[largest])}. ` +
    `The weights carry ${fixed(entropy)} bits; ${names.length} equal ones would carry ${fixed(Math.log2(names.length))}.`;
}

const controls = ({ names }) => [
  { name: "temperature", label: "temperature", kind: "range", min: 0.1, max: 5, step: 0.1, says: (value) => fixed(value, 1) },
];

export default figure({ title: "Softmax and its temperature", controls, compute, draw, describe });
