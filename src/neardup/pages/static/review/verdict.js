// The verdict: what would be deleted, how many of these removals are right, and what a person should look at.

import { count, el, plural, show } from "/page/dom.js";
import { calm, get, post, reviewer } from "./api.js";
import { auditSource, estimateText, intervalPicture } from "./interval.js";
import { guarded } from "./protected.js";
import { say, setProgress, state, trouble } from "./state.js";
import { remember } from "./undo.js";

let box = null;
let asked = 0;

export function startVerdict(place) {
  box = place;
  update();
}

export const updateVerdict = calm(150, () => update());

async function update() {
  const mine = ++asked;
  try {
    const verdict = await get("verdict", { threshold: state.threshold });
    if (mine === asked) draw(verdict);
  } catch (error) {
    trouble(error);
  }
}

function lane({ lane: name, title, removals, decided }) {
  const part = el("span", { class: "part" }, el("span", {}));
  part.firstChild.style.width = `${Math.round((100 * decided) / removals)}%`;
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: `#/clusters?lane=${name}` }, title)),
    el("td", { class: "number" }, count(removals)),
    el("td", { class: "number" }, count(decided)),
    el("td", { class: "wide" }, part));
}

/** What the learned model proposes, and a button that accepts it. */
function proposal(model) {
  if (!model || !model.proposed) return null;
  const [share, low, high] = model.precision ?? [];
  const measured = model.precision
    ? `On your own decisions, of ${plural(model.accepted, "pair")} that it would have accepted, ${count(model.right)} were right (95% interval ${Math.round(100 * low)}% to ${Math.round(100 * high)}%).`
    : "It would have accepted none of the pairs that you decided about.";
  const text = `Accept ${count(model.proposed)} like these (estimated ${Math.min(99.9, 100 * model.estimated).toFixed(model.estimated > 0.99 ? 1 : 0)}% right)`;
  return el("div", { class: "note stack", id: "proposal" },
    el("p", {}, `A small model has learned from ${plural(model.examples, "judged pair")}, ${count(model.wrong)} of them not duplicates. It puts the most doubtful clusters first. `, share === undefined ? "" : measured),
    el("p", { class: "row" },
      el("button", { type: "button", id: "accept-proposal", on: { click: () => accept(model.proposed).catch(trouble) } }, text),
      el("span", { class: "hint" }, "You can undo it with one key.")));
}

async function accept(expected) {
  const made = await post("bulk", { threshold: state.threshold, action: "accept", filter: {}, proposed: true, expected, name: reviewer() });
  remember({ bulk: [made.first, made.last] });
  say(`${plural(made.pairs, "pair")} accepted. Undo with u.`);
  setProgress(made);
}

/** The clusters that need a person. Doubt is a guess by what differs, so nothing doubtful does not mean that all is right. */
function attention({ needs, audit, lanes }) {
  if (needs) return el("a", { href: "#/clusters?show=doubtful" }, `${plural(needs, "cluster")} ${needs === 1 ? "needs" : "need"} you.`);
  const meaning = lanes.filter(({ lane }) => lane === "meaning").reduce((sum, one) => sum + one.removals - one.decided, 0);
  if (!meaning || audit.judged) return "No cluster stands out.";
  return `No cluster stands out, but in ${plural(meaning, "undecided removal")} the meaning may change.`;
}

/** Of how many removals everything is in the document that is kept. */
function loss(lossless, removals) {
  const some = removals - lossless;
  if (!some) return "Nothing is lost: every passage of 8 words or more is in the document that is kept.";
  return `${plural(some, "removed document")} ${some === 1 ? "has" : "have"} a passage of 8 words or more that the kept document has not; it would be lost.`;
}

function draw(verdict) {
  const { audit, lanes, model, documents, lossless } = verdict;
  if (!audit.removals) {
    show(box, el("h2", {}, "Nothing would be deleted at this threshold"), guarded(verdict.protected));
    return;
  }
  show(box,
    el("h2", { class: "question" }, `Delete ${count(audit.removals)} of ${plural(documents, "document")}?`),
    el("p", { id: "estimate" }, estimateText(audit), " ",
      attention(verdict)),
    intervalPicture(audit),
    audit.judged ? el("p", { class: "hint" }, auditSource(audit)) : null,
    lossless === null ? null : el("p", { id: "lossless" }, loss(lossless, audit.removals)),
    el("p", { class: "row" },
      el("a", { class: "button", href: "#/audit" }, audit.judged ? "Judge more random removals" : "Judge random removals"),
      el("a", { class: "button", href: "#/clusters" }, "Go through the clusters, the most doubtful first")),
    proposal(model),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Removals by what differs" }, el("table", { class: "lanes" },
      el("caption", { class: "unseen" }, "Removals by what differs from the document that is kept"),
      el("thead", {}, el("tr", {}, ["What differs", "Removals", "Decided", "Progress"].map((name, at) =>
        el("th", { scope: "col", class: at === 1 || at === 2 ? "number" : null }, name)))),
      el("tbody", {}, lanes.map(lane)))),
    guarded(verdict.protected));
}
