// What the widgets share: controls that the keyboard reaches, a drawing in the page's own ink, a text that follows both.
//
//     state --compute--> numbers --draw--> an SVG, --describe--> a sentence below it
//
// `grader_kernel.widget.module` puts this file before each widget's own, so one file works in JupyterLab and on a page.

export const ACCENT = "#3d85d8"; // 3:1 and more on white and on black, as SECOND: marks, never text
export const SECOND = "#d9730d";

const STYLE = `
.gw { border: 1px solid; border-color: color-mix(in srgb, currentColor 35%, transparent); border-radius: 6px;
  padding: .7em 1em; margin: .5em 0; max-width: 46em; color: inherit; font: inherit; }
.gw-title { font-weight: 600; margin: 0 0 .5em; }
.gw fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.gw-controls { display: flex; flex-wrap: wrap; gap: .5em 1.4em; align-items: center; }
.gw-controls label { display: inline-flex; gap: .5em; align-items: center; }
.gw-controls output { min-width: 3.5em; font-variant-numeric: tabular-nums; }
.gw input, .gw select, .gw button { font: inherit; color: inherit; accent-color: ${ACCENT}; }
.gw select, .gw button, .gw input[type=text] { background: transparent; border: 1px solid; border-radius: 4px;
  padding: .25em .7em; min-height: 24px; }
.gw input[type=range] { min-height: 26px; }
.gw input[type=checkbox] { width: 24px; height: 24px; }
@media (max-width: 576px) { /* a slider takes the line */
  .gw-controls label:has(input[type=range]) { width: 100%; }
  .gw input[type=range] { flex: 1; min-width: 6em; }
}
.gw select option { color: #000; background: #fff; }
.gw button { cursor: pointer; }
.gw :is(button[disabled], button[aria-disabled=true]) { opacity: .65; cursor: default; }
.gw :focus-visible { outline: 3px solid ${ACCENT}; outline-offset: 2px; }
.gw svg { display: block; width: 100%; height: auto; margin: .6em 0; overflow: visible; }
.gw svg text { fill: currentColor; font-size: 13px; }
.gw svg .small { font-size: 11px; }
.gw svg .strong { font-weight: 700; }
.gw-text { margin: .4em 0 0; }
@media print { .gw-controls { display: none; } .gw { break-inside: avoid; } }
`;

/** Returns a number with a fixed count of digits and a real minus sign. */
export function fixed(number, digits = 2) {
  const text = Number(number).toFixed(digits);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "\u2212");
}

/** Returns text that is safe inside HTML and SVG. */
export function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (character) => names[character]);
}

/** Returns words as a list in a sentence: "she, sat and by". */
export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** Returns the softmax of scores; a score of -Infinity gets 0. All of them -Infinity: all weights NaN, as in torch. */
export function softmax(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** Returns the dot product of two vectors. */
export function dot(one, other) {
  return one.reduce((sum, number, index) => sum + number * other[index], 0);
}

// Parts of drawings, as SVG text. `more` are attributes: { "stroke-dasharray": "4 3" }.

function tag(name, attributes, content = "") {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null);
  return `<${name} ${given.map(([key, value]) => `${key}="${escaped(value)}"`).join(" ")}>${content}</${name}>`;
}

/** Returns a text: `anchor` is start, middle or end; `more.class` may be small or strong. */
export function text(x, y, content, anchor = "middle", more = {}) {
  return tag("text", { x, y, "text-anchor": anchor, ...more }, escaped(content));
}

export function line(x1, y1, x2, y2, more = {}) {
  return tag("line", { x1, y1, x2, y2, stroke: "currentColor", ...more });
}

export function rect(x, y, width, height, more = {}) {
  return tag("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), fill: "none", stroke: "currentColor", ...more });
}

/** Returns a line through points [[x, y], …]. */
export function path(points, more = {}) {
  return tag("polyline", { points: points.map((point) => point.join(",")).join(" "), fill: "none", stroke: "currentColor", ...more });
}

export function circle(cx, cy, r, more = {}) {
  return tag("circle", { cx, cy, r, fill: "currentColor", ...more });
}

/** Returns an arrow with a filled head; one that is shorter than its head has no shaft. */
export function arrow(x1, y1, x2, y2, more = {}) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1e-6) return "";
  const width = Number(more["stroke-width"] ?? 1.5);
  const head = Math.min(6 + 2 * width, length);
  const [u, v] = [(x2 - x1) / length, (y2 - y1) / length];
  const [x, y] = [x2 - head * u, y2 - head * v];
  const side = head / 2.4;
  const tip = [[x2, y2], [x - side * v, y + side * u], [x + side * v, y - side * u]];
  const ink = more.stroke ?? "currentColor";
  return line(x1, y1, x, y, more) + tag("polygon", { points: tip.map((point) => point.join(",")).join(" "), fill: ink });
}

/** Returns a field of a table: the darker the larger its share of 0 to 1; its text can be read on every shade. */
export function field(x, y, width, height, share, label = "", more = {}) {
  const shade = { fill: "currentColor", "fill-opacity": 0.4 * Math.min(1, Math.max(0, share)), "stroke-opacity": 0.5 };
  return rect(x, y, width, height, { ...shade, ...more }) + text(x + width / 2, y + height / 2 + 4.5, label);
}

/** Returns a vertical bar of a height that stands on y, with a text above and a name below it. */
export function bar(x, y, width, height, label = "", name = "", more = {}) {
  const body = rect(x, y - height, width, height, { fill: "currentColor", "fill-opacity": 0.25, ...more });
  return body + text(x + width / 2, y - height - 5, label) + text(x + width / 2, y + 16, name);
}

/** Returns a part of a drawing moved to the right and down. */
export function moved(x, y, part) {
  return `<g transform="translate(${x} ${y})">${part}</g>`;
}

let made = 0;

/** Gives a widget's element its frame and style; keys pressed in it are not JupyterLab's shortcuts. */
export function frame(el, title) {
  const name = `gw-${(made += 1)}-${Math.random().toString(36).slice(2, 8)}`;
  el.innerHTML = `<style>${STYLE}</style><div class="gw" role="group" aria-labelledby="${name}">
    <p class="gw-title" id="${name}">${escaped(title)}</p></div>`;
  const box = el.querySelector(".gw");
  // A shortcut that matches the focused element itself comes before a mark on an ancestor, so that element is marked.
  box.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  return { box, name };
}

/**
 * Returns the anywidget module of a figure.
 *
 * title      what it is, in a few words
 * controls   (state) => a list of
 *              { name, label, kind: "range", min, max, step, says?: (value) => text }
 *              { name, label, kind: "choice", options: [[value, label], …] }
 *              { name, label, kind: "check" }
 *              { label, kind: "button", does: (state) => changes of the state, off?: whether it is disabled }
 *            where `name` is the key in the state that the control changes
 * compute    (state) => the numbers; a test compares them with torch's
 * draw       (state, numbers, wide) => { height, svg }; the drawing is 680 units wide, 360 where the page is narrow
 * describe   (state, numbers) => sentences that say what the drawing shows now
 */
export function figure({ title, controls, compute, draw, describe }) {
  function render({ model, el }) {
    const { box, name } = frame(el, title);
    const panel = document.createElement("fieldset");
    panel.className = "gw-controls";
    panel.setAttribute("aria-labelledby", name);
    const screen = document.createElement("div");
    const words = document.createElement("p");
    words.className = "gw-text";
    words.id = `${name}-text`;
    words.setAttribute("aria-live", "polite");
    box.append(panel, screen, words);
    let shape = "";

    function change(changes) {
      model.set("state", { ...model.get("state"), ...changes });
      model.save_changes();
      show();
    }

    function show() {
      const state = model.get("state");
      const numbers = compute(state);
      const wanted = controls(state);
      const shapeNow = JSON.stringify(wanted.map(({ says, does, off, ...rest }) => rest));
      // A new control loses the focus, so controls are made anew only if others are there, and the focus comes back.
      const focused = [...panel.children].findIndex((child) => child.matches(":focus, :focus-within"));
      if (shapeNow !== shape) {
        panel.replaceChildren(...wanted.map((control) => made_control(control, change, model)));
        const again = panel.children[focused];
        if (again) (again.querySelector("input, select") ?? again).focus();
      }
      shape = shapeNow;
      wanted.forEach((control, index) => update(panel.children[index], control, state));
      const wide = !box.clientWidth || box.clientWidth > 480;
      const { height, svg } = draw(state, numbers, wide);
      screen.innerHTML = `<svg viewBox="0 0 ${wide ? 680 : 360} ${height}" role="img" aria-label="${escaped(title)}"
        aria-describedby="${words.id}">${svg}</svg>`;
      words.textContent = describe(state, numbers);
    }

    model.on("change:state", show);
    const watcher = new ResizeObserver(show);
    watcher.observe(el);
    show();
    return () => {
      watcher.disconnect();
      model.off("change:state", show);
    };
  }
  return { render };
}

function made_control(control, change, model) {
  if (control.kind === "button") {
    const button = document.createElement("button");
    button.type = "button";
    // What it does may depend on the state of the moment, so `update` keeps it.
    button.onclick = () => button.ariaDisabled !== "true" && change(button.does(model.get("state")));
    button.textContent = control.label;
    return button;
  }
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = control.label;
  const input = document.createElement(control.kind === "choice" ? "select" : "input");
  if (control.kind === "choice") {
    input.append(...control.options.map(([value, text]) => new Option(text, JSON.stringify(value))));
    input.onchange = () => change({ [control.name]: JSON.parse(input.value) });
  } else if (control.kind === "check") {
    input.type = "checkbox";
    input.onchange = () => change({ [control.name]: input.checked });
  } else {
    Object.assign(input, { type: "range", min: control.min, max: control.max, step: control.step });
    input.oninput = () => change({ [control.name]: Number(input.value) });
  }
  label.append(name, input);
  if (control.kind === "range") label.append(document.createElement("output"));
  return label;
}

function update(element, control, state) {
  if (control.kind === "button") {
    element.does = control.does;
    // A disabled button would lose the focus, and with it the reader who pressed it.
    element.ariaDisabled = String(Boolean(control.off));
    return;
  }
  const [, input, output] = element.children;
  const value = state[control.name];
  if (control.kind === "check") input.checked = value;
  else input.value = control.kind === "choice" ? JSON.stringify(value) : value;
  if (output) {
    output.textContent = control.says ? control.says(value) : String(value).replace("-", "\u2212");
    input.setAttribute("aria-valuetext", output.textContent);
  }
}
