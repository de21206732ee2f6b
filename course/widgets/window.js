// A sliding window with sinks: which keys each query attends to, and what the cache holds, as tokens are written.
import { ACCENT, field, figure, listed, rect, text } from "./kit.js";

/** { names, window, sinks, written } => for each written token the positions of its keys, the cache now, and what it has dropped. */
export function compute({ names, window, sinks, written }) {
  const positions = names.map((_, position) => position);
  const attended = positions.slice(0, written).map((query) =>
    positions.filter((key) => key <= query && (key < sinks || key > query - window)));
  const cache = attended[written - 1];
  return { attended, cache, dropped: positions.filter((key) => key < written && !cache.includes(key)) };
}

function draw({ names, window, sinks, written }, { attended, cache }, wide) {
  const [width, left, top, high] = [wide ? 680 : 360, wide ? 110 : 92, 42, wide ? 22 : 21];
  const step = Math.min(46, (width - left - 4) / names.length);
  const rows = names.map((name, query) => {
    const y = top + high * query;
    const now = query === written - 1;
    const label = text(left - 8, y + high / 2 + 4.5, `${query} ${name}`, "end", now ? { class: "strong" } : { "fill-opacity": query < written ? 1 : 0.75 });
    const fields = names.map((_, key) => {
      if (query >= written || key > query) return "";
      const kept = attended[query].includes(key);
      const sink = kept && key < sinks && key <= query - window;
      return field(left + step * key, y, step, high, kept ? 1 : 0, kept ? (sink ? "S" : "\u2022") : "", kept ? {} : { "stroke-dasharray": "2 3" });
    });
    return label + fields.join("") + (now ? rect(left, y, step * (query + 1), high, { "stroke-width": 3, stroke: ACCENT }) : "");
  });
  const bottom = top + high * names.length + 40;
  const slots = Math.min(sinks + window, names.length);
  const wideSlot = Math.min(wide ? 64 : 52, (width - 4) / Math.max(1, Math.min(slots, wide ? 10 : 6)));
  const perRow = Math.floor((width - 4) / wideSlot);
  const held = Array.from({ length: slots }, (_, slot) => {
    const [x, y] = [2 + wideSlot * (slot % perRow), bottom + 12 + 32 * Math.floor(slot / perRow)];
    return slot < cache.length ? field(x, y, wideSlot, 26, 0.4, names[cache[slot]])
      : rect(x, y, wideSlot, 26, { "stroke-dasharray": "2 3" });
  });
  const heading = text(left + (step * names.length) / 2, 14, "key position", "middle", { class: "small" }) +
    names.map((_, key) => text(left + step * (key + 0.5), 34, key, "middle", { class: "small" })).join("") +
    text(left - 8, 34, "query", "end", { class: "small" });
  const title = text(2, bottom, `in the cache: ${cache.length} of at most ${sinks + window} tokens`, "start", { class: "strong" });
  return { height: bottom + 22 + 32 * Math.ceil(slots / perRow), svg: heading + rows.join("") + title + held.join("") };
}

function describe({ names, written, window, sinks }, { cache, dropped }) {
  const query = written - 1;
  const lost = dropped.length ? `Forgotten: ${listed(dropped.map((key) => names[key]))}.` : "Nothing has been forgotten yet.";
  return `After ${written} ${written === 1 ? "token" : "tokens"}, with a window of ${window} and ${sinks} ${sinks === 1 ? "sink" : "sinks"}: the query of "${names[query]}" (position ${query}) ` +
    `attends to ${listed(cache.map((key) => names[key]))}. ${lost}`;
}

const controls = ({ names, written }) => [
  { label: "one token back", kind: "button", off: written <= 1, does: (state) => ({ written: state.written - 1 }) },
  { label: "write a token", kind: "button", off: written >= names.length, does: (state) => ({ written: state.written + 1 }) },
  { name: "window", label: "window", kind: "range", min: 1, max: names.length, step: 1 },
  { name: "sinks", label: "sinks", kind: "range", min: 0, max: 4, step: 1 },
];

export default figure({ title: "A sliding window with sinks", controls, compute, draw, describe });
