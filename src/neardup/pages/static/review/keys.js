// Keyboard shortcuts, and the list of them.

import { byId, el, show } from "/page/dom.js";
import { judge } from "./audit.js";
import { stepCluster } from "./clusters.js";
import { act, backToCluster, stepDifference, stepPair, undo } from "./compare.js";
import { trouble } from "./state.js";

const HELP = [
  ["Anywhere", [["?", "this list"], ["o", "overview"], ["c", "clusters"], ["/", "search"], ["[ ]", "threshold down, up"], ["u", "undo the last decision"]]],
  ["Clusters", [["j k", "next, previous cluster"], ["Enter", "compare its first pair"]]],
  ["Audit", [["a", "right: delete it"], ["r", "wrong: keep both"], ["n", "unsure"]]],
  ["Compare", [
    ["j k", "next, previous pair, on to the next cluster"], ["a", "delete the right one: they are duplicates"],
    ["r", "keep both: they are not duplicates"], ["s", "keep the right one instead"], ["n", "unsure: come back to it"], ["x", "remove the decision about this pair"], ["d e", "next, previous difference"], ["Esc", "back to the cluster"],
  ]],
];

const compareKeys = {
  j: () => stepPair(1), k: () => stepPair(-1), a: () => act("accept"), r: () => act("reject"), s: () => act("keep"),
  x: () => act("clear"), n: () => act("unsure"), d: () => stepDifference(1), e: () => stepDifference(-1), Escape: backToCluster,
};
const auditKeys = { a: () => judge("right"), r: () => judge("wrong"), n: () => judge("unsure") };
const clusterKeys = {
  j: () => stepCluster(1), k: () => stepCluster(-1),
  Enter: () => document.querySelector("#clusters .primary-link")?.click(),
};
const anywhere = {
  "?": openHelp,
  o: () => { location.hash = "#/"; },
  c: () => { location.hash = "#/clusters"; },
  "/": () => { location.hash = "#/clusters"; setTimeout(() => byId("search").focus()); },
  "[": () => move(-1),
  "]": () => move(1),
  u: undo,
};

function move(step) {
  const slider = byId("slider");
  slider.value = slider.valueAsNumber + step;
  slider.dispatchEvent(new Event("input"));
}

const KEYS = "neardup-keys";
const keysOn = () => localStorage.getItem(KEYS) !== "no";

function openHelp() {
  if (!byId("help").open) byId("help").showModal();
}

export function startKeys() {
  show(byId("help"),
    el("h2", { id: "help-title" }, "Keys"),
    HELP.map(([title, keys]) => [
      el("h3", {}, title),
      el("dl", { class: "facts" }, keys.map(([key, what]) => [el("dt", {}, key.split(" ").map((one) => [el("kbd", {}, one), " "])), el("dd", {}, what)])),
    ]),
    el("p", {}, el("label", { for: "keys-on" }, el("input", {
      type: "checkbox", id: "keys-on", checked: keysOn(), on: { change: (event) => localStorage.setItem(KEYS, event.target.checked ? "yes" : "no") },
    }), " Use these keys")),
    el("form", { method: "dialog" }, el("button", { class: "primary" }, "Close")));
  // The security policy of the page forbids forms, so the button needs its own handler.
  byId("help").querySelector("button").addEventListener("click", (event) => { event.preventDefault(); byId("help").close(); });
  byId("keys").addEventListener("click", openHelp);
  addEventListener("keydown", async (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open || !keysOn()) return;
    const inField = event.target.closest?.("input:not([type=range], [type=checkbox]), select, textarea");
    if (inField) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const view = document.body.dataset.view;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // Enter follows a link, except the one of the cluster that is shown already: there it opens the first pair.
    if (key === "Enter" && event.target.closest?.("a:not(.pick[aria-current]), button, summary")) return;
    const work = { compare: compareKeys, clusters: clusterKeys, audit: auditKeys }[view]?.[key] ?? anywhere[key];
    if (!work) return;
    event.preventDefault();
    try {
      await work();
    } catch (error) {
      trouble(error);
    }
  });
}
