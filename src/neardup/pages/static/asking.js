// Requests to the service: JSON in, JSON out, with the token if the service needs one. The token is kept in this tab.

import { el } from "./dom.js";

const KEPT = "neardup-token";

/** The service refused a request: its status (0 if it could not be reached) and its reason. */
export class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** The answer to a request: GET without a body, POST with one. */
export async function ask(path, body) {
  // On the server of a review, the browser already has its key.
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
  const reply = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, reply.reason ?? `The service answered ${answer.status}.`);
  return reply;
}

/** A form that asks for the token; `given` is called when the user has entered one. */
export function tokenForm(given) {
  const field = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  return el("form", {
    class: "card stack token",
    on: {
      submit: (event) => {
        event.preventDefault();
        // Only characters that a header can have: the browser refuses others with a message that nobody understands.
        sessionStorage.setItem(KEPT, field.value.replace(/[^!-~]/g, ""));
        given();
      },
    },
  },
  el("h2", {}, "This service needs a token"),
  el("p", { class: "soft" }, "Use the token it was started with, from --token-file or NEARDUP_TOKEN. It is kept in this tab until you close it."),
  el("label", { for: "token" }, "Token"),
  field,
  el("div", { class: "row" }, el("button", { class: "primary" }, "Go on")));
}
