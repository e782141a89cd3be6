// Shows a timeline as a list that scrolls. The document holds only the part around what is visible, so that a long
// thread costs no more than a short one.

import { h, icon, feedback } from "./dom.js";
import { count, dayKey, dayName, errorText } from "./format.js";
import { onLater } from "./later.js";
import { messageElement, signature } from "./message.js";
import { on, state } from "./store.js";

/** How many messages are added at an edge at once, so that no frame waits for long, and how many are shown before the first one that
 * is meant. */
const step = 12;
const contextSize = 30;
/** The distance to an edge, in pixels, at which more is shown. */
const margin = 800;
/** The most messages in the document: they fill the window and both margins if each has one line, 34 pixels. */
const windowSize = () => Math.ceil((innerHeight + 2 * margin) / 34) + step;
export class TimelineView {
  /** `options` has the `context` of the messages (what the user may do), `waiting()` with the elements of the outbox,
   * `empty()` with what an empty list shows, `beginning()` with the text above the first message, `reads` with the
   * `ThreadView` whose thread is read, `changed()`, which is called after each change of the timeline, and `dayLevel` with the level of the headings of days. */
  constructor(timeline, options) {
    this.timeline = timeline;
    this.options = options;
    this.start = 0;
    this.end = 0;
    this.isAtBottom = true;
    /** Where the list was scrolled to when its end was visible. */
    this.endTop = 0;
    this.markerAfter = null;
    this.nodes = new Map();
    /** The elements of the messages in the document, in their order. */
    this.shown = [];
    this.missed = 0;
    this.list = h("ol", { class: "messages" });
    this.waitingList = h("ol", { class: "messages waiting-list", "aria-label": "Not sent yet" });
    this.top = h("div", { class: "timeline-top" });
    this.scroller = h(
      "div", { class: "timeline", role: "region", "aria-label": options.label, tabindex: "0" }, this.top, this.list, this.waitingList);
    this.jump = h("button", { type: "button", class: "jump", hidden: true, onclick: () => this.goToEnd() }, icon("down"), h("span", {}, "Latest messages"));
    this.element = h("div", { class: "timeline-box" }, this.scroller, this.jump);
    /** The keys of the list, and what reads it, of the code that is loaded later. */
    this.keys = null;
    this.reading = null;
    onLater(({ MessageKeys, Reading }) => {
      if (options.reads && !this.isClosed) this.reading = new Reading(this, options.reads);
      this.keys = new MessageKeys(this);
      for (const entry of this.keys.entries) this.keys.prepare(entry);
      this.keys.rest();
    });
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.onVisibility = () => this.visibilityChanged();
    document.addEventListener("visibilitychange", this.onVisibility);
    this.onPrint = (event) => this.print(event.type === "beforeprint");
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, this.onPrint);
    // The height changes when a keyboard appears, the window is resized or the composer grows.
    this.resizing = new ResizeObserver(() => { if (this.isAtBottom) this.toBottom(); });
    this.resizing.observe(this.scroller);
    this.ends = [on("names", () => this.renderSoon()), on("blocked", () => this.renderSoon())];
    timeline.listener = (change) => this.changed(change);
  }

  close() {
    this.isClosed = true;
    this.timeline.listener = () => {};
    document.removeEventListener("visibilitychange", this.onVisibility);
    for (const name of ["beforeprint", "afterprint"]) removeEventListener(name, this.onPrint);
    this.reading?.close();
    this.resizing.disconnect();
    for (const end of this.ends) end();
  }

  /** Shows the first unread message below a divider, or the end.
   *
   * `firstUnread` is its position, or null. */
  showFirst(firstUnread) {
    const { length } = this.timeline.entries;
    if (firstUnread !== null) this.markerAfter = firstUnread - 1;
    const index = this.firstUnread();
    this.start = index < 0 ? Math.max(0, length - windowSize()) : Math.max(0, Math.min(index - contextSize, length - windowSize()));
    this.end = Math.min(length, this.start + windowSize());
    this.isAtBottom = index < 0 && this.timeline.newer === null;
    this.render();
    const marker = this.list.querySelector(".unread-marker");
    if (!marker) return;
    this.scroller.scrollTop = marker.offsetTop - this.scroller.clientHeight / 3;
    this.isAtBottom = this.isAtEnd();
    this.updateJump();
  }

  /** Shows the part that begins near a position. */
  showFrom(position) {
    const index = this.timeline.entries.findIndex((entry) => entry.position >= position);
    this.start = Math.max(0, index - contextSize);
    this.end = Math.min(this.timeline.entries.length, this.start + windowSize());
  }

  /** Shows the first message from a position on, which is loaded, and marks it. */
  showAt(position) {
    const element = this.showPlace(position, this.scroller.clientHeight / 3);
    if (!element) return;
    for (const other of this.list.querySelectorAll(".aimed")) other.classList.remove("aimed");
    element.classList.add("aimed");
    element.querySelector("article").focus({ preventScroll: true });
  }

  /** Shows the first message from a position on, which is loaded, at a distance from the top, and returns its element. */
  showPlace(position, distance) {
    this.isAtBottom = false;
    this.showFrom(position);
    this.render();
    const entry = this.timeline.entries.find((entry) => entry.position >= position) ?? this.timeline.entries.at(-1);
    const element = this.nodes.get(entry?.id)?.element;
    if (element) this.scroller.scrollTop = element.offsetTop - distance;
    this.isAtBottom = this.isAtEnd();
    this.updateJump();
    this.reading?.jumped();
    return element;
  }

  /** Whether the latest message is visible. */
  isAtEnd() {
    return this.distanceToEnd() < 40 && this.end === this.timeline.entries.length && this.timeline.newer === null;
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.endTop = this.scroller.scrollTop;
    this.isAtBottom = true;
  }

  /** Goes to the latest message, as the user wants, who has read the others then. */
  async goToEnd() {
    await this.jumpToLatest();
    if (this.isAtBottom) this.reading?.goneToEnd();
  }

  async jumpToLatest() {
    if (this.timeline.newer !== null) {
      try {
        await this.timeline.load();
      } catch (error) {
        feedback(errorText(error));
        return;
      }
    }
    this.missed = 0;
    this.end = this.timeline.entries.length;
    this.start = Math.max(0, this.end - windowSize());
    this.isAtBottom = true;
    this.render();
    this.toBottom();
    this.scroller.focus({ preventScroll: true });
    this.updateJump();
    this.reading?.jumped();
  }

  /** Has every loaded message in the document while it is printed. */
  print(isBegun) {
    if (isBegun) {
      this.beforePrint = [this.start, this.end, this.scroller.scrollTop];
      [this.start, this.end] = [0, this.timeline.entries.length];
    } else {
      [this.start, this.end] = this.beforePrint;
    }
    this.render();
    if (!isBegun) this.scroller.scrollTop = this.beforePrint[2];
  }

  /** Shows the first messages of the thread. */
  async jumpToBeginning() {
    if (this.timeline.older !== null) {
      try {
        await this.timeline.loadAround(1);
      } catch (error) {
        feedback(errorText(error));
        return;
      }
    }
    this.start = 0;
    this.end = Math.min(this.timeline.entries.length, windowSize());
    this.isAtBottom = false;
    this.render();
    this.scroller.scrollTop = 0;
  }

  changed({ change, entry, added, changed, author }) {
    this.options.changed?.();
    if (change === "erased") {
      // Also a message that is being edited, and a page that is hidden.
      for (const id of changed) this.nodes.delete(id);
      this.render();
      return;
    }
    const length = this.timeline.entries.length;
    if (change === "older") {
      this.start += added;
      this.end += added;
      this.moveUp();
    } else if (change === "newer") {
      this.end = Math.min(length, this.end + step);
      this.start = Math.max(0, this.end - windowSize());
    } else if (change === "around") {
      // The caller shows its part.
      return;
    } else if (change === "postedLater") {
      if (author !== state.me?.id) this.missed += 1;
      this.updateJump();
      return;
    } else if (change === "loaded" || this.isAtBottom) {
      this.end = length;
      this.start = Math.max(0, length - windowSize());
    } else if (change === "posted") {
      if (entry.author.id !== state.me?.id) this.missed += 1;
      // If the list shows its end, the message is added below what is visible.
      if (this.end === length - 1 && this.end - this.start < windowSize() + step) this.end = length;
    }
    if (change === "older" || change === "newer" || change === "loaded") this.render();
    else this.renderSoon();
  }

  /** Renders in the next frame, once for all changes until then. A hidden page has no frames. */
  renderSoon() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    const run = () => {
      this.isScheduled = false;
      if (!this.isClosed) this.render();
    };
    if (document.visibilityState === "visible") requestAnimationFrame(run);
    else setTimeout(run, 100);
  }

  /** The separators and messages of the window, each with its key. */
  items() {
    const entries = this.timeline.entries;
    const items = [];
    const firstUnread = this.firstUnread();
    for (let index = this.start; index < this.end; index += 1) {
      const entry = entries[index];
      const before = entries[index - 1];
      const isNewDay = !before || dayKey(before.createdAt) !== dayKey(entry.createdAt);
      const isFirstUnread = index === firstUnread;
      // The first one in the document has the date that stays at the top.
      if (isNewDay || index === this.start) items.push({ key: "day " + dayKey(entry.createdAt), day: entry.createdAt });
      if (isFirstUnread) items.push({ key: "unread", unread: true });
      const isFollowing = !isNewDay && !isFirstUnread && before.author.id === entry.author.id && !before.blocked
        && Date.parse(entry.createdAt) - Date.parse(before.createdAt) < 300_000;
      items.push({ key: entry.id, entry, isFollowing });
    }
    return items;
  }

  /** The index of the first message of another person after the marker, or -1, also if it is not loaded yet. */
  firstUnread() {
    return this.markerAfter === null ? -1 : this.firstOfOthers(this.markerAfter);
  }

  /** The same after a position. */
  firstOfOthers(position) {
    const { entries, older } = this.timeline;
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (entries[middle].position > position) high = middle;
      else low = middle + 1;
    }
    if (low === 0 && older !== null) return -1;
    while (low < entries.length && entries[low].author.id === state.me?.id) low += 1;
    return low < entries.length ? low : -1;
  }

  render() {
    const anchor = this.isAtBottom ? null : this.findAnchor();
    const wanted = new Map();
    const children = [];
    for (const item of this.items()) {
      const { key } = item;
      const mark = item.entry ? signature(item.entry, item.isFollowing, this.options.context) : item.day ? dayName(item.day) : "";
      let node = this.nodes.get(key);
      // A message that is being edited is left alone until then.
      if (!node || (node.mark !== mark && !node.element.querySelector("[data-busy]"))) {
        const before = node?.element;
        node = { mark, element: this.create(item) };
        // The message of a link stays marked.
        if (before?.classList.contains("aimed")) node.element.classList.add("aimed");
        if (before?.contains(document.activeElement)) this.keys?.replace(before, node.element);
      }
      wanted.set(key, node);
      children.push(node.element);
    }
    this.nodes = wanted;
    this.shown = children.filter((element) => element.dataset.id);
    replaceChildren(this.list, children);
    this.renderEnds();
    const element = this.nodes.get(anchor?.id)?.element;
    if (element) this.scroller.scrollTop += element.getBoundingClientRect().bottom - anchor.bottom;
    else if (!anchor) this.toBottom();
    this.keys?.settle();
    this.reading?.look();
    this.updateJump();
    // What does not fill the window cannot be scrolled.
    const { scrollHeight, clientHeight } = this.scroller;
    if (clientHeight && scrollHeight <= clientHeight) this.extendUp();
  }

  create(item) {
    if (item.day) return h("li", { class: "day-separator" }, h("h3", { "aria-level": this.options.dayLevel }, dayName(item.day)));
    if (item.unread) return h("li", { class: "unread-marker" }, h("span", {}, "New messages"));
    const element = messageElement(item.entry, item.isFollowing, this.options.context);
    this.keys?.prepare(element);
    return element;
  }

  renderEnds() {
    const { timeline, options } = this;
    let top = "";
    if (timeline.isLoaded && timeline.older === null && this.start === 0) {
      top = timeline.entries.length ? options.beginning() : options.empty();
    } else if (timeline.isLoaded) {
      top = this.loadError ?? "Loading older messages…";
    }
    if (this.top.textContent !== (top.textContent ?? top)) this.top.replaceChildren(top);
    const waiting = options.waiting(timeline);
    for (const element of waiting) this.keys?.prepare(element);
    replaceChildren(this.waitingList, waiting);
    this.waitingList.hidden = waiting.length === 0;
  }

  /** The first visible message, and where it ends: what is below it keeps its place, also if it loses its name. */
  findAnchor() {
    const edge = this.scroller.getBoundingClientRect().top;
    const index = this.firstShown((box) => box.bottom > edge);
    const element = this.shown[index];
    return element ? { id: element.dataset.id, bottom: element.getBoundingClientRect().bottom } : null;
  }

  /** The index among the messages in the document of the first one for whose box a function is true, as it then is for those
   * below; their number if there is none. */
  firstShown(isMeant) {
    let low = 0;
    let high = this.shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isMeant(this.shown[middle].getBoundingClientRect())) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  distanceToEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  scrolled() {
    const length = this.timeline.entries.length;
    // Who has not scrolled up stays at the end, whatever has grown in between: a window that becomes narrower has longer messages.
    if (this.isAtBottom && this.scroller.scrollTop >= this.endTop) this.toBottom();
    this.isAtBottom = this.isAtEnd();
    if (this.isAtBottom) {
      this.missed = 0;
      this.endTop = this.scroller.scrollTop;
    }
    if (this.scroller.scrollTop < margin) this.extendUp();
    else if (this.distanceToEnd() < margin) this.extendDown(length);
    this.updateJump();
  }

  async extendDown(length) {
    if (this.end < length) {
      this.end = Math.min(length, this.end + step);
      this.start = Math.max(0, this.end - windowSize());
      this.render();
      return;
    }
    try {
      await this.timeline.loadNewer();
    } catch (error) {
      // Scrolling tries again.
      feedback(errorText(error));
    }
  }

  async extendUp() {
    if (this.start > 0) {
      this.moveUp();
      this.render();
      return;
    }
    if (this.timeline.older === null || this.isExtending) return;
    this.isExtending = true;
    try {
      await this.timeline.loadOlder();
      this.loadError = null;
    } catch (error) {
      this.loadError = "Older messages cannot be loaded now. Scroll to try again.";
      if (!error.message) throw error;
      this.renderEnds();
    } finally {
      this.isExtending = false;
    }
    if (!this.loadError && this.scroller.isConnected && this.scroller.scrollTop < margin) this.extendUp();
  }

  /** Begins the window earlier. Who sees the end keeps it. */
  moveUp() {
    this.start = Math.max(0, this.start - step);
    if (!this.isAtBottom) this.end = Math.min(this.end, this.start + windowSize());
  }

  updateJump() {
    this.jump.hidden = this.isAtBottom || (this.distanceToEnd() < 300 && this.end === this.timeline.entries.length && this.timeline.newer === null && !this.missed);
    const text = this.missed ? count(this.missed, "new message") : "Latest messages";
    this.jump.classList.toggle("missed", this.missed > 0);
    // Scrolling calls this for each frame, and a text that is set is laid out.
    if (this.jump.lastChild.textContent !== text) this.jump.lastChild.textContent = text;
  }

  visibilityChanged() {
    // What comes while the page is hidden is marked as new.
    if (document.visibilityState === "hidden") this.markerAfter = this.timeline.entries.at(-1)?.position ?? 0;
  }
}

/** Sets the children of an element, and moves none that has its place already. */
function replaceChildren(parent, children) {
  const kept = new Set(children);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}
