// What moderators have done to the user in a thread, and what the user is shown in the place of the composer.

import { get, path } from "./api.js";
import { announce, h } from "./dom.js";
import { fullTimeText } from "./format.js";

/** Reads the user's standing in a thread; null if the thread does not exist for the user. */
export async function readStanding(thread) {
  try {
    return await get(path(["threads", thread, "standing"]));
  } catch (error) {
    if (error.code !== "notFound") throw error;
    return null;
  }
}

/** The wait before another look, if the server's clock is behind that of this device. */
const nextLook = 30_000;
const longestWait = 3_600_000;

/** Calls a function when a mute or a ban has ended by itself. Returns a function that cancels this. */
export function atEnd(act, ended) {
  if (!act?.until) return () => {};
  const end = Date.parse(act.until);
  let timer = null;
  const look = () => {
    const rest = end - Date.now();
    timer = rest > longestWait ? setTimeout(look, longestWait) : setTimeout(ended, rest > 0 ? rest + 250 : nextLook);
  };
  look();
  return () => clearTimeout(timer);
}

/** The end of a mute or a ban as the continuation of a sentence. */
export const endText = (act) => (act.until ? `, until ${fullTimeText(act.until)}` : "");

export const reasonElement = (act) => (act.reason ? h("p", {}, "The reason: ", h("q", { dir: "auto" }, act.reason)) : null);

/** Returns why a user cannot write in a thread, and the mute if that is the reason; null if the user can. */
export function refusal(info, standing) {
  if (!info?.isMember) return { text: "You read this thread as an operator. Join it to write." };
  if (info.closed) return { text: "This thread is closed. Nobody can write here any more." };
  const mute = standing?.mute;
  if (mute) return { text: `A moderator has muted you in this thread${endText(mute)}. You can read, but not write.`, act: mute };
  if (info.locked) return { text: "This thread is locked by a moderator. Nobody can write here at present." };
  return null;
}

/** The end of a list of messages or replies: a composer, or why the user cannot write. */
export class WritingPlace {
  /** `create()` makes the composer. `id` is that of the form, for a link to it. */
  constructor(parent, create, id = null) {
    this.parent = parent;
    this.create = create;
    this.id = id;
    this.composer = null;
    this.note = null;
    this.shown = null;
  }

  /** Shows the composer, or a refusal in its place, which takes the focus of the composer. */
  render(refusal) {
    if (!refusal) {
      const hadFocus = this.note?.contains(document.activeElement);
      this.note?.remove();
      this.note = null;
      if (this.composer?.element.isConnected) return;
      this.composer = this.create();
      if (this.id) this.composer.element.id = this.id;
      this.parent.append(this.composer.element);
      if (hadFocus) this.composer.focus();
      return;
    }
    const key = JSON.stringify(refusal);
    if (this.note?.isConnected && this.shown === key) return;
    const hadFocus = this.composer?.element.contains(document.activeElement);
    if (this.composer || this.note) announce(refusal.text);
    this.composer?.element.remove();
    this.note?.remove();
    this.composer = null;
    this.shown = key;
    this.note = h("div", { class: "banner", role: "note", tabindex: "-1" }, h("p", {}, refusal.text), refusal.act ? reasonElement(refusal.act) : null);
    this.parent.append(this.note);
    if (hadFocus) this.note.focus();
  }
}
