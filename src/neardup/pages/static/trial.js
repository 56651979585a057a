// Shows the result of a trial: verdict, words, fingerprints with their weak bits, PSM's probes, sketches and bands.

import { count, el, score, share, visible } from "./dom.js";

const WEAK = 8;
const LEVELS = 4;

/** All cards of a trial. */
export function trialView(trial) {
  if (!trial.left.code || (trial.right && !trial.right.code)) {
    return [el("p", { class: "note warn" }, "A text without words has no fingerprint, so nothing is similar to it.")];
  }
  return [
    trial.pair && verdict(trial),
    trial.pair && words(trial.pair),
    codes(trial),
    probes(trial),
    sketches(trial),
  ].filter(Boolean);
}

const card = (title, ...children) => el("section", { class: "card stack" }, el("h2", {}, title), ...children);
const say = (...words) => el("p", { class: "soft" }, ...words);

// The verdict

const SAID = {
  identical: ["good", "Identical"], "same words": ["good", "The same words"], "near-duplicate": ["good", "Near-duplicates"],
  different: ["bad", "Different"], empty: ["warn", "Empty"],
};

function verdict({ pair, threshold }) {
  const [kind, title] = SAID[pair.verdict];
  const measures = [
    ["Jaccard similarity", score(pair.jaccard), `shared runs of words, of all; the threshold is ${threshold.toFixed(2)}`],
    ["First in the second", score(pair.containment[0]), "share of the first text's runs of words"],
    ["Second in the first", score(pair.containment[1]), "share of the second text's runs of words"],
    ["Cosine", score(pair.cosine), "of the counts of words"],
    ["Words kept", score(pair.edit), "when one text is edited into the other"],
  ];
  return el("section", { class: `card stack verdict ${kind}` },
    el("h2", {}, title),
    el("div", { class: "two" },
      el("ul", { class: "plain" }, pair.reasons.map((reason) => el("li", {}, reason))),
      el("div", { class: "scroll" }, el("table", {},
        el("caption", { class: "unseen" }, "Measures"),
        el("tbody", {}, measures.map(([name, value, what]) => el("tr", {},
          el("th", { scope: "row" }, name, el("br"), el("span", { class: "soft tiny" }, what)),
          el("td", { class: "number big" }, value))))))));
}

// Words

function words(pair) {
  const [shared, left, right] = pair.shingles;
  const sample = (title, list, all) => el("div", {},
    el("h3", {}, title, " ", el("span", { class: "soft" }, count(all))),
    list.length
      ? el("ul", { class: "plain small" }, list.map((one) => el("li", { class: "text" }, visible(one, 200))),
        all > list.length ? el("li", { class: "soft" }, `… and ${count(all - list.length)} more`) : null)
      : el("p", { class: "soft small" }, "none"));
  return card("Words",
    say("Texts are first normalised, so that case, punctuation and spaces make no difference. Then they are split into overlapping runs of five words, the shingles. Two texts are similar if they share most of their shingles; one changed word changes five of them."),
    pair.diff
      ? el("p", { class: "text diff" }, pair.diff.map(([kind, part]) => [
        el(kind === "left" ? "del" : kind === "right" ? "ins" : "span", {}, visible(part, 2000)), " "]))
      : el("p", { class: "soft small" }, "These texts are too long to align word by word."),
    el("div", { class: "grid" }, sample("Shared", pair.shared, shared), sample("Only in the first", pair.only_left, left), sample("Only in the second", pair.only_right, right)));
}

// Simhash

function codes(trial) {
  const { left, right, pair } = trial;
  const apart = new Set(pair ? pair.differing : []);
  return card("Simhash: 64 bits of votes",
    say("Every word votes on every bit, for 1 or for 0, as often as it occurs; the majority sets the bit. The size of the majority is the bit's margin. A text that changes a little changes its votes a little, so firm bits (strong colour) do not change and weak bits (faint, dashed) may flip."),
    el("div", { class: "two" }, code("First text", left, apart, trial), right ? code("Second text", right, apart, trial) : null),
    pair ? el("p", {}, el("strong", {}, `${count(pair.distance)} of 64 bits ${pair.distance === 1 ? "differs" : "differ"}`),
      pair.distance ? `: ${pair.differing.join(", ")}. ${weakOf(left, right, pair)}` : ".") : null,
    legend(Boolean(pair)),
    el("p", { class: "soft small" }, "The hashes here use the public seed. A live index uses a secret seed, so that nobody can make pages that it takes for duplicates; its codes differ from these."),
    table(trial));
}

function weakOf(left, right, pair) {
  const weak = new Set([...left.weakest.slice(0, 16), ...right.weakest.slice(0, 16)]);
  const from = pair.differing.filter((bit) => weak.has(bit)).length;
  if (from === pair.distance) return `${from === 1 ? "It is" : "All are"} among the 16 weakest of either text.`;
  return `${count(from)} of them ${from === 1 ? "is" : "are"} among the 16 weakest of either text.`;
}

function code(title, fingerprint, apart, trial) {
  const top = Math.max(...fingerprint.margins.map(Math.abs)) || 1;
  const weak = new Set(fingerprint.weakest.slice(0, WEAK));
  const cells = [...fingerprint.bits].map((bit, at) => {
    const number = 63 - at;
    const size = Math.abs(fingerprint.margins[at]);
    const level = Math.min(LEVELS, Math.ceil((LEVELS * size) / top));
    const classes = ["bit", `l${level}`, weak.has(number) && "weak", apart.has(number) && "apart", number >= 64 - trial.header_bits && "head"];
    return el("span", {
      class: classes.filter(Boolean).join(" "),
      title: `bit ${number}: ${bit}, margin ${fingerprint.margins[at]}${apart.has(number) ? ", differs" : ""}`,
    }, bit);
  });
  const summary = `${title}: code ${fingerprint.code}; weakest bits ${fingerprint.weakest.slice(0, WEAK).join(", ")}`;
  return el("figure", { class: "code" },
    el("figcaption", { class: "small" }, el("strong", {}, title), el("span", { class: "soft" }, ` · ${count(fingerprint.tokens)} words · `), el("code", {}, fingerprint.code)),
    el("div", { class: "bits", role: "img", "aria-label": summary }, cells));
}

function legend(both) {
  return el("p", { class: "legend small" },
    el("span", { class: "bit l4", "aria-hidden": "true" }, "1"), " firm ",
    el("span", { class: "bit l1", "aria-hidden": "true" }, "1"), " faint: small margin ",
    el("span", { class: "bit l1 weak", "aria-hidden": "true" }, "0"), ` one of the ${WEAK} weakest `,
    both ? [el("span", { class: "bit l2 apart", "aria-hidden": "true" }, "1"), " differs "] : null,
    el("span", { class: "bit l2 head", "aria-hidden": "true" }, "0"), " in the header");
}

function table({ left, right }) {
  const rows = [...left.bits].map((bit, at) => el("tr", {},
    el("th", { scope: "row" }, 63 - at),
    el("td", { class: "number" }, bit), el("td", { class: "number" }, left.margins[at]),
    right ? [el("td", { class: "number" }, right.bits[at]), el("td", { class: "number" }, right.margins[at])] : null));
  const head = ["Bit", "First", "Margin", ...(right ? ["Second", "Margin"] : [])];
  return el("details", {}, el("summary", {}, "As a table"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Bits and margins" },
    el("table", {}, el("thead", {}, el("tr", {}, head.map((name, at) => el("th", { scope: "col", class: at ? "number" : null }, name)))), el("tbody", {}, rows))));
}

// PSM

function probes(trial) {
  const { flips, left, pair, header_bits: header } = trial;
  const rows = flips.map((flip, number) => {
    const flipped = new Set(flip.bits);
    const strip = [...left.bits.slice(0, header)].map((bit, at) => {
      const turned = flipped.has(63 - at);
      return el("span", { class: turned ? "turned" : null }, turned ? (bit === "1" ? "0" : "1") : bit);
    });
    return el("tr", { class: flip.reaches ? "hit" : null },
      el("td", { class: "number" }, number),
      el("td", { class: "strip" }, strip),
      el("td", {}, flip.bits.length ? flip.bits.join(" + ") : "none: the unchanged header"),
      el("td", { class: "number" }, flip.cost),
      pair ? el("td", {}, flip.reaches ? el("span", { class: "badge good" }, "reaches the second text") : "") : null);
  });
  const head = ["Probe", `Header, ${header} bits`, "Flipped", "Cost", ...(pair ? ["Outcome"] : [])];
  return card("PSM: which flips to try first",
    say(`A table of a million codes is sorted by their first ${header} bits, the header. A near-duplicate whose header is the same is found at once; for the others PSM searches again with some bits flipped, the most likely first: single weak bits, then several weak bits. The cost of a set of flips is the sum of its margins.`),
    pair ? el("p", {}, outcome(trial)) : null,
    el("div", { class: "scroll probes", tabindex: "0", role: "region", "aria-label": "Probes in order" },
      el("table", {}, el("thead", {}, el("tr", {}, head.map((name, at) => el("th", { scope: "col", class: at === 0 || at === 3 ? "number" : null }, name)))), el("tbody", {}, rows))));
}

function outcome({ pair, flips, radius }) {
  const near = pair.distance <= radius;
  if (pair.reached_by === null) return `None of these ${flips.length} probes reaches the header of the second text.`;
  const how = pair.reached_by === 0 ? "Both headers are the same" : `Probe ${pair.reached_by} reaches the header of the second text`;
  return near
    ? `${how}, and the whole codes are ${pair.distance} bits apart: within the radius of ${radius}, so it is found.`
    : `${how}, but the whole codes are ${pair.distance} bits apart, more than the radius of ${radius}: it is a candidate, but it is rejected.`;
}

// MinHash

function sketches({ left, right, pair, bands, rows }) {
  const rowsOf = (fingerprint) => Array.from({ length: bands }, (_, band) => fingerprint.sketch.slice(band * rows, (band + 1) * rows));
  const first = rowsOf(left);
  const second = right ? rowsOf(right) : null;
  const shown = Math.min(bands, 40);
  const list = first.slice(0, shown).map((values, band) => {
    const equal = pair?.bands[band].whole;
    return el("li", { class: equal ? "band equal" : "band" },
      el("span", { class: "name" }, band + 1),
      el("span", { class: "places" }, values.map((value, at) => {
        const same = second && second[band][at] === value;
        return el("span", { class: same ? "place same" : "place", title: second ? `${value} and ${second[band][at]}` : value },
          el("span", {}, value.slice(0, 4)), second ? el("span", {}, same ? "=" : second[band][at].slice(0, 4)) : null);
      })),
      equal ? el("span", { class: "badge good" }, "equal") : null);
  });
  return card("MinHash: a sketch, cut into bands",
    say(`Each of ${count(bands * rows)} places keeps the smallest hash among all shingles of the text. Two texts have the same value in a place as often as they share shingles, so counting equal places estimates their Jaccard similarity without looking at the texts. If a short text leaves a place empty, the place borrows the value of another, so some values occur more than once.`),
    pair ? el("dl", { class: "numbers" },
      el("div", {}, el("dt", {}, "Equal places"), el("dd", {}, `${count(pair.equal)} of ${count(bands * rows)}`), el("dd", {}, "in both sketches")),
      el("div", {}, el("dt", {}, "Estimated"), el("dd", {}, score(pair.estimate)), el("dd", {}, `± ${score(pair.error)} is usual`)),
      el("div", {}, el("dt", {}, "True"), el("dd", {}, score(pair.jaccard)), el("dd", {}, "of the shingles themselves")),
      el("div", {}, el("dt", {}, "Equal bands"), el("dd", {}, `${count(pair.bands.filter((band) => band.whole).length)} of ${count(bands)}`), el("dd", {}, `such a pair shares a band ${share(pair.chance, 1)} of the time`))) : null,
    say(`LSH compares only pairs that agree in a whole band of ${rows} values. There are ${count(bands)} bands: enough to find almost all pairs at the threshold, and few enough that other pairs rarely share a band.`),
    el("ol", { class: "bands" }, list),
    shown < bands ? el("p", { class: "soft small" }, `… and ${count(bands - shown)} more bands`) : null);
}
