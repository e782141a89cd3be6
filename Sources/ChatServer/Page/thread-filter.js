// The field above a long list of threads, which shows only the threads whose name has a text.

import { h } from "./dom.js";
import { count } from "./format.js";
import { go } from "./router.js";
import { threadName } from "./store.js";

/** The list of so many threads has the field. */
const fewest = 13;

/** A text without case and accents. */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Puts the field into a place. `changed()` is called when its text has changed. Returns a function that leaves the threads
 * that are meant. */
export function threadFilter(place, list, changed) {
  const field = h("input", { type: "search", "aria-label": "Filter the threads", placeholder: "Filter the threads", autocomplete: "off", spellcheck: "false", maxlength: 128 });
  const status = h("p", { class: "sidebar-note muted", role: "status", hidden: true });
  let found = [];
  const box = h("div", { class: "thread-filter", role: "search", hidden: true }, field, status);
  place.replaceChildren(box);
  field.addEventListener("input", changed);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !field.value.trim()) return;
    if (event.key === "Escape") field.value = "";
    else if (event.key === "Enter" && found.length) go(["t", found[0].id]);
    else if (event.key === "ArrowDown" && found.length) list.querySelector("a").focus();
    else return;
    // Escape would close the panel, too.
    event.preventDefault();
    changed();
  });
  return (threads) => {
    const text = plain(field.value.trim());
    box.hidden = threads.length < fewest && !text;
    found = text ? threads.filter((thread) => plain(threadName(thread)).includes(text)) : threads;
    const said = !text ? "" : found.length ? `${count(found.length, "thread")} of ${threads.length}` : "No thread has this in its name.";
    status.hidden = !text;
    if (status.textContent !== said) status.textContent = said;
    return found;
  };
}
