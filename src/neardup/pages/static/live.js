// The live index: requests the state of the service every two seconds. The service keeps ten minutes of history.

import { Refusal, ask, tokenForm } from "./requests.js";
import { bars, timeline } from "./charts.js";
import { byId, bytes, count, el, plain, score, share, show } from "./dom.js";

const EVERY = 2000; // milliseconds
const MOMENT = 5; // seconds
const MOMENTS = 120; // ten minutes

let timer = null;

const remembered = (one) => one.new + one.duplicates;

/** The moments of the last ten minutes, the last of them now; null where nothing was asked. */
function moments(live) {
  const last = Math.floor(live.now / MOMENT) * MOMENT;
  const known = new Map(live.history.map((one) => [one.at, one]));
  return Array.from({ length: MOMENTS }, (_, at) => known.get(last - (MOMENTS - 1 - at) * MOMENT) ?? null);
}

/** A number of each moment by the second. Moments without requests are zero since the start; the current one is not over. */
function rates(live, read) {
  const last = Math.floor(live.now / MOMENT) * MOMENT;
  return moments(live).map((one, place) => {
    const at = last - (MOMENTS - 1 - place) * MOMENT;
    if (at + MOMENT <= live.started) return null;
    const seconds = place === MOMENTS - 1 ? Math.max(1, live.now - at) : MOMENT;
    return one === null ? 0 : read(one) / seconds;
  });
}

/** A share of each moment in percent; null where there is nothing to share. */
const shares = (live, part, whole) => moments(live).map((one) => (one === null || !whole(one) ? null : (100 * part(one)) / whole(one)));

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
  const last = rates(live, remembered).at(-1) ?? 0;
  return el("dl", { class: "numbers" },
    number("Documents", count(live.index.documents), `${count(live.index.keepers)} of them keepers`),
    number("Taken since the start", count(remembered(live)), `${perSecond(last)} a second now`),
    number("Duplicates", share(live.duplicates, remembered(live)), `${count(live.duplicates)} of ${count(remembered(live))} taken`),
    number("Response time", seen ? `${milliseconds(seen.p99)} ms` : "–", seen ? `99% of requests to seen are faster; half take ${milliseconds(seen.p50)} ms or less` : "no request yet"));
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

const percent = (value) => `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)}%`;
const inMilliseconds = (value) => `${milliseconds(value)} ms`;

function histories(live) {
  const times = [1000 * (live.now - MOMENT * MOMENTS), 1000 * live.now];
  const failed = live.history.reduce((sum, one) => sum + one.failed, 0);
  const refused = live.history.reduce((sum, one) => sum + one.refused, 0);
  const all = live.history.reduce((sum, one) => sum + one.requests, 0);
  const read = (name) => moments(live).map((one) => one?.[name] ?? null);
  const card = (chart) => el("div", { class: "card" }, timeline({ times, ...chart }));
  return [
    card({ title: "Documents taken", unit: "a second", said: perSecond, series: [{ values: rates(live, remembered) }] }),
    card({ title: "Searches", unit: "a second", said: perSecond, series: [{ values: rates(live, (one) => one.searches) }] }),
    card({ title: "Response time", unit: "of all requests", said: inMilliseconds, series: [{ name: "half within", values: read("p50") }, { name: "99% within", values: read("p99") }] }),
    card({
      title: "Errors", unit: "of the requests", said: percent, most: 1,
      note: `${count(failed)} of ${count(all)} requests failed in the service (5xx), ${count(refused)} were refused (4xx)`,
      series: [{ name: "failed", values: shares(live, (one) => one.failed, (one) => one.requests) }, { name: "refused", values: shares(live, (one) => one.refused, (one) => one.requests) }],
    }),
    card({ title: "Duplicates", unit: "of the documents taken", said: percent, most: 1, series: [{ values: shares(live, (one) => one.duplicates, remembered) }] }),
  ];
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
      histories(live),
      health(live), times(live), segments(live.index)),
    hits(live));
  content.querySelectorAll("details").forEach((one, at) => { one.open = unfolded[at] ?? false; });
  reach()[focused]?.focus({ preventScroll: true });
}

async function look() {
  clearTimeout(timer);
  try {
    const live = await ask("/v1/live");
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
