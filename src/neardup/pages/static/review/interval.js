// The estimate of an audit, in words and as a picture.

import { count, el, plain, plural, svg } from "/page/dom.js";

const percent = (share) => {
  const value = 100 * share;
  return `${value > 99 && value < 100 ? value.toFixed(1) : Math.round(value)}%`;
};

/** "Estimated 96% right (95% interval 94% to 98%), from 50 judged removals." */
export function estimateText(audit) {
  if (audit.share === null) return "Nobody has judged a random sample yet, so it is not known how many of these removals are right.";
  if (!audit.judged) return "All of them are byte-identical to a document that is kept.";
  return `Estimated ${percent(audit.share)} right (95% interval ${percent(audit.low)} to ${percent(audit.high)}), from ${plural(audit.judged, "judged removal")}` +
    (audit.wrong ? `, ${count(audit.wrong)} of them wrong` : "") +
    (audit.corrected ? ` (${count(audit.corrected)} corrected since)` : "") + ".";
}

/** When and by whom. */
export function auditSource(audit) {
  if (!audit.judged) return "";
  const who = audit.names.length ? ` by ${audit.names.map((name) => plain(name, 60)).join(", ")}` : "";
  return `Last answer${who} on ${audit.last.slice(0, 10)}.` + (audit.identical ? ` ${plural(audit.identical, "byte-identical removal")} ${audit.identical === 1 ? "counts" : "count"} as right.` : "");
}

/** The interval on a line from 0% to 100%. */
export function intervalPicture(audit) {
  const at = (share) => `${(100 * share).toFixed(2)}%`;
  const known = audit.share !== null;
  const label = known ? `Between ${percent(audit.low)} and ${percent(audit.high)} of the removals are right` : "Nothing is known yet";
  return el("figure", { class: "chart interval" },
    svg("svg", { role: "img", "aria-label": label, height: "3.2em" },
      svg("rect", { class: "track", x: "0", y: "0.6em", width: "100%", height: "0.6em", rx: "4" }),
      known ? svg("rect", { class: "bar", x: at(audit.low), y: "0.6em", width: at(Math.max(0.004, audit.high - audit.low)), height: "0.6em", rx: "4" }) : null,
      known ? svg("circle", { class: "point", cx: at(audit.share), cy: "0.9em", r: "0.45em" }) : null,
      [0, 0.25, 0.5, 0.75, 1].map((part) => svg("text", {
        x: at(part), y: "2.6em", "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle",
      }, percent(part)))));
}
