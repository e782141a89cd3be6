// One message or reply. What floats over it is in message-controls.js, what the user can do with it in message-actions.js.

import { avatar, h, icon, personName } from "./dom.js";
import { count, fullTimeText, timeElement } from "./format.js";
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

/** What the element of a message was made from: `entry`, `context`, and the elements of its `bubble` and `text`. */
export const madeFrom = new WeakMap();

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
    h("span", { class: "author" }, isOwn ? h("b", { class: "name" }, "You") : personName(user)), " ", timeElement(entry.createdAt));
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
  const below = [reactionsElement(entry, context), replyCount(entry, context)].filter(Boolean);
  const element = h(
    "li", { class: ["entry", isOwn && "own", isFollowing && "following", isGone && "gone"].filter(Boolean).join(" "), "data-id": entry.id },
    isOwn ? null : isFollowing ? h("span", { class: "avatar-space" }) : avatar(user),
    h("article", { class: "message", "aria-labelledby": labelID }, head, bubble, below.length ? h("div", { class: "below" }, below) : null));
  madeFrom.set(element, { entry, context, bubble, text });
  return element;
}

export const isMessage = (entry) => "replyCount" in entry;
export const repliesLink = (entry, context) => link("t", context.thread, "m", entry.id);

function replyCount(entry, context) {
  if (!isMessage(entry) || !entry.replyCount) return null;
  return h("a", { class: "replies", href: repliesLink(entry, context) }, icon("reply"), count(entry.replyCount, "reply", "replies"));
}
