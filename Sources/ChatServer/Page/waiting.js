// What waits in the outbox, below the messages.

import { append, h, icon } from "./dom.js";
import { errorText, fullTimeText } from "./format.js";
import { bodyElement } from "./message.js";
import * as outbox from "./outbox.js";

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
    h("div", { class: "bubble" }, bodyElement(item.body)), state);
  append(article, buttons.length ? [h("div", { class: "buttons" }, buttons)] : []);
  return h("li", { class: "entry own waiting", "data-waiting": item.id }, article);
}
