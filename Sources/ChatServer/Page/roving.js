// Lists that are one stop of the Tab key, in which the arrow keys move.

import { renewMenu } from "./menu.js";
import { restoreEdit } from "./message-actions.js";
import { equip, watchMessages } from "./message-controls.js";

const controlsOf = (entry) => [...entry.querySelectorAll("a[href], button, input, select, textarea, summary")];
const articleOf = (entry) => entry.querySelector("article");
const keyOf = (entry) => entry.dataset.id ?? entry.dataset.waiting;

function setTabIndex(entry, value) {
  for (const control of controlsOf(entry)) control.tabIndex = value;
}

/** The keys of a list of messages. The list is the stop; it gives the focus to a message, whose controls follow while the
 * focus is in it. */
export class MessageKeys {
  /** `view` is the TimelineView. */
  constructor(view) {
    this.view = view;
    this.scroller = view.scroller;
    /** The message that contains the focus. */
    this.active = null;
    /** The id of the message that had the focus last. */
    this.latest = null;
    this.isMoving = false;
    this.resting = null;
    this.scroller.addEventListener("focusin", (event) => this.entered(event));
    this.scroller.addEventListener("focusout", (event) => this.left(event));
    this.scroller.addEventListener("keydown", (event) => this.pressed(event));
    this.scroller.addEventListener("scroll", () => this.rest(), { passive: true });
    watchMessages(this.scroller, (entry) => this.prepare(entry));
    this.view.list.addEventListener("edited", () => this.view.renderSoon());
  }

  get entries() {
    return [...this.view.list.querySelectorAll(":scope > .entry"), ...this.view.waitingList.querySelectorAll(":scope > .entry")];
  }

  /** Takes the controls of a new message out of the order of the Tab key, and has its text read out with it. */
  prepare(entry) {
    const article = articleOf(entry);
    if (!article || entry === this.active) return;
    restoreEdit(entry);
    article.tabIndex = -1;
    setTabIndex(entry, -1);
    // The text of a blocked person is folded, and not read out.
    const text = entry.querySelector(".bubble > .body");
    const label = article.getAttribute("aria-labelledby");
    if (!text || !label) return;
    text.id = `${label}-text`;
    article.setAttribute("aria-describedby", text.id);
  }

  /** Moves the focus of a message to the element that replaces it. */
  replace(before, after) {
    const index = controlsOf(before).indexOf(document.activeElement);
    equip(after);
    queueMicrotask(() => {
      if (after.isConnected) (controlsOf(after)[index] ?? articleOf(after))?.focus({ preventScroll: true });
    });
  }

  /** Is called after the list has changed. */
  settle() {
    if (this.active && !this.scroller.contains(document.activeElement)) this.release();
    renewMenu();
    this.rest();
  }

  /** Adds the controls of what is visible when nothing has moved for a moment. */
  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      for (const entry of this.visible()) {
        equip(entry);
        this.prepare(entry);
      }
    }, 150);
  }

  entered({ target }) {
    if (target === this.scroller) {
      const entry = this.chosen();
      if (entry) this.focus(entry);
      return;
    }
    const entry = target.closest(".entry");
    if (!entry || entry === this.active) return;
    if (this.active) setTabIndex(this.active, -1);
    this.active = entry;
    this.latest = keyOf(entry);
    setTabIndex(entry, 0);
    this.scroller.tabIndex = -1;
  }

  left({ relatedTarget }) {
    if (this.active && !this.scroller.contains(relatedTarget)) this.release();
  }

  release() {
    setTabIndex(this.active, -1);
    this.active = null;
    this.scroller.tabIndex = 0;
  }

  visible() {
    const { top, bottom } = this.scroller.getBoundingClientRect();
    const isVisible = (entry) => {
      const box = entry.getBoundingClientRect();
      return box.bottom > top && box.top < bottom;
    };
    return this.entries.filter(isVisible);
  }

  /** The message for the focus: that of before, or else the first new one, or else the last, as far as they are visible. */
  chosen() {
    const visible = this.visible();
    const marker = this.view.list.querySelector(".unread-marker")?.nextElementSibling;
    return visible.find((entry) => keyOf(entry) === this.latest) ?? visible.find((entry) => entry === marker) ?? visible.at(-1);
  }

  focus(entry) {
    articleOf(entry).focus({ preventScroll: true });
    entry.scrollIntoView({ block: "nearest" });
  }

  async pressed(event) {
    const { key, target } = event;
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const entry = target.closest(".entry");
    if (!entry || target.closest("textarea, input, select, .menu, .edit-box")) return;
    const article = articleOf(entry);
    const controls = controlsOf(entry);
    const index = controls.indexOf(target);
    const moves = {
      ArrowDown: () => this.move(entry, 1), ArrowUp: () => this.move(entry, -1), PageDown: () => this.turn(entry, 1), PageUp: () => this.turn(entry, -1),
      Home: () => this.goToEdge(-1), End: () => this.goToEdge(1), ArrowRight: () => controls[index + 1]?.focus(), ArrowLeft: () => (controls[index - 1] ?? article).focus(),
      // Elsewhere these keys have their own meaning.
      ...(target === article || target === entry ? { Enter: () => controls[0]?.focus() } : { Escape: () => article.focus() }),
    };
    if (!moves[key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.isMoving) return;
    this.isMoving = true;
    try {
      await moves[key]();
    } finally {
      this.isMoving = false;
    }
  }

  /** Moves to the next message in a direction, and has more of them shown or loaded at an edge. */
  async move(entry, direction) {
    const next = () => {
      const { entries } = this;
      return entries[entries.findIndex((each) => keyOf(each) === keyOf(entry)) + direction];
    };
    // There is nothing before the first message.
    if (!next()) await (direction < 0 ? this.view.extendUp() : this.view.extendDown(this.view.timeline.entries.length));
    const found = next();
    if (found) this.focus(found);
    else if (direction < 0) this.scroller.scrollTop = 0;
  }

  /** Moves by what is visible. */
  async turn(entry, direction) {
    const { top } = entry.getBoundingClientRect();
    const most = this.scroller.clientHeight * 0.9;
    const { entries } = this;
    const index = entries.indexOf(entry);
    const ahead = direction < 0 ? entries.slice(0, index).reverse() : entries.slice(index + 1);
    const last = ahead.findLast((each) => Math.abs(each.getBoundingClientRect().top - top) <= most);
    if (last) this.focus(last);
    else await this.move(entry, direction);
  }

  async goToEdge(direction) {
    await (direction < 0 ? this.view.jumpToBeginning() : this.view.goToEnd());
    const edge = this.entries.at(direction < 0 ? 0 : -1);
    if (edge) this.focus(edge);
  }
}

/** Makes the links of a list one stop of the Tab key: that which had the focus, or else the current one, or else the first.
 * Returns a function to call when the list has changed. */
export function roveLinks(list) {
  let latest = null;
  const links = () => [...list.querySelectorAll("a[href]")];
  const settle = () => {
    const all = links();
    const stop = all.find((each) => each.getAttribute("href") === latest) ?? all.find((each) => each.hasAttribute("aria-current")) ?? all[0];
    for (const each of all) each.tabIndex = each === stop ? 0 : -1;
  };
  list.addEventListener("focusin", (event) => {
    latest = event.target.getAttribute("href");
    settle();
  });
  list.addEventListener("focusout", (event) => {
    if (list.contains(event.relatedTarget)) return;
    latest = null;
    settle();
  });
  list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const all = links();
    const index = all.indexOf(document.activeElement);
    const next = { ArrowDown: all[index + 1], ArrowUp: all[index - 1], Home: all[0], End: all.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  return settle;
}
