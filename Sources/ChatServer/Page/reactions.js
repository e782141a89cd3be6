// The reactions to a message or a reply: their counts, and what the user reacts with.

import { h, notice } from "./dom.js";
import { dialog } from "./forms.js";
import { errorText } from "./format.js";
import { execute } from "./store.js";

/** What most people react with; every other emoji can be typed. */
const common = [
  ["\u{1F44D}", "Thumbs up"], ["\u2764\uFE0F", "Heart"], ["\u{1F602}", "Laughing"], ["\u{1F389}", "Party"], ["\u{1F622}", "Sad"], ["\u{1F64F}", "Thanks"],
];

const target = (entry) => ("replyCount" in entry ? { message: entry.id } : { reply: entry.id });

/** Reacts, or takes the reaction back; the event of it changes what is shown. */
async function toggle(entry, emoji, isMine) {
  try {
    await execute(isMine ? "unreact" : "react", { ...target(entry), emoji });
  } catch (error) {
    notice(errorText(error));
  }
}

/** Returns the row of reactions to an entry, or null if there are none. */
export function reactionsElement(entry, context) {
  if (!entry.reactions?.length) return null;
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, entry.reactions.map(({ emoji, count, mine }) => h(
    "li", {}, h(
      "button", {
        type: "button", class: "reaction", "aria-pressed": mine ? "true" : "false", disabled: !mine && !context.canWrite(),
        "aria-label": `${emoji}: ${count}${mine ? ", you too" : ""}`, onclick: () => toggle(entry, emoji, mine),
      }, h("span", { "aria-hidden": "true" }, emoji), h("span", { "aria-hidden": "true" }, String(count))))));
}

/** Asks for an emoji, and reacts with it. */
export function chooseReaction(entry) {
  const choose = (emoji) => (event) => {
    const { form } = event.currentTarget.closest("dialog").querySelector("input[name=emoji]");
    form.elements.emoji.value = emoji;
    form.requestSubmit();
  };
  const choices = h("div", { class: "reaction-choices", role: "group", "aria-label": "Common emoji" }, common.map(([emoji, name]) => h(
    "button", { type: "button", class: "icon-button", "aria-label": name, title: name, onclick: choose(emoji) }, emoji)));
  return dialog({
    title: "React", text: [choices], submit: "React",
    fields: [{ name: "emoji", label: "Another emoji", hint: "One emoji, or a name such as :wave:", autocomplete: "off" }],
    action: ({ emoji }) => execute("react", { ...target(entry), emoji: emoji.trim() }),
  });
}
