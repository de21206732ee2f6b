"use strict";
// Marks answers. The server has the truth: a card shows what it last said (states), and what is typed but not saved yet
// (drafts). A mark counts as saved once the server has answered, never before.
//
//    server --states--> cards        current card: draft --save(version)--> server: state, or 409 and both are shown

const byId = (id) => document.getElementById(id);
const page = byId("page").dataset;
const tab = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("");
const readJson = (id) => JSON.parse(byId(id).textContent);
const states = new Map(readJson("states").map((state) => [state.group, state]));
const cards = new Map([...document.querySelectorAll(".card")].map((card) => [card.dataset.group, card]));
const suggested = new Set(readJson("suggested"));
const LETTERS = "abcdefghilmnopqrstvwxyz"; // without j, k and u, which are keys of their own
const IDLE = 5 * 60 * 1000; // milliseconds after which an untouched page no longer keeps its answer
const drafts = new Map(); // group -> {points, comment, version, isTouched}
let comments = readJson("all-comments");
let revision = Number(page.revision);
let current = null;
let isSaving = false;
let lastTouch = Date.now();

// Talking to the server.

class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? "The server refused this.");
    this.status = status;
    this.body = body;
  }
}

async function ask(path, body, options = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "X-XSRFToken": page.token, Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
      credentials: "same-origin",
      ...options,
    });
  } catch {
    throw new Refused(0, { error: "the server does not answer: nothing was saved; what you typed stays here, try again" });
  }
  const form = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, form);
  return form;
}

function say(text, isBad = false) {
  const status = byId("status");
  status.classList.toggle("bad", isBad);
  status.textContent = text;
}

function complain(error) {
  if (!(error instanceof Refused)) throw error;
  say(error.message[0].toUpperCase() + error.message.slice(1) + ".", true);
}

// What the server says of an answer.

const number = (value) => String(Math.round(value * 1000) / 1000);
const pointsOf = (value, most) => `${number(value)} of ${number(most)}`;

function isHeldByOthers(state) {
  return Boolean(state.holder) && state.tab !== tab;
}

function holderOf(state) {
  return state.holder === page.marker ? "you, in another window" : state.holder;
}

function describe(state) {
  if (!state.students) return "no student has this answer any more: reload the page";
  if (isHeldByOthers(state)) return `being marked by ${holderOf(state)}`;
  const asks = state.requests.length ? " · asks for a regrade" : "";
  return describeMark(state) + asks;
}

function describeMark(state) {
  if (state.differs) return "identical answers with different marks";
  const by = state.by ? ` by ${state.by === page.marker ? "you" : state.by}` : "";
  const extra = state.extra ? `, with ${number(state.extra)} extra` : "";
  if (state.waits) {
    return state.given === null ? "waits" : `waits again: ${pointsOf(state.points, state.most)}${by} for an earlier answer`;
  }
  if (state.points === null) return "no points";
  return `${pointsOf(state.points, state.most)}${extra}${by || (state.given === null ? ", automatically" : "")}`;
}

function draw(state) {
  states.set(state.group, state);
  const card = cards.get(state.group);
  if (!card) {
    say("New answers have arrived: reload the page to see them.");
    return;
  }
  const draft = drafts.get(state.group);
  card.classList.toggle("marked", !state.waits);
  card.classList.toggle("held", isHeldByOthers(state));
  card.querySelector(".state").textContent = describe(state) + (draft?.isTouched ? " · not saved yet" : "");
  card.dataset.version = state.version;
  card.dataset.waits = state.waits;
  card.dataset.points = state.points ?? "";
  const said = card.querySelector(".said");
  said.textContent = state.comment;
  said.hidden = !state.comment || state.group === current;
}

function drawProgress() {
  let all = 0;
  let waiting = 0;
  for (const state of states.values()) {
    all += state.students;
    if (state.waits) waiting += state.students;
  }
  byId("progress").max = all || 1;
  byId("progress").value = all - waiting;
  byId("count").textContent = `${all - waiting} of ${all} marked`;
}

function filter() {
  const wanted = byId("filter").value;
  let shown = 0;
  for (const [group, card] of cards) {
    const state = states.get(group);
    const fits = { waits: state.waits, mine: state.by === page.marker, differs: state.differs, asks: state.requests.length > 0 }[wanted] ?? true;
    card.hidden = !fits && group !== current;
    shown += !card.hidden;
  }
  byId("nothing").hidden = shown > 0 || !cards.size;
}

function apply(news) {
  for (const state of news) {
    const before = states.get(state.group);
    draw(state);
    if (state.group === current && before && before.version !== state.version && !isSaving) compareWith(state);
  }
  drawProgress();
  filter();
}

async function follow() {
  for (let pause = 500; ; ) {
    try {
      const active = document.visibilityState === "visible" && Date.now() - lastTouch < IDLE ? 1 : 0;
      const news = await ask(`${page.address}/changes?after=${revision}&active=${active}&tab=${tab}`);
      revision = news.revision;
      if (JSON.stringify(news.comments) !== JSON.stringify(comments)) drawComments(news.comments);
      apply(news.states);
      pause = 500;
    } catch (error) {
      complain(error);
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(2 * pause, 10000);
    }
  }
}

// The form in the current card.

const formOf = () => (current ? cards.get(current).querySelector("form.mark") : null);

function fill(group) {
  const state = states.get(group);
  const draft = drafts.get(group) ?? { points: state.given, comment: state.comment, version: state.version };
  drafts.set(group, draft);
  const form = byId("form").content.firstElementChild.cloneNode(true);
  form.querySelector("legend").textContent = `Points, up to ${number(state.most)}`;
  form.querySelector("input.value").max = state.most;
  const step = state.most <= 3 ? 0.5 : Math.max(1, Math.ceil(state.most / 10));
  for (let value = 0; value <= state.most; value += step) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = number(value);
    button.addEventListener("click", (event) => {
      change({ points: value });
      backToCard(event);
    });
    form.querySelector(".buttons").append(button);
  }
  form.querySelector("input.value").addEventListener("input", (event) => {
    const typed = event.target.value;
    change({ points: typed === "" ? null : Number(typed) }, event.target);
  });
  form.querySelector("textarea").addEventListener("input", (event) => change({ comment: event.target.value }, event.target));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  form.querySelector(".clear").addEventListener("click", (event) => {
    change({ points: null });
    backToCard(event);
  });
  if (state.automatic !== null) {
    form.querySelector(".clear").hidden = true;
    const automatic = form.querySelector(".automatic");
    automatic.hidden = false;
    automatic.textContent = `Automatic points: ${number(state.automatic)}`;
    automatic.addEventListener("click", (event) => {
      change({ points: null });
      backToCard(event);
    });
  }
  form.querySelector(".history").addEventListener("click", () => showHistory(form));
  form.querySelector(".theirs").addEventListener("click", keepTheirs);
  form.querySelector(".ours").addEventListener("click", replaceTheirs);
  form.querySelector(".requests").replaceChildren(...state.requests.map((request) => requestOf(group, request)));
  cards.get(group).querySelector(".place").replaceChildren(form);
  drawDraft();
}

function requestOf(group, request) {
  const part = document.createElement("div");
  const asked = document.createElement("p");
  const label = document.createElement("label");
  const area = document.createElement("textarea");
  const button = document.createElement("button");
  asked.textContent = `Asks for a regrade: “${request.text}”`;
  label.className = "remark";
  area.rows = 2;
  area.maxLength = 2000;
  label.append("Answer to this student", area);
  button.type = "button";
  button.textContent = "Send the answer, with the points that are saved";
  button.addEventListener("click", async () => {
    try {
      draw(await ask(`${page.address}/answer`, { group, request: request.id, text: area.value }));
      part.remove();
      say("Answered: the student reads it with the report.");
    } catch (error) {
      complain(error);
    }
  });
  part.append(asked, label, button);
  return part;
}

// After a click, Enter is to save and not to press the same button once more; keys that moved the focus leave it there.
function backToCard(event) {
  if (event.detail && current) cards.get(current).focus({ preventScroll: true });
}

function change(changes, source = null) {
  const draft = drafts.get(current);
  if (!draft) return;
  Object.assign(draft, changes, { isTouched: true });
  drawDraft(source);
  draw(states.get(current));
}

function drawDraft(source = null) {
  const form = formOf();
  if (!form) return;
  const draft = drafts.get(current);
  const input = form.querySelector("input.value");
  if (input !== source) input.value = draft.points ?? "";
  const area = form.querySelector("textarea");
  if (area !== source) area.value = draft.comment;
  for (const button of form.querySelectorAll(".buttons button")) {
    button.setAttribute("aria-pressed", draft.points !== null && button.textContent === number(draft.points));
  }
  form.querySelector(".automatic").setAttribute("aria-pressed", draft.points === null);
  for (const button of document.querySelectorAll("#comments .use")) {
    button.setAttribute("aria-pressed", isChosen(draft, button.dataset.text));
  }
}

function close() {
  if (!current) return;
  const card = cards.get(current);
  const state = states.get(current);
  card.classList.remove("current");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "open";
  button.textContent = `Mark answer ${state.number}`;
  card.querySelector(".place").replaceChildren(button);
  if (!drafts.get(current)?.isTouched) drafts.delete(current);
  current = null;
  draw(state);
}

async function go(group, { isAnnounced = true, onlyIfWaiting = false } = {}) {
  if (group === current) return true;
  let state;
  try {
    state = await ask(`${page.address}/hold`, { group, tab });
  } catch (error) {
    complain(error);
    return false;
  }
  close();
  draw(state);
  if (onlyIfWaiting && (!state.waits || isHeldByOthers(state))) return false; // another person was faster
  if (isHeldByOthers(state)) {
    say(`Answer ${state.number} is being marked by ${holderOf(state)}.`, true);
    return false;
  }
  current = group;
  const card = cards.get(group);
  card.hidden = false;
  card.classList.add("current");
  fill(group);
  draw(state);
  card.focus({ preventScroll: true });
  // Cards above are drawn only now that they are near, and then have another height.
  card.scrollIntoView({ block: "start" });
  requestAnimationFrame(() => card.scrollIntoView({ block: "start" }));
  if (drafts.get(group).version !== state.version) compareWith(state);
  if (isAnnounced) say(`Answer ${state.number}: ${describe(state)}.`);
  return true;
}

const order = () => [...cards.keys()].filter((group) => !cards.get(group).hidden);

async function step(by) {
  const groups = order();
  let place = current ? groups.indexOf(current) : by > 0 ? -1 : groups.length;
  for (place += by; place >= 0 && place < groups.length; place += by) {
    if (!isHeldByOthers(states.get(groups[place])) && (await go(groups[place]))) return;
  }
  say(by > 0 ? "This is the last answer." : "This is the first answer.");
}

async function nextWaiting(from, note = "") {
  const groups = [...cards.keys()];
  const start = groups.indexOf(from) + 1;
  for (const group of [...groups.slice(start), ...groups.slice(0, start)]) {
    const state = states.get(group);
    if (group !== from && state.waits && state.students && !isHeldByOthers(state) && (await go(group, { isAnnounced: false, onlyIfWaiting: true }))) {
      say(`${note} Answer ${state.number} of ${cards.size}.`);
      return true;
    }
  }
  const isDone = ![...states.values()].some((state) => state.waits);
  say(`${note} ${isDone ? "Every answer to this question is marked." : "All other answers that wait are being marked."}`);
  return false;
}

// Saving.

async function save() {
  if (!current || isSaving) return;
  const group = current;
  const draft = drafts.get(group);
  const { number: place, most, students } = states.get(group);
  if (draft.points !== null && !(draft.points >= 0 && draft.points <= most)) {
    say(`Give from 0 to ${number(most)} points.`, true);
    return;
  }
  if (draft.points === null && states.get(group).automatic === null && !draft.comment.trim() && states.get(group).given === null) {
    say("Give points, or write a comment, before you save.", true);
    return;
  }
  isSaving = true;
  for (const button of formOf().querySelectorAll("[type=submit]")) button.disabled = true;
  try {
    const body = { group, tab, version: draft.version, points: draft.points, comment: draft.comment };
    const state = await ask(`${page.address}/mark`, body);
    drafts.delete(group);
    cards.get(group).dataset.saved = JSON.stringify([state.points, state.comment]);
    close();
    draw(state);
    drawProgress();
    const note = `Saved: answer ${place}, ${students > 1 ? `${students} students, ` : ""}${describe(state)}.`;
    isSaving = false;
    await nextWaiting(group, note);
  } catch (error) {
    if (error.status === 409) {
      draw(error.body);
      compareWith(error.body);
      say("Not saved: this answer was changed while you were marking.", true);
    } else {
      complain(error);
    }
  } finally {
    isSaving = false;
    for (const button of document.querySelectorAll("form.mark [type=submit]")) button.disabled = false;
    filter();
  }
}

function compareWith(state) {
  const form = formOf();
  const draft = drafts.get(current);
  if (!form || !draft || draft.version === state.version) return;
  if (!draft.isTouched) {
    // Nothing of ours would be lost: show what is there now.
    drafts.delete(current);
    fill(current);
    return;
  }
  const quoted = (comment) => (comment ? `: “${comment}”` : "");
  let theirs = `${state.by || "The formgrader"} gave ${pointsOf(state.points, state.most)}${quoted(state.comment)}`;
  if (state.differs) theirs = "Its students now have different marks";
  else if (state.given === null) theirs = "It changed, and now has no mark by a person";
  const mine = draft.points === null ? "no points" : pointsOf(draft.points, state.most);
  form.querySelector(".conflict p").textContent = `${theirs}\nYours, not saved: ${mine}${quoted(draft.comment)}`;
  form.querySelector(".conflict").hidden = false;
}

function keepTheirs() {
  drafts.delete(current);
  fill(current);
  draw(states.get(current));
  say("That mark stays.");
}

function replaceTheirs() {
  drafts.get(current).version = states.get(current).version;
  formOf().querySelector(".conflict").hidden = true;
  save();
}

async function undo() {
  try {
    const undone = await ask(page.undo, {});
    if (undone.address !== page.address) {
      say(`Undone: ${undone.label}, answer ${undone.state.number} is as it was.`);
      return;
    }
    if (current === undone.state.group) {
      drafts.delete(current);
      close();
    }
    draw(undone.state);
    drawProgress();
    await go(undone.state.group, { isAnnounced: false });
    say(`Undone: answer ${undone.state.number} ${describe(undone.state)}.`);
  } catch (error) {
    complain(error);
  }
}

async function showHistory(form) {
  const list = form.querySelector(".entries");
  if (!list.hidden) {
    list.hidden = true;
    return;
  }
  try {
    const { entries } = await ask(`${page.address}/history/${current}`);
    const worth = (value) => (value === null ? "none" : String(value));
    const items = entries.map((entry) => {
      const item = document.createElement("li");
      const time = new Date(entry.time).toLocaleString();
      const change = entry.kind === "regrade-request" ? "asks for a regrade" : `${worth(entry.before)} → ${worth(entry.after)}`;
      item.textContent = `${time}, ${entry.who}: ${change}${entry.why ? ` (${entry.why})` : ""}`;
      return item;
    });
    list.replaceChildren(...items);
    list.hidden = !items.length;
    if (!items.length) say("The record has no entry about this answer.");
  } catch (error) {
    complain(error);
  }
}

// Comments that can be used again: the chosen ones are lines of the comment.

const linesOf = (draft) => draft.comment.split("\n").map((line) => line.trim());
const isChosen = (draft, text) => linesOf(draft).includes(text);

function drawComments(all) {
  comments = all;
  const items = comments.map((comment, place) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const letter = document.createElement("kbd");
    const text = document.createElement("span");
    const worth = document.createElement("span");
    button.type = "button";
    button.className = "use";
    button.dataset.text = comment.text;
    button.setAttribute("aria-pressed", "false");
    letter.textContent = LETTERS[place] ?? "";
    letter.hidden = place >= LETTERS.length;
    text.textContent = comment.text;
    worth.className = "worth";
    worth.textContent = comment.points === null ? "" : `${comment.points > 0 ? "+" : "−"}${number(Math.abs(comment.points))}`;
    button.append(letter, text, worth);
    button.addEventListener("click", (event) => {
      use(comment);
      backToCard(event);
    });
    item.append(button);
    if (!suggested.has(comment.text)) {
      const forget = document.createElement("button");
      forget.type = "button";
      forget.textContent = "×";
      forget.setAttribute("aria-label", `Remove the comment: ${comment.text}`);
      forget.addEventListener("click", () => keep("forget", comment));
      item.append(forget);
    }
    return item;
  });
  byId("comments").replaceChildren(...items);
  if (current) drawDraft();
}

function use(comment) {
  if (!current) {
    say("Choose an answer first.", true);
    return;
  }
  const draft = drafts.get(current);
  const wasChosen = isChosen(draft, comment.text);
  const lines = linesOf(draft).filter((line) => line && line !== comment.text);
  if (!wasChosen) lines.push(comment.text);
  const text = lines.join("\n");
  const most = states.get(current).most;
  const changes = { comment: text };
  if (comment.points !== null) {
    // The points follow the chosen comments; from the points on, if a person gave some.
    const worth = wasChosen ? -comment.points : comment.points;
    const base = draft.points ?? (comment.points < 0 ? most : 0);
    changes.points = Math.min(most, Math.max(0, base + worth));
  }
  change(changes);
  say(`${wasChosen ? "Taken out" : "Added"}: ${comment.text}.`);
}

async function keep(what, comment) {
  try {
    drawComments((await ask(`${page.address}/${what}`, comment)).comments);
    say(what === "forget" ? "The comment is removed; answers that have it keep it." : "The comment can be used for every answer.");
  } catch (error) {
    complain(error);
  }
}

byId("new-comment").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { text, points } = event.target.elements;
  if (!text.value.trim()) return;
  await keep("comment", { text: text.value, points: points.value === "" ? null : Number(points.value) });
  text.value = points.value = "";
});

// Keys.

const keysBox = byId("keys");
try {
  keysBox.checked = localStorage.getItem("grader-mark-keys") !== "off";
} catch {} // storage may be forbidden; then the choice holds for this page
keysBox.addEventListener("change", () => {
  try {
    localStorage.setItem("grader-mark-keys", keysBox.checked ? "on" : "off");
  } catch {}
});

function half() {
  const { most } = states.get(current);
  const points = drafts.get(current).points ?? 0;
  change({ points: points % 1 ? Math.floor(points) : Math.min(most, points + 0.5) });
}

function digit(value) {
  const { most } = states.get(current);
  const draft = drafts.get(current);
  // A second digit makes a number, where so many points can be given.
  const whole = most >= 10 && draft.isTouched && Number.isInteger(draft.points) ? 10 * draft.points + value : value;
  const points = whole <= most ? whole : value;
  if (points > most) say(`Give from 0 to ${number(most)} points.`, true);
  else change({ points });
}

document.addEventListener("keydown", (event) => {
  lastTouch = Date.now();
  const { key, target } = event;
  const isText = target.matches("input, textarea, select");
  if (byId("help").open) return;
  if (key === "Escape" && isText && current) {
    cards.get(current).focus({ preventScroll: true });
    event.preventDefault();
  }
  if (key === "Enter" && (event.ctrlKey || event.metaKey) && target.matches("textarea")) {
    event.preventDefault();
    save();
  }
  if (isText || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !keysBox.checked) return;
  const comment = comments[LETTERS.indexOf(key)];
  const open = current !== null;
  if (key === "j" || key === "ArrowRight") step(1);
  else if (key === "k" || key === "ArrowLeft") step(-1);
  else if (key === "u") undo();
  else if (key === "?") byId("help").showModal();
  else if (key === "Enter" && open && !target.closest("button, a, summary")) save();
  else if (/^[0-9]$/.test(key) && open) digit(Number(key));
  else if (key === "." && open) half();
  else if (key === "/" && open) formOf().querySelector("textarea").focus();
  else if (LETTERS.includes(key) && comment && open) use(comment);
  else return;
  event.preventDefault();
});

document.addEventListener("pointerdown", () => {
  lastTouch = Date.now();
});
byId("answers").addEventListener("click", (event) => {
  if (event.target.matches("button.open")) go(event.target.closest(".card").dataset.group);
});
byId("undo").addEventListener("click", undo);
byId("help-button").addEventListener("click", () => byId("help").showModal());
byId("filter").addEventListener("change", filter);
addEventListener("pagehide", () => {
  ask(`${page.address}/release`, { tab }, { keepalive: true }).catch(() => {});
});
addEventListener("beforeunload", (event) => {
  if ([...drafts.values()].some((draft) => draft.isTouched)) event.preventDefault();
});

drawComments(comments);
for (const state of states.values()) draw(state);
drawProgress();
filter();
nextWaiting(null).then((found) => {
  page.ready = found ? "marking" : "reading";
});
follow();
