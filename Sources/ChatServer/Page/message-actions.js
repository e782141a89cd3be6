// What the user can do with a message or a reply: its menu, its editor and the dialogs.

import { execute } from "./commands.js";
import { copy, h, feedback } from "./dom.js";
import { draftsOf, editPlace } from "./drafts.js";
import { chooseReaction } from "./emoji-picker.js";
import { dialog } from "./forms.js";
import { errorText, excerpt, fullTimeText } from "./format.js";
import { newID } from "./ids.js";
import { markdown, plainText } from "./markdown.js";
import { lastUsed, markUnread, toggleReaction } from "./marks.js";
import { author, isMessage, madeFrom, mentioned } from "./message.js";
import { link } from "./router.js";
import { setBlocked, state } from "./store.js";

/** The time of a message and the emoji that the user has used last, above its menu. */
function menuHead(entry, mayReact) {
  return (close) => h(
    "div", { class: "menu-head" }, h("p", { class: "muted" }, fullTimeText(entry.createdAt)),
    mayReact ? h("div", { class: "menu-emoji" }, lastUsed().map((emoji) => h(
      "button", { type: "button", class: "emoji", "aria-label": `React with ${emoji}`, onclick: () => { close(true); toggleReaction(entry, emoji, false); } }, emoji))) : null);
}

/** What the menu of a message has, whose element is given. */
export function messageMenu(element) {
  const { entry, context } = madeFrom.get(element);
  const isGone = entry.retracted || entry.removed;
  return { items: menuItems(element, isGone), head: menuHead(entry, !isGone && context.canWrite()) };
}

function menuItems(element, isGone) {
  const { entry, context } = madeFrom.get(element);
  const isOwn = entry.author.id === state.me.id;
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
  if (isOwn && !isGone && context.canWrite()) items.push(["Edit", () => edit(element)]);
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

/** Edits a message in its place, whose element is given. What was typed before is continued. */
export function edit(element, { takesFocus = true } = {}) {
  const { entry, context, bubble, text } = madeFrom.get(element);
  const opened = bubble.querySelector(".edit-box textarea");
  if (opened) return opened.focus();
  const drafts = draftsOf(state.me.id);
  const place = editPlace(context.thread, entry.id);
  const begun = drafts.get(place);
  const area = h("textarea", { rows: 3, "aria-label": "Text of the message", dir: "auto" }, begun?.text ?? entry.body);
  const error = h("p", { class: "field-error", role: "alert" });
  // The text as it was shown: one that another device has edited since is not overwritten.
  const replaces = begun?.replaces ?? entry.editPosition ?? entry.position;
  const before = entry.body;
  /** What was sent and not answered, with its id. */
  let sent = begun?.edit ? { edit: begun.edit, body: begun.text } : {};
  const keep = () => {
    const isChanged = area.value !== before;
    drafts.set(place, isChanged ? area.value : "", sent.body === area.value ? { replaces, edit: sent.edit } : { replaces });
  };
  const close = (returnsFocus = true) => {
    drafts.set(place, "");
    box.replaceWith(text);
    if (returnsFocus) bubble.closest(".entry")?.querySelector(".more")?.focus({ preventScroll: true });
    // The list has left the message alone until now.
    bubble.dispatchEvent(new Event("edited", { bubbles: true }));
  };
  const save = async () => {
    if (area.value === before) return close();
    // The same text again has the same id, so that an edit whose answer was lost is one edit.
    if (sent.body !== area.value) sent = { edit: newID(), body: area.value };
    keep();
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
      h("button", { type: "button", class: "button small", onclick: () => close() }, "Cancel")));
  area.addEventListener("input", keep);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  text.replaceWith(box);
  // Sent or thrown away in another tab, or written on.
  drafts.follow(place, area, (draft) => {
    if (!draft && area.value !== before) close(false);
    else if (draft && area.value !== draft.text) area.value = draft.text;
  });
  if (!takesFocus) return;
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
}

/** Shows an edit that was begun before the message was shown again, and forgets that of a message that cannot be edited. */
export function restoreEdit(element) {
  const { entry, context } = madeFrom.get(element) ?? {};
  if (entry?.author.id !== state.me?.id) return;
  const drafts = draftsOf(state.me.id);
  const place = editPlace(context.thread, entry.id);
  if (!drafts.get(place) || element.querySelector(".edit-box")) return;
  if (entry.retracted || entry.removed || entry.body === null) drafts.set(place, "");
  else if (context.canWrite()) edit(element, { takesFocus: false });
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
