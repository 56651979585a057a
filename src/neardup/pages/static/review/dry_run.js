// What `neardup apply` would do, without doing it: its counts, why it would stop, and every removal.

import { el, plain, plural, score, show } from "/page/dom.js";
import { get } from "./api.js";
import { LANES } from "./filters.js";
import { exportButtons, moreButton } from "./long_list.js";
import { state, trouble } from "./state.js";

function line(one) {
  return el("tr", {},
    el("th", { scope: "row" }, el("bdi", { class: "id" }, plain(one.id, 80))),
    el("td", {}, el("bdi", { class: "id" }, plain(one.keeper, 80))),
    el("td", { class: "number" }, one.similarity === null ? "–" : score(one.similarity)),
    el("td", {}, LANES[one.lane][0]), el("td", {}, one.decision ? `${one.decision}ed` : ""));
}

/** A button that shows the dry run below it. */
export function dryRun() {
  const box = el("div", { class: "stack", id: "dry-run" });
  const draw = async () => {
    const at = { threshold: state.threshold };
    const found = await get("dry-run", at);
    const rows = el("tbody", {}, found.removals.map(line));
    const more = moreButton(rows, found.removed, async (offset) => (await get("dry-run", { ...at, offset })).removals.map(line));
    show(box,
      el("p", {}, `neardup apply would write ${plural(found.kept, "document")} and leave out ${plural(found.removed, "duplicate")}` +
        (found.filtered ? ` and ${plural(found.filtered, "document")} that a filter left out` : "") + "."),
      found.changed.length ? el("p", { class: "note bad" }, `It would stop: ${plain(found.changed.join("; "), 400)}. Scan again.`) : null,
      found.alarms.length ? el("p", { class: "note warn" }, "It would stop and ask for confirmation, because very many documents would be dropped.") : null,
      found.removed ? [
        el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Documents that would be deleted" }, el("table", {},
          el("thead", {}, el("tr", {}, ["Deleted", "Kept instead", "Similarity", "What differs", "Decided"].map((name, place) =>
            el("th", { scope: "col", class: place === 2 ? "number" : null }, name)))), rows)),
        more,
        exportButtons("removals", at),
      ] : null);
  };
  return [el("p", { class: "row" }, el("button", { type: "button", class: "tight", id: "try-apply", on: { click: () => draw().catch(trouble) } }, "Show what it would do")), box];
}
