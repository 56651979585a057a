// What all views share: the overview, the threshold, how far the decisions have come, and the way through the clusters.

import { byId, count, el, show } from "/page/dom.js";

export const state = {
  overview: null, // what no threshold changes
  threshold: null,
  revision: 0,
  queue: null, // {cluster, place, rows}: the pairs of one cluster that j and k go through
};

const listeners = { threshold: [], revision: [] };

export const onChange = (what, work) => listeners[what].push(work);

export function setThreshold(threshold) {
  if (threshold === state.threshold) return;
  state.threshold = threshold;
  for (const work of listeners.threshold) work();
}

/** What the server says about the decisions; views are told if it is news. */
export function setStanding(standing) {
  const { accept, reject, keep } = standing.counts;
  byId("standing").textContent = standing.decisions === 1 ? "1 decision" : `${count(standing.decisions)} decisions`;
  byId("standing").title = `${count(accept)} accepted, ${count(reject)} rejected, ${count(keep)} keepers chosen; saved as you make them`;
  state.counts = standing.counts;
  if (standing.revision === state.revision) return;
  state.revision = standing.revision;
  for (const work of listeners.revision) work();
}

/** Say something for a moment, also to screen readers. */
let silence = 0;
export function say(text) {
  byId("said").textContent = text;
  byId("said").classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => byId("said").classList.remove("shown"), 2500);
}

/** Show what went wrong, until something goes right. */
export function trouble(error) {
  if (error === null) return show(byId("trouble"));
  if (error.status === undefined) console.error(error);
  const way = error.status === 401
    ? el("p", {}, "The terminal in which you started ", el("code", {}, "neardup review"), " has printed it.")
    : el("p", { class: "row" }, el("button", { class: "tight", type: "button", on: { click: () => location.reload() } }, "Try again"));
  return show(byId("trouble"), el("div", { class: "note bad stack" }, el("p", {}, error.message), way));
}
