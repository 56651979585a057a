// The filters of the list of clusters, each value with the number of clusters that it would leave.

import { byId, count, el, plain, show } from "/page/dom.js";

/** Lanes: what differs between a removed document and the one that is kept. */
export const LANES = {
  chain: ["connected through others only", "The two were never compared: only other documents connect them."],
  template: ["template with filled slots", "Three or more texts that differ only in words of the same sentences, like filled-in forms."],
  meaning: ["meaning may change", "Title, language or a negation differ, or the removed document has numbers or names of its own."],
  versions: ["another version", "Sentences were added, removed or rewritten."],
  contained: ["contained in its keeper", "All words of the removed document occur in the kept one."],
  tiny: ["tiny edit", "At most 3 words differ, or 2 of 100."],
  words: ["same words", "Only case, white space or punctuation differ."],
  identical: ["byte-identical", "The same text, byte by byte."],
};
const VECTOR = ["same vector", "The same embedding; the texts may differ."];
export const DOUBTFUL = new Set(["chain", "template", "meaning"]);

const VALUES = {
  show: { doubtful: "doubtful, not yet decided", open: "not yet decided", decided: "decided", unsure: "marked unsure" },
  lane: Object.fromEntries(Object.entries(LANES).map(([lane, [name]]) => [lane, name])),
  change: { title: "title", numbers: "numbers", names: "names", negation: "negation", language: "language", words: "words" },
  ratio: { half: "under half as long", shorter: "shorter", equal: "about as long or longer" },
};

/** Name what exact duplicates have in common: "words", or the "vector" of a scan by embeddings. */
export function nameEqual(equal) {
  if (equal === "vector") LANES.words = VECTOR;
  VALUES.lane.words = LANES.words[0];
}

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language" });
const TITLES = { show: "Decision", lane: "What differs", change: "Change in", ratio: "Removed document is", source: "Source", language: "Language (a guess)" };
const ALL = { show: "all", lane: "", change: "", ratio: "", source: "", language: "" };

function select(id, title, options, value, changed) {
  return el("div", {}, el("label", { for: id }, title),
    el("select", { id, on: { change: (event) => changed(event.target.value) } },
      options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
}

/** Draw the filters; `changed(name, value)` is called when a person chooses another value. */
export function drawFilters(box, query, facets, { order }, changed) {
  const focused = document.activeElement?.id;
  const facet = (name) => {
    const known = facets[name].filter(([value, many]) => many || value === query[name]);
    if (!known.length || (name === "source" && known.length < 2)) return null;
    const options = known.map(([value, many]) => [value, `${plain(name === "language" ? LANGUAGES.of(value) : VALUES[name]?.[value] ?? value, 50)} (${count(many)})`]);
    return select(`by-${name}`, TITLES[name], [[ALL[name], "all"], ...options], query[name], (value) => changed(name, value));
  };
  const range = query.least || query.most
    ? el("div", {}, el("span", { class: "label" }, "Similarity"), el("button", {
      type: "button", class: "tight", id: "by-similarity", on: { click: () => { changed("least", ""); changed("most", ""); } },
    }, `${query.least || "0"} to ${query.most || "1"} ✕`)) : null;
  show(box, select("by-order", "Sort by", Object.entries(order), query.order, (value) => changed("order", value)),
    ["show", "lane", "change", "ratio", "source", "language"].map(facet), range);
  if (focused?.startsWith("by-")) byId(focused)?.focus({ preventScroll: true });
}
