// Decisions about everything that the list shows: first a preview with its number, then one decision that one key undoes.

import { el, plain, plural, show } from "/page/dom.js";
import { post, reviewer } from "./api.js";
import { say, setProgress, state, trouble } from "./state.js";
import { remember } from "./undo.js";

const DONE = { accept: "accepted", reject: "rejected", unsure: "marked unsure", keep: "with another keeper" };

/** The filter as the server takes it. */
function filterOf({ least, most, source, ...rest }) {
  return { ...rest, ...(source ? { source } : {}), ...(least ? { least: Number(least) } : {}), ...(most ? { most: Number(most) } : {}) };
}

export function drawBulk(box, query, removals) {
  const open = box.querySelector("details")?.open ?? false;
  const result = el("div", { class: "stack", role: "status" });
  const ask = async (action, keep = "") => {
    const wanted = { threshold: state.threshold, action, keep, filter: filterOf(query), name: reviewer() };
    const seen = await post("bulk", wanted);
    const cancel = () => show(result);
    const act = async () => {
      const made = await post("bulk", { ...wanted, expected: seen.pairs });
      remember({ bulk: [made.first, made.last] });
      say(`${plural(made.pairs, "pair")} ${DONE[action]}. Undo with u.`);
      setProgress(made);
    };
    show(result, seen.pairs ? [
      el("p", {}, `${plural(seen.pairs, "pair")} in ${plural(seen.clusters, "cluster")} would be ${DONE[action]}:`),
      el("ul", { class: "hint" }, seen.examples.map((one) => el("li", {}, "keep ", el("bdi", { class: "id" }, plain(one.left, 60)),
        action === "reject" ? " and " : action === "unsure" ? "; unsure about " : ", delete ", el("bdi", { class: "id" }, plain(one.right, 60)))),
      seen.pairs > seen.examples.length ? el("li", {}, `and ${plural(seen.pairs - seen.examples.length, "more pair")}`) : null),
      el("p", { class: "row" },
        el("button", { type: "button", class: "primary", id: "bulk-do", on: { click: () => act().catch(trouble) } }, `Decide ${plural(seen.pairs, "pair")}`),
        el("button", { type: "button", on: { click: cancel } }, "Cancel")),
    ] : el("p", { class: "hint" }, "There is nothing to decide here: everything in this list is decided, or is like that already."));
  };
  const button = (action, text) => el("button", { type: "button", class: "tight", id: `bulk-${action}`, on: { click: () => ask(action).catch(trouble) } }, text);
  const policy = el("input", { id: "bulk-keep-by", placeholder: "newest:date", autocomplete: "off", spellcheck: "false" });
  const sources = state.overview.sources;
  const source = sources.length > 1 ? el("select", { id: "bulk-source" }, sources.map((name) => el("option", { value: name }, plain(name, 60)))) : null;
  show(box, el("details", { class: "card", open: open || null },
    el("summary", {}, `Decide everything in this list: ${plural(removals, "removal")}`),
    el("div", { class: "stack" },
      el("p", { class: "hint" }, "Only pairs that are not decided yet are changed. You see the number first, and one key undoes all of it."),
      el("div", { class: "row" }, button("accept", "Delete all of them"), button("reject", "Keep all of them"), button("unsure", "Mark as unsure")),
      el("div", { class: "row" },
        source ? [el("label", { for: "bulk-source" }, "Keep the document of source"), source,
          el("button", { type: "button", class: "tight", on: { click: () => ask("keep", `source:${source.value}`).catch(trouble) } }, "Preview")] : null),
      el("div", { class: "row" }, el("label", { for: "bulk-keep-by" }, "Keep by a policy"), policy,
        el("button", { type: "button", class: "tight", id: "bulk-keep", on: { click: () => ask("keep", policy.value.trim()).catch(trouble) } }, "Preview"),
        el("span", { class: "hint" }, "longest, first, last, newest:FIELD, oldest:FIELD, highest:FIELD, lowest:FIELD")),
      result)));
}
