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

/** Send a request with the token; a body is text of the type `kind`. Whatever the service answers is returned. */
export async function send(path, { method = "GET", body, kind = "application/json" } = {}) {
  // On the server of a review, the browser already has its key.
  const token = sessionStorage.getItem(KEPT) ?? localStorage.getItem("neardup-review-token");
  const headers = { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { "content-type": kind }) };
  try {
    return await fetch(path, { method, body, headers, cache: "no-store" });
  } catch {
    throw new Refusal(0, "The service does not answer. Is it still running?");
  }
}

/** The answer to a request: GET without a body, POST with one. */
export async function ask(path, body) {
  const answer = await send(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  const reply = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, reply.reason ?? `The service answered ${answer.status}.`);
  return reply;
}

/** A form that asks for the token; `given` is called when the user has entered one. If the service refused the last one, it says so. */
export function tokenForm(given) {
  const refused = sessionStorage.getItem(KEPT) !== null;
  sessionStorage.removeItem(KEPT);
  const field = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const button = el("button", { class: "primary" }, "Go on");
  return el("form", {
    class: "card stack token",
    on: {
      submit: async (event) => {
        event.preventDefault();
        // Only characters that a header can have: the browser refuses others with a message that nobody understands.
        sessionStorage.setItem(KEPT, field.value.replace(/[^!-~]/g, ""));
        field.disabled = button.disabled = true; // the answer may replace this form
        try {
          await given();
        } finally {
          field.disabled = button.disabled = false;
        }
      },
    },
  },
  el("h2", {}, "This service needs a token"),
  refused ? el("p", { class: "note bad", role: "alert" }, "The service refused this token.") : null,
  el("p", { class: "soft" }, "Use the token it was started with, from --token-file or NEARDUP_TOKEN. It is kept in this tab until you close it."),
  el("label", { for: "token" }, "Token"),
  field,
  el("div", { class: "row" }, button));
}
