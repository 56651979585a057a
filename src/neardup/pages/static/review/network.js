// A cluster as a network: documents are dots, similarities are lines, keepers have a ring. The same documents are shown at
// every threshold, so the picture divides while the threshold moves.

import { count, el, plain, plural, score, show, svg } from "/page/dom.js";
import { get, oneByOne } from "./api.js";
import { state, trouble } from "./state.js";

const WIDE = 640, HIGH = 400, EDGE = 26; // units of the picture
const ROUNDS = 260;
const COLOURS = 6; // of clusters, see review.css

let open = null; // the network that is shown: {row, box, places}

/** Places of the dots: similar documents pull each other, all push each other away. The same answer for the same documents. */
function layout(nodes, edges) {
  const points = nodes.map((_, at) => ({
    x: WIDE / 2 + 0.35 * HIGH * Math.cos((2 * Math.PI * at) / nodes.length), y: HIGH / 2 + 0.35 * HIGH * Math.sin((2 * Math.PI * at) / nodes.length), dx: 0, dy: 0,
  }));
  const ideal = Math.sqrt((WIDE * HIGH) / Math.max(1, nodes.length)) * 0.62;
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of points) { one.dx = 0; one.dy = 0; }
    for (let i = 0; i < points.length; i++) {
      for (let j = i + 1; j < points.length; j++) {
        const dx = points[i].x - points[j].x || 0.01 * (i - j), dy = points[i].y - points[j].y || 0.01;
        const push = (ideal * ideal) / (dx * dx + dy * dy);
        points[i].dx += dx * push; points[i].dy += dy * push;
        points[j].dx -= dx * push; points[j].dy -= dy * push;
      }
    }
    for (const [i, j, similarity] of edges) {
      const dx = points[i].x - points[j].x, dy = points[i].y - points[j].y;
      const pull = (similarity ** 4 * Math.hypot(dx, dy)) / ideal / 2;
      points[i].dx -= dx * pull; points[i].dy -= dy * pull;
      points[j].dx += dx * pull; points[j].dy += dy * pull;
    }
    const most = 24 * (1 - round / ROUNDS) + 0.5;
    for (const one of points) {
      one.dx += (WIDE / 2 - one.x) * 0.05; one.dy += (HIGH / 2 - one.y) * 0.08;
      const length = Math.hypot(one.dx, one.dy) || 1;
      one.x = Math.min(WIDE - EDGE, Math.max(EDGE, one.x + (one.dx / length) * Math.min(length, most)));
      one.y = Math.min(HIGH - EDGE, Math.max(EDGE, one.y + (one.dy / length) * Math.min(length, most)));
    }
  }
  return points;
}

const said = (pieces, documents) => {
  const many = pieces.filter((one) => one.documents > 1).map((one) => count(one.documents));
  const alone = pieces.filter((one) => one.documents === 1).length;
  if (pieces.length === 1) return `${plural(documents, "document")} in one cluster`;
  const clusters = many.length ? `${plural(many.length, "cluster")} (${many.slice(0, 6).join(", ")}${many.length > 6 ? ", …" : ""} documents)` : "";
  const others = alone ? `${plural(alone, "document")} without a duplicate` : "";
  return [clusters, others].filter(Boolean).join(", ");
};

function dot(node, point, colour) {
  const radius = Math.min(16, 6 + 2 * Math.log2(node.documents));
  const own = node.keeper === node.row;
  const label = `${plain(node.id, 80)}${node.documents > 1 ? ` and ${plural(node.documents - 1, "document")} with the same ${state.overview.equal}` : ""}: ${own ? "kept" : "dropped"}`;
  return svg("a", { href: own ? `#/cluster/${node.row}` : `#/compare/${node.keeper}/${node.row}`, "aria-label": label },
    svg("title", {}, label),
    own ? svg("circle", { class: "ring", cx: point.x, cy: point.y, r: radius + 4 }) : null,
    svg("circle", { class: `dot piece-${colour}`, cx: point.x, cy: point.y, r: radius }));
}

function picture(found, places) {
  const { nodes, edges, pieces } = found;
  const colours = new Map(pieces.filter((one) => one.documents > 1).map((one, at) => [one.cluster, at % COLOURS]));
  const joined = ([i, j, similarity]) => similarity >= state.threshold && nodes[i].cluster === nodes[j].cluster;
  const line = (edge) => {
    const [i, j, similarity] = edge;
    return svg("line", { class: joined(edge) ? "tie" : "tie off", x1: places[i].x, y1: places[i].y, x2: places[j].x, y2: places[j].y },
      svg("title", {}, `${plain(nodes[i].id, 60)} and ${plain(nodes[j].id, 60)}: ${score(similarity)}`));
  };
  return svg("svg", { class: "network", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": `Network: ${said(pieces, found.documents)}` },
    edges.filter((edge) => !joined(edge)).map(line), edges.filter(joined).map(line),
    nodes.map((node, at) => dot(node, places[at], colours.get(node.cluster) ?? "alone")));
}

/** The same in rows, for those who do not see the picture. */
function table({ nodes, edges }) {
  const best = nodes.map((_, at) => Math.max(0, ...edges.filter(([i, j]) => i === at || j === at).map((edge) => edge[2])));
  const names = [...new Set(nodes.map((node) => node.cluster))];
  return el("details", {}, el("summary", {}, "As a table"), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Documents of the network" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Document", "Cluster", "Outcome", "Most similar"].map((name, at) => el("th", { scope: "col", class: at === 1 || at === 3 ? "number" : null }, name)))),
    el("tbody", {}, nodes.map((node, at) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { class: "id" }, plain(node.id, 80))),
      el("td", { class: "number" }, count(names.indexOf(node.cluster) + 1)),
      el("td", {}, node.keeper === node.row ? "kept" : "dropped"),
      el("td", { class: "number" }, best[at] ? score(best[at]) : "–")))))));
}

const draw = oneByOne(async () => {
  if (!open?.box.isConnected) { open = null; return; }
  const mine = open;
  const found = await get("network", { threshold: state.threshold, row: mine.row });
  if (mine !== open) return;
  const known = found.nodes.map((node) => node.id).join("\n");
  if (mine.known !== known) Object.assign(mine, { known, places: layout(found.nodes, found.edges) });
  const unfolded = mine.box.querySelector("details")?.open;
  show(mine.box,
    el("p", { id: "network-said", role: "status" }, `At ${state.threshold}: ${said(found.pieces, found.documents)}.`,
      found.left_out ? ` ${plural(found.left_out, "more document")} ${found.left_out === 1 ? "is" : "are"} not drawn; the least similar ones are.` : ""),
    picture(found, mine.places),
    el("p", { class: "hint" }, `A dot is a text, larger if several documents have its words; a ring is a keeper. Lines are similarities from ${found.floor} up; pale ones do not count at this threshold, or join documents that a guard or a decision keeps apart. Move the threshold to see where it divides.`),
    table(found));
  if (unfolded) mine.box.querySelector("details").open = true;
});

/** A button that shows the network around a document. Drawn again for another threshold, it stays open. */
export function network(row) {
  const box = el("div", { class: "stack" });
  if (open?.row === row) {
    box.append(...open.box.childNodes);
    open.box = box;
    queueMicrotask(() => draw().catch(trouble)); // when the box is in the page
  } else {
    open = null;
  }
  const start = () => {
    open = { row, box, places: null, known: null };
    draw().catch(trouble);
  };
  return el("div", { class: "stack" },
    el("p", {}, el("button", { type: "button", class: "tight", id: "show-network", on: { click: start } }, "Show the network")), box);
}
