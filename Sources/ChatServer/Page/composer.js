// Where a message or a reply is written.

import { h, icon } from "./dom.js";
import { draftsOf, messagePlace, replyPlace } from "./drafts.js";
import { errorText } from "./format.js";
import { newID } from "./ids.js";
import { mentions } from "./mentions.js";
import * as outbox from "./outbox.js";
import { state } from "./store.js";

const byteLimit = 16_384;

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

/** Creates the form at the end of a thread, or of replies if `message` is given. The draft is that of all tabs. */
export function composer({ thread, message = null, label }) {
  const place = message ? replyPlace(thread, message) : messagePlace(thread);
  const drafts = draftsOf(state.me.id);
  const id = `composer-${message ?? thread}`;
  const area = h("textarea", { id, rows: 1, dir: "auto", placeholder: label, "aria-describedby": `${id}-error`, enterkeyhint: "enter" });
  area.value = drafts.get(place)?.text ?? "";
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
      await outbox.add({ id: newID(), thread, message, body });
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
  drafts.follow(place, area, (draft) => {
    const text = draft?.text ?? "";
    if (area.value === text) return;
    area.value = text;
    resize(area);
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
