// Brings the widgets on a page to life: each <div class="grader-widget" data-module data-state> gets its module.
//
// A page needs one <script defer src="…/page.js">. The modules stand beside it, as `grader_kernel.widget.script` writes
// them: scripts and not modules, because a browser does not load modules of a page that it opened as a file.
(() => {
  const here = document.currentScript.src;

  /** Returns what a module needs of a model, without a kernel behind it. */
  function model(state) {
    const values = { state };
    const listeners = new Map();
    const heard = (event) => listeners.get(event) ?? [];
    return {
      get: (name) => values[name],
      set(name, value) {
        values[name] = value;
        for (const listener of heard(`change:${name}`)) listener();
      },
      on: (event, listener) => listeners.set(event, [...heard(event), listener]),
      off: (event, listener) => listeners.set(event, heard(event).filter((each) => each !== listener)),
      save_changes() {},
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
