// Makes elements from plain values. Text only becomes text nodes, so nothing in a document is ever executed.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children. Children are nodes, strings or numbers; null and false are left out.
 *  Attributes: `on` holds event listeners by name, `class` the classes; true is an empty attribute; null and false none. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Replace the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** "1 word", "2,000 words". */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export const byId = (id) => document.getElementById(id);

// Invisible characters with an effect: controls, direction marks, zero-width characters, lone surrogates, and the tags
// and private characters that fonts may draw as anything.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

/** The name by which a hidden character is shown: U+202E. */
const named = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

/** A text as nodes, with hidden characters as visible marks; at most `most` characters. */
export function visible(text, most = 100_000) {
  const whole = document.createDocumentFragment();
  const cut = cutAt(text, most);
  const part = text.slice(0, cut);
  let at = 0;
  for (const match of part.matchAll(HIDDEN)) {
    if (match.index > at) whole.append(part.slice(at, match.index));
    whole.append(el("span", { class: "mark", title: "a character that cannot be seen" }, named(match[0])));
    at = match.index + match[0].length;
  }
  if (at < part.length) whole.append(part.slice(at));
  if (cut < text.length) whole.append(el("span", { class: "soft" }, ` … (${count(text.length - cut)} more characters)`));
  return whole;
}

/** A text as one string with visible marks, for titles and labels. */
export function plain(text, most = 200) {
  const cut = cutAt(text, most);
  const part = text.slice(0, cut).replace(HIDDEN, (character) => `[${named(character)}]`).replace(/\s+/g, " ");
  return cut < text.length ? part + "…" : part;
}

function cutAt(text, most) {
  if (text.length <= most) return text.length;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code < 0xdc00 ? most - 1 : most;
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 1,234,567 */
export const count = (number) => WHOLE.format(number);

/** 0.834, as the command prints it */
export const score = (number) => (number === null || number === undefined ? "–" : number.toFixed(3));

/** 12.5% */
export const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}%` : "–");

/** 119.1 KB, as the command prints it */
export function bytes(number) {
  if (number < 1000) return `${count(number)} bytes`;
  const units = ["KB", "MB", "GB", "TB"];
  let at = -1;
  do {
    number /= 1000;
    at += 1;
  } while (number >= 1000 && at < units.length - 1);
  return `${number.toFixed(1)} ${units[at]}`;
}
