// What the user can do with a message or a reply: its menu, its editor and the dialogs.

import { execute } from "./commands.js";
import { copy, h, feedback } from "./dom.js";
import { chooseReaction } from "./emoji-picker.js";
import { dialog } from "./forms.js";
import { errorText, excerpt, fullTimeText } from "./format.js";
import { newID } from "./ids.js";
import { markdown, plainText } from "./markdown.js";
import { lastUsed, markUnread, toggleReaction } from "./marks.js";
import { author, isMessage, mentioned } from "./message.js";
import { link } from "./router.js";
import { setBlocked, state } from "./store.js";

/** The time of a message and the emoji that the user has used last, above its menu. */
function menuHead(entry, mayReact) {
  return (close) => h(
    "div", { class: "menu-head" }, h("p", { class: "muted" }, fullTimeText(entry.createdAt)),
    mayReact ? h("div", { class: "menu-emoji" }, lastUsed().map((emoji) => h(
      "button", { type: "button", class: "emoji", "aria-label": `React with ${emoji}`, onclick: () => { close(true); toggleReaction(entry, emoji, false); } }, emoji))) : null);
}

/** Opens or closes the menu of a message; `edit()` begins to edit it. */
export function toggleMessageMenu(button, entry, context, edit) {
  const isOwn = entry.author.id === state.me.id;
  const isGone = entry.retracted || entry.removed;
  toggleMenu(button, menuItems(entry, isOwn, isGone, context, edit), menuHead(entry, !isGone && context.canWrite()));
}

function menuItems(entry, isOwn, isGone, context, edit) {
  const target = isMessage(entry) ? { message: entry.id } : { reply: entry.id };
  const user = author(entry);
  const items = [];
  const simple = (name, fields, done) => async () => {
    try {
      await execute(name, fields);
      if (done) feedback(done);
    } catch (error) {
      feedback(errorText(error));
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
    feedback(errorText(error));
  }
}

/** Blocks or unblocks a person, which only the user sees. */
export async function block(user, isBlocked) {
  try {
    await execute(isBlocked ? "block" : "unblock", { user: user.id });
    setBlocked(user.id, isBlocked);
    feedback(isBlocked ? "Blocked. Messages of this person are folded up for you; nobody is told." : "Unblocked.");
  } catch (error) {
    feedback(errorText(error));
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

/** Edits a message in its place. */
export function editor(entry, bubble, text) {
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
    try {
      await execute("edit", { ...(isMessage(entry) ? { message: entry.id } : { reply: entry.id }), ...sent, findMentions: true, replaces });
      text.replaceChildren(...markdown(area.value, mentioned(entry.mentions)));
      close();
    } catch (problem) {
      if (problem instanceof TypeError || problem instanceof ReferenceError) throw problem;
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
      feedback(moderators === 0 ? "Reported. Nobody can decide reports of this thread at the moment, so the report waits for somebody." : `Reported to the ${recipients}.`);
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
