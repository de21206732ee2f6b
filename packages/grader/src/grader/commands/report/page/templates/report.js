"use strict";
// Sorts and filters tables. What a reader chose is in the address, as #SECTION?CHOICES, so a page that reloads
// keeps it: TABLE.sort is a column (from 1, negative for descending), TABLE.find the words, `open` what is unfolded.

const choices = new URLSearchParams(location.hash.split("?")[1] ?? "");
let section = location.hash.slice(1).split("?")[0];

function write() {
  const text = String(choices);
  history.replaceState(null, "", "#" + section + (text && "?" + text));
}

function choose(name, value) {
  if (value) choices.set(name, value);
  else choices.delete(name);
  write();
}

addEventListener("hashchange", () => {
  section = location.hash.slice(1).split("?")[0];
  write();
});

// Tables.

const inOrder = new Intl.Collator(undefined, { numeric: true }).compare;

function readNumber(text) {
  return parseFloat(text.replace("\u2212", "-"));
}

function sorted(rows, column, isNumber) {
  const falling = column < 0;
  const keyed = rows.map((row) => {
    const text = row.cells[Math.abs(column) - 1].textContent.trim();
    const key = isNumber ? readNumber(text) : text;
    return { row, key, isLast: isNumber ? Number.isNaN(key) : !text };
  });
  const compare = isNumber ? (one, other) => one - other : inOrder;
  // Cells without a value come last in both directions.
  keyed.sort((one, other) => one.isLast - other.isLast
    || (one.isLast ? 0 : falling ? compare(other.key, one.key) : compare(one.key, other.key)));
  return keyed.map(({ row }) => row);
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const name = table.id + ".sort";

  function sort(column) {
    const head = heads[Math.abs(column) - 1];
    for (const each of heads) each.removeAttribute("aria-sort");
    if (!head || head.localName !== "th") return body.append(...rows);
    head.setAttribute("aria-sort", column < 0 ? "descending" : "ascending");
    body.append(...sorted(rows, column, head.classList.contains("number")));
  }

  heads.forEach((head, place) => {
    if (head.localName !== "th") return;
    const button = document.createElement("button");
    button.id = table.id + "-sort-" + place;
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const column = place + 1;
      const now = Number(choices.get(name));
      const next = now === column ? -column : now === -column ? 0 : column;
      choose(name, next && String(next));
      sort(next);
    });
    head.append(button);
  });
  if (choices.has(name)) sort(Number(choices.get(name)));
}

function makeFilter(input) {
  const rows = [...document.getElementById(input.dataset.table).tBodies[0].rows];
  const output = input.parentElement.querySelector("output");
  const name = input.dataset.table + ".find";
  let texts;

  function filter() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    texts ??= rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      shown += !row.hidden;
    });
    output.textContent = words.length ? `${shown} of ${rows.length}` : "";
  }

  input.parentElement.hidden = false;
  input.addEventListener("input", () => {
    choose(name, input.value.trim());
    filter();
  });
  if (choices.has(name)) {
    input.value = choices.get(name);
    filter();
  }
}

// What is unfolded.

function unfold() {
  for (const id of (choices.get("open") ?? "").split(" ")) {
    const part = document.getElementById(id);
    if (part?.localName === "details") part.open = true;
  }
  document.addEventListener("toggle", () => {
    choose("open", [...document.querySelectorAll("details[open][id]")].map(({ id }) => id).join(" "));
  }, true);
}

// Loading again: as it was, with the scrolled boxes and the focus where they were.

function follow(line) {
  const hold = document.getElementById("hold");
  hold.parentElement.hidden = false;
  hold.checked = choices.has("hold");
  hold.addEventListener("change", () => choose("hold", hold.checked && "yes"));
  setInterval(() => {
    if (hold.checked) return;
    for (const box of document.querySelectorAll(".tall")) {
      choose(box.firstElementChild.id + ".place", box.scrollTop && `${box.scrollTop} ${box.scrollLeft}`);
    }
    const focused = document.activeElement;
    choose("focus", focused.id || focused.parentElement?.id);
    location.reload();
  }, 1000 * line.dataset.refresh);
}

function returnToPlace() {
  for (const box of document.querySelectorAll(".tall")) {
    const place = box.firstElementChild.id + ".place";
    if (!choices.has(place)) continue;
    const [top, left] = choices.get(place).split(" ").map(Number);
    choices.delete(place);
    // A box has nothing to scroll before it comes into view.
    box.addEventListener("contentvisibilityautostatechange", () => box.scrollTo(left, top), { once: true });
  }
  const focused = document.getElementById(choices.get("focus"));
  (focused?.querySelector(":scope > summary") ?? focused)?.focus({ preventScroll: true });
  choices.delete("focus");
  write();
}

// Paper.

for (const button of document.querySelectorAll("[data-print]")) {
  const style = "only-" + button.dataset.print;
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.classList.add(style);
    print();
  });
  addEventListener("afterprint", () => document.documentElement.classList.remove(style));
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("input[data-table]").forEach(makeFilter);
document.querySelectorAll("[data-refresh]").forEach(follow);
unfold();
const isAgain = performance.getEntriesByType("navigation")[0]?.type === "reload";
if (isAgain) returnToPlace();
else if (section) document.getElementById(section)?.scrollIntoView();
