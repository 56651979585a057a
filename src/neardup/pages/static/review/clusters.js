// The list of clusters, and the chosen cluster beside it.

import { byId, count, el, plain, plural, score, show, visible } from "/page/dom.js";
import { keepParameters, setParameters } from "./address.js";
import { calm, download, get } from "./api.js";
import { drawCluster } from "./cluster.js";
import { LongList } from "./list.js";
import { onChange, state, trouble } from "./state.js";

const DEFAULTS = { order: "risk", show: "all", source: "", search: "" };
const query = { ...DEFAULTS };
const ORDERS = { risk: "risk, the riskiest first", size: "size, the largest first", similarity: "similarity, the least first" };
const SHOWS = {
  all: "all clusters", open: "not yet decided", decided: "decided", borderline: "borderline", chain: "chains",
  large: "large", template: "templates",
};
export const FLAGS = {
  borderline: "A member is just above the threshold, by at most 0.03.",
  chain: "Members are similar to the keeper, but fewer than half of their pairs are similar.",
  large: "20 documents or more: often an empty, error or login page.",
  template: "Different texts from one source, all about equally similar to the keeper, like filled-in forms.",
};

let list = null;
let parts = null;
let chosen = null; // the row whose cluster is shown
let stale = true;

export const badges = (flags) => flags.map((flag) => el("span", { class: "badge warn", title: FLAGS[flag] }, flag));

function item(cluster) {
  const here = chosen !== null && cluster.label === parts.label;
  return el("a", { class: "pick", href: `#/cluster/${cluster.label}`, "aria-current": here ? "true" : null },
    el("span", { class: "pick-head" },
      el("strong", {}, plural(cluster.size, "document")),
      el("span", { class: "soft" }, cluster.least < 1 ? `from ${score(cluster.least)}` : "same words"),
      badges(cluster.flags),
      cluster.decided ? el("span", { class: "badge good" }, `${count(cluster.decided)} decided`) : null),
    el("bdi", { class: "id pick-id" }, plain(cluster.keeper, 80)),
    el("bdi", { class: "text pick-text" }, visible(cluster.begins, 200)));
}

async function load(keepPosition = false) {
  stale = false;
  parts.list.setAttribute("aria-busy", "true");
  const answer = await list.reload(keepPosition);
  parts.list.removeAttribute("aria-busy");
  const filtered = answer.total < answer.of;
  parts.found.textContent = (filtered ? `${count(answer.total)} of ${plural(answer.of, "cluster")}` : plural(answer.total, "cluster")) +
    (answer.partial ? "; not all texts could be searched in time" : "");
  const none = answer.of ? "No cluster matches." : "There are no duplicates at this threshold.";
  parts.none.textContent = answer.total ? "" : none;
  parts.none.hidden = answer.total > 0;
  parts.list.hidden = answer.total === 0;
  list.paint();
}

const loadSoon = calm(200, () => { if (stale && !byId("clusters").hidden) reloadAll().catch(trouble); });

/** All documents of the clusters in the list, as a file. */
const exportList = (format) => download("list", { threshold: state.threshold, ...query, format }, `clusters.${format}`);

/** Change a filter or the order; the address shows what differs from the default. */
function change(name, value) {
  query[name] = value;
  setParameters({ [name]: value === DEFAULTS[name] ? "" : value });
}

/** The filters of an address. */
export function setFilters(given) {
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const wanted = given[name] ?? value;
    if (query[name] === wanted) continue;
    change(name, wanted);
    stale = true;
    const field = byId(name === "search" ? "search" : `by-${name}`);
    if (field) field.value = wanted;
  }
}

/** After a filter has changed: the cluster beside the list is one of the list. */
async function narrow() {
  await load();
  if (chosen === null || list.find((cluster) => cluster.label === parts.label) >= 0) return;
  await showList();
}

async function reloadAll() {
  await load(true);
  if (chosen !== null && document.body.dataset.view === "clusters") await draw(chosen);
}

async function draw(row) {
  const cluster = await get("cluster", { threshold: state.threshold, row });
  if (row !== chosen) return;
  parts.label = cluster.label;
  drawCluster(parts.detail, cluster);
  list.paint();
}

/** The list only, or with its first cluster if there is room for both. */
export async function showList() {
  chosen = null;
  parts.label = null;
  document.body.dataset.chosen = "no";
  if (stale) await load();
  const first = await list.wanted(0);
  if (first && matchMedia("(min-width: 60rem)").matches) {
    history.replaceState(null, "", `#/cluster/${first.label}`);
    keepParameters();
    return showCluster(first.label);
  }
  list.paint();
  return show(parts.detail, el("p", { class: "empty" }, "Choose a cluster."));
}

export async function showCluster(row) {
  chosen = row;
  document.body.dataset.chosen = "yes";
  if (stale) await load();
  const before = parts.list.scrollTop;
  await draw(row);
  const place = list.find((cluster) => cluster.label === parts.label);
  if (place >= 0 && parts.list.scrollTop === before) list.reveal(place); // do not move the list if the user has scrolled
}

/** The cluster `step` places after the cluster of a row in the list; undefined at the ends. */
export async function clusterBeyond(row, step) {
  if (stale) await load();
  let label = row;
  if (list.find((cluster) => cluster.label === label) < 0) {
    label = (await get("cluster", { threshold: state.threshold, row })).label;
  }
  const place = list.find((cluster) => cluster.label === label);
  return list.wanted(place < 0 ? 0 : place + step);
}

/** j and k in the list. */
export async function stepCluster(step) {
  const next = chosen === null ? await list.wanted(0) : await clusterBeyond(chosen, step);
  if (next) location.hash = `#/cluster/${next.label}`;
}

function choice(name, options, title) {
  const id = `by-${name}`;
  return el("div", {}, el("label", { for: id }, title),
    el("select", { id, on: { change: (event) => { change(name, event.target.value); narrow().catch(trouble); } } },
      Object.entries(options).map(([value, name]) => el("option", { value }, name))));
}

export function startClusters() {
  const { sources } = state.overview;
  const searched = calm(250, () => narrow().catch(trouble));
  const search = el("input", {
    id: "search", type: "search", placeholder: "Text or id", autocomplete: "off", spellcheck: "false",
    on: { input: (event) => { change("search", event.target.value); searched(); } },
  });
  parts = {
    list: el("div", { class: "long", role: "group", "aria-label": "Clusters", tabindex: 0 }),
    found: el("p", { class: "hint", role: "status" }),
    none: el("p", { class: "empty", hidden: true }),
    detail: el("section", { class: "card stack detail", "aria-label": "The chosen cluster" }),
    label: null,
  };
  show(byId("clusters"),
    el("h1", { class: "unseen" }, "Clusters"),
    el("div", { class: "filters" },
      el("div", {}, el("label", { for: "search" }, "Search"), search),
      choice("order", ORDERS, "Sort by"),
      choice("show", SHOWS, "Show"),
      sources.length > 1 ? choice("source", { "": "all sources", ...Object.fromEntries(sources.map((name) => [name, plain(name, 60)])) }, "Source") : null),
    el("div", { class: "panes" },
      el("section", { class: "card pane-list", "aria-label": "All clusters" }, parts.found, parts.none, parts.list,
        el("p", { class: "row" }, el("span", { class: "hint" }, "Export this list:"),
          ["csv", "jsonl"].map((format) => el("button", { type: "button", class: "tight", on: { click: () => exportList(format).catch(trouble) } }, format.toUpperCase()))),
        el("details", {}, el("summary", {}, "What is risk?"),
          el("p", { class: "hint" }, "Risk is the sum of four things, and the riskiest clusters come first."),
          el("dl", { class: "hint" }, Object.entries(FLAGS).map(([flag, why]) => [el("dt", {}, el("strong", {}, flag)), el("dd", {}, why)])))),
      parts.detail));
  list = new LongList(parts.list, {
    height: 6, rowsOf: (answer) => answer.clusters, draw: item, failed: trouble,
    fetchPage: (offset, limit) => get("clusters", { threshold: state.threshold, ...query, offset, limit }),
  });
  for (const what of ["threshold", "revision"]) onChange(what, () => { stale = true; loadSoon(); });
}
