// Rows of words: shared words are in the same row, and differences are marked.

import { count, el, visible } from "/page/dom.js";

const MARKS = {
  left: { changed: ["del", "only in the left text"], moved: ["span", "occurs elsewhere in the right text"] },
  right: { changed: ["ins", "only in the right text"], moved: ["span", "occurs elsewhere in the left text"] },
};

function piece(side, kind, text) {
  if (kind === "same") return visible(text);
  const [name, title] = MARKS[side][kind];
  return el(name, { class: kind === "moved" ? "moved" : null, title }, visible(text));
}

function cell(side, pieces) {
  return el("div", { class: `cell text ${side}`, dir: "auto" }, pieces.map(([kind, text]) => piece(side, kind, text)));
}

let shortened = false; // the same for all pairs

export function differences(rows) {
  if (!rows.length) return el("p", { class: "empty" }, "Neither text has any words.");
  const same = rows.filter((row) => row.same).length;
  const whole = el("div", { class: shortened && same < rows.length ? "sides only" : "sides" }, rows.map((row) =>
    el("div", { class: row.same ? "pair same" : "pair" }, cell("left", row.left), cell("right", row.right))));
  const only = el("button", {
    type: "button", class: "tight", "aria-pressed": String(shortened),
    on: {
      click: () => {
        shortened = whole.classList.toggle("only");
        only.setAttribute("aria-pressed", String(shortened));
      },
    },
  }, "Only differences");
  return [
    el("div", { class: "row legend hint" },
      el("del", {}, "only left"), el("ins", {}, "only right"), el("span", { class: "moved" }, "moved"),
      el("span", {}, same === rows.length ? "no difference in what is shown" : `${count(rows.length - same)} of ${count(rows.length)} rows differ`),
      same && same < rows.length ? el("span", { class: "push" }, only) : null),
    whole,
  ];
}
