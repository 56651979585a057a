// The list of clusters, and the chosen cluster beside it.

import { byId, count, el, plain, plural, score, show, visible } from "/page/dom.js";
import { keepParameters, setParameters } from "./address.js";
import { calm, download, get } from "./api.js";
import { drawBulk } from "./bulk.js";
import { drawCluster } from "./cluster.js";
import { drawFilters, DOUBTFUL, LANES } from "./filters.js";
import { LongList } from "./list.js";
import { onChange, state, trouble } from "./state.js";

const DEFAULTS = { order: "doubt", show: "all", lane: "", change: "", ratio: "", source: "", language: "", search: "", least: "", most: "" };
export const query = { ...DEFAULTS };
const ORDERS = { doubt: "doubt, the most doubtful first", size: "size, the largest first", similarity: "similarity, the least first" };

let list = null;
let parts = null;
let chosen = null; // the row whose cluster is shown
let stale = true;

/** The lanes of a cluster's removals. */
export const badges = (lanes) => lanes.map((lane) => el("span", { class: DOUBTFUL.has(lane) ? "badge warn" : "badge", title: LANES[lane][1] }, LANES[lane][0]));

/** The lanes that have room in the list; the cluster beside it has all. */
const fewBadges = (lanes) => (lanes.length <= 3 ? badges(lanes) : [...badges(lanes.slice(0, 2)),
  el("span", { class: "badge", title: lanes.slice(2).map((lane) => LANES[lane][0]).join(", ") }, `${lanes.length - 2} more`)]);

function item(cluster) {
  const here = chosen !== null && cluster.label === parts.label;
  return el("a", { class: "pick", href: `#/cluster/${cluster.label}`, "aria-current": here ? "true" : null },
    el("span", { class: "pick-head" },
      el("strong", {}, plural(cluster.size, "document")),
      el("span", { class: "soft" }, cluster.least < 1 ? `from ${score(cluster.least)}` : `same ${state.overview.equal}`),
      fewBadges(cluster.lanes),
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
  if (answer.facets) drawFilters(parts.filters, query, answer.facets, { order: ORDERS }, (name, value) => { change(name, value); narrow().catch(trouble); });
  drawBulk(parts.bulk, query, answer.removals);
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
    if (name === "search" && byId("search")) byId("search").value = wanted;
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
  drawCluster(parts.detail, cluster, row);
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

export function startClusters() {
  const searched = calm(250, () => narrow().catch(trouble));
  const search = el("input", {
    id: "search", type: "search", placeholder: "Text or id", autocomplete: "off", spellcheck: "false",
    on: { input: (event) => { change("search", event.target.value); searched(); } },
  });
  parts = {
    list: el("div", { class: "long", role: "group", "aria-label": "Clusters", tabindex: 0 }),
    found: el("p", { class: "hint", role: "status" }),
    none: el("p", { class: "empty", hidden: true }),
    filters: el("div", { class: "choices" }),
    bulk: el("div", { class: "bulk" }),
    detail: el("section", { class: "card stack detail", "aria-label": "The chosen cluster" }),
    label: null,
  };
  show(byId("clusters"),
    el("h1", { class: "unseen" }, "Clusters"),
    el("div", { class: "filters" },
      el("div", {}, el("label", { for: "search" }, "Search"), search),
      parts.filters),
    parts.bulk,
    el("div", { class: "panes" },
      el("section", { class: "card pane-list", "aria-label": "All clusters" }, parts.found, parts.none, parts.list,
        el("p", { class: "row" }, el("span", { class: "hint" }, "Export this list:"),
          ["csv", "jsonl"].map((format) => el("button", { type: "button", class: "tight", on: { click: () => exportList(format).catch(trouble) } }, format.toUpperCase()))),
        el("details", {}, el("summary", {}, "What is doubt?"),
          el("p", { class: "hint" }, "How likely a removal is wrong, by what differs: the title counts most, then how little is similar, then how long a passage is lost. After 20 decisions it also follows what you decided."),
          el("dl", { class: "hint" }, Object.values(LANES).map(([name, why]) => [el("dt", {}, el("strong", {}, name)), el("dd", {}, why)])))),
      parts.detail));
  list = new LongList(parts.list, {
    height: 7.5, rowsOf: (answer) => answer.clusters, draw: item, failed: trouble,
    fetchPage: (offset, limit) => get("clusters", { threshold: state.threshold, ...query, offset, limit }),
  });
  for (const what of ["threshold", "revision"]) onChange(what, () => { stale = true; loadSoon(); });
}
