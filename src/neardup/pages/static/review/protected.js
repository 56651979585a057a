// The documents that guards keep although they are similar to another kept one, and why.

import { count, el, plain, plural, score, show } from "/page/dom.js";
import { download, get } from "./api.js";
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
    const more = el("button", { type: "button", class: "tight" }, "");
    const label = () => {
      const rest = found.total - rows.children.length;
      more.textContent = `Show more of ${count(rest)}`;
      more.hidden = rest <= 0;
    };
    more.addEventListener("click", async () => {
      try {
        rows.append(...(await get("protected", { ...at, offset: rows.children.length })).documents.map(line));
        label();
      } catch (error) {
        trouble(error);
      }
    });
    label();
    show(box,
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Documents that guards keep" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Kept", "Similar to", "Similarity", "Why it is kept", "Texts"].map((name, place) =>
          el("th", { scope: "col", class: place === 2 ? "number" : null }, name)))), rows)),
      more,
      el("p", { class: "row" }, el("span", { class: "hint" }, "Export all of them:"), ["csv", "jsonl"].map((format) =>
        el("button", { type: "button", class: "tight", on: { click: () => download("protected", { ...at, format }, `protected.${format}`).catch(trouble) } }, format.toUpperCase()))));
  };
  return el("div", { class: "stack" },
    el("p", {}, `Guards keep ${plural(total, "document")} although ${total === 1 ? "it is" : "they are"} similar to another: `,
      reasons.map(([reason, many]) => `${reason} (${count(many)})`).join("; "), ". ",
      el("button", { type: "button", class: "tight", id: "show-protected", on: { click: () => draw().catch(trouble) } }, "List them")), box);
}
