// The documents that guards keep although they are similar to another kept one, and why.

import { count, el, plain, plural, score, show } from "/page/dom.js";
import { get } from "./api.js";
import { exportButtons, moreButton } from "./long_list.js";
import { state, trouble } from "./state.js";

function line(one) {
  return el("tr", {},
    el("th", { scope: "row" }, el("bdi", { class: "id" }, plain(one.id, 80))),
    el("td", {}, el("bdi", { class: "id" }, plain(one.similar_to, 80))),
    el("td", { class: "number" }, score(one.similarity)),
    el("td", {}, one.reason),
    el("td", {}, el("a", { class: "button tight", href: `#/compare/${one.similar_document}/${one.document}` }, "Compare",
      el("span", { class: "unseen" }, ` ${plain(one.id, 60)}`))));
}

/** How many documents guards keep, by reason, and a button that lists them. */
export function guarded(counts) {
  const reasons = Object.entries(counts);
  if (!reasons.length) return null;
  const total = reasons.reduce((sum, [, many]) => sum + many, 0);
  const box = el("div", { class: "stack", id: "protected" });
  const draw = async () => {
    const at = { threshold: state.threshold };
    const found = await get("protected", at);
    const rows = el("tbody", {}, found.documents.map(line));
    const more = moreButton(rows, found.total, async (offset) => (await get("protected", { ...at, offset })).documents.map(line));
    show(box,
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Documents that guards keep" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Kept", "Similar to", "Similarity", "Why it is kept", "Texts"].map((name, place) =>
          el("th", { scope: "col", class: place === 2 ? "number" : null }, name)))), rows)),
      more,
      exportButtons("protected", at));
  };
  return el("div", { class: "stack" },
    el("p", {}, `Guards keep ${plural(total, "document")} although ${total === 1 ? "it is" : "they are"} similar to another: `,
      reasons.map(([reason, many]) => `${reason} (${count(many)})`).join("; "), ". ",
      el("button", { type: "button", class: "tight", id: "show-protected", on: { click: () => draw().catch(trouble) } }, "List them")), box);
}
