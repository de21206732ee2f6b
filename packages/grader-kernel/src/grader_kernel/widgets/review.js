// Asks questions again when they are likely to be forgotten: a few each day, of those that were answered before.
//
//     answers --FSRS--> cards: due, stability, difficulty --plan--> the questions of today
//
// A question's first answer in a notebook counts as its first rating. From then on, each review rates it once a day.
import { frame } from "./kit.js";
import { ask, day, now } from "./question.js";
import { Rating, createEmptyCard, fsrs } from "./vendor/ts-fsrs.js";

// Whole days, without steps of minutes and random days: what is due tomorrow can be said today.
const scheduler = fsrs({ enable_fuzz: false, learning_steps: [], relearning_steps: [] });

/** Returns a card after a rating ("Again", "Good" or "Easy"); times in seconds. The first rating has no card before. */
export function rated(card, rating, time) {
  const before = card
    ? { ...createEmptyCard(), ...card, state: 2, due: new Date(card.due * 1000), last_review: new Date(card.last_review * 1000) }
    : createEmptyCard(new Date(time * 1000));
  const { due, stability, difficulty, reps, lapses } = scheduler.next(before, new Date(time * 1000), Rating[rating]).card;
  return { due: due.getTime() / 1000, stability, difficulty, reps, lapses, last_review: time };
}

/** Returns a question's card; one that was not reviewed yet has it from its first answer. */
export function card_of({ answers, card }) {
  return card ?? rated(null, answers[0].right ? "Good" : "Again", answers[0].time);
}

/** Returns the number of a time's day, as the calendar of this computer counts. */
function calendar(time) {
  const date = new Date(time * 1000);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000);
}

/**
 * Returns { due: the questions that are left for today, done: how many were reviewed today, next: the time when there
 * are more, undefined if there never are }.
 */
export function plan({ questions, kept, count }, time) {
  const today = calendar(time);
  const done = Object.values(kept).filter(({ card }) => card && calendar(card.last_review) === today).length;
  const cards = questions.filter(({ name }) => kept[name]?.answers.length)
    .map((question) => ({ question, due: card_of(kept[question.name]).due }))
    .sort((one, other) => one.due - other.due);
  const due = cards.filter((card) => calendar(card.due) <= today);
  const left = due.slice(0, Math.max(0, count - done));
  const next = due.length > left.length ? time + 86_400 : cards[due.length]?.due;
  return { due: left.map(({ question }) => question), done, next };
}

function when(time) {
  return calendar(time) === calendar(now()) + 1 ? "tomorrow" : day(time);
}

function counted(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

function render({ model, el }) {
  const state = () => ({ questions: [], kept: {}, ...model.get("state") });
  const refresh = () => model.send?.({ refresh: true }); // another kernel may have kept answers
  let isTouched = false; // whether the question that is shown was answered
  let shown;

  function show() {
    const { due, done, next } = plan(state(), now());
    const total = done + due.length;
    const now_shown = JSON.stringify([due[0]?.name, done, total, next]);
    if (isTouched || now_shown === shown) return;
    shown = now_shown;
    if (due.length) {
      review(due[0], `Review: question ${done + 1} of ${total} today`);
      return;
    }
    const { box } = frame(el, "Review");
    const words = document.createElement("p");
    words.className = "gw-text";
    words.tabIndex = -1;
    if (next) words.textContent = `${done ? `You reviewed ${counted(done, "question")} today. ` : ""}Nothing is due; next: ${when(next)}.`;
    else words.textContent = "There is nothing to review yet. A question comes back here after you have answered it in a notebook.";
    box.append(words);
  }

  function keep(name, entry) {
    const { [name]: old, ...others } = state().kept;
    model.set("state", { ...state(), kept: { ...others, [name]: { ...old, ...entry } } });
    model.save_changes();
  }

  function button(label, does) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.onclick = (event) => event.detail > 1 || does(made);
    return made;
  }

  function review(question, title) {
    const { name } = question;
    const before = card_of(state().kept[name]);
    ask(el, question, {
      title,
      again: false,
      told(attempt, actions) {
        const isFirst = !isTouched;
        isTouched = true;
        const answers = [...state().kept[name].answers, attempt];
        if (!isFirst) {
          keep(name, { answers });
          if (attempt.right) actions.lastChild.focus({ preventScroll: true });
          return;
        }
        keep(name, { answers, card: rated(before, attempt.right ? "Good" : "Again", attempt.time) });
        const easy = button("That was easy", (made) => {
          keep(name, { card: rated(before, "Easy", now()) });
          actions.lastChild.focus({ preventScroll: true });
          made.remove();
        });
        const onward = button("Next", () => {
          isTouched = false;
          show();
          el.querySelector("input, fieldset button:enabled, .gw-text")?.focus({ preventScroll: true });
          refresh();
        });
        actions.append(...(attempt.right ? [easy, onward] : [onward]));
        if (attempt.right) onward.focus({ preventScroll: true });
      },
    });
  }

  const look = () => {
    refresh();
    show(); // it may be another day
  };
  model.on("change:state", show);
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    model.off("change:state", show);
    document.removeEventListener("visibilitychange", look);
  };
}

export default { render };
