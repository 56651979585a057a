// State that all views share: the overview, the threshold, the progress of decisions, and the queue of pairs.

import { byId, count, el, show } from "/page/dom.js";

export const state = {
  overview: null, // values that do not depend on the threshold
  threshold: null,
  revision: 0,
  queue: null, // {keeper, rows, more, threshold}: the pairs of one cluster that j and k go through
  replaced: false, // another scan has replaced the findings
};

const listeners = { threshold: [], revision: [] };

export const onChange = (what, work) => listeners[what].push(work);

export function setThreshold(threshold) {
  if (threshold === state.threshold) return;
  state.threshold = threshold;
  for (const work of listeners.threshold) work();
}

/** Show the number of decisions, and notify the views if it changed. */
export function setProgress(progress) {
  const { accept, reject, keep, unsure } = progress.counts;
  byId("progress").textContent = progress.decisions === 1 ? "1 decision" : `${count(progress.decisions)} decisions`;
  byId("progress").title = `${count(accept)} accepted, ${count(reject)} rejected, ${count(keep)} keepers chosen, ${count(unsure)} marked unsure; saved as you make them`;
  state.counts = progress.counts;
  if (progress.revision === state.revision) return;
  state.revision = progress.revision;
  for (const work of listeners.revision) work();
}

/** Show a short message, also to screen readers. */
let silence = 0;
export function say(text) {
  byId("said").textContent = text;
  byId("said").classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => byId("said").classList.remove("shown"), 2500);
}

/** Another scan has replaced the findings: say so until the page is loaded again. */
export function replaced() {
  state.replaced = true;
  const again = el("button", { class: "tight", type: "button", on: { click: () => location.reload() } }, "Reload");
  return show(byId("trouble"), el("div", { class: "note bad stack", id: "replaced" },
    el("p", {}, "Another scan has replaced these findings. Decisions are not saved until you reload the page."), el("p", { class: "row" }, again)));
}

/** Show an error; null removes it. */
export function trouble(error) {
  if (state.replaced || error?.status === 409) return replaced();
  if (error === null) return show(byId("trouble"));
  if (error.status === undefined) console.error(error);
  const way = error.status === 401
    ? el("p", {}, "The terminal in which you started ", el("code", {}, "neardup review"), " has printed it.")
    : el("p", { class: "row" }, el("button", { class: "tight", type: "button", on: { click: () => location.reload() } }, "Try again"));
  return show(byId("trouble"), el("div", { class: "note bad stack" }, el("p", {}, error.message), way));
}
