// A template with filled slots: the fixed text once, and a table with one column for each slot.

import { count, el, plain, plural, show, visible } from "/page/dom.js";
import { get } from "./api.js";
import { moreButton } from "./long_list.js";
import { state, trouble } from "./state.js";

/** A long piece of fixed text by its first and last words. */
function shortened(text) {
  const words = text.split(" ");
  return words.length > 40 ? `${words.slice(0, 15).join(" ")} … (${count(words.length - 30)} words) … ${words.slice(-15).join(" ")}` : text;
}

function line(one, keeper) {
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: one.row === keeper ? `#/cluster/${keeper}` : `#/compare/${keeper}/${one.row}` }, el("bdi", { class: "id" }, plain(one.id, 60)))),
    one.values.map((value) => el("td", {}, el("bdi", { class: "text" }, visible(value, 200)))));
}

/** A button that shows the table of a cluster's slots. */
export function slotTable(keeper) {
  const box = el("div", { class: "stack slots" });
  const draw = async () => {
    const ask = (offset) => get("slots", { threshold: state.threshold, row: keeper, offset });
    const found = await ask(0);
    const columns = found.fixed.filter((piece) => piece.slot).length;
    const rows = el("tbody", {}, found.rows.map((one) => line(one, keeper)));
    const more = moreButton(rows, found.total, async (offset) => (await ask(offset)).rows.map((one) => line(one, keeper)));
    show(box,
      el("p", { class: "hint" }, `${plural(found.slots, "slot")}${found.slots > columns ? `, the first ${count(columns)} are shown` : ""}; ${plural(found.total, "document")}`),
      el("div", { class: "text fixed", tabindex: 0, role: "region", "aria-label": "Fixed text" }, found.fixed.map((piece) => (piece.slot ? el("mark", {}, count(piece.slot)) : [visible(shortened(piece.text), 2000), " "]))),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Slots" }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Document"),
          Array.from({ length: columns }, (_, at) => el("th", { scope: "col" }, count(at + 1))))), rows)),
      more);
  };
  return el("div", { class: "stack" },
    el("p", {}, el("button", { type: "button", class: "tight", id: "show-slots", on: { click: () => draw().catch(trouble) } }, "Show the slots as a table")), box);
}
