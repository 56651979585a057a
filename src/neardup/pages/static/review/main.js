// The frame: the current view, the threshold, and polling for decisions of other tabs.

import { byId } from "/page/dom.js";
import { get, setScan, takeToken } from "./api.js";
import { keepParameters, readAddress, setParameters } from "./address.js";
import { setFilters, startClusters, showCluster, showList } from "./clusters.js";
import { showAudit, startAudit } from "./audit.js";
import { showCompare, startCompare } from "./compare.js";
import { nameEqual } from "./filters.js";
import { startKeys } from "./keys.js";
import { startOverview } from "./overview.js";
import { replaced, setProgress, setThreshold, state, trouble } from "./state.js";

const POLL = 2000; // milliseconds

/** #/, #/clusters, #/cluster/ROW, #/compare/LEFT/RIGHT, #/audit */
async function route() {
  if (location.hash.startsWith("#token=")) {
    takeToken();
    location.reload();
    return;
  }
  if (location.hash && !location.hash.startsWith("#/")) return; // a place within the page
  const { path, given } = readAddress();
  if (Object.keys(given).length) takeParameters(given);
  keepParameters();
  const [view, ...rows] = path.replace(/^\//, "").split("/");
  const name = { cluster: "clusters", clusters: "clusters", compare: "compare", audit: "audit" }[view] ?? "overview";
  const numbers = rows.map(Number);
  for (const one of ["overview", "clusters", "compare", "audit"]) byId(one).hidden = one !== name;
  for (const one of ["overview", "clusters", "audit"]) {
    const here = one === name || (one === "clusters" && name === "compare");
    if (here) byId(`to-${one}`).setAttribute("aria-current", "page");
    else byId(`to-${one}`).removeAttribute("aria-current");
  }
  const entered = document.body.dataset.view !== undefined && document.body.dataset.view !== name;
  document.body.dataset.view = name;
  if (entered) byId("main").focus({ preventScroll: true });
  if (entered || name === "compare" || name === "audit") scrollTo(0, 0);
  document.title = { overview: "Overview", clusters: "Clusters", compare: "Compare", audit: "Audit" }[name] + " – neardup review";
  trouble(null);
  if (view === "clusters") await showList();
  if (view === "cluster") await showCluster(numbers[0]);
  if (view === "compare") await showCompare(numbers[0], numbers[1]);
  if (view === "audit") await showAudit();
}

/** A link or the back button: take over its threshold and filters. */
function takeParameters(given) {
  const at = state.overview.steps.indexOf(Number(given.threshold ?? state.overview.threshold));
  const slider = byId("slider");
  if (at >= 0 && slider.valueAsNumber !== at) {
    slider.value = at;
    slider.dispatchEvent(new Event("input"));
  }
  setFilters(given);
}

function startSlider() {
  const slider = byId("slider");
  const { steps } = state.overview;
  const kept = Number(readAddress().given.threshold ?? sessionStorage.getItem("threshold"));
  slider.max = steps.length - 1;
  const changed = () => {
    const threshold = steps[slider.valueAsNumber];
    byId("at").textContent = threshold === Math.round(threshold * 100) / 100 ? threshold.toFixed(2) : String(threshold);
    slider.setAttribute("aria-valuetext", `${threshold}`);
    sessionStorage.setItem("threshold", threshold);
    setParameters({ threshold: threshold === state.overview.threshold ? "" : threshold });
    setThreshold(threshold);
  };
  const at = steps.indexOf(kept);
  slider.value = at >= 0 ? at : steps.indexOf(state.overview.threshold);
  slider.addEventListener("input", changed);
  byId("threshold").hidden = false;
  changed();
}

let lost = false;
let waiting = 0;
async function poll() {
  clearTimeout(waiting);
  if (!document.hidden) {
    try {
      const progress = await get("state");
      setProgress(progress);
      if (progress.replaced) replaced();
      else if (lost) trouble(null);
      lost = false;
    } catch (error) {
      lost = true;
      trouble(error);
    }
  }
  waiting = setTimeout(poll, POLL);
}

async function start() {
  takeToken();
  state.overview = await get("overview");
  nameEqual(state.overview.equal);
  setScan(state.overview.scan);
  state.revision = state.overview.revision;
  setProgress(state.overview);
  if (location.hash.startsWith("#/")) setParameters(readAddress().given); // before the slider writes its own
  startSlider();
  startOverview();
  startClusters();
  startCompare();
  startAudit();
  startKeys();
  addEventListener("hashchange", () => route().catch(trouble));
  await route();
  waiting = setTimeout(poll, POLL);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
}

start().catch((error) => {
  document.getElementById("overview").replaceChildren();
  trouble(error);
});
