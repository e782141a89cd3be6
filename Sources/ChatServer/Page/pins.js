// The panel with the pinned messages.

import { get, path } from "./api.js";
import { avatar, emptyState, h, personName } from "./dom.js";
import { excerpt, timeElement, shortDay } from "./format.js";
import { plainText } from "./markdown.js";
import { loader, panelFrame } from "./panel.js";
import { link } from "./router.js";
import { learn } from "./store.js";

export function pinsPanel(context) {
  const { element, body } = panelFrame(context, "Pinned messages");
  const load = loader(body, async () => {
    const { items } = await get(path(["threads", context.thread, "pins"]));
    learn(...items.map((item) => item.author));
    if (!items.length) return emptyState("pin", "No message is pinned", "Moderators can pin what everybody should find again, in the menu of a message.");
    return [h("ul", { class: "cards" }, items.map((item) => h(
      "li", { class: "card" }, h("p", { class: "card-head" }, avatar(item.author), personName(item.author), timeElement(item.createdAt, shortDay(item.createdAt))),
      h("p", { class: "body", dir: "auto" }, excerpt(plainText(item.body ?? ""), 400)),
      h("a", { href: link("t", context.thread, "at", item.id) }, "Go to this message"))))];
  });
  load();
  return { element, changed: load, reset: load };
}
