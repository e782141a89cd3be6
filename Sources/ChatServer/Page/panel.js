// The frame of the panels beside a thread.

import { Problem, Unreachable } from "./api.js";
import { h, icon } from "./dom.js";
import { errorText } from "./format.js";
import { link } from "./router.js";

/** Creates a panel with a title, a link that closes it, and a body. */
export function panelFrame(context, title) {
  const heading = h("h2", { id: "panel-title", tabindex: "-1" }, title);
  const body = h("div", { class: "panel-body" });
  const close = h("a", { class: "icon-button", href: link("t", context.thread), "aria-label": "Close", title: "Close" }, icon("close"));
  return { element: h("div", { class: "panel-frame" }, h("div", { class: "panel-head" }, heading, close), body), body };
}

/** Says that a list has only the latest items; null if it has all. */
export const moreNote = (list) => (list.isComplete ? null : h("p", { class: "muted" }, `Only the latest ${list.items.length} are shown.`));

/** Fills a part of a panel with what a function reads, or with the error. Later calls replace earlier ones. */
export function loader(target, read) {
  let latest = 0;
  return async function load() {
    const call = (latest += 1);
    try {
      const children = await read();
      if (call === latest) target.replaceChildren(...[children].flat(2).filter(Boolean));
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      if (call === latest) {
        target.replaceChildren(h("p", { class: "field-error" }, errorText(error)), h("button", { type: "button", class: "button small", onclick: load }, "Try again"));
      }
    }
  };
}
