// The live index: requests the state of the service every two seconds, and keeps two minutes of it to draw.

import { Refusal, ask, tokenForm } from "./asking.js";
import { bars, spark } from "./charts.js";
import { byId, bytes, count, el, plain, score, share, show } from "./dom.js";

const EVERY = 2000; // milliseconds
const KEPT = 60; // samples, so two minutes
const NAMES = { "/v1/seen": "seen", "/v1/search": "search", "/v1/documents": "documents", "/v1/compare": "compare" };

const history = [];
let timer = null;

/** A rate per second between two answers. */
const rate = (now, before, read) => Math.max(0, (read(now) - read(before)) / Math.max(0.001, now.now - before.now));
const routed = (live, route) => live.routes.find((one) => one.route === route)?.requests ?? 0;
const remembered = (live) => live.new + live.duplicates;
const queries = (live) => routed(live, "/v1/search");

function rates(read) {
  const known = history.slice(1).map((live, at) => rate(live, history[at], read));
  return [...Array(Math.max(0, KEPT - 1 - known.length)).fill(null), ...known];
}

const perSecond = (value) => (value < 10 ? value.toFixed(1) : count(value));
const milliseconds = (seconds) => (seconds < 0.01 ? (1000 * seconds).toFixed(2) : (1000 * seconds).toFixed(0));

function ago(seconds) {
  if (seconds < 1) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} days ago`;
}

const lasting = (seconds) => ago(Math.max(1, seconds)).replace(" ago", "");

function number(name, value, more) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value), el("dd", {}, more));
}

function numbers(live) {
  const seen = live.routes.find((one) => one.route === "/v1/seen");
  const last = rates(remembered).at(-1) ?? 0;
  return el("dl", { class: "numbers" },
    number("Documents", count(live.index.documents), `${count(live.index.keepers)} of them keepers`),
    number("Taken since the start", count(remembered(live)), `${perSecond(last)} a second now`),
    number("Duplicates", share(live.duplicates, remembered(live)), `${count(live.duplicates)} of ${count(remembered(live))} taken`),
    number("Time of seen", seen ? `${milliseconds(seen.p99)} ms` : "–", seen ? `99 of 100; half within ${milliseconds(seen.p50)} ms` : "nobody has asked yet"));
}

function times(live) {
  const routes = live.routes.filter((one) => one.route.startsWith("/v1/") && one.route !== "/v1/live");
  const rows = routes.map((one) => el("tr", {},
    el("th", { scope: "row", class: "id" }, one.route),
    el("td", { class: "number" }, count(one.requests)),
    el("td", { class: "number" }, milliseconds(one.p50)),
    el("td", { class: "number" }, milliseconds(one.p99))));
  return el("section", { class: "card" },
    el("h2", {}, "Latency"),
    el("p", { class: "soft small" }, "Milliseconds of the last 512 requests of each route."),
    rows.length
      ? el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Route", "Requests", "p50", "p99"].map((name, at) => el("th", { scope: "col", class: at ? "number" : null }, name)))),
        el("tbody", {}, rows)))
      : el("p", { class: "empty" }, "No requests yet."));
}

function segments(index) {
  const rows = index.segments.map((size, at) => ({ label: `segment ${at + 1}`, value: size }));
  const waiting = Math.max(0, index.rows - index.segments.reduce((sum, size) => sum + size, 0));
  return el("section", { class: "card" },
    el("h2", {}, "Segments"),
    el("p", { class: "soft small" }, "Sorted tables that never change, and a tail for new documents; full tails become segments."),
    bars({ title: "Rows in each", unit: "rows", rows: [...rows, { label: "tail", value: waiting }] }));
}

function health(live) {
  const index = live.index;
  const facts = [
    ["State", state(live)],
    ["Running for", lasting(live.now - live.started)],
    ["Running requests", count(live.in_work)],
    ["Database", bytes(index.database_bytes)],
    ["Tables on disk", bytes(index.cache_bytes)],
    ["Tables in memory", bytes(index.memory_bytes)],
    ["Rows in tables", `${count(index.watermark)} of ${count(index.rows)} on disk`],
    ["Texts kept", index.store === "none" ? "none" : index.store],
    ["Scheme", el("span", { class: "id" }, plain(index.scheme, 300))],
    ["Version", live.version],
  ];
  return el("section", { class: "card" },
    el("h2", {}, "Health"),
    el("dl", { class: "facts small" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

function hits(live) {
  const rows = live.hits.slice(0, 20).map((hit) => el("tr", {},
    el("td", {}, el("time", { datetime: new Date(1000 * hit.at).toISOString() }, ago(live.now - hit.at))),
    el("th", { scope: "row", class: "id" }, plain(hit.id, 160)),
    el("td", { class: "id" }, plain(hit.duplicate_of, 160)),
    el("td", { class: "number" }, hit.distance === null ? "–" : count(hit.distance)),
    el("td", { class: "number" }, score(hit.similarity))));
  const head = ["When", "Document", "Duplicate of", "Distance", "Similarity"];
  return el("section", { class: "card hits" },
    el("h2", {}, "Last hits"),
    el("p", { class: "soft small" }, "Documents that were already known, the latest first. Only ids are shown, never texts."),
    rows.length
      ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Last hits" }, el("table", {},
        el("thead", {}, el("tr", {}, head.map((name, at) => el("th", { scope: "col", class: at > 2 ? "number" : null }, name)))),
        el("tbody", {}, rows)))
      : el("div", { class: "empty" },
        el("p", {}, "No duplicate yet. Send one page under two ids, and the second one appears here:"),
        el("pre", { tabindex: "0", role: "region", "aria-label": "An example" }, ["a", "b"].map((id) => `curl ${location.origin}/v1/seen -d '{"id": "${id}", "text": "The ferry leaves at eight"}'`).join("\n"))));
}

const STATES = {
  ready: ["good", "ready"], opening: ["warn", "opening the index"], stopping: ["warn", "stopping"], none: ["", "no index"],
};

const state = (live) => STATES[live.state]?.[1] ?? live.state;

function tell(kind, words) {
  const badge = byId("state");
  if (badge.textContent.trim() === words) return; // screen readers should not read an unchanged status again
  badge.className = `push badge ${kind}`;
  show(badge, el("span", { class: `dot ${kind}` }), ` ${words}`);
}

function draw(live) {
  tell(...(STATES[live.state] ?? ["", live.state]));
  show(byId("trouble"));
  const content = byId("content");
  if (!live.index) {
    show(content, el("p", { class: "empty card" }, live.state === "opening" ? "The index is being opened …" : "There is no index here."));
    return;
  }
  // Do not redraw while the user selects text; open tables and the focus are preserved.
  const marked = getSelection();
  if (!marked.isCollapsed && content.contains(marked.anchorNode)) return;
  const reach = () => [...content.querySelectorAll("summary, [tabindex]")];
  const unfolded = [...content.querySelectorAll("details")].map((one) => one.open);
  const focused = reach().indexOf(document.activeElement);
  show(content,
    numbers(live),
    el("div", { class: "two" },
      el("div", { class: "card" }, spark({ title: "Documents taken", note: "a second, over two minutes", values: rates(remembered), said: perSecond, unit: "a second" }), rangeOf(rates(remembered))),
      el("div", { class: "card" }, spark({ title: "Searches", note: "a second, over two minutes", values: rates(queries), said: perSecond, unit: "a second" }), rangeOf(rates(queries))),
      el("div", { class: "stack" }, times(live), segments(live.index)), health(live)),
    hits(live));
  content.querySelectorAll("details").forEach((one, at) => { one.open = unfolded[at] ?? false; });
  reach()[focused]?.focus({ preventScroll: true });
}

function rangeOf(values) {
  const known = values.filter((value) => value !== null);
  const range = known.length ? `now ${perSecond(known.at(-1))}, at most ${perSecond(Math.max(...known))}` : "waiting for the second sample";
  return el("p", { class: "soft tiny" }, range);
}

async function look() {
  clearTimeout(timer);
  try {
    const live = await ask("/v1/live");
    if (live.started !== history.at(-1)?.started) history.length = 0; // the service was restarted
    history.push(live);
    if (history.length > KEPT) history.shift();
    draw(live);
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    if (problem.status === 401) {
      tell("warn", "needs a token");
      show(byId("trouble"));
      show(byId("content"), tokenForm(look));
      byId("token").focus();
      return; // wait until the user has entered a token
    }
    tell("bad", problem.status ? "trouble" : "not reachable");
    show(byId("trouble"), el("p", { class: "note bad" }, plain(problem.message, 400)));
  }
  if (!document.hidden) timer = setTimeout(look, EVERY);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
look();
