// Asking the service: JSON in, JSON out, and the token for services that want one. The token stays in this tab.

import { el } from "./dom.js";

const KEPT = "neardup-token";

/** What the service refused, with its status (0 if it could not be reached) and its reason. */
export class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** The answer to a request: GET without a body, POST with one. */
export async function ask(path, body) {
  // On the server of a review, its key is here already.
  const token = sessionStorage.getItem(KEPT) ?? localStorage.getItem("neardup-review-token");
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const options = { headers, cache: "no-store" };
  if (body !== undefined) {
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    headers["content-type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refusal(0, "The service does not answer. Is it still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, told.reason ?? `The service answered ${answer.status}.`);
  return told;
}

/** A form that asks for the token; `given` is called when there is one. */
export function tokenForm(given) {
  const field = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  return el("form", {
    class: "card stack token",
    on: {
      submit: (event) => {
        event.preventDefault();
        // Only what can be in a header: anything else would be refused by the browser with a riddle.
        sessionStorage.setItem(KEPT, field.value.replace(/[^!-~]/g, ""));
        given();
      },
    },
  },
  el("h2", {}, "This service wants a token"),
  el("p", { class: "soft" }, "The one it was started with, from --token-file or NEARDUP_TOKEN. It is kept in this tab until you close it."),
  el("label", { for: "token" }, "Token"),
  field,
  el("div", { class: "row" }, el("button", { class: "primary" }, "Go on")));
}
