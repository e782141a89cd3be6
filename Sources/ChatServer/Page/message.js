// One message or reply. What the user can do with it is in message-actions.js.

import { avatar, h, icon, iconButton, personName } from "./dom.js";
import { count, fullTimeText, timeElement } from "./format.js";
import { withLater } from "./later.js";
import { markdown } from "./markdown.js";
import { reactionsElement } from "./reactions.js";
import { link } from "./router.js";
import { person, state } from "./store.js";

/** What the element of a message depends on. */
export function signature(entry, isFollowing, context) {
  const { username } = author(entry);
  return JSON.stringify([
    entry.body, entry.editedAt, entry.retracted, entry.removed, entry.replyCount, entry.reactions, entry.mentions, username, isFollowing, state.blocked.has(entry.author.id),
    context.canWrite(), context.canModerate(), context.isPinned(entry.id),
  ]);
}

/** The author of an entry, with the present name. */
export function author(entry) {
  return state.names.has(entry.author.id) ? person(entry.author.id) : entry.author;
}

let labels = 0;

/** What shortcuts do with a message: `edit` and `react`, as far as the user can, by the element of the message. */
export const messageCommands = new WeakMap();

/** The people whom a text mentions, by their present names. */
export const mentioned = (ids = []) => ids.map((id) => ({ id, name: person(id).username, isMe: id === state.me?.id })).filter(({ name }) => name);

/** Returns the element of the text of a message. One of a few emoji is shown larger. */
export function bodyElement(text, mentions) {
  const isEmoji = /^\p{RGI_Emoji}{1,3}$/v.test(text.trim());
  return h("div", { class: isEmoji ? "body emoji-only" : "body", dir: "auto" }, markdown(text, mentioned(mentions)));
}

/** Creates the list item of a message. */
export function messageElement(entry, isFollowing, context) {
  const user = author(entry);
  const isOwn = user.id === state.me.id;
  const isBlocked = state.blocked.has(user.id) && !isOwn;
  const isGone = entry.retracted || entry.removed;
  // A message can be in the document twice: in its thread and above its replies.
  const labelID = `message-${(labels += 1)}`;
  const head = h(
    "div", { class: isFollowing ? "message-head visually-hidden" : "message-head", id: labelID },
    h("span", { class: isOwn ? "author visually-hidden" : "author" }, isOwn ? "You" : personName(user)), " ", timeElement(entry.createdAt));
  const gone = entry.removed ? "A moderator removed this message." : entry.retracted ? (isOwn ? "You deleted this message." : "This message was deleted.")
    : entry.body === null ? "The text of this message is gone." : null;
  const text = gone ? h("div", { class: "body" }, h("em", {}, gone)) : bodyElement(entry.body, entry.mentions);
  const marks = isGone ? [] : [
    entry.editedAt ? h("span", { title: fullTimeText(entry.editedAt) }, "edited") : null, context.isPinned(entry.id) ? h("span", {}, icon("pin"), "pinned") : null,
    entry.mentions?.includes(state.me.id) ? h("span", {}, "mentions you") : null,
  ].filter(Boolean);
  const bubble = h(
    "div", { class: "bubble" },
    isBlocked && !isGone ? h("details", { class: "blocked" }, h("summary", {}, "Message of a person you have blocked"), text) : text,
    marks.length ? h("p", { class: "marks" }, marks) : null);
  const edit = () => withLater(({ editor }) => editor(entry, bubble, text));
  bubble.append(actions(entry, isOwn, isGone, context, edit));
  const element = h(
    "li", { class: ["entry", isOwn && "own", isFollowing && "following", isGone && "gone"].filter(Boolean).join(" "), "data-id": entry.id },
    isOwn ? null : isFollowing ? h("span", { class: "avatar-space" }) : avatar(user),
    h("article", { class: "message", "aria-labelledby": labelID }, head, bubble, reactionsElement(entry, context), replyCount(entry, context)));
  openOnLongPress(element, bubble);
  if (!isGone && context.canWrite()) messageCommands.set(element, { edit: isOwn ? edit : null, react: () => withLater(({ chooseReaction }) => chooseReaction(entry)) });
  return element;
}

/** A finger that stays on a message opens its menu. */
function openOnLongPress(element, bubble) {
  let timer = null;
  let start = null;
  const end = () => clearTimeout(timer);
  const open = () => {
    // The end of the touch is no click, which would close the menu, and the browser shows no menu of its own.
    const isOver = new AbortController();
    for (const name of ["touchend", "click", "contextmenu"]) {
      document.addEventListener(name, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, { capture: true, passive: false, signal: isOver.signal });
    }
    document.addEventListener("pointerup", () => setTimeout(() => isOver.abort(), 50), { once: true });
    document.addEventListener("pointercancel", () => isOver.abort(), { once: true });
    toggleMenuOf(element);
  };
  bubble.addEventListener("pointerdown", (event) => {
    end();
    start = event;
    if (event.pointerType === "touch" && !event.target.closest("a, button, textarea, summary")) timer = setTimeout(open, 450);
  });
  bubble.addEventListener("pointermove", (event) => { if (start && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > 10) end(); });
  for (const name of ["pointerup", "pointercancel"]) bubble.addEventListener(name, end);
}

/** Opens the menu of a message whose element is given. */
const toggleMenuOf = (element) => element.querySelector(".more")?.dispatchEvent(new CustomEvent("menu"));

export const isMessage = (entry) => "replyCount" in entry;
const repliesLink = (entry, context) => link("t", context.thread, "m", entry.id);

function replyCount(entry, context) {
  if (!isMessage(entry) || !entry.replyCount) return null;
  return h("a", { class: "replies", href: repliesLink(entry, context) }, icon("reply"), count(entry.replyCount, "reply", "replies"));
}

/** What floats over a message below the pointer or with the focus: its time and the most frequent actions. */
function actions(entry, isOwn, isGone, context, edit) {
  const row = h("div", { class: "message-actions" }, h("span", { "aria-hidden": "true" }, timeElement(entry.createdAt)));
  const mayReact = !isGone && context.canWrite();
  if (mayReact) row.append(iconButton("smile", "React", () => withLater(({ chooseReaction }) => chooseReaction(entry)), { class: "icon-button react" }));
  if (isMessage(entry) && !isGone && context.canWrite()) {
    row.append(h("a", { class: "icon-button reply", href: repliesLink(entry, context), "aria-label": "Reply", title: "Reply" }, icon("reply")));
  }
  const { username } = author(entry);
  // What somebody else has written can be removed, and its author blocked.
  const hasMenu = isMessage(entry) || !isGone || (!isOwn && (username || (!entry.removed && context.canModerate())));
  if (hasMenu) {
    const name = isOwn ? "you" : username ?? "a deleted account";
    const open = () => withLater(({ toggleMessageMenu }) => toggleMessageMenu(button, entry, context, edit));
    const button = iconButton("more", `More for this message of ${name}`, open, { "aria-expanded": "false", class: "icon-button more", onmenu: open });
    row.append(button);
  }
  return row;
}
