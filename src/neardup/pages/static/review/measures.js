// Every measure of a pair, and the shingles it shares or not.

import { count, el, score, visible } from "/page/dom.js";

function line(name, value, part, meaning) {
  const bar = el("span", { class: "part" }, el("span", {}));
  bar.firstChild.style.width = `${Math.round(100 * Math.max(0, Math.min(1, part)))}%`;
  return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, value),
    el("td", { class: "wide" }, bar), el("td", { class: "soft" }, meaning));
}

export function measures({ scores, shingles: found, width, words, measure, similarity }) {
  const [shared, left, right] = found.counts;
  const likeness = (name, value, meaning) => line(name, value === null ? "–" : score(value), value ?? 0, meaning);
  const distance = (name, bits, meaning) => line(name, `${bits} bits`, 1 - bits / 64, meaning);
  return el("section", { class: "card stack" },
    el("h2", {}, "Measures"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Measures" }, el("table", {},
      el("tbody", {},
        likeness(`${measure}, by the scan`, similarity, "what the threshold is about"),
        likeness("Jaccard", scores.jaccard, `${count(shared)} of ${count(shared + left + right)} word ${width}-shingles are shared`),
        likeness("Contained, left", scores.containment[0], `of the left one's ${count(words[0])} words, by shingles`),
        likeness("Contained, right", scores.containment[1], `of the right one's ${count(words[1])} words, by shingles`),
        likeness("Cosine", scores.cosine, "of word counts"),
        likeness("Edit", scores.edit, scores.edit === null ? "too long to align" : "words kept by an insert/delete alignment"),
        likeness("MinHash", scores.minhash, "Jaccard as 128 values estimate it"),
        distance("Simhash", scores.simhash, "of 64 differ"),
        distance("1-bit MinHash", scores.bits, "of 64 differ")))));
}

function sample(title, number, texts) {
  return el("details", { open: number > 0 && number <= 60 },
    el("summary", {}, `${title}: ${count(number)}`),
    el("ul", { class: "shingles" }, texts.map((text) => el("li", {}, el("bdi", { class: "text" }, visible(text, 300))))),
    number > texts.length ? el("p", { class: "hint" }, `… and ${count(number - texts.length)} more`) : null);
}

export function shingles({ shingles: found, width }) {
  const [shared, left, right] = found.counts;
  return el("section", { class: "card stack" },
    el("h2", {}, "Shingles"),
    el("p", { class: "hint" }, `Runs of ${width} words, by which the two were compared.`),
    sample("Shared", shared, found.shared),
    sample("Only left", left, found.only_left),
    sample("Only right", right, found.only_right));
}
