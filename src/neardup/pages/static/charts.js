// Small charts as SVG. Positions are percentages of the box and letters keep their size, so charts fit any screen.
// Every chart has a description in words and its numbers as a table.

import { count, el, plain, svg } from "./dom.js";

const PLOT = 84; // percent of the height; the labels of the axis are below it

const place = (number) => `${Math.round(number * 100) / 100}%`;

/** A round number at or above the largest value; half of it is a whole number. */
function ceiling(value) {
  if (value <= 10) return Math.max(2, 2 * Math.ceil(value / 2 - 1e-9));
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value - 1e-9);
}

/** The number of parts of an axis that gives round labels. */
function steps(low, high) {
  const span = Math.round(100 * (high - low));
  for (const unit of [5, 1]) {
    for (const parts of [4, 5, 3, 6, 2]) if (span % (unit * parts) === 0) return parts;
  }
  return 4;
}

function figure(title, note, picture, head, rows) {
  const table = el("table", {},
    el("thead", {}, el("tr", {}, head.map((name, at) => el("th", { scope: "col", class: at ? "number" : null }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {},
      row.map((cell, at) => (at ? el("td", { class: "number" }, cell) : el("th", { scope: "row" }, cell)))))));
  return el("figure", { class: "chart" },
    el("figcaption", {}, title, note ? el("span", {}, ` ${note}`) : null),
    picture,
    rows.length ? el("details", {}, el("summary", {}, "As a table"), el("div", { class: "scroll" }, table)) : null);
}

const LEVELS = [0.5, 1].map((part) => [part, place(PLOT * (1 - part) + 4)]);

const gridlines = () => LEVELS.map(([, y]) => svg("line", { class: "gridline", x1: "0", x2: "100%", y1: y, y2: y }));

/** The numbers of the gridlines, drawn above the bars. */
const scale = (top, said) => LEVELS.map(([part, y]) => svg("text", { class: "scale", x: "0", y, dy: "-0.3em" }, said(top * part)));

/** Bars side by side: bins of {from, to, count}. `cut` draws a line at a value of the axis; bars below it are
 *  pale. */
export function histogram({ title, note = "", bins, cut = null, unit = "pairs", axis = "", picked = null, said = count, label = (value) => value.toFixed(2) }) {
  const low = bins.length ? bins[0].from : 0;
  const high = bins.length ? bins[bins.length - 1].to : 1;
  const span = high - low || 1;
  const at = (value) => (100 * (value - low)) / span;
  const top = ceiling(Math.max(0, ...bins.map((bin) => bin.count)));
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  const summary = `${plain(title)}: ${count(total)} ${unit} from ${label(low)} to ${label(high)}` +
    (cut === null ? "" : `, cut at ${label(cut)}`);
  const picture = svg("svg", { class: "tall", role: "img", "aria-label": summary },
    gridlines(),
    bins.map((bin) => {
      const height = PLOT * (bin.count / top);
      return svg("rect", {
        class: cut !== null && bin.to <= cut + 1e-9 ? "bar off" : "bar",
        x: place(at(bin.from) + 0.08 * (at(bin.to) - at(bin.from))),
        width: place(0.84 * (at(bin.to) - at(bin.from))),
        y: place(PLOT + 4 - Math.max(height, bin.count ? 0.8 : 0)),
        height: place(Math.max(height, bin.count ? 0.8 : 0)),
      }, svg("title", {}, `${label(bin.from)} to ${label(bin.to)}: ${count(bin.count)} ${unit}`));
    }),
    scale(top, said),
    svg("line", { class: "axis", x1: "0", x2: "100%", y1: place(PLOT + 4), y2: place(PLOT + 4) }),
    Array.from({ length: steps(low, high) + 1 }, (_, step) => step / steps(low, high)).map((part) => svg("text", {
      x: place(100 * part), y: "100%", "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle",
    }, label(low + span * part))),
    cut === null || cut < low || cut > high ? null : [
      svg("line", { class: "cut", x1: place(at(cut)), x2: place(at(cut)), y1: "4%", y2: place(PLOT + 4) }),
      svg("text", {
        class: "cut-label", x: place(at(cut)), y: "4%", dy: "0.7em",
        dx: at(cut) > 80 ? "-0.4em" : "0.4em", "text-anchor": at(cut) > 80 ? "end" : "start",
      }, `threshold ${label(cut)}`),
    ]);
  if (picked) brush(picture, (part) => low + span * part, picked);
  const framed = axis ? axes(picture, axis, `number of ${unit}`, cut === null ? [] : [["bar", `${label(cut)} or more`], ["bar off", "below the threshold"]]) : picture;
  return figure(title, note, framed, ["from – to", unit],
    bins.map((bin) => [`${label(bin.from)} – ${label(bin.to)}`, count(bin.count)]));
}

/** A legend of [class, meaning]. */
function meanings(list) {
  const shape = (name) => (name.startsWith("bar") ? svg("rect", { class: name, width: "100%", height: "100%" }) : svg("line", { class: name, x1: "0", x2: "100%", y1: "50%", y2: "50%" }));
  const sample = (name) => svg("svg", { class: "sample", "aria-hidden": "true" }, shape(name));
  return list.length > 1 ? el("ul", { class: "meanings" }, list.map(([name, meaning]) => el("li", {}, sample(name), meaning))) : null;
}

/** A picture with the titles of its axes and a legend. */
function axes(picture, across, up, legend) {
  return el("div", { class: "axes" },
    el("p", { class: "axis-up" }, `↑ ${up}`),
    picture,
    el("p", { class: "axis-across" }, `${across} →`),
    meanings(legend));
}

/** Drag over a picture to choose a range of the axis; `picked(from, to)` is called with its values. */
function brush(picture, value, picked) {
  let start = null;
  const mark = svg("rect", { class: "brush", y: "4%", height: place(PLOT), width: "0" });
  picture.append(mark);
  picture.classList.add("brushed");
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const draw = (end) => {
    mark.setAttribute("x", place(100 * Math.min(start, end)));
    mark.setAttribute("width", place(100 * Math.abs(end - start)));
  };
  picture.addEventListener("pointerdown", (event) => { start = at(event); picture.setPointerCapture(event.pointerId); });
  picture.addEventListener("pointermove", (event) => { if (start !== null) draw(at(event)); });
  picture.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [from, to] = [start, at(event)].sort((a, b) => a - b);
    start = null;
    if (to - from > 0.01) picked(value(from), value(to));
    else mark.setAttribute("width", "0");
  });
}

/** Horizontal bars: rows of {label, value, of}. `of` is the total that the value is a part of. */
export function bars({ title, note = "", rows, unit = "", said = count, most = 12 }) {
  const shown = rows.slice(0, most);
  const top = Math.max(1e-9, ...shown.map((row) => row.of ?? row.value));
  const height = 2.6; // em a row
  const summary = `${plain(title)}: ` + shown.map((row) => `${plain(row.label, 40)} ${said(row.value)} ${unit}`).join(", ");
  const picture = svg("svg", { role: "img", "aria-label": summary, height: `${Math.max(1, shown.length) * height}em` },
    shown.map((row, at) => {
      const number = row.of === undefined ? said(row.value) : `${said(row.value)} of ${said(row.of)}`;
      return svg("g", {},
        svg("title", {}, `${plain(row.label)}: ${number} ${unit}`),
        svg("text", { class: "label", x: "0", y: `${at * height + 1.1}em` }, plain(row.label, 44)),
        svg("text", { x: "100%", y: `${at * height + 1.1}em`, "text-anchor": "end" }, number),
        svg("rect", { class: "track", x: "0", width: place((100 * (row.of ?? top)) / top), y: `${at * height + 1.45}em`, height: "0.5em", rx: "3" }),
        svg("rect", { class: "bar", x: "0", width: place((100 * row.value) / top), y: `${at * height + 1.45}em`, height: "0.5em", rx: "3" }));
    }));
  const rest = rows.length > most ? `the first ${most} of ${count(rows.length)}` : "";
  return figure(title, [note, rest].filter(Boolean).join("; "), picture, ["", unit || "count"],
    shown.map((row) => [plain(row.label), row.of === undefined ? said(row.value) : `${said(row.value)} of ${said(row.of)}`]));
}

/** Lines over time: `series` of {name, values}, of the same moments; null leaves a gap. `times` has the first and the last
 *  moment in milliseconds, `most` a value that the axis reaches at least. */
export function timeline({ title, note = "", series, times, said = count, unit = "", most = 0 }) {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const top = Math.max(most, ...known) || 1;
  const [from, to] = times;
  const clock = (part) => new Date(from + part * (to - from)).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  const wide = Math.max(1, series[0].values.length - 1);
  const runs = (values) => { // neighbours that are known
    const found = [[]];
    values.forEach((value, at) => (value === null ? found.push([]) : found.at(-1).push([(100 * at) / wide, PLOT + 4 - (PLOT * value) / top])));
    return found.filter((run) => run.length).map((run) => (run.length > 1 ? run : [[run[0][0] - 0.3, run[0][1]], [run[0][0] + 0.3, run[0][1]]]));
  };
  const newest = (values) => values.findLast((value) => value !== null);
  const now = series.map(({ name, values }) => `${name ? `${name} ` : ""}${newest(values) === undefined ? "nothing yet" : said(newest(values))}`).join(", ");
  const summary = `${plain(title)} from ${clock(0)} to ${clock(1)}: last ${now}; at most ${known.length ? said(Math.max(...known)) : "nothing"} ${unit}`;
  const curves = svg("svg", { class: "plane", viewBox: "0 0 100 100", preserveAspectRatio: "none", width: "100%", height: "100%" },
    series.map(({ values }, place) => runs(values).map((run) => svg("polyline", { class: place ? "curve second" : "curve", points: run.map((point) => point.map((one) => one.toFixed(2)).join(",")).join(" ") }))));
  const picture = svg("svg", { class: "middle", role: "img", "aria-label": summary },
    gridlines(), curves, scale(top, said),
    svg("line", { class: "axis", x1: "0", x2: "100%", y1: place(PLOT + 4), y2: place(PLOT + 4) }),
    [0, 0.5, 1].map((part) => svg("text", { x: place(100 * part), y: "100%", "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle" }, part === 1 ? "now" : clock(part))));
  const legend = series.length > 1 ? series.map(({ name }, place) => [place ? "curve second" : "curve", name]) : [];
  return figure(title, note || unit, el("div", { class: "axes" }, picture, meanings(legend), el("p", { class: "hint" }, `last ${now}`)), [], []);
}
