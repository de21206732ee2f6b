// The key-value cache of four kinds of heads, as a chat grows, against the memory that is left.
import { ACCENT, figure, fixed, line, rect, text } from "./kit.js";

/** Sizes of a model and a chat => for each kind its key-value heads, its bytes, and how many tokens fit per chat (null: any number). */
export function compute({ power, chats, groups, layers, heads, dim, bytes, window, sinks, free }) {
  const tokens = Math.round(2 ** power);
  const kind = (count, kept) => {
    const each = 2 * layers * chats * count * dim * bytes;
    const size = each * kept;
    return { heads: count, bytes: size, fits: size <= free, most: Math.floor(free / each) };
  };
  const kinds = [kind(heads, tokens), kind(groups, tokens), kind(1, tokens), kind(groups, Math.min(tokens, window + sinks))];
  if (kinds[3].most >= window + sinks) kinds[3].most = null;
  return { tokens, kinds };
}

const gigabytes = (bytes) => (bytes >= 9.95e10 ? Math.round(bytes / 1e9).toLocaleString("en") : (bytes / 1e9).toPrecision(2).replace(/e.*/, "")) + " GB";
const grouped = (number) => number.toLocaleString("en");
const names = ({ groups, heads, window, sinks }) => [
  `multi-head, G = ${heads}`, `grouped-query, G = ${groups}`, "multi-query, G = 1", `G = ${groups}, window ${grouped(window)} + ${sinks} sinks`,
];

function draw(state, { kinds }, wide) {
  const { heads, free } = state;
  const [width, left] = [wide ? 680 : 360, 2];
  const scale = (width - 90) / (1.6 * free);
  const limit = left + scale * free;
  const rows = kinds.map(({ heads: count, bytes, fits }, index) => {
    const y = 34 + 74 * index;
    const step = (wide ? 300 : 340) / heads;
    const [shownX, shownY] = wide ? [width - 300, y - 13] : [left, y + 8];
    // One box for each head with keys and values; the heads of a group share it.
    const boxes = Array.from({ length: count }, (_, box) =>
      rect(shownX + (box * step * heads) / count + 1, shownY, (step * heads) / count - 2, 11, { fill: "currentColor", "fill-opacity": 0.2, rx: 2 }));
    const bar = Math.min(scale * bytes, width - 90);
    const barY = y + (wide ? 8 : 26);
    return text(left, y, names(state)[index], "start", { class: "strong" }) + boxes.join("") +
      rect(left, barY, Math.max(bar, 1), 20, { fill: "currentColor", "fill-opacity": fits ? 0.4 : 0.12, "stroke-dasharray": fits ? undefined : "4 3" }) +
      text(left + bar + 6, barY + 15, (scale * bytes > bar ? "\u2026 " : "") + gigabytes(bytes) + (fits ? "" : " \u2717"), "start");
  });
  const bottom = 34 + 74 * kinds.length;
  // The limit crosses the bars alone, not what is written above them.
  const wall = kinds.map((_, index) => line(limit, 36 + 74 * index + (wide ? 0 : 18), limit, 72 + 74 * index + (wide ? 0 : 16), { "stroke-width": 3, stroke: ACCENT })).join("") +
    text(limit, bottom + 10, `${gigabytes(free)} left on the card`, "middle", { class: "small" });
  return { height: bottom + 18, svg: text(wide ? width - 300 : left, 8, "one box: keys and values of one head", "start", { class: "small" }) + rows.join("") + wall };
}

function describe(state, { tokens, kinds }) {
  const each = kinds.map(({ bytes, fits, most }, index) => `${names(state)[index]}: ${gigabytes(bytes)}, ${fits ? "fits" : "out of memory"} ` +
    `(${most === null ? "so does a chat of any length" : `the card holds ${grouped(most)} tokens per chat`})`);
  return `${grouped(tokens)} tokens in each chat, ${state.chats} ${state.chats === 1 ? "chat" : "chats"} at once, ${state.bytes} ${state.bytes === 1 ? "byte" : "bytes"} per number. The cache of ${each.join("; ")}.`;
}

const controls = ({ heads }) => [
  { name: "power", label: "tokens", kind: "range", min: 8, max: 20, step: 0.25, says: (value) => grouped(Math.round(2 ** value)) },
  { name: "chats", label: "chats at once", kind: "range", min: 1, max: 16, step: 1 },
  { name: "groups", label: "groups G", kind: "choice", options: Array.from({ length: heads }, (_, index) => index + 1)
    .filter((count) => heads % count === 0 && count > 1 && count < heads).map((count) => [count, String(count)]) },
  { name: "bytes", label: "bytes per number", kind: "choice", options: [[1, "1"], [2, "2"], [4, "4"]] },
];

export default figure({ title: "Four key-value caches", controls, compute, draw, describe });
