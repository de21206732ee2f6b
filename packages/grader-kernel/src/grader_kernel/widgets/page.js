// Brings the widgets on a page to life: each <div class="grader-widget" data-module data-state> gets its module.
//
// A page needs one <script defer src="…/page.js">. The modules stand beside it, as `grader_kernel.widget.script` writes
// them: scripts and not modules, because a browser does not load modules of a page that it opened as a file.
(() => {
  const here = document.currentScript.src;

  const KEY = "grader-questions";

  /** Returns what this browser kept of questions: { name: { answers: [{ right, answer, time }], card? } }. */
  function kept() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {}; // damaged, or a browser that keeps nothing
    }
  }

  /** Adds to what is kept, as `grader_kernel.answers.keep` does: another tab may have written since it was read. */
  function keep(news) {
    const all = kept();
    for (const [name, { answers, card }] of Object.entries(news)) {
      const old = all[name] ?? { answers: [] };
      const texts = new Set([...old.answers, ...answers].map((each) => JSON.stringify(each)));
      const merged = [...texts].map((each) => JSON.parse(each)).sort((one, other) => one.time - other.time);
      const newest = [card, old.card].filter(Boolean).sort((one, other) => other.last_review - one.last_review)[0];
      all[name] = { answers: merged, ...(newest && { card: newest }) };
    }
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
    } catch {} // not kept, but answered
  }

  /** Returns what a module needs of a model, without a kernel behind it. */
  function model(state) {
    const values = { state };
    const listeners = new Map();
    const heard = (event) => listeners.get(event) ?? [];
    const { question, kept: asksForAll } = state;
    if (question) values.state = { ...state, answers: kept()[question.name]?.answers ?? [] };
    return {
      get: (name) => (asksForAll ? { ...values[name], kept: kept() } : values[name]),
      set(name, value) {
        values[name] = value;
        for (const listener of heard(`change:${name}`)) listener();
      },
      on: (event, listener) => listeners.set(event, [...heard(event), listener]),
      off: (event, listener) => listeners.set(event, heard(event).filter((each) => each !== listener)),
      save_changes() {
        if (question) keep({ [question.name]: { answers: values.state.answers } });
        if (asksForAll) keep(values.state.kept);
      },
    };
  }

  function show(element) {
    const el = document.createElement("div");
    const widget = globalThis.graderWidgets[element.dataset.module];
    widget.render({ model: model(JSON.parse(element.dataset.state)), el });
    element.replaceChildren(el);
  }

  const waiting = Map.groupBy(document.querySelectorAll("div.grader-widget"), (element) => element.dataset.module);
  for (const [name, elements] of waiting) {
    const script = document.createElement("script");
    script.src = new URL(`${name}.js`, here);
    script.onload = () => elements.forEach(show); // one that does not load leaves the text that stands there
    document.head.append(script);
  }
})();
