// Rows of words: shared words are in the same row, and differences are marked. Long runs of equal rows are folded, and
// rows are fetched as they are asked for.

import { count, el, plural, svg, visible } from "/page/dom.js";
import { get } from "./api.js";
import { trouble } from "./state.js";

const MARKS = {
  left: { changed: ["del", "only in the left text"], moved: ["span", "at another place in the right text"] },
  right: { changed: ["ins", "only in the right text"], moved: ["span", "at another place in the left text"] },
};

function piece(side, kind, text) {
  if (kind === "same") return shown(text);
  const [name, title] = MARKS[side][kind];
  return el(name, { class: kind === "moved" ? "moved" : null, title }, shown(text));
}

/** A text whose white space can be made visible by a class. */
function shown(text) {
  const parts = text.split(/([ \t\u00a0]{2,}|[\t\u00a0]|\n)/);
  return parts.map((part, at) => (at % 2 ? el("span", { class: part === "\n" ? "newline" : part.includes("\t") ? "tab" : "blank" }, part) : visible(part)));
}

/** Text of one side; the writing direction is that of the whole document, not of the row. */
function cell(side, pieces, line, direction) {
  return el("div", { class: `cell text ${side}`, dir: direction, "data-line": pieces.length ? count(line) : null }, pieces.map(([kind, text]) => piece(side, kind, text)));
}

const line = (row, [left, right]) => el("div", { class: row.same ? "pair same" : "pair", "data-row": row.at + 1 },
  cell("left", row.left, row.lines[0], left), cell("right", row.right, row.lines[1], right));

/** Where the differences are in the whole document: one mark for each differing row. A click scrolls to the row, if it is drawn. */
function minimap(whole, total, { places, rows }) {
  if (!rows || total < 12) return null;
  const at = (place) => `${((100 * place) / total).toFixed(2)}%`;
  const picture = svg("svg", { class: "map", role: "img", "aria-label": `${plural(rows, "row")} of ${count(total)} differ` },
    svg("rect", { class: "track", width: "100%", height: "100%", rx: "3" }),
    places.map((place) => svg("rect", { class: "differs", x: at(place), width: at(Math.max(1, total / 400)), height: "100%" })));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const wanted = Math.floor((total * (event.clientX - box.left)) / box.width);
    const drawn = [...whole.querySelectorAll(".pair:not(.same)")];
    const near = drawn.reduce((best, row) => (Math.abs(row.dataset.row - wanted) < Math.abs((best?.dataset.row ?? Infinity) - wanted) ? row : best), null);
    near?.scrollIntoView({ block: "center" });
  });
  return picture;
}

/** A run of equal rows that is not drawn, with a button that draws it. */
function fold(pair, { fold: rows, start }, directions) {
  const box = el("div", { class: "fold same" });
  const open = async () => {
    const most = 1000;
    const { rows: more } = await get("rows", { ...pair, start, stop: start + Math.min(rows, most) });
    const rest = rows > more.length ? [fold(pair, { fold: rows - more.length, start: start + more.length }, directions)] : [];
    box.replaceWith(...more.map((row) => line(row, directions)), ...rest);
  };
  box.append(el("button", { type: "button", class: "tight quiet", on: { click: () => open().catch(trouble) } },
    `Show ${plural(rows, "equal row")}`));
  return box;
}

let shortened = false; // the same for all pairs

/** Ways to show the texts; each is a class of the rows, the same for all pairs, and remembered. */
const LOOKS = { mono: "Monospace", spaces: "White space", unified: "One column", lines: "Line numbers" };
const LOOK = "neardup-look";
const looks = () => new Set((localStorage.getItem(LOOK) ?? "").split(" ").filter((name) => name in LOOKS));

function lookButtons(whole) {
  const on = looks();
  whole.classList.add(...on);
  return Object.entries(LOOKS).map(([name, text]) => {
    const button = el("button", { type: "button", class: "tight", id: `look-${name}`, "aria-pressed": String(on.has(name)) }, text);
    button.addEventListener("click", () => {
      const now = whole.classList.toggle(name);
      button.setAttribute("aria-pressed", String(now));
      const kept = looks();
      if (now) kept.add(name); else kept.delete(name);
      localStorage.setItem(LOOK, [...kept].join(" "));
    });
    return button;
  });
}

function summary({ removed, added, moved, rows }, total, right) {
  if (!rows) return "no difference";
  const parts = [removed ? `${plural(removed, "word")} only left` : "", added ? `${plural(added, "word")} only right` : "",
    moved ? `${plural(moved, "word")} moved` : ""].filter(Boolean);
  const lost = added && !right.kept ? ". Deleting the right one loses what only it has" : "";
  return `${parts.join(", ") || "other characters"}; ${count(rows)} of ${plural(total, "row")} differ${lost}`;
}

export function differences({ rows, next, total, differences: found, left, right, directions }) {
  if (!total) return el("p", { class: "empty" }, "Neither text has any words.");
  const pair = { left: left.row, right: right.row };
  const draw = (items) => items.map((item) => ("fold" in item ? fold(pair, item, directions) : line(item, directions)));
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
      el("span", { id: "differing" }, summary(found, total, right)),
      el("span", { class: "push row" }, lookButtons(whole), some ? only : null)),
    minimap(whole, total, found),
    whole, more,
  ];
}
