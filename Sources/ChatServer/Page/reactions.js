// The reactions to a message or a reply: their counts, and what the user reacts with.

import { h, feedback } from "./dom.js";
import { errorText } from "./format.js";
import { execute, state } from "./store.js";

/** What a user who has not reacted yet is offered. */
const common = ["\u{1F44D}", "\u2764\uFE0F", "\u{1F602}", "\u{1F389}", "\u{1F622}", "\u{1F64F}"];

const target = (entry) => ("replyCount" in entry ? { message: entry.id } : { reply: entry.id });

const usedKey = () => `emoji ${state.me.id}`;

/** The six emoji that the user has reacted with last, the latest first. */
export function lastUsed() {
  const used = (localStorage.getItem(usedKey()) ?? "").split(" ").filter(Boolean);
  return [...new Set([...used, ...common])].slice(0, common.length);
}

/** Forgets what a user has reacted with. */
export const forgetUsed = () => {
  for (const key of Object.keys(localStorage)) if (key.startsWith("emoji ")) localStorage.removeItem(key);
};

export async function react(entry, emoji) {
  await execute("react", { ...target(entry), emoji });
  if (/^\p{RGI_Emoji}$/v.test(emoji)) localStorage.setItem(usedKey(), [...new Set([emoji, ...lastUsed()])].slice(0, common.length).join(" "));
}

/** Reacts, or takes the reaction back; the event of it changes what is shown. */
export async function toggleReaction(entry, emoji, isMine) {
  try {
    if (isMine) await execute("unreact", { ...target(entry), emoji });
    else await react(entry, emoji);
  } catch (error) {
    feedback(errorText(error));
  }
}

/** Returns the row of reactions to an entry, or null if there are none. */
export function reactionsElement(entry, context) {
  if (!entry.reactions?.length) return null;
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, entry.reactions.map(({ emoji, count, mine }) => h(
    "li", {}, h(
      "button", {
        type: "button", class: "reaction", "aria-pressed": mine ? "true" : "false", disabled: !mine && !context.canWrite(),
        "aria-label": `${emoji}: ${count}${mine ? ", you too" : ""}`, onclick: () => toggleReaction(entry, emoji, mine),
      }, h("span", { class: "emoji", "aria-hidden": "true" }, emoji), h("span", { "aria-hidden": "true" }, String(count))))));
}
