// The page "Try it": compares two texts, or one text with the index if the service has one.

import { Refusal, ask, tokenForm } from "./requests.js";
import { byId, count, el, plain, score, show } from "./dom.js";
import { trialView } from "./trial.js";

const PAGE = `The harbour ferry leaves the north pier at eight in the morning and returns at noon. Tickets are sold at the kiosk beside the lifeboat station, and dogs travel free on all sailings. In rough weather the crossing is cancelled; a red flag on the pier tells so an hour before. Bicycles are carried on the lower deck as long as there is room for them.`;
const EXAMPLES = {
  "One word changed": [PAGE, PAGE.replace("at eight", "at nine")],
  "Two words changed": [PAGE, PAGE.replace("at eight", "at nine").replace("rough weather", "heavy weather")],
  "Reworded": [PAGE, `Bicycles are carried on the lower deck while there is room. The harbour ferry leaves the north pier at eight in the morning and returns at noon; tickets are sold on board. In rough weather the crossing is cancelled.`],
  "One inside the other": [PAGE.split(". ").slice(0, 2).join(". ") + ".", PAGE],
  "Unrelated": [PAGE, `Sow broad beans in a sheltered bed as soon as the soil can be worked. Push each seed two inches deep and a hand apart, firm the earth, and cover the row with fleece until the mice have lost interest.`],
};

const form = byId("form");
const left = byId("left");
const right = byId("right");
const threshold = byId("threshold");
let mode = "two";
let asked = 0;

function start() {
  for (const [name, texts] of Object.entries(EXAMPLES)) {
    byId("examples").append(el("button", { type: "button", class: "tight quiet", on: { click: () => {
      [left.value, right.value] = texts;
      go();
    } } }, name));
  }
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.addEventListener("click", () => setMode(button.dataset.mode));
  }
  threshold.addEventListener("input", () => { byId("threshold-now").textContent = Number(threshold.value).toFixed(2); });
  threshold.addEventListener("change", () => { if (byId("result").childElementCount) go(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go(); });
  findIndex();
}

/** Whether the service has an index to look texts up in. */
async function findIndex() {
  try {
    const live = await ask("/v1/live");
    show(byId("asked"));
    const home = { none: null, review: "Review" }[live.state];
    byId("modes").hidden = home !== undefined;
    byId("to-live").hidden = home === null;
    byId("to-docs").hidden = Boolean(home);
    if (home) byId("to-live").textContent = home;
  } catch (problem) {
    tell(problem);
  }
}

function setMode(chosen) {
  mode = chosen;
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }
  byId("second").hidden = mode === "index";
  byId("examples").hidden = mode === "index";
  byId("go").textContent = mode === "index" ? "Look it up" : "Compare";
  show(byId("hits"));
  show(byId("result"));
  show(byId("trouble"));
}

async function go() {
  const mine = ++asked; // an answer to an older request is not shown
  const button = byId("go");
  show(byId("trouble"));
  if (!left.value.trim()) {
    show(byId("trouble"), el("p", { class: "note warn" }, mode === "two" ? "Paste two texts, or choose an example." : "Paste a text."));
    left.focus();
    return;
  }
  button.disabled = true;
  try {
    const second = mode === "two" && right.value.trim() ? right.value : null;
    const question = { left: left.value, right: second, threshold: Number(threshold.value) };
    const hits = mode === "index" ? await ask("/v1/search", { text: left.value }) : null;
    const trial = await ask("/v1/try", question);
    if (mine !== asked) return;
    show(byId("hits"), hits ? hitList(hits.hits) : null);
    show(byId("result"), trialView(trial));
  } catch (problem) {
    if (mine === asked) tell(problem);
  } finally {
    button.disabled = false;
  }
}

function hitList(hits) {
  const rows = hits.slice(0, 20).map((hit) => el("tr", {},
    el("th", { scope: "row", class: "id" }, plain(hit.id, 160)),
    el("td", { class: "number" }, hit.distance === null ? "–" : count(hit.distance)),
    el("td", { class: "number" }, score(hit.similarity)),
    el("td", { class: "number" }, el("button", { type: "button", class: "tight", "aria-label": `Compare with ${plain(hit.id, 80)}`, on: { click: () => compareWith(hit.id) } }, "Compare"))));
  return el("section", { class: "card stack" },
    el("h2", {}, hits.length ? `${count(hits.length)} in the index ${hits.length === 1 ? "is" : "are"} near this text` : "New: nothing in the index is near this text"),
    hits.length
      ? el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Document", "Distance", "Similarity", ""].map((name, at) => el("th", { scope: "col", class: at ? "number" : null }, name || el("span", { class: "unseen" }, "Action"))))),
        el("tbody", {}, rows)))
      : el("p", { class: "soft" }, "The text was looked up but not stored. Its fingerprint is below."));
}

async function compareWith(id) {
  try {
    const stored = await ask(`/v1/documents/${encodeURIComponent(id)}`);
    if (stored.text === null) {
      show(byId("trouble"), el("p", { class: "note warn" }, "This index stores no texts, so there is nothing to compare with."));
      return;
    }
    right.value = stored.text;
    setMode("two");
    await go();
    byId("result").scrollIntoView({ block: "start" });
  } catch (problem) {
    tell(problem);
  }
}

function tell(problem) {
  if (!(problem instanceof Refusal)) throw problem;
  if (problem.status === 401) {
    show(byId("asked"), tokenForm(findIndex));
    byId("token").focus();
    return;
  }
  show(byId("trouble"), el("p", { class: "note bad" }, plain(problem.message, 400)));
}

start();
