// The counts of the reactions to a message or a reply.

import { h } from "./dom.js";
import { withLater } from "./later.js";

/** Returns the row of reactions to an entry, or null if there are none. */
export function reactionsElement(entry, context) {
  if (!entry.reactions?.length) return null;
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, entry.reactions.map(({ emoji, count, mine }) => h(
    "li", {}, h(
      "button", {
        type: "button", class: "reaction", "aria-pressed": mine ? "true" : "false", disabled: !mine && !context.canWrite(),
        "aria-label": `${emoji}: ${count}${mine ? ", you too" : ""}`, onclick: () => withLater(({ marks }) => marks.toggleReaction(entry, emoji, mine)),
      }, h("span", { class: "emoji", "aria-hidden": "true" }, emoji), h("span", { "aria-hidden": "true" }, String(count))))));
}
