// What belongs to a list that is longer than the part that is shown: a button for more of it, and its export.

import { count, el } from "/page/dom.js";
import { download } from "./api.js";
import { trouble } from "./state.js";

/** "Show more of 120": appends what `next(offset)` gives, a promise of elements; hidden once `list` has `total` entries. */
export function moreButton(list, total, next) {
  const button = el("button", { type: "button", class: "tight" }, "");
  const label = () => {
    const rest = total - list.children.length;
    button.textContent = `Show more of ${count(rest)}`;
    button.hidden = rest <= 0;
  };
  button.addEventListener("click", async () => {
    try {
      list.append(...(await next(list.children.length)));
      label();
    } catch (error) {
      trouble(error);
    }
  });
  label();
  return button;
}

/** "Export all of them": a button for each format. */
export function exportButtons(name, parameters) {
  return el("p", { class: "row" }, el("span", { class: "hint" }, "Export all of them:"), ["csv", "jsonl"].map((format) =>
    el("button", { type: "button", class: "tight", on: { click: () => download(name, { ...parameters, format }, `${name}.${format}`).catch(trouble) } }, format.toUpperCase())));
}
