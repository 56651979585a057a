// Rows of words: shared words are in the same row, and differences are marked. Long runs of equal rows are folded, and
// rows are fetched as they are asked for.

import { count, el, plural, visible } from "/page/dom.js";
import { get } from "./api.js";
import { trouble } from "./state.js";

const MARKS = {
  left: { changed: ["del", "only in the left text"], moved: ["span", "at another place in the right text"] },
  right: { changed: ["ins", "only in the right text"], moved: ["span", "at another place in the left text"] },
};

function piece(side, kind, text) {
  if (kind === "same") return visible(text);
  const [name, title] = MARKS[side][kind];
  return el(name, { class: kind === "moved" ? "moved" : null, title }, visible(text));
}

function cell(side, pieces) {
  return el("div", { class: `cell text ${side}`, dir: "auto" }, pieces.map(([kind, text]) => piece(side, kind, text)));
}

const line = (row) => el("div", { class: row.same ? "pair same" : "pair" }, cell("left", row.left), cell("right", row.right));

/** A run of equal rows that is not drawn, with a button that draws it. */
function fold(pair, { fold: rows, start }) {
  const box = el("div", { class: "fold same" });
  const open = async () => {
    const most = 1000;
    const { rows: more } = await get("rows", { ...pair, start, stop: start + Math.min(rows, most) });
    const rest = rows > more.length ? [fold(pair, { fold: rows - more.length, start: start + more.length })] : [];
    box.replaceWith(...more.map(line), ...rest);
  };
  box.append(el("button", { type: "button", class: "tight quiet", on: { click: () => open().catch(trouble) } },
    `Show ${plural(rows, "equal row")}`));
  return box;
}

let shortened = false; // the same for all pairs

function summary({ removed, added, moved, rows }, total) {
  if (!rows) return "no difference";
  const parts = [removed ? `${plural(removed, "word")} only left` : "", added ? `${plural(added, "word")} only right` : "",
    moved ? `${plural(moved, "word")} moved` : ""].filter(Boolean);
  return `${parts.join(", ") || "other characters"}; ${count(rows)} of ${plural(total, "row")} differ`;
}

export function differences({ rows, next, total, differences: found, left, right }) {
  if (!total) return el("p", { class: "empty" }, "Neither text has any words.");
  const pair = { left: left.row, right: right.row };
  const draw = (items) => items.map((item) => ("fold" in item ? fold(pair, item) : line(item)));
  const some = found.rows > 0 && found.rows < total;
  const whole = el("div", { class: shortened && some ? "sides only" : "sides" }, draw(rows));
  const more = el("button", { type: "button", class: "tight", id: "more-rows", hidden: next === null }, "");
  const label = () => { more.textContent = `Show more: ${plural(total - next, "row")} left`; more.hidden = next === null; };
  more.addEventListener("click", async () => {
    try {
      const answer = await get("rows", { ...pair, start: next });
      whole.append(...draw(answer.rows));
      next = answer.next;
      label();
    } catch (error) {
      trouble(error);
    }
  });
  label();
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
      el("span", { id: "differing" }, summary(found, total)),
      some ? el("span", { class: "push" }, only) : null),
    whole, more,
  ];
}
