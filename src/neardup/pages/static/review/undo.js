// The decisions of this session, the last one first to be undone. They survive a reload of the page, and end with the tab.

import { state } from "./state.js";

const MOST = 500;
const key = () => `neardup-undo-${state.overview.scan}`;
const read = () => JSON.parse(sessionStorage.getItem(key()) ?? "[]");

/** Remember a decision: its rows, the pair that was shown, and what was decided about it before. */
export function remember(decision) {
  sessionStorage.setItem(key(), JSON.stringify([...read(), decision].slice(-MOST)));
}

/** Take the last decision off the list; undefined if there is none. */
export function forget() {
  const all = read();
  const last = all.pop();
  sessionStorage.setItem(key(), JSON.stringify(all));
  return last;
}

export const undoable = () => read().length > 0;
