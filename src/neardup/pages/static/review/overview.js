// The overview: numbers and charts that follow the threshold immediately.

import { bars, histogram } from "/page/charts.js";
import { byId, bytes, count, el, plain, plural, share, show } from "/page/dom.js";
import { calm, download, get, oneByOne } from "./api.js";
import { dryRun } from "./dry_run.js";
import { onChange, state, trouble } from "./state.js";
import { startVerdict, updateVerdict } from "./verdict.js";

const known = new Map(); // figures by threshold, for the current revision
let shown = null;
let parts = null;

const label = (value) => value.toFixed(2);

function number(name, value, note) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value), el("dd", {}, note));
}

function numbers(figures) {
  const { documents, bytes: all, tokens, filtered, equal } = state.overview;
  return el("dl", { class: "numbers" },
    number("Documents", count(documents), filtered ? `${count(filtered)} left out by a filter` : "scanned"),
    number("Kept", count(figures.kept), share(figures.kept, documents)),
    number("Exact duplicates", count(figures.exact), figures.identical === null ? `the same ${equal} as another` : `same ${equal}; ${count(figures.identical)} byte-identical`),
    number("Near-duplicates", count(figures.near), `${state.overview.measure} ${label(figures.threshold)} or more`),
    number("Clusters", count(figures.clusters), figures.largest ? `the largest of ${count(figures.largest)}` : "none"),
    number("Saved", bytes(figures.bytes_saved), `${share(figures.bytes_saved, all)} of bytes, ${share(figures.tokens_saved, tokens)} of words`));
}

/** The balance: each sum, and under it its parts, which begin with blanks. */
function account(lines) {
  const sums = [];
  for (const line of lines) {
    if (line.startsWith(" ") && sums.length) sums.at(-1).inside.push(line.trim());
    else sums.push({ line, inside: [] });
  }
  const item = (line, ...inside) => el("li", { class: "text" }, plain(line, 300), ...inside);
  return el("ul", { id: "account", class: "small" }, sums.map(({ line, inside }) =>
    item(line, inside.length ? el("ul", {}, inside.map((one) => item(one))) : null)));
}

/** Replace a chart; if its table was open, it is still open. */
function redraw(place, ...charts) {
  const open = place.querySelector("details")?.open;
  show(place, ...charts);
  const details = place.querySelector("details");
  if (details) details.open = Boolean(open);
}

function drawPairs() {
  const { histogram: bins, threshold } = state.overview;
  const over = known.get(state.threshold)?.pairs
    ?? bins.reduce((sum, bin) => sum + (bin.from >= state.threshold - 1e-9 ? bin.count : 0), 0);
  redraw(parts.pairs, histogram({
    title: "Similarity of pairs",
    note: `${count(over)} of ${plural(state.overview.pairs, "pair")} reach the threshold; scanned at ${label(threshold)}`,
    bins, cut: state.threshold, axis: `similarity of two documents (${state.overview.measure})`,
    picked: (from, to) => {
      const [least, most] = [Math.max(0, from), Math.min(1, to)].map((value) => Math.round(100 * value) / 100);
      location.hash = `#/clusters?least=${least}${most < 1 ? `&most=${most}` : ""}`;
    },
  }), el("p", { class: "hint" }, "Drag over the bars to list the removals of these similarities."));
}

function drawFigures(figures) {
  shown = figures;
  parts.whole.removeAttribute("aria-busy");
  byId("brief").removeAttribute("aria-busy");
  show(parts.numbers, numbers(figures));
  show(parts.alarms, figures.alarms.length
    ? el("div", { class: "note warn stack" },
      el("p", {}, el("strong", {}, "Very many documents would be dropped. "), "neardup apply stops here and asks for confirmation:"),
      el("ul", {}, figures.alarms.map((alarm) => el("li", { class: "text" }, plain(alarm, 400)))))
    : null);
  show(parts.account, figures.account.length
    ? el("details", { class: "card", open: true }, el("summary", {}, "Account"), account(figures.account))
    : null);
  redraw(parts.sizes, bars({
    title: "Cluster sizes", unit: "clusters",
    rows: figures.sizes.filter(([, many]) => many).map(([name, many]) => ({ label: `${name} documents`, value: many })),
  }));
  redraw(parts.sources, bars({
    title: "What each source loses", unit: "documents",
    note: figures.losing > figures.sources.length ? `${count(figures.losing)} sources lose some` : "",
    rows: figures.sources.map(([name, lost, have]) => ({ label: name, value: lost, of: have })),
  }));
  if (!figures.clusters) show(parts.sizes, el("p", { class: "empty" }, "No clusters at this threshold."));
  if (!figures.sources.length) show(parts.sources, el("p", { class: "empty" }, "No source loses anything."));
  byId("brief").textContent = `${count(figures.dropped)} dropped in ${plural(figures.clusters, "cluster")}`;
  byId("slider").setAttribute("aria-valuetext", `${figures.threshold}: ${byId("brief").textContent}`);
}

// A moved slider sends one request, for the threshold at which it rests. If it has moved on when an answer comes, the answer is only stored, and the newest threshold is requested.
const fetchFigures = calm(120, () => fetchNow().catch(trouble));
const fetchNow = oneByOne(async () => {
  if (known.has(state.threshold)) { // all figures came meanwhile
    drawFigures(known.get(state.threshold));
    return;
  }
  const figures = await get("figures", { threshold: state.threshold });
  if (figures.revision === state.revision) known.set(figures.threshold, figures);
  if (figures.threshold === state.threshold) drawFigures(figures);
});

function update() {
  drawPairs();
  const figures = known.get(state.threshold);
  if (figures) return drawFigures(figures);
  if (shown) {
    parts.whole.setAttribute("aria-busy", "true");
    byId("brief").setAttribute("aria-busy", "true");
  }
  return fetchFigures();
}

/** Request the figures of all steps until they are ready, so that the slider never waits. */
async function fetchCurve() {
  const { figures, complete } = await get("curve");
  for (const one of figures) if (one.revision === state.revision) known.set(one.threshold, one);
  if (!complete) setTimeout(() => fetchCurve().catch(() => {}), 1500);
}

function drawDecisions() {
  const { accept, reject, keep, unsure } = state.counts;
  const at = state.threshold === state.overview.threshold ? "" : ` --threshold ${state.threshold}`;
  show(parts.decisions,
    el("h2", {}, "Decisions"),
    el("p", {}, `${plural(accept, "pair")} accepted, ${count(reject)} rejected, ${plural(keep, "keeper")} chosen, ${count(unsure)} marked unsure. They are saved in the findings as you make them, and apply at every threshold.`),
    el("p", {}, "To write the kept documents:"),
    el("pre", { tabindex: 0 }, `${plain(state.overview.command, 2000)}${at} --out kept.jsonl`),
    el("p", { class: "row" },
      el("button", { type: "button", class: "tight", on: { click: () => download("decisions", {}, "decisions.jsonl").catch(trouble) } }, "Export decisions as JSONL")),
    dryRun());
}

export function startOverview() {
  const { overview } = state;
  parts = Object.fromEntries(["verdict", "numbers", "alarms", "account", "pairs", "sizes", "sources", "decisions"]
    .map((name) => [name, el("div", { class: ["verdict", "pairs", "sizes", "sources", "decisions"].includes(name) ? "card stack" : "" })]));
  parts.whole = byId("overview");
  show(parts.whole,
    el("div", {}, el("h1", {}, plain(overview.name)), el("p", { class: "lead" },
      `${plural(overview.pairs, "verified pair")} from ${overview.measure} ${overview.floor} up. Move the threshold: nothing is scanned again. `,
      `In each cluster, ${overview.policy}.`)),
    overview.changed.length ? el("div", { class: "note warn" },
      el("ul", {}, overview.changed.map((one) => el("li", { class: "text" }, plain(one, 300)))),
      el("p", {}, "neardup apply will refuse until you scan again.")) : null,
    overview.capped ? el("p", { class: "note", id: "capped" },
      `${plural(overview.capped, "group")} of similar documents ${overview.capped === 1 ? "was" : "were"} too large to compare every pair: up to ${plural(overview.skipped, "pair")} ${overview.skipped === 1 ? "was" : "were"} not compared. In such a group each document is compared with 12 others.`) : null,
    overview.set_aside.length ? el("p", { class: "note" },
      `Decisions about the documents of an earlier scan are kept in ${overview.set_aside.join(", ")}, and are not applied.`) : null,
    parts.verdict, parts.alarms, parts.numbers, parts.account,
    el("div", { class: "two" }, parts.pairs, parts.decisions, parts.sizes, parts.sources));
  onChange("threshold", () => { update(); drawDecisions(); updateVerdict(); });
  onChange("revision", () => { known.clear(); update(); drawDecisions(); updateVerdict(); fetchCurve().catch(() => {}); });
  drawDecisions();
  update();
  startVerdict(parts.verdict);
  fetchCurve().catch(() => {});
}
