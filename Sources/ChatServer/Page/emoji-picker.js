// The dialog with the emoji that a user can react with.

import { h } from "./dom.js";
import { dialog } from "./forms.js";
import { lastUsed, react } from "./marks.js";

/** The ranges of Unicode that have most emoji, in the order in which they are offered. */
const groups = [
  ["Faces", [[0x1F600, 0x1F64F], [0x1F910, 0x1F92F], [0x1F970, 0x1F97A], [0x1FAE0, 0x1FAEA]]], ["People", [[0x1F440, 0x1F487], [0x1F90C, 0x1F90F], [0x1F930, 0x1F93E], [0x1FAF0, 0x1FAF8], [0x270A, 0x270D]]],
  ["Nature", [[0x1F300, 0x1F320], [0x1F330, 0x1F344], [0x1F400, 0x1F43F], [0x1F980, 0x1F9AE], [0x2600, 0x2604]]], ["Food", [[0x1F32D, 0x1F32F], [0x1F345, 0x1F37F], [0x1F950, 0x1F96F]]],
  ["Activities and places", [[0x1F380, 0x1F3FF], [0x1F680, 0x1F6FC], [0x1F947, 0x1F94F]]], ["Things", [[0x1F488, 0x1F5FF], [0x2702, 0x2709]]], ["Signs", [[0x2705, 0x2705], [0x2753, 0x2757], [0x2763, 0x2764], [0x2795, 0x2797], [0x1F7E0, 0x1F7EB], [0x2611, 0x2611], [0x274C, 0x274C], [0x2B50, 0x2B55]]],
];

/** The emoji of a group that this browser knows. The text form of a sign is followed by the selector of its picture. */
function emojiOf(ranges) {
  const found = [];
  for (const [first, last] of ranges) {
    for (let scalar = first; scalar <= last; scalar += 1) {
      const text = String.fromCodePoint(scalar);
      const emoji = [text, text + "\uFE0F"].find((form) => /^\p{RGI_Emoji}$/v.test(form));
      if (emoji && !/\p{Emoji_Modifier}/u.test(emoji)) found.push(emoji);
    }
  }
  return found;
}

/** Asks for an emoji, and reacts with it. */
export function chooseReaction(entry) {
  const choose = (emoji) => (event) => {
    const { form } = event.currentTarget.closest("dialog").querySelector("input[name=emoji]");
    form.elements.emoji.value = emoji;
    form.requestSubmit();
  };
  // A screen reader knows the names of emoji.
  const button = (emoji) => h("button", { type: "button", class: "emoji", onclick: choose(emoji) }, emoji);
  const group = ([name, ranges]) => h("section", { "aria-label": name }, h("h3", {}, name), grid(emojiOf(ranges).map(button), name));
  const chosen = dialog({
    title: "React", submit: "React", class: "dialog reaction-dialog",
    text: [grid(lastUsed().map(button), "Used last"), h("div", { class: "reaction-groups", tabindex: "-1" }, groups.map(group))],
    fields: [{ name: "emoji", label: "Another emoji", hint: "One emoji, or a name such as :wave:", autocomplete: "off" }],
    action: ({ emoji }) => react(entry, emoji.trim()),
  });
  // A field with the focus has a phone show its keyboard over the emoji.
  document.querySelector(".reaction-dialog .emoji").focus();
  return chosen;
}

/** A group of buttons with one tab stop, in which the arrows move. */
function grid(buttons, label) {
  const element = h("div", { class: "reaction-choices", role: "group", "aria-label": label }, buttons);
  buttons.forEach((button, index) => button.setAttribute("tabindex", index ? "-1" : "0"));
  element.addEventListener("keydown", (event) => {
    const index = buttons.indexOf(document.activeElement);
    const columns = buttons.findIndex((button) => button.offsetTop > buttons[0].offsetTop);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!step || !buttons[index + step]) return;
    event.preventDefault();
    buttons[index].setAttribute("tabindex", "-1");
    buttons[index + step].setAttribute("tabindex", "0");
    buttons[index + step].focus();
  });
  return element;
}
