// Two documents side by side, all measures, and the decision.

import { byId, count, el, plain, plural, score, show } from "/page/dom.js";
import { keepParameters } from "./address.js";
import { calm, decide, get, post } from "./api.js";
import { outcome } from "./cluster.js";
import { clusterBeyond } from "./clusters.js";
import { differences } from "./differences.js";
import { measures, shingles } from "./measures.js";
import { onChange, say, setProgress, state, trouble } from "./state.js";
import { forget, remember, undoable } from "./undo.js";
import { waterfall } from "./waterfall.js";

let pair = null; // what is shown: {left, right} rows and the answer about them
let box = null;

/** The pairs of the cluster when it was opened: a rejected pair does not change the order of the others. */
async function queueOf(left, right) {
  const queue = state.queue;
  if (queue && queue.keeper === left && queue.rows.includes(right) && queue.threshold === state.threshold) return queue;
  const found = await get("members", { threshold: state.threshold, row: left });
  const rows = found.rows.filter((row) => row !== left);
  if (!rows.includes(right)) rows.push(right);
  state.queue = { keeper: left, rows, more: found.more, threshold: state.threshold };
  return state.queue;
}

export async function showCompare(left, right) {
  if (!Number.isInteger(left) || !Number.isInteger(right)) throw new Error("There are no such documents.");
  const same = pair?.left === left && pair?.right === right;
  if (!same) show(box, el("p", { class: "empty" }, "Comparing …"));
  pair = { left, right, answer: same ? pair.answer : null }; // a pair that is not shown yet cannot be decided
  const asked = pair;
  const [answer, queue] = await Promise.all([get("compare", { threshold: state.threshold, left, right }), queueOf(left, right)]);
  if (asked !== pair) return;
  if (answer.keepers[0] === right) { // the keeper is always on the left
    history.replaceState(null, "", `#/compare/${right}/${left}`);
    keepParameters();
    await showCompare(right, left);
    return;
  }
  pair.answer = answer;
  draw(answer, queue);
}

/** j and k: the next pair of the cluster, then those of the next one in the list. */
export async function stepPair(step) {
  if (!state.queue) return; // already moving to another cluster
  const { keeper, rows } = state.queue;
  const next = rows.indexOf(pair.right) + step;
  if (next >= 0 && next < rows.length) {
    location.hash = `#/compare/${keeper}/${rows[next]}`;
    return;
  }
  const cluster = await clusterBeyond(pair.left, step);
  if (!cluster) {
    say(step > 0 ? "That was the last pair." : "This is the first pair.");
    return;
  }
  const inside = await get("members", { threshold: state.threshold, row: cluster.label });
  const member = inside.rows[step > 0 ? 0 : inside.rows.length - 1];
  state.queue = null;
  location.hash = `#/compare/${inside.keeper}/${member}`;
}

/** n and p in the texts: scroll to the next or previous row that differs. */
export function stepDifference(step) {
  const rows = [...box.querySelectorAll(".sides .pair:not(.same)")];
  const top = box.querySelector(".deciding").getBoundingClientRect().bottom + 12;
  const tops = rows.map((row) => row.getBoundingClientRect().top);
  const at = step > 0 ? tops.findIndex((y) => y > top + 4) : tops.findLastIndex((y) => y < top - 4);
  if (at < 0) {
    say(step > 0 ? "There is no further difference below." : "There is no difference above.");
    return;
  }
  scrollBy({ top: tops[at] - top, behavior: "instant" });
  for (const row of rows) row.classList.toggle("here", row === rows[at]);
}

export function backToCluster() {
  location.hash = `#/cluster/${pair.left}`;
}

const SAID = {
  accept: "Saved: the right one is deleted.", reject: "Saved: both are kept.", keep: "Saved: the other one is kept.",
  clear: "Removed: nothing is decided about this pair.", unsure: "Marked as unsure.",
};

export async function act(decision) {
  if (!pair?.answer) return;
  const about = pair;
  const swap = decision === "keep";
  const [left, right] = swap ? [pair.right, pair.left] : [pair.left, pair.right];
  const { decision: before, swapped } = pair.answer;
  const progress = await decide(decision, left, right, byId("note")?.value ?? "");
  remember({ left, right, shown: [pair.left, pair.right], before, swapped });
  say(SAID[decision]);
  // Do not move if another pair is shown by now: the next key is meant for that pair.
  if (swap && !box.hidden && pair.left === about.left && pair.right === about.right) {
    const rows = state.queue?.rows.map((row) => (row === left ? right : row));
    state.queue = rows ? { ...state.queue, keeper: left, rows } : null;
    history.replaceState(null, "", `#/compare/${left}/${right}`);
    keepParameters();
    pair = { left, right, answer: pair.answer };
  }
  setProgress(progress); // notifies all views, including this one
  if (!swap && decision !== "clear" && advances() && pair.left === about.left && pair.right === about.right && !box.hidden) await stepPair(1);
}

const ADVANCE = "neardup-advance";
const advances = () => localStorage.getItem(ADVANCE) !== "no";

/** Whether a decision leads to the next pair. */
function advanceBox() {
  const input = el("input", {
    type: "checkbox", id: "advance", checked: advances(), on: { change: (event) => localStorage.setItem(ADVANCE, event.target.checked ? "yes" : "no") },
  });
  return el("label", { class: "hint", for: "advance" }, input, " Then show the next pair");
}

/** u: take back the last decision of this session, and show its pair; again, the one before it. */
export async function undo() {
  const last = forget();
  if (!last) {
    say("There is no decision to undo.");
    return;
  }
  if (last.bulk) {
    const [first, end] = last.bulk;
    const undone = await post("undo", { first, last: end });
    say(`Undone: ${plural(end - first + 1, "decision")}.`);
    setProgress(undone);
    return;
  }
  if (last.audit) {
    let after = await post("audit", { ...last.audit, verdict: "withdrawn" });
    if (last.rejected) after = await decide("clear", last.left, last.right);
    say("Undone.");
    setProgress(after);
    if (location.hash.startsWith("#/audit")) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = "#/audit";
    return;
  }
  let progress = await decide("clear", last.left, last.right);
  const [left, right] = last.shown;
  if (last.swapped) progress = await decide("keep", left, right);
  if (last.before) progress = await decide(last.before, left, right);
  say("Undone.");
  setProgress(progress);
  location.hash = `#/compare/${left}/${right}`;
}

function button(decision, key, text, pressed = null) {
  return el("button", {
    type: "button", id: `do-${decision}`, "aria-pressed": pressed === null ? null : String(pressed), "aria-keyshortcuts": key,
    on: { click: () => act(decision).catch(trouble) },
  }, text, el("kbd", { "aria-hidden": "true" }, key));
}

/** The name of a document, its outcome and where it was read. */
export function head(document, title) {
  return el("div", { class: "head stack" },
    el("div", { class: "row" }, el("h2", {}, title), outcome(document)),
    el("bdi", { class: "id" }, plain(document.id, 300)),
    el("p", { class: "hint" }, `${count(document.words)} words · `, el("bdi", {}, plain(document.file, 60)), `, row ${count(document.place)}`));
}

function verdict(answer) {
  const { decision, left, right } = answer;
  if (decision === "accept") return ["good", "You accepted this pair: they are duplicates."];
  if (decision === "reject") return ["warn", "You rejected this pair: both are kept."];
  if (answer.swapped) return ["good", "You chose this keeper; the other one is dropped."];
  if (answer.unsure) return ["warn", "You marked this pair as unsure; nothing else has changed."];
  if (answer.guard) return ["warn", `A guard keeps both: ${answer.guard}. To delete the right one anyway, decide so.`];
  if (!answer.together) return ["", "They are in different clusters at this threshold."];
  if (answer.keepers[1] !== left.row) return ["", "They are in one cluster, but neither is the keeper of the other."];
  return ["", right.kept ? "Both are kept." : "Not decided yet: the keeper is kept and the other one is dropped."];
}

function draw(answer, queue) {
  const { left, right, decision } = answer;
  const [kind, message] = verdict(answer);
  const at = queue.rows.indexOf(right.row);
  const fixed = left.reference && !right.reference;
  const focused = document.activeElement?.id;
  show(box,
    el("div", { class: "row" },
      el("a", { href: `#/cluster/${left.row}` }, "← The cluster"),
      el("span", { class: "hint" }, `pair ${count(at + 1)} of ${count(queue.rows.length + queue.more)} in this cluster${queue.more ? `; the last ${count(queue.more)} are not reached here` : ""}`),
      el("span", { class: "push row" },
        el("button", { type: "button", class: "tight", on: { click: () => stepPair(-1).catch(trouble) } }, "Previous", el("kbd", { "aria-hidden": "true" }, "k")),
        el("button", { type: "button", class: "tight", on: { click: () => stepPair(1).catch(trouble) } }, "Next", el("kbd", { "aria-hidden": "true" }, "j")))),
    el("div", { class: "deciding card" },
      el("p", { class: "likeness-large" }, el("span", { class: "soft" }, `${answer.measure} `), el("strong", {}, answer.similarity === null ? "not measured" : score(answer.similarity))),
      el("div", { class: "row acts" },
        button("accept", "a", "Delete right", decision === "accept"),
        button("reject", "r", "Keep both", decision === "reject"),
        fixed ? null : button("keep", "s", "Keep right instead"),
        button("unsure", "n", "Unsure", answer.unsure),
        decision || answer.swapped || answer.unsure ? button("clear", "x", "Remove decision") : null,
        undoable() ? el("button", { type: "button", id: "do-undo", "aria-keyshortcuts": "u", on: { click: () => undo().catch(trouble) } },
          "Undo last", el("kbd", { "aria-hidden": "true" }, "u")) : null,
        advanceBox()),
      el("p", { class: `verdict ${kind}`, id: "verdict" }, message),
      el("details", { class: "noting", open: Boolean(answer.note) || null }, el("summary", {}, "Note"),
        el("label", { class: "unseen", for: "note" }, "A note that is saved with the decision"),
        el("input", { id: "note", value: answer.note, maxlength: 1000, placeholder: "saved with the decision" }))),
    answer.notes.map((note) => el("p", { class: "note" }, note)),
    el("section", { class: "card texts", "aria-label": "The texts" },
      el("div", { class: "heads" }, head(left, answer.keepers[0] === left.row ? "Keeper" : "Left"), head(right, "Duplicate")),
      differences(answer)),
    el("div", { class: "two" }, waterfall(answer), measures(answer), shingles(answer)));
  if (focused?.startsWith("do-")) (byId(focused) ?? byId("do-accept")).focus({ preventScroll: true });
}

export function startCompare() {
  box = byId("compare");
  const again = () => { if (!box.hidden && pair) showCompare(pair.left, pair.right).catch(trouble); };
  const soon = calm(150, again); // a moved slider sends one request
  onChange("revision", again);
  onChange("threshold", () => { state.queue = null; soon(); });
}
