// Requests to the server. The token comes after the # of the address and is sent in a header of every request.

const KEPT = "neardup-review-token";

/** Take the token out of the address, so that it is neither seen nor bookmarked, and keep it for this server. */
export function takeToken() {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (!found) return;
  localStorage.setItem(KEPT, found[1]);
  history.replaceState(null, "", "#/");
}

class Trouble extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

let scan = ""; // the scan whose findings are shown; the server refuses a page that shows those of another scan

export function setScan(id) {
  scan = id;
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      ...options,
      headers: { ...options.headers, Authorization: `Bearer ${localStorage.getItem(KEPT) ?? ""}`, "X-Neardup-Scan": scan },
    });
  } catch {
    throw new Trouble(0, "The server does not answer. Was it stopped? Start it again with neardup review.");
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Trouble(answer.status, body.reason ?? `The server answered ${answer.status}.`);
}

/** The answer to /api/`name` with these parameters; empty ones are left out. */
export async function get(name, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (await ask(`/api/${name}?${new URLSearchParams(given)}`)).json();
}

let before = Promise.resolve();

/** Send values to /api/`name`; they are on disk when this returns. Requests are sent one after another, because the last decision about a pair counts. */
export function post(name, values) {
  const body = JSON.stringify(values);
  const send = () => ask(`/api/${name}`, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const saved = before.then(send).then((answer) => answer.json());
  before = saved.catch(() => {});
  return saved;
}

/** Save a decision about two rows. */
export const decide = (decision, left, right, note = "") => post("decisions", { decision, left, right, note, name: reviewer() });

const NAME = "neardup-name";

/** Who decides; saved with decisions and answers. Empty if they did not say. */
export const reviewer = () => localStorage.getItem(NAME) ?? "";
export const setReviewer = (name) => localStorage.setItem(NAME, name.trim().slice(0, 100));

/** Save the answer to /api/`name` as a file. */
export async function download(name, parameters, file) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  const address = URL.createObjectURL(await (await ask(`/api/${name}?${new URLSearchParams(given)}`)).blob());
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A function that runs `work()` one at a time: calls during a run cause one more run, not many. */
export function oneByOne(work) {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        await work();
      }
    } finally {
      running = false;
    }
  };
}

/** A function that waits until it has not been called for so many milliseconds. */
export function calm(milliseconds, work) {
  let waiting = 0;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => work(...given), milliseconds);
  };
}
