// The audit: random removals one by one. A person says whether each is right, and the interval of the share narrows.

import { byId, count, el, plain, plural, score, show } from "/page/dom.js";
import { calm, decide, get, post, reviewer, setReviewer } from "./api.js";
import { head } from "./compare.js";
import { differences } from "./differences.js";
import { auditSource, estimateText, intervalPicture } from "./interval.js";
import { onChange, say, setProgress, state, trouble } from "./state.js";
import { remember, undoable } from "./undo.js";

const ENOUGH = 50;
let box = null;
let shown = null; // the removal that is shown, or null
let acting = false;

export async function showAudit() {
  const answer = await get("audit", { threshold: state.threshold });
  const { next } = answer;
  if (!next) {
    shown = null;
    draw(answer, null);
    return;
  }
  const pair = await get("compare", { threshold: state.threshold, left: next.keeper, right: next.row });
  shown = next;
  draw(answer, pair);
}

const SAID = { right: "Saved: it is deleted.", wrong: "Saved: both are kept.", unsure: "Saved: unsure." };

/** Save an answer, and show the next removal. A wrong removal is also corrected: both documents are kept. */
export async function judge(verdict) {
  if (!shown || acting) return;
  const { row, keeper, lane } = shown;
  acting = true;
  try {
    let progress = await post("audit", { row, keeper, lane, verdict, name: reviewer() });
    if (verdict === "wrong") progress = await decide("reject", keeper, row);
    remember({ audit: { row, keeper, lane }, left: keeper, right: row, rejected: verdict === "wrong" });
    say(SAID[verdict]);
    setProgress(progress);
    await showAudit();
  } finally {
    acting = false;
  }
}

function button(verdict, key, text) {
  return el("button", {
    type: "button", id: `judge-${verdict}`, "aria-keyshortcuts": key, on: { click: () => judge(verdict).catch(trouble) },
  }, text, el("kbd", { "aria-hidden": "true" }, key));
}

function who() {
  return el("div", { class: "who" }, el("label", { for: "reviewer" }, "Your name"),
    el("input", { id: "reviewer", value: reviewer(), maxlength: 100, autocomplete: "name", on: { change: (event) => setReviewer(event.target.value) } }),
    el("span", { class: "hint" }, "saved with your answers and decisions"));
}

function draw({ audit, population }, pair) {
  const focused = document.activeElement?.id;
  const enough = audit.judged + audit.unsure >= Math.min(ENOUGH, population);
  show(box,
    el("div", {}, el("h1", {}, "Audit"), el("p", { class: "lead" },
      `Random removals, from every kind of change in proportion. Say for each whether it is right to delete the document. About ${ENOUGH} answers are usually enough.`)),
    el("section", { class: "card stack", "aria-label": "The estimate" },
      el("p", { id: "audit-estimate", role: "status" }, el("strong", {}, estimateText(audit))),
      intervalPicture(audit),
      el("p", { class: "hint" }, `${plural(audit.judged + audit.unsure, "answer")}, ${count(audit.unsure)} unsure; ${plural(population, "removal")} to draw from. ${auditSource(audit)}`),
      enough && audit.judged ? el("p", {}, "That is enough for most purposes: more answers narrow the interval slowly.") : null,
      who()),
    pair ? [
      el("div", { class: "deciding card" },
        el("p", {}, "Is it right to delete ", el("bdi", { class: "id" }, plain(pair.right.id, 80)), "?"),
        el("div", { class: "row acts" },
          button("right", "a", "Delete it"), button("wrong", "r", "Keep both"), button("unsure", "n", "Unsure"),
          undoable() ? el("span", { class: "hint" }, el("kbd", {}, "u"), " undoes the last answer") : null),
        el("p", { class: "hint" }, `${shown.title}; ${pair.measure} `, pair.similarity === null ? "not measured" : score(pair.similarity))),
      pair.notes.map((note) => el("p", { class: "note" }, note)),
      el("section", { class: "card texts", "aria-label": "The texts" },
        el("div", { class: "heads" }, head(pair.left, "Is kept"), head(pair.right, "Would be deleted")),
        differences(pair)),
    ] : el("p", { class: "empty" }, population ? "Every removal is judged." : "There is nothing to judge at this threshold."));
  if (focused?.startsWith("judge-")) byId(focused)?.focus({ preventScroll: true });
}

export function startAudit() {
  box = byId("audit");
  const again = calm(150, () => { if (!box.hidden && !acting) showAudit().catch(trouble); });
  onChange("revision", again);
  onChange("threshold", again);
}
