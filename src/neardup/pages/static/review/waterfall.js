// A waterfall: from 1, what a pair lost its similarity to, down to the similarity that is left.

import { count, el, score, svg } from "/page/dom.js";

const CAUSES = {
  numbers: "other numbers", names: "other names", words: "other words in the same place",
  "only left": "words that only the left has", "only right": "words that only the right has", moved: "passages in another place",
};
const ROW = 2.3; // em

export function waterfall({ losses, scores, width }) {
  let level = 1;
  const steps = losses.map(({ cause, share, left, right }) => {
    const from = level;
    level -= share;
    return { name: CAUSES[cause], from: level, to: from, kind: "loss", text: `−${score(share)}`, shingles: left + right };
  });
  const bars = [
    { name: "the same text", from: 0, to: 1, kind: "whole", text: score(1) },
    ...steps,
    { name: "Jaccard similarity", from: 0, to: scores.jaccard, kind: "left", text: score(scores.jaccard) },
  ];
  const at = (value) => `${(100 * Math.max(0, value)).toFixed(2)}%`;
  const said = steps.map(({ name, text }) => `${name} ${text}`).join(", ") || "nothing";
  const picture = svg("svg", { role: "img", "aria-label": `From 1 to ${score(scores.jaccard)}: ${said}`, height: `${bars.length * ROW}em` },
    bars.map(({ name, from, to, kind, text }, place) => [
      svg("text", { class: "label", x: "0", y: `${place * ROW + 0.9}em` }, name),
      svg("text", { x: "100%", y: `${place * ROW + 0.9}em`, "text-anchor": "end" }, text),
      svg("rect", { class: "track", x: "0", width: "100%", y: `${place * ROW + 1.2}em`, height: "0.6em", rx: "3" }),
      svg("rect", { class: `bar ${kind}`, x: at(from), width: at(Math.max(0.004, to - from)), y: `${place * ROW + 1.2}em`, height: "0.6em", rx: "3" }),
    ]));
  return el("section", { class: "card stack" },
    el("h2", {}, "What the similarity was lost to"),
    losses.length ? null : el("p", { class: "hint" }, `They have the same runs of ${width} words.`),
    el("figure", { class: "chart waterfall" }, picture),
    losses.length ? el("p", { class: "hint" },
      `Each run of ${width} words that only one text has counts for the first difference in it: `,
      steps.map(({ name, shingles }) => `${name} ${count(shingles)}`).join(", "), ".") : null);
}
