// What is shown is in the address: the view, and after a ? the threshold, the order and the filters. So a reload, the back
// button and a copied link show the same.

const NAMES = ["threshold", "order", "show", "lane", "change", "ratio", "source", "language", "search", "least", "most"];

/** The path after the # and the parameters. */
export function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?", 2);
  return { path, given: Object.fromEntries(new URLSearchParams(query)) };
}

let shown = {}; // the parameters that differ from the defaults

/** Change parameters; empty ones are removed. The page is not loaded again. */
export function setParameters(changes) {
  shown = Object.fromEntries(Object.entries({ ...shown, ...changes })
    .filter(([name, value]) => NAMES.includes(name) && value !== "" && value !== null && value !== undefined));
  keepParameters();
}

/** Links inside the page have no parameters: add those that are set. */
export function keepParameters() {
  const { path } = readAddress();
  const query = new URLSearchParams(shown).toString();
  history.replaceState(null, "", `#${path || "/"}${query ? `?${query}` : ""}`);
}
