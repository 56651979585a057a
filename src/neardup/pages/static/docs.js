// The API for people: every route of the OpenAPI document, with an example that can be changed and run.

import { Refusal, ask, send, tokenForm } from "./requests.js";
import { byId, count, el, plain, show, visible } from "./dom.js";

const MOST = 100_000; // characters of an answer that are shown

let schemas = {};

/** The schema that a reference means. */
const resolved = (schema) => (schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema ?? {});

/** A type in words: "text or null", "list of text". */
function typeOf(given) {
  const schema = resolved(given);
  const NAMES = { string: "text", integer: "whole number", number: "number", boolean: "true or false", null: "null" };
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object" || schema.properties) return "object";
  return NAMES[schema.type] ?? "any value";
}

function fields(title, rows, note = "") {
  if (!rows.length) return null;
  return [el("h3", {}, title), note ? el("p", { class: "hint" }, note) : null, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", {},
    el("thead", {}, el("tr", {}, ["Name", "Type", "Meaning"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(({ name, type, meaning, required }) => el("tr", {},
      el("th", { scope: "row" }, el("code", {}, name)), el("td", {}, type),
      el("td", {}, [required ? "required" : "", meaning ?? ""].filter(Boolean).join("; ")))))))];
}

const properties = (given) => {
  const schema = resolved(given);
  return Object.entries(schema.properties ?? {}).map(([name, one]) => ({
    name, type: typeOf(one), required: (schema.required ?? []).includes(name),
    meaning: one.description ?? (one.default === undefined || one.default === null ? "" : `${JSON.stringify(one.default)} unless it is given`),
  }));
};

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The same request in a terminal. */
function curl({ method, path, body, kind }) {
  const words = ["curl", `${location.origin}${path}`];
  if (method !== "GET" && !(method === "POST" && body !== undefined)) words.push("-X", method);
  if (body !== undefined) words.push("-H", quoted(`content-type: ${kind}`), "--data-binary", quoted(body));
  return words.join(" ");
}

function pretty(text, kind) {
  if (!kind.startsWith("application/json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The example of an operation: fields that can be changed, the command for a terminal, and a button that runs it. */
function runner(name, method, path, operation, kind, content) {
  const id = (part) => `${name}-${part}`;
  const inPath = (operation.parameters ?? []).find((one) => one.in === "path");
  const place = inPath ? el("input", { id: id("path"), value: inPath.example ?? "page-1", autocomplete: "off", spellcheck: "false" }) : null;
  const given = content?.example;
  const text = typeof given === "string" ? given : JSON.stringify(given, null, 2);
  const body = content ? el("textarea", { id: id("body"), rows: Math.min(12, text.split("\n").length + 1), spellcheck: "false" }, text) : null;
  const command = el("pre", { tabindex: 0, role: "region", "aria-label": "The same in a terminal" });
  const answer = el("div", { class: "stack answer", role: "status" });
  const request = () => ({ method, kind, path: place ? path.replace("{id}", encodeURIComponent(place.value)) : path, body: body?.value });
  const update = () => show(command, visible(curl(request()), 20_000));
  for (const field of [place, body]) field?.addEventListener("input", update);
  update();
  const run = async () => {
    try {
      const { path: to, ...options } = request();
      const before = performance.now();
      const reply = await send(to, options);
      const said = await reply.text();
      const taken = Math.max(1, Math.round(performance.now() - before));
      const type = reply.headers.get("content-type") ?? "";
      show(answer,
        el("p", {}, el("span", { class: `badge ${reply.ok ? "good" : "bad"}` }, String(reply.status)), ` ${operation.responses[reply.status]?.description ?? ""}, after ${count(taken)} ms`),
        el("pre", { tabindex: 0, role: "region", "aria-label": "The answer" }, visible(pretty(said, type), MOST)));
    } catch (problem) {
      if (!(problem instanceof Refusal)) throw problem;
      show(answer, el("p", { class: "note bad" }, problem.message));
    }
  };
  return el("div", { class: "stack" },
    el("h3", {}, "Example"),
    place ? [el("label", { for: id("path") }, "id"), place] : null,
    body ? [el("label", { for: id("body") }, kind === "application/json" ? "Body" : `Body (${kind})`), body] : null,
    command,
    el("p", {}, el("button", { type: "button", class: "primary", id: id("run"), on: { click: run } }, "Run")),
    answer);
}

/** A path and a method; one section for each type of body. */
function section(path, method, operation, kind, content, several) {
  const name = `${method}-${path}${several && kind !== "application/json" ? "-lines" : ""}`.replace(/[^a-z0-9]+/gi, "-").toLowerCase();
  const done = Object.entries(operation.responses).find(([status]) => status < 300);
  const answered = done?.[1].content?.["application/json"]?.schema;
  const problems = Object.entries(operation.responses).filter(([status]) => status >= 400);
  return el("section", { class: "card stack", id: name },
    el("h2", {}, el("span", { class: "badge accent" }, method), " ", el("code", {}, path), several && kind !== "application/json" ? " with one document a line" : ""),
    el("p", {}, operation.description),
    fields("Parameters", (operation.parameters ?? []).map((one) => ({ name: one.name, type: typeOf(one.schema), required: one.required, meaning: one.description ?? one.schema.description }))),
    content ? fields("Body", properties(content.schema), resolved(content.schema).description) : null,
    runner(name, method, path, operation, kind, content),
    answered ? el("details", {}, el("summary", {}, `Answer ${done[0]}`), el("p", {}, resolved(answered).description ?? ""), fields("Fields of the answer", properties(answered))) : null,
    el("details", {}, el("summary", {}, "Errors"), el("dl", { class: "facts small" },
      problems.map(([status, one]) => [el("dt", {}, status), el("dd", {}, one.description)]))));
}

function draw(described) {
  schemas = described.components.schemas;
  const sections = Object.entries(described.paths).flatMap(([path, operations]) => Object.entries(operations).flatMap(([method, operation]) => {
    const bodies = Object.entries(operation.requestBody?.content ?? { "": null });
    return bodies.map(([kind, content]) => section(path, method.toUpperCase(), operation, kind, content, bodies.length > 1));
  }));
  show(byId("content"),
    el("nav", { class: "card", "aria-label": "Requests" }, el("ul", { class: "plain" }, sections.map((one) =>
      el("li", {}, el("a", { href: `#${one.id}` }, one.querySelector("h2").textContent))))),
    sections);
  document.querySelector(location.hash.length > 1 ? `#${CSS.escape(location.hash.slice(1))}` : "#none")?.scrollIntoView();
}

async function start() {
  try {
    draw(await ask("/v1/openapi.json"));
    show(byId("trouble"));
    byId("to-live").hidden = (await ask("/v1/live")).state === "none";
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    if (problem.status === 401) {
      show(byId("content"), tokenForm(start));
      byId("token").focus();
      return;
    }
    show(byId("trouble"), el("p", { class: "note bad" }, plain(problem.message, 400)));
  }
}

start();
