// Asks a quick question and answers at once, with the reason.
import { frame } from "./kit.js";

function render({ model, el }) {
  const { question } = model.get("state");
  const { box } = frame(el, question.text);
}

export default { render };
