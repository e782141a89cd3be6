// Where a message or a reply is written, and what waits in the outbox.

import { append, h, icon } from "./dom.js";
import { errorText, fullTimeText } from "./format.js";
import { newID } from "./ids.js";
import { mentions } from "./mentions.js";
import { bodyElement } from "./message.js";
import * as outbox from "./outbox.js";
import { state } from "./store.js";

const byteLimit = 16_384;

/** The drafts of a user, by place, in the storage of the tab. */
function draftsOf(user) {
  const key = (place) => `draft ${user} ${place}`;
  return {
    get: (place) => sessionStorage.getItem(key(place)) ?? "",
    set: (place, text) => {
      // A request that fails after a sign-out gives its text back to nobody.
      if (state.me?.id !== user) return;
      if (text) sessionStorage.setItem(key(place), text);
      else sessionStorage.removeItem(key(place));
    },
  };
}

/** Removes the drafts of everybody but one user, or of everybody. */
export function keepDraftsOf(user) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("draft ") && !(user && key.startsWith(`draft ${user} `))) sessionStorage.removeItem(key);
  }
}

/** Removes the drafts in a thread. */
export function dropDraftsIn(thread) {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(`draft ${state.me.id} ${thread}`)) sessionStorage.removeItem(key);
}

/** Makes a text area as high as its text, up to a part of the window. */
function resize(area) {
  area.style.height = "auto";
  const most = window.innerHeight * 0.4;
  area.style.overflowY = area.scrollHeight > most ? "auto" : "hidden";
  area.style.height = `${Math.min(area.scrollHeight + 2, most)}px`;
}

/** Returns why a text is too long to be sent; null if it is not. */
function lengthError(body) {
  const size = new TextEncoder().encode(body).length;
  return size > byteLimit ? `The message is too long by ${size - byteLimit} bytes.` : null;
}

/** Whether Enter sends a message on this device. Without a choice it does where there is a keyboard: on a touch screen it
 * begins a new line. */
export const enterSends = {
  get: () => {
    const choice = localStorage.getItem("enter");
    return choice ? choice === "send" : !matchMedia("(pointer: coarse)").matches;
  },
  set: (sends) => localStorage.setItem("enter", sends ? "send" : "line"),
};

/** Whether a key sends the message: Enter as this device is set, Control+Enter always, Shift+Enter never. */
function isSend(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && (enterSends.get() || event.ctrlKey || event.metaKey);
}

/** Creates the form at the end of a thread, or of replies if `message` is given. A draft survives a reload of the tab. */
export function composer({ thread, message = null, label }) {
  const place = message ? `${thread} ${message}` : thread;
  const drafts = draftsOf(state.me.id);
  const id = `composer-${message ?? thread}`;
  const area = h("textarea", { id, rows: 1, dir: "auto", placeholder: label, "aria-describedby": `${id}-error`, enterkeyhint: "enter" });
  area.value = drafts.get(place);
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert" });
  const button = h("button", { type: "submit", class: "button primary send", "aria-label": "Send", title: "Send (Enter)" }, icon("send"));
  const people = mentions(area, thread);
  const form = h("form", { class: "composer" }, h("label", { for: id, class: "visually-hidden" }, label), error, people.element, h("div", { class: "composer-row" }, area, button));

  const setText = (text) => {
    area.value = text;
    drafts.set(place, text);
    resize(area);
  };
  let isTooLong = false;
  const showLength = () => {
    const text = lengthError(area.value);
    isTooLong = text !== null;
    error.textContent = text ?? "";
  };
  const send = async () => {
    const body = area.value;
    error.textContent = "";
    if (!body.trim()) return;
    showLength();
    if (isTooLong) return;
    setText("");
    try {
      await outbox.add({ id: newID(), thread, message, body, mentions: people.of(body) });
    } catch (problem) {
      setText(body);
      error.textContent = `The message cannot be kept on this device: ${problem?.message ?? "unknown error"}`;
    }
  };
  area.addEventListener("input", () => {
    if (isTooLong) showLength();
    drafts.set(place, area.value);
    resize(area);
  });
  area.addEventListener("keydown", (event) => {
    if (people.takes(event) || !isSend(event)) return;
    event.preventDefault();
    send();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
    area.focus();
  });
  queueMicrotask(() => resize(area));
  let rejection = "";
  return {
    element: form, focus: () => area.focus(),
    /** Says at the error that the people of a direct thread cannot be reached, as long as a message waits for that reason. */
    showRejection: (items) => {
      const rejected = items.find((item) => item.rejection?.code === "cannotMessage");
      const text = rejected ? errorText(rejected.rejection) : "";
      if (rejection !== text || text) error.textContent = text;
      rejection = text;
    },
    restore: (text) => {
      setText(area.value ? `${text}\n${area.value}` : text);
      area.focus();
    },
  };
}

/** Returns the list item of something that was written and is not yet accepted. */
export function waitingElement(item, restore) {
  const { rejection } = item;
  const state = rejection
    ? h("p", { class: "waiting-state rejected" }, icon("warning"), h("span", {}, `Not sent. ${errorText(rejection)}`))
    : h("p", { class: "waiting-state" }, icon("clock"), h("span", {}, "Waiting to be sent"));
  const buttons = rejection ? [
    h("button", { type: "button", class: "button small", onclick: async () => { await outbox.drop(item); restore(item.body); } }, "Edit"),
    h("button", { type: "button", class: "button small", onclick: () => outbox.drop(item) }, "Discard"),
  ] : [];
  const article = h(
    "article", { class: "message", "aria-label": rejection ? "Your message, not sent" : "Your message, waiting", title: fullTimeText(item.writtenAt) },
    h("div", { class: "bubble" }, bodyElement(item.body, item.mentions)), state);
  append(article, buttons.length ? [h("div", { class: "buttons" }, buttons)] : []);
  return h("li", { class: "entry own waiting", "data-waiting": item.id }, article);
}
