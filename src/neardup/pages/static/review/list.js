// A long list that draws only the visible rows. All rows have the same height; pages are fetched when they become visible.

import { el, show } from "/page/dom.js";

const PAGE = 50;
const AROUND = 4; // rows drawn above and below the visible ones
const TALLEST = 8_000_000; // pixels; browsers have a limit, so a longer list scrolls faster

export class LongList {
  /** `fetchPage(offset, limit)` returns {total, ...} with `rowsOf(answer)`; `draw(row, at)` makes the content of an item. */
  constructor(box, { height, fetchPage, rowsOf, draw, failed }) {
    Object.assign(this, { box, height, fetchPage, rowsOf, draw, failed, total: 0, round: 0, pages: new Map() });
    this.items = el("ul", { class: "long-items" });
    this.space = el("div", { class: "long-space" }, this.items);
    show(box, this.space);
    box.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(box);
  }

  /** Load the list again, at the same position if `keepPosition`. Returns the first answer. */
  async reload(keepPosition = false) {
    this.round += 1;
    this.pages.clear();
    if (!keepPosition) this.box.scrollTop = 0;
    const first = Math.floor(this.first() / PAGE);
    this.latest = this.fetch(keepPosition ? first : 0);
    return this.latest;
  }

  async fetch(page) {
    const round = this.round;
    this.pages.set(page, null);
    const answer = await this.fetchPage(page * PAGE, PAGE).catch((error) => {
      this.pages.delete(page);
      throw error;
    });
    if (round !== this.round) return this.latest; // the list was reloaded meanwhile
    this.pages.set(page, this.rowsOf(answer));
    this.total = answer.total;
    this.paint();
    return answer;
  }

  get row() {
    return this.height * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  get tall() {
    return Math.min(TALLEST, this.total * this.row);
  }

  /** The number of the first visible row. */
  first() {
    const room = this.tall - this.box.clientHeight;
    const rows = this.total - this.box.clientHeight / this.row;
    return room <= 0 || rows <= 0 ? 0 : Math.floor((this.box.scrollTop / room) * rows);
  }

  paint() {
    this.space.style.height = `${this.tall}px`;
    const first = Math.max(0, this.first() - AROUND);
    const many = Math.ceil(this.box.clientHeight / this.row) + 2 * AROUND;
    const last = Math.min(this.total, first + many);
    const short = this.tall < this.total * this.row;
    const top = short ? this.box.scrollTop - (this.first() - first) * this.row : first * this.row;
    this.items.style.transform = `translateY(${Math.max(0, top)}px)`;
    const items = [];
    for (let at = first; at < last; at += 1) {
      const row = this.at(at);
      items.push(el("li", { class: "long-item", "aria-setsize": this.total, "aria-posinset": at + 1 },
        row ? this.draw(row, at) : el("span", { class: "soft" }, "…")));
    }
    const focused = this.items.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    show(this.items, items);
    if (focused) this.items.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) {
      if (!this.pages.has(page) && this.total) this.fetch(page).catch(this.failed);
    }
  }

  /** A row that has been fetched, or undefined. */
  at(place) {
    return this.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  /** A row, fetched if necessary; undefined past the ends. */
  async wanted(place) {
    if (place < 0 || place >= this.total) return undefined;
    if (!this.at(place)) await this.fetch(Math.floor(place / PAGE));
    return this.at(place);
  }

  /** The place of the first fetched row for which `holds` is true, or -1. */
  find(holds) {
    for (const [page, rows] of this.pages) {
      const at = rows ? rows.findIndex(holds) : -1;
      if (at >= 0) return page * PAGE + at;
    }
    return -1;
  }

  /** Scroll to a row. */
  reveal(place) {
    const seen = this.box.clientHeight / this.row;
    const first = this.box.scrollTop / this.row;
    if (this.tall < this.total * this.row) {
      this.box.scrollTop = (place / Math.max(1, this.total - seen)) * (this.tall - this.box.clientHeight);
    } else if (place < first || place + 1 > first + seen) {
      this.box.scrollTop = (place - seen / 3) * this.row;
    }
    this.paint();
  }
}
