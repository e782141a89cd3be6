// Reads a thread: its marker moves to what was on the screen for a second, and never over what was not.

import { h } from "./dom.js";
import { markRead } from "./marks.js";
import { parts } from "./router.js";
import { on, state } from "./store.js";
import { onScreen, onScreenChange } from "./visible.js";

/** What is on the screen for so many milliseconds is read. */
const readDelay = 1_000;
/** The place is kept for Back when nothing has moved for so many milliseconds. */
const restDelay = 200;
/** The browser tells what a jump has brought to the screen within so many milliseconds. */
const settleDelay = 100;

export class Reading {
  /** Reads the thread of a ThreadView, which a TimelineView shows. */
  constructor(view, place) {
    this.view = view;
    this.place = place;
    this.thread = place.id;
    /** The positions of the messages that were on the screen. */
    this.seen = new Set();
    /** The position up to which this view has read. */
    this.upTo = 0;
    /** Whether the user has asked for the end, which reads what is before it. */
    this.isAll = false;
    this.timer = null;
    this.resting = null;
    this.button = h("button", { type: "button", class: "jump mark-read", hidden: true, onclick: () => this.readAll() }, "Mark as read");
    view.element.append(this.button);
    this.rests = () => {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.keepPlace(), restDelay);
    };
    view.scroller.addEventListener("scroll", this.rests, { passive: true });
    const changed = () => {
      this.look();
      this.rests();
    };
    this.ends = [onScreenChange(changed), on("threads", () => this.look())];
    this.look();
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.resting);
    this.view.scroller.removeEventListener("scroll", this.rests);
    for (const end of this.ends) end();
    this.button.remove();
  }

  get info() {
    return state.threads.get(this.thread);
  }

  /** The positions of the messages on the screen, ascending. */
  onScreen() {
    if (this.place.going) return [];
    return onScreen(this.view.shown).map((element) => this.view.timeline.byID.get(element.dataset.id)?.position).filter(Boolean);
  }

  /** The position of the first message of another person that is not read; null if it is not loaded, or there is none. */
  next() {
    const index = this.view.firstOfOthers(this.info?.readUpTo ?? 0);
    return index < 0 ? null : this.view.timeline.entries[index].position;
  }

  /** Looks at what is on the screen, and in a second again, until all of it is read, or only seen after a jump over what is not. */
  look() {
    const first = this.onScreen();
    if (this.timer) return;
    this.updateButton(first);
    const latest = first.at(-1) ?? 0;
    const canMove = this.info?.isMember && latest > Math.max(this.upTo, this.info.readUpTo) && (this.isAll || this.seen.has(this.next()));
    if (!canMove && first.every((position) => this.seen.has(position))) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      const last = this.onScreen().at(-1) ?? 0;
      // What was on the screen then and was scrolled over since is seen too.
      for (const position of first) if (position <= last) this.seen.add(position);
      this.move(Math.min(latest, last));
      this.look();
    }, readDelay);
  }

  move(position) {
    if (position <= this.upTo || !(this.isAll || this.seen.has(this.next()))) return;
    [this.upTo, this.isAll] = [position, false];
    markRead(this.thread, position);
  }

  /** Keeps in the history what is on the screen, unless it is the end, so that Back leads there. */
  keepPlace() {
    const [name, id] = parts();
    if (name !== "t" || id !== this.thread || !this.view.scroller.checkVisibility()) return;
    const { view: { isAtBottom, shown, timeline, scroller } } = this;
    const first = isAtBottom ? null : onScreen(shown)[0];
    if (first) history.replaceState({ place: timeline.byID.get(first.dataset.id)?.position, distance: first.offsetTop - scroller.scrollTop }, "");
    else if (isAtBottom && history.state) history.replaceState(null, "");
  }

  /** Is called when the view jumps: what was on the screen before was not read by that. */
  jumped() {
    clearTimeout(this.timer);
    this.isAll = false;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.look();
    }, settleDelay);
  }

  /** The user has gone to the end: it is read, and what is before it, when it was on the screen. */
  goneToEnd() {
    this.jumped();
    this.isAll = true;
  }

  /** Reads everything at once. */
  readAll() {
    markRead(this.thread, this.info?.lastMessage?.position ?? 0);
    this.updateButton([]);
    this.view.scroller.focus({ preventScroll: true });
  }

  /** Offers to read everything where unread messages are before those on the screen, and were not seen. */
  updateButton(positions) {
    const next = this.next();
    const latest = positions.at(-1) ?? 0;
    this.button.hidden = !(this.info?.unread && latest > this.info.readUpTo) || positions.includes(next) || this.seen.has(next);
  }
}
