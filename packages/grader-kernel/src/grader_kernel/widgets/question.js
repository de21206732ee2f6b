// Asks a quick question and answers at once, with the reason.
//
//     question --ask--> a form --an answer--> judged --reply--> the reason, or what is wrong, below the form
import { escaped, frame } from "./kit.js";

const LOOKS = `
.gq { position: relative; }
.gq .gw-title { font-size: .9em; opacity: .85; margin: 0 0 .2em; }
.gq legend { font-size: 1em; float: none; width: auto; padding: 0; margin: 0 0 .6em; line-height: 1.45; }
.gq form { margin: 0; }
.gq code { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-size: .92em; background: transparent;
  color: inherit; border: 0; padding: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.gq legend code, .gq-reply code, .gq-option code { background: color-mix(in srgb, currentColor 9%, transparent);
  border-radius: 3px; padding: .08em .3em; }
.gq-option { display: flex; gap: .6em; align-items: baseline; padding: .3em .5em; margin: 0 -.5em; border-radius: 4px;
  cursor: pointer; line-height: 1.45; }
.gq-option:hover { background: color-mix(in srgb, currentColor 7%, transparent); }
.gq-option input { flex: none; margin: 0; width: 1em; height: 1em; position: relative; top: .1em; }
.gq-number { display: inline-flex; gap: .6em; align-items: center; }
.gq-number input { width: 8em; }
.gq-lines { list-style: none; margin: 0; padding: 0; counter-reset: line; }
.gq-lines li { display: flex; gap: .35em; align-items: center; margin: 0 0 .3em; padding: .2em .3em .2em .6em;
  border: 1px solid; border-color: color-mix(in srgb, currentColor 30%, transparent); border-radius: 4px; counter-increment: line; }
.gq-lines li::before { content: counter(line) "."; min-width: 1.5em; font-variant-numeric: tabular-nums; }
.gq-lines li > :first-child { flex: 1; min-width: 0; }
.gq .gq-lines button { padding: 0; width: 2em; min-height: 2em; }
.gq-scroll { overflow-x: auto; padding: 4px; margin: -4px; }
.gq table { border-collapse: collapse; margin: 0; width: auto; font-size: 1em; border: 0; }
.gq th, .gq td { background: transparent; color: inherit; border: 0; padding: 2px; text-align: center;
  vertical-align: middle; font-weight: 400; }
.gq tr { background: transparent !important; border: 0; }
.gq th { padding: 2px 7px; white-space: nowrap; }
.gq th[scope=row] { text-align: right; }
.gq .gq-axis { font-size: .85em; font-style: italic; }
.gq td button { display: block; width: 100%; min-width: 2.9em; height: 2.2em; padding: 0 .4em; white-space: nowrap;
  border-color: color-mix(in srgb, currentColor 45%, transparent); font-variant-numeric: tabular-nums; }
.gq td button:hover:enabled { background: color-mix(in srgb, currentColor 10%, transparent); }
@media (max-width: 576px) { /* eight columns fit into a phone */
  .gq th.gq-axis[scope=col] { white-space: normal; }
  .gq th { padding: 2px; }
  .gq td { padding: 1px; }
  .gq td button { min-width: 28px; padding: 0 .2em; }
}
.gq button[aria-pressed=true] { border: 3px solid currentColor; font-weight: 700; }
.gq fieldset[disabled] * { cursor: default; }
.gq-actions { display: flex; flex-wrap: wrap; gap: .4em 1em; align-items: center; margin: .8em 0 0; }
.gq .gq-main { font-weight: 600; }
.gq-reply:not(:empty) { margin: .8em 0 0; padding: .1em 0 .1em .8em; border-left: 4px solid; line-height: 1.5; }
.gq-reply p { margin: 0; }
.gq-reply.is-right { border-left-color: #3d85d8; }
.gq-reply.is-wrong { border-left: 4px dashed #d9730d; }
.gq-past { font-size: .9em; opacity: .85; margin: .6em 0 0; }
.gq [hidden] { display: none !important; }
.gq-aloud { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media print { .gq-actions { display: none; } }
`;

/** Returns the time in seconds since the epoch: whatever depends on the date asks here. */
export function now() {
  return Date.now() / 1000;
}

/** Returns a time as a day in words: "3 Nov", with the year if it is another one. */
export function day(time) {
  const date = new Date(time * 1000);
  const year = date.getFullYear() === new Date(now() * 1000).getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
}

/** Returns text as HTML: `code` and *emphasis* are marked, and everything else is escaped. */
export function marked(text) {
  const parts = String(text).split(/`([^`]+)`/);
  const emphasis = (part) => escaped(part).replace(/\*(?=\S)([^*]*[^*\s])\*/g, "<em>$1</em>");
  return parts.map((part, index) => (index % 2 ? `<code>${escaped(part)}</code>` : emphasis(part))).join("");
}

/** Returns what a text may mean as a number: 12,288 is 12.288 or 12288. No number: an empty list. */
export function readings(text) {
  const plain = text.replace(/[\s_\u2009\u202f]/g, "").replace(/[\u2212\u2013]/g, "-");
  const found = [plain.replace(",", "."), /^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replace(/,/g, "") : ""];
  return found.filter((each) => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(each)).map(Number);
}

// How each kind judges an answer: { right, reply }. Nobody is told the right answer by a wrong one.

const judges = {
  choose: ({ options }, answer) => options.find(({ text }) => text === answer),

  number({ right, tolerance, reason, wrong }, answer) {
    const values = readings(answer);
    // The ends count: 0.8 is 0.79 with a tolerance of 0.01, although 0.8 - 0.79 > 0.01 in floating point.
    const distance = (number) => Math.min(...values.map((value) => Math.abs(value - number)));
    const counts = (number) => distance(number) <= tolerance * (1 + 1e-6) + 1e-12 * Math.abs(number);
    if (counts(right)) return { right: true, reply: reason };
    const known = wrong.filter(([number]) => counts(number)).sort((one, other) => distance(one[0]) - distance(other[0]));
    if (known.length) return { right: false, reply: known[0][1] };
    if (distance(right) <= 5 * tolerance) {
      return { right: false, reply: "This is close. Keep more digits on the way, and round only the result." };
    }
    return { right: false, reply: "This is another number. Write the steps down, one by one, and check each of them." };
  },

  order({ right, reason, wrong }, answer) {
    if (right.every((line, index) => line === answer[index])) return { right: true, reply: reason };
    const known = wrong.find(([earlier, later]) => answer.indexOf(earlier) < answer.indexOf(later));
    if (known) return { right: false, reply: known[2] };
    const good = right.findIndex((line, index) => line !== answer[index]);
    const counted = good === 1 ? "The first line is right" : `The first ${good} lines are right`;
    const reply = good ? `${counted}; what does the next one need?` : "Which line needs nothing of the others? It comes first.";
    return { right: false, reply };
  },

  point({ right, reason, wrong, otherwise }, [row, column]) {
    const is = ([r, c]) => r === row && c === column;
    if (right.some(is)) return { right: true, reply: reason };
    return { right: false, reply: wrong.find(([cell]) => is(cell))?.[1] ?? otherwise };
  },
};

/** Returns whether an answer to a question is right, and what to say. */
export function judged(question, answer) {
  const { right, reply } = judges[question.kind](question, answer);
  return { right, reply };
}

// How each kind looks. Each fills the form, and returns a function that gives the answer, or { missing: a sentence }.

const forms = {
  choose({ options }, body, { name }) {
    body.innerHTML = options.map(({ text }, index) =>
      `<label class="gq-option"><input type="radio" name="${name}" value="${index}"><span>${marked(text)}</span></label>`).join("");
    return () => {
      const chosen = body.querySelector("input:checked");
      return chosen ? options[chosen.value].text : { missing: "Choose one of the answers first." };
    };
  },

  number(question, body) {
    body.innerHTML = `<label class="gq-number">Your number <input type="text" inputmode="decimal" autocomplete="off" spellcheck="false"></label>`;
    const input = body.querySelector("input");
    return () => {
      const text = input.value.trim();
      if (!text) return { missing: "Write a number first." };
      return readings(text).length ? text : { missing: "This is not a number that can be read. Write it with digits, such as 0.25 or \u22123." };
    };
  },

  order({ lines }, body, { say }) {
    const isCode = lines.every((line) => /[=()[\]@]|^(return|for|if|while)\b/.test(line) && !line.includes("`"));
    const list = document.createElement("ol");
    list.className = "gq-lines";
    list.setAttribute("role", "list"); // Safari forgets that a list without markers is one
    for (const line of lines) {
      const item = document.createElement("li");
      const about = escaped(line.replaceAll("`", ""));
      item.innerHTML = `<span>${isCode ? `<code>${escaped(line)}</code>` : marked(line)}</span>
        <button type="button" aria-label="Move up: ${about}">\u2191</button><button type="button" aria-label="Move down: ${about}">\u2193</button>`;
      item.line = line;
      const [up, down] = item.querySelectorAll("button");
      const move = (button, to) => {
        if (to === item.previousElementSibling) to.before(item);
        else to.after(item);
        ends();
        (button.disabled ? (button === up ? down : up) : button).focus(); // the moved line keeps the focus
        say(`${line.replaceAll("`", "")}: now line ${[...list.children].indexOf(item) + 1} of ${lines.length}`);
      };
      up.onclick = () => move(up, item.previousElementSibling);
      down.onclick = () => move(down, item.nextElementSibling);
      list.append(item);
    }
    const ends = () => [...list.children].forEach((item, index) => {
      const [up, down] = item.querySelectorAll("button");
      up.disabled = index === 0;
      down.disabled = index === lines.length - 1;
    });
    ends();
    body.append(list);
    return () => [...list.children].map((item) => item.line);
  },

  point({ rows, columns, values, labels: [rowLabel, columnLabel] }, body) {
    const head = columns.map((column) => `<th scope="col">${marked(column)}</th>`).join("");
    const cell = (row, column) => {
      const value = values[row][column];
      const about = `${rowLabel} ${rows[row]}, ${columnLabel} ${columns[column]}${value && `: ${value}`}`.replaceAll("`", "");
      return `<td><button type="button" aria-pressed="false" aria-label="${escaped(about)}" data-row="${row}"
        data-column="${column}">${marked(value)}</button></td>`;
    };
    const lines = rows.map((name, row) =>
      `<tr><th scope="row">${marked(name)}</th>${columns.map((_, column) => cell(row, column)).join("")}</tr>`);
    body.innerHTML = `<div class="gq-scroll"><table><thead><tr><td></td><th class="gq-axis" scope="colgroup" colspan="${columns.length}">${marked(columnLabel)} \u2192</th></tr>
      <tr><th class="gq-axis" scope="col">${marked(rowLabel)} \u2193</th>${head}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
    const buttons = [...body.querySelectorAll("button")];
    let chosen = null;
    for (const button of buttons) {
      button.onclick = () => {
        chosen = button;
        for (const each of buttons) {
          each.setAttribute("aria-pressed", each === chosen);
          if (!values[each.dataset.row][each.dataset.column]) each.textContent = each === chosen ? "\u25cf" : "";
        }
      };
    }
    // Arrow keys go from cell to cell, which is quicker than the tab key in a large table.
    const steps = { ArrowUp: -columns.length, ArrowDown: columns.length, ArrowLeft: -1, ArrowRight: 1 };
    body.onkeydown = (event) => {
      const from = buttons.indexOf(event.target);
      const next = buttons[from + steps[event.key]];
      if (from < 0 || !next) return;
      if (event.key in { ArrowLeft: 1, ArrowRight: 1 } && next.dataset.row !== buttons[from].dataset.row) return;
      event.preventDefault();
      next.focus();
    };
    return () => (chosen ? [Number(chosen.dataset.row), Number(chosen.dataset.column)] : { missing: "Choose a cell of the table first." });
  },
};

function ordinal(number) {
  const teens = number % 100 > 10 && number % 100 < 14;
  return `${number}${(!teens && { 1: "st", 2: "nd", 3: "rd" }[number % 10]) || "th"}`;
}

/** Returns a sentence about earlier answers, of which the last round counts; an empty text without any. */
export function past(answers) {
  if (!answers.length) return "";
  const last = answers.at(-1);
  if (!last.right) return `You tried this on ${day(last.time)}; it was not right yet.`;
  const before = answers.slice(0, -1).findLastIndex(({ right }) => right);
  const attempt = answers.length - 1 - before;
  return `You answered this on ${day(last.time)}: right at the ${ordinal(attempt)} attempt.`;
}

/**
 * Shows a question in an element.
 *
 * el        the element
 * question  { name, kind, text, … }, as `grader_kernel.questions` makes it
 * title     a few words above the question
 * told      ({ right, answer, time }, actions) => what else happens with an attempt; `actions` may get a button
 * again     whether a reader can ask for the question again
 */
export function ask(el, question, { title = "Quick question", told, again = true }) {
  const { box, name } = frame(el, title);
  box.classList.add("gq");
  box.insertAdjacentHTML("beforeend", `<style>${LOOKS}</style><form novalidate>
    <fieldset><legend>${marked(question.text)}</legend><div></div></fieldset>
    <div class="gq-actions"><button class="gq-main">Answer</button><button type="button" hidden>Ask me again</button></div></form>
    <div class="gq-reply" role="status" aria-live="polite"></div><div class="gq-aloud" aria-live="polite"></div>`);
  const [form, fieldset, body, actions] = ["form", "fieldset", "fieldset > div", ".gq-actions"].map((each) => box.querySelector(each));
  const [answering, resetting] = actions.children;
  const [reply, aloud] = [box.querySelector(".gq-reply"), box.querySelector(".gq-aloud")];
  let given;
  let before;

  function reset() {
    aloud.textContent = "";
    body.replaceChildren();
    given = forms[question.kind](question, body, { name, say: (text) => { aloud.textContent = text; } });
    before = undefined;
    fieldset.disabled = false;
    answering.hidden = false;
    resetting.hidden = true;
    reply.className = "gq-reply";
    reply.textContent = "";
  }

  form.onsubmit = (event) => {
    event.preventDefault();
    if (fieldset.disabled) return;
    const answer = given();
    if (answer.missing) {
      reply.className = "gq-reply";
      reply.innerHTML = `<p>${escaped(answer.missing)}</p>`;
      before = undefined;
      return;
    }
    if (JSON.stringify(answer) === before) return; // a second click is no second attempt
    before = JSON.stringify(answer);
    const { right, reply: text } = judged(question, answer);
    reply.className = `gq-reply ${right ? "is-right" : "is-wrong"}`;
    reply.innerHTML = `<p><strong>${right ? "\u2713 Right." : "\u2717 Not right."}</strong> ${marked(text)}</p>` +
      (right ? "" : "<p>Try again.</p>");
    if (right) {
      fieldset.disabled = true;
      answering.hidden = true;
      resetting.hidden = !again;
      if (again) resetting.focus({ preventScroll: true });
    }
    told({ right, answer, time: now() }, actions);
  };
  resetting.onclick = (event) => {
    if (event.detail > 1) return; // the second half of a double click on "Answer"
    reset();
    body.querySelector("input, button:enabled")?.focus();
  };
  reset();
  return box;
}

function render_question({ model, el }) {
  const note = document.createElement("p");
  note.className = "gq-past";
  let here = 0;
  const show = () => {
    if (here) return; // what was answered just now is still to be seen
    note.textContent = past(model.get("state").answers);
    note.hidden = !note.textContent;
  };
  const box = ask(el, model.get("state").question, {
    told(attempt) {
      here += 1;
      note.hidden = true;
      const state = model.get("state");
      model.set("state", { ...state, answers: [...state.answers, attempt] });
      model.save_changes();
    },
  });
  box.append(note);
  show();
  model.on("change:state", show);
  return () => model.off("change:state", show);
}

export default { render: render_question };
