// The gates of an LSTM or a GRU whose state is one number: how much of an old state is left after some steps.
import { ACCENT, SECOND, circle, figure, fixed, line, moved, path, rect, text } from "./kit.js";

const LENGTH = 50;

const sigmoid = (number) => 1 / (1 + Math.exp(-number));

/**
 * { kind, f, i, g, o, z, r, n, steps } => the gates, the cell (LSTM) or state (GRU) at 0 to 50 steps if it was 1 and if it
 * was 0, their difference, and the hidden states and the candidate after `steps` steps. All gates stay as they are.
 */
export function compute({ kind, f, i, g, o, z, r, n, steps }) {
  const lstm = kind === "LSTM";
  const gates = lstm ? { f: sigmoid(f), i: sigmoid(i), o: sigmoid(o) } : { z: sigmoid(z), r: sigmoid(r) };
  const candidate = (state) => (lstm ? Math.tanh(g) : Math.tanh(n + gates.r * state));
  const next = (state) => (lstm ? gates.f * state + gates.i * candidate(state) : (1 - gates.z) * candidate(state) + gates.z * state);
  const run = (first) => {
    const states = [first];
    while (states.length <= LENGTH) states.push(next(states[states.length - 1]));
    return states;
  };
  const [one, zero] = [run(1), run(0)];
  const hidden = [one, zero].map((states) => (lstm ? gates.o * Math.tanh(states[steps]) : states[steps]));
  return { gates, one, zero, kept: one.map((state, step) => state - zero[step]), hidden, candidate: candidate(one[steps]) };
}

const NAMES = { f: "forget f", i: "input i", o: "output o", z: "update z", r: "reset r", g: "candidate g", n: "candidate n" };

function bars(kind, { gates, candidate }) {
  const row = (name, y, from, to, value) => text(0, y + 12, NAMES[name], "start", { class: "small" }) +
    rect(72, y, 70, 16, { "stroke-opacity": 0.5 }) + rect(72 + 70 * from, y, 70 * (to - from), 16, { fill: "currentColor", "fill-opacity": 0.4 }) +
    text(184, y + 12, fixed(value, 3), "end", { class: "small" });
  const names = Object.keys(gates);
  const middle = (candidate + 1) / 2;
  return names.map((name, index) => row(name, 26 * index, 0, gates[name], gates[name])).join("") +
    row(kind === "LSTM" ? "g" : "n", 26 * names.length, Math.min(0.5, middle), Math.max(0.5, middle), candidate) +
    line(107, 26 * names.length - 3, 107, 26 * names.length + 19, { "stroke-opacity": 0.7 });
}

function chart(title, curves, steps, lowest, highest, width, height, digits) {
  const x = (step) => (width * step) / LENGTH;
  const y = (value) => (height * (highest - value)) / (highest - lowest);
  const points = (values) => values.map((value, step) => [x(step), y(value)].map((number) => Number(number.toFixed(2))));
  const apart = [lowest, highest].every((value) => value === 0 || Math.abs(y(value) - y(0)) > 13);
  const ticks = [...new Set([lowest, ...(apart ? [0] : []), highest])].map((value) => text(-6, y(value) + 4, fixed(value, digits), "end", { class: "small" }));
  return text(width / 2, -14, title, "middle", { class: "small" }) + line(0, 0, 0, height, { "stroke-opacity": 0.5 }) +
    line(0, y(0), width, y(0), { "stroke-opacity": 0.5 }) + line(x(steps), 0, x(steps), height, { "stroke-dasharray": "2 3" }) +
    curves.map(([values, more]) => path(points(values), more) + circle(x(steps), y(values[steps]), 4.5)).join("") + ticks.join("") +
    [0, 25, 50].map((step) => text(x(step), height + 16, step, "middle", { class: "small" })).join("") + text(width / 2, height + 33, "step", "middle", { class: "small" });
}

function draw({ kind, steps }, numbers, wide) {
  const { one, zero, kept } = numbers;
  const name = kind === "LSTM" ? "cell c" : "state h";
  const all = [...one, ...zero];
  const [lowest, highest] = [Math.min(0, ...all), Math.max(1, ...all)];
  const size = wide ? [186, 130] : [296, 120];
  const states = chart(`${name} from 1 (solid), from 0 (dashed)`, [[one, { stroke: ACCENT, "stroke-width": 3.5 }], [zero, { stroke: SECOND, "stroke-width": 2, "stroke-dasharray": "5 4" }]],
    steps, lowest, highest, ...size, highest - lowest > 10 ? 0 : 1);
  const difference = chart(`what is left of the difference: ${fixed(kept[steps], 3)}`, [[kept, { "stroke-width": 2.5 }]], steps, 0, 1, ...size, 0);
  const gates = moved(2, wide ? 40 : 8, bars(kind, numbers));
  return wide ? { height: 216, svg: gates + moved(234, 34, states) + moved(478, 34, difference) }
    : { height: 500, svg: gates + moved(36, 146, states) + moved(36, 340, difference) };
}

function describe({ kind, n, steps }, { gates, one, zero, kept, hidden, candidate }) {
  const share = kept[steps] < 0.0005 ? "less than 0.001" : fixed(kept[steps], 3);
  const after = `After ${steps} ${steps === 1 ? "step" : "steps"}`;
  const values = (numbers) => `${fixed(numbers[0], 3)} and ${fixed(numbers[1], 3)}`;
  if (kind === "LSTM") return `LSTM: each step keeps ${fixed(gates.f, 3)} of the cell and adds ${fixed(gates.i, 3)} of the candidate ${fixed(candidate, 3)}. ` +
    `${after} cells of 1 and 0 have become ${values([one[steps], zero[steps]])}: ${share} of their difference is left. ` +
    `With an output gate of ${fixed(gates.o, 3)} the hidden states are ${values(hidden)}.`;
  return `GRU: each step keeps ${fixed(gates.z, 3)} of the state and takes ${fixed(1 - gates.z, 3)} of the candidate, tanh(${fixed(n, 1)} + ${fixed(gates.r, 3)} \u00b7 h). ` +
    `${after} states of 1 and 0 have become ${values(hidden)}: ${share} of their difference is left.`;
}

const GATES = { LSTM: ["f", "i", "g", "o"], GRU: ["z", "r", "n"] };

const controls = ({ kind }) => [
  { name: "kind", label: "cell", kind: "choice", options: [["LSTM", "LSTM"], ["GRU", "GRU"]] },
  ...GATES[kind].map((name) => ({ name, label: NAMES[name], kind: "range", min: -6, max: 6, step: 0.5,
    says: (value) => ("gn".includes(name) ? `tanh(${fixed(value, 1)}${name === "n" ? " + \u2026" : ""})` : `\u03c3(${fixed(value, 1)})`) })),
  { name: "steps", label: "steps", kind: "range", min: 0, max: LENGTH, step: 1 },
];

export default figure({ title: "Gates held in place", controls, compute, draw, describe });
