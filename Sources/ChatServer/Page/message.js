// One message or reply, with what the user can do with it.

import { avatar, copy, h, icon, iconButton, notice, personName } from "./dom.js";
import { dialog } from "./forms.js";
import { count, errorText, excerpt, fullTimeText, timeElement } from "./format.js";
import { newID } from "./ids.js";
import { markdown, plainText } from "./markdown.js";
import { chooseReaction, lastUsed, reactionsElement, toggleReaction } from "./reactions.js";
import { link } from "./router.js";
import { execute, markUnread, person, setBlocked, state } from "./store.js";

/** What the element of a message depends on. */
export function signature(entry, isFollowing, context) {
  const { username } = author(entry);
  return JSON.stringify([
    entry.body, entry.editedAt, entry.retracted, entry.removed, entry.replyCount, entry.reactions, entry.mentions, username, isFollowing, state.blocked.has(entry.author.id),
    context.canWrite(), context.canModerate(), context.isPinned(entry.id),
  ]);
}

function author(entry) {
  return state.names.has(entry.author.id) ? person(entry.author.id) : entry.author;
}

let labels = 0;

/** What shortcuts do with a message: `edit` and `react`, as far as the user can, by the element of the message. */
export const messageCommands = new WeakMap();

/** The people whom a text mentions, by their present names. */
const mentioned = (ids = []) => ids.map((id) => ({ id, name: person(id).username, isMe: id === state.me?.id })).filter(({ name }) => name);

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
    "div", { class: isFollowing || isOwn ? "message-head visually-hidden" : "message-head", id: labelID },
    h("span", { class: "author" }, isOwn ? "You" : personName(user)), " ", timeElement(entry.createdAt));
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
  const edit = () => editor(entry, bubble, text);
  bubble.append(actions(entry, isOwn, isGone, context, edit));
  const element = h(
    "li", { class: ["entry", isOwn && "own", isFollowing && "following", isGone && "gone"].filter(Boolean).join(" "), "data-id": entry.id },
    isOwn ? null : isFollowing ? h("span", { class: "avatar-space" }) : avatar(user),
    h("article", { class: "message", "aria-labelledby": labelID }, head, bubble, reactionsElement(entry, context), replyCount(entry, context)));
  openOnLongPress(element, bubble);
  if (!isGone && context.canWrite()) messageCommands.set(element, { edit: isOwn ? edit : null, react: () => chooseReaction(entry) });
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

const isMessage = (entry) => "replyCount" in entry;
const repliesLink = (entry, context) => link("t", context.thread, "m", entry.id);

function replyCount(entry, context) {
  if (!isMessage(entry) || !entry.replyCount) return null;
  return h("a", { class: "replies", href: repliesLink(entry, context) }, icon("reply"), count(entry.replyCount, "reply", "replies"));
}

/** What floats over a message below the pointer or with the focus: its time and the most frequent actions. */
function actions(entry, isOwn, isGone, context, edit) {
  const row = h("div", { class: "message-actions" }, h("span", { "aria-hidden": "true" }, timeElement(entry.createdAt)));
  const mayReact = !isGone && context.canWrite();
  if (mayReact) row.append(iconButton("smile", "React", () => chooseReaction(entry), { class: "icon-button react" }));
  if (isMessage(entry) && !isGone && context.canWrite()) {
    row.append(h("a", { class: "icon-button reply", href: repliesLink(entry, context), "aria-label": "Reply", title: "Reply" }, icon("reply")));
  }
  const items = menuItems(entry, isOwn, isGone, context, edit);
  if (items.length) {
    const name = isOwn ? "you" : author(entry).username ?? "a deleted account";
    const open = () => toggleMenu(button, items, menuHead(entry, mayReact));
    const button = iconButton("more", `More for this message of ${name}`, open, { "aria-expanded": "false", class: "icon-button more", onmenu: open });
    row.append(button);
  }
  return row;
}

/** The time of a message and the emoji that the user has used last, above its menu. */
function menuHead(entry, mayReact) {
  return (close) => h(
    "div", { class: "menu-head" }, h("p", { class: "muted" }, fullTimeText(entry.createdAt)),
    mayReact ? h("div", { class: "menu-emoji" }, lastUsed().map((emoji) => h(
      "button", { type: "button", class: "emoji", "aria-label": `React with ${emoji}`, onclick: () => { close(true); toggleReaction(entry, emoji, false); } }, emoji))) : null);
}

function menuItems(entry, isOwn, isGone, context, edit) {
  const target = isMessage(entry) ? { message: entry.id } : { reply: entry.id };
  const user = author(entry);
  const items = [];
  const simple = (name, fields, done) => async () => {
    try {
      await execute(name, fields);
      if (done) notice(done);
    } catch (error) {
      notice(errorText(error));
    }
  };
  if (!isGone && context.canWrite()) items.push(["React…", () => chooseReaction(entry)]);
  if (!isGone && entry.body !== null) items.push(["Copy text", () => copy(entry.body, "The text is copied.")]);
  if (isMessage(entry)) items.push(["Copy link", () => copy(location.origin + location.pathname + link("t", context.thread, "at", entry.id), "The link to the message is copied.")]);
  if (isMessage(entry) && !isOwn && context.isMember()) items.push(["Mark as unread from here", () => leaveUnread(entry, context)]);
  if (isOwn && !isGone && context.canWrite()) items.push(["Edit", edit]);
  if (isOwn && !isGone) items.push(["Delete…", () => confirmRetraction(entry, target)]);
  if (isMessage(entry) && !isGone && context.canModerate()) {
    items.push(context.isPinned(entry.id) ? ["Unpin", simple("unpin", target, "Unpinned.")] : ["Pin", simple("pin", target, "Pinned.")]);
  }
  if (!isOwn && !isGone && context.isMember()) {
    const recipients = context.isDirect() || !context.roles().size ? "operators" : "moderators";
    items.push([`Report to the ${recipients}…`, () => report(entry, target, recipients)]);
  }
  if (!entry.removed && !isOwn && context.canModerate()) items.push(["Remove…", () => remove(entry, target)]);
  if (!isOwn && user.username) {
    items.push(["About this person", () => { location.hash = link("t", context.thread, "people", user.id); }]);
    items.push(state.blocked.has(user.id)
      ? ["Unblock this person", () => block(user, false)] : ["Block this person", () => block(user, true)]);
  }
  return items;
}

/** Leaves the thread, which would mark the message as read again, and marks it and what follows as unread. */
async function leaveUnread(entry, context) {
  location.hash = link();
  try {
    await markUnread(context.thread, entry.position);
  } catch (error) {
    notice(errorText(error));
  }
}

/** Blocks or unblocks a person, which only the user notices. */
export async function block(user, isBlocked) {
  try {
    await execute(isBlocked ? "block" : "unblock", { user: user.id });
    setBlocked(user.id, isBlocked);
    notice(isBlocked ? "Blocked. Messages of this person are folded up for you; nobody is told." : "Unblocked.");
  } catch (error) {
    notice(errorText(error));
  }
}

let openMenu = null;

/** Opens or closes the list of actions of a button. Escape closes it, and so does a click elsewhere. */
export function toggleMenu(button, items, head = null) {
  const wasOpen = openMenu?.button === button;
  openMenu?.close();
  if (wasOpen) return;
  // The browser shows a popover above everything, so nothing that is scrolled or sticky covers it.
  const list = h("div", { class: "menu", popover: "manual" }, head?.((returnsFocus) => close(returnsFocus)),
    h("ul", {}, items.map(([label, action]) => h("li", {}, h("button", { type: "button", onclick: () => { close(true); action(); } }, label)))));
  function close(returnsFocus) {
    openMenu = null;
    list.remove();
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("click", outside, true);
    document.removeEventListener("scroll", scrolled, true);
    removeEventListener("resize", scrolled);
    if (returnsFocus && button.isConnected) button.focus({ preventScroll: true });
  }
  const outside = (event) => {
    if (!list.contains(event.target) && !button.contains(event.target)) close(false);
  };
  const scrolled = () => close(list.contains(document.activeElement));
  list.addEventListener("keydown", (event) => {
    const buttons = [...list.querySelectorAll("button")];
    const index = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") close(true);
    else if (event.key === "ArrowDown") buttons[(index + 1) % buttons.length].focus();
    else if (event.key === "ArrowUp") buttons[(index + buttons.length - 1) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !list.contains(event.relatedTarget) && event.relatedTarget !== button) close(false);
  });
  openMenu = { button, close };
  button.setAttribute("aria-expanded", "true");
  button.after(list);
  list.showPopover();
  document.addEventListener("click", outside, true);
  document.addEventListener("scroll", scrolled, true);
  addEventListener("resize", scrolled);
  // Below the button, or above it if there is no room; always inside the window.
  const place = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = list;
  const fitsBelow = place.bottom + offsetHeight + 8 < innerHeight;
  list.style.left = `${Math.max(8, Math.min(place.right - offsetWidth, innerWidth - offsetWidth - 8))}px`;
  list.style.top = `${fitsBelow ? place.bottom : Math.max(8, place.top - offsetHeight)}px`;
  list.querySelector("button").focus({ preventScroll: true });
}

function editor(entry, bubble, text) {
  const area = h("textarea", { rows: 3, "aria-label": "Text of the message", dir: "auto" }, entry.body);
  const error = h("p", { class: "field-error", role: "alert" });
  const close = () => {
    box.replaceWith(text);
    bubble.closest(".entry")?.querySelector(".more")?.focus({ preventScroll: true });
  };
  // The text as it was shown: one that another device has edited since is not overwritten.
  const replaces = entry.editPosition ?? entry.position;
  const before = entry.body;
  let sent = {};
  const save = async () => {
    if (area.value === before) return close();
    // The same text again has the same id, so that an edit whose answer was lost is one edit.
    if (sent.body !== area.value) sent = { edit: newID(), body: area.value };
    // Whom the text still names is still mentioned.
    const mentions = mentioned(entry.mentions).filter(({ name }) => area.value.includes(`@${name}`)).map(({ id }) => id);
    try {
      await execute("edit", { ...(isMessage(entry) ? { message: entry.id } : { reply: entry.id }), ...sent, ...(mentions.length ? { mentions } : {}), replaces });
      text.replaceChildren(...markdown(area.value, mentioned(mentions)));
      close();
    } catch (problem) {
      error.textContent = errorText(problem);
    }
  };
  const box = h(
    "div", { class: "edit-box", "data-busy": "" }, area, error,
    h("div", { class: "buttons" }, h("button", { type: "button", class: "button primary small", onclick: save }, "Save"),
      h("button", { type: "button", class: "button small", onclick: close }, "Cancel")));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  text.replaceWith(box);
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
}

const quote = (entry) => h("blockquote", { dir: "auto", "data-post": entry.id ?? entry.message ?? entry.reply }, excerpt(plainText(entry.body ?? ""), 200));

function confirmRetraction(entry, target) {
  return dialog({
    title: "Delete this message?", text: [quote(entry), "Its text is hidden from everybody. Replies to it stay."], submit: "Delete", isDangerous: true,
    action: () => execute("retract", target),
  });
}

function report(entry, target, recipients) {
  return dialog({
    title: "Report this message", text: [quote(entry), recipients === "operators" ? "The operators of the community see the message until they have decided." : "Only the moderators of the thread see reports."], submit: "Report",
    fields: [{ name: "reason", label: "What is wrong with it?", type: "textarea", maxlength: 500 }],
    action: async ({ reason }) => {
      const { moderators } = await execute("report", { ...target, reason });
      notice(moderators === 0 ? "Reported. Nobody can decide reports of this thread at the moment, so the report waits for somebody." : `Reported to the ${recipients}.`);
    },
  });
}

export function remove(entry, target) {
  return dialog({
    title: "Remove this message", text: [quote(entry), "Members see that a moderator removed it. Its author sees the reason."], submit: "Remove",
    isDangerous: true, fields: [{ name: "reason", label: "Reason", type: "textarea", maxlength: 500 }],
    action: ({ reason }) => execute("remove", { ...target, reason }),
  });
}
