// One cluster: its keeper and why it is kept, and the members with their similarity to it.

import { bytes, count, el, plain, score, show, visible } from "/page/dom.js";
import { badges } from "./clusters.js";
import { LANES } from "./filters.js";
import { get } from "./api.js";
import { moreButton } from "./long_list.js";
import { network } from "./network.js";
import { slotTable } from "./slots.js";
import { state } from "./state.js";

const place = (document) => `${plain(document.file, 60)}, row ${count(document.place)}`;

/** A badge that says whether a document is kept or dropped. */
export function outcome(document) {
  if (document.reference) return el("span", { class: "badge" }, "reference");
  if (document.chosen) return el("span", { class: "badge good" }, "kept, chosen");
  return document.kept ? el("span", { class: "badge good" }, "kept") : el("span", { class: "badge bad" }, "dropped");
}

function facts(document) {
  return el("p", { class: "hint" },
    `${count(document.words)} words, ${bytes(document.bytes)} · `, el("bdi", {}, place(document)),
    document.source && document.source !== document.file ? [" · ", el("bdi", {}, plain(document.source, 60))] : null);
}

function memberRow(document, keeper) {
  const decided = { accept: ["good", "accepted"], reject: ["warn", "rejected"] }[document.decision];
  return el("li", { class: "member" },
    el("div", { class: "row" },
      el("span", { class: "likeness" }, document.lane === "identical" ? "identical" : document.same ? `same ${state.overview.equal}` : document.similarity === null ? "not measured" : score(document.similarity)),
      outcome(document),
      document.measured_now ? el("span", { class: "badge", title: "The scan did not compare it with the keeper; its similarity was measured now." }, "through others") : null,
      decided ? el("span", { class: `badge ${decided[0]}` }, decided[1]) : null,
      document.lane && document.lane !== "words" && document.lane !== "identical" ? el("span", { class: "badge", title: LANES[document.lane][1] }, LANES[document.lane][0]) : null,
      document.changes.length ? el("span", { class: "hint" }, `differs in ${document.changes.join(", ")}`) : null,
      el("bdi", { class: "id" }, plain(document.id, 120)),
      el("a", { class: "button tight push", href: `#/compare/${keeper.row}/${document.row}` }, "Compare",
        el("span", { class: "unseen" }, ` with ${plain(document.id, 80)}`))),
    el("bdi", { class: "text begins" }, visible(document.begins, 240)),
    facts(document));
}

/** `row` is the document in the address; it stays the same while the threshold moves. */
export function drawCluster(box, cluster, row) {
  const { keeper } = cluster;
  const members = el("ol", { class: "members" }, cluster.members.map((one) => memberRow(one, keeper)));
  const more = moreButton(members, cluster.size - 1, async (offset) => {
    const next = await get("cluster", { threshold: state.threshold, row: keeper.row, offset });
    return next.members.map((one) => memberRow(one, keeper));
  });
  show(box,
    el("p", { class: "back" }, el("a", { href: "#/clusters" }, "← All clusters")),
    el("div", { class: "row" },
      el("h2", {}, cluster.size === 1 ? "A single document" : `${count(cluster.size)} documents`),
      badges(cluster.lanes),
      cluster.members.length ? el("a", { class: "button tight push primary-link", href: `#/compare/${keeper.row}/${cluster.members[0].row}` },
        "Compare ", el("kbd", {}, "Enter")) : null),
    cluster.lanes.length ? el("ul", { class: "hint flags" }, cluster.lanes.map((lane) => el("li", {}, `${LANES[lane][0]}: ${LANES[lane][1]}`))) : null,
    el("div", { class: "keeper note good stack" },
      el("div", { class: "row" }, el("span", { class: "badge good" }, "keeper"), el("bdi", { class: "id" }, plain(keeper.id, 120))),
      el("p", {}, cluster.why),
      el("bdi", { class: "text begins" }, visible(keeper.begins, 240)),
      facts(keeper)),
    cluster.lanes.includes("template") ? slotTable(keeper.row) : null,
    network(row),
    cluster.members.length ? el("h3", {}, "Members and their similarity to the keeper, the least similar first") : null,
    members, more,
    cluster.rejected.length ? [
      el("h3", {}, "Rejected: not duplicates of the keeper"),
      el("ol", { class: "members" }, cluster.rejected.map((one) => memberRow(one, keeper))),
    ] : null);
}
