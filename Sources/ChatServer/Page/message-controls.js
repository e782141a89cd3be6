// What floats over a message below the pointer or with the focus: its time and the most frequent actions. A message has it from
// when it is pointed at or has the focus, or rests in view: while a long thread is scrolled, it would cost frames.

import { h, icon, iconButton } from "./dom.js";
import { chooseReaction } from "./emoji-picker.js";
import { timeElement } from "./format.js";
import { author, isMessage, madeFrom, repliesLink } from "./message.js";
import { edit, messageMenu } from "./message-actions.js";
import { toggleMenu } from "./menu.js";
import { state } from "./store.js";

/** What the user may do with a message whose element is given: `edit()` and `react()`, each or null. */
export function commandsOf(element) {
  const { entry, context } = madeFrom.get(element) ?? {};
  if (!entry || entry.retracted || entry.removed || !context.canWrite()) return { edit: null, react: null };
  return { edit: entry.author.id === state.me.id ? () => edit(element) : null, react: () => chooseReaction(entry) };
}

/** Adds the controls of a message, once. */
export function equip(element) {
  const made = madeFrom.get(element);
  if (!made || made.hasControls) return;
  made.hasControls = true;
  made.bubble.append(controls(element, made));
}

function controls(element, { entry, context }) {
  const row = h("div", { class: "message-actions" }, h("span", { "aria-hidden": "true" }, timeElement(entry.createdAt)));
  const isOwn = entry.author.id === state.me.id;
  const isGone = entry.retracted || entry.removed;
  const { react } = commandsOf(element);
  if (react) row.append(iconButton("smile", "React", react, { class: "icon-button react" }));
  if (isMessage(entry) && !isGone && context.canWrite()) {
    row.append(h("a", { class: "icon-button reply", href: repliesLink(entry, context), "aria-label": "Reply", title: "Reply" }, icon("reply")));
  }
  const { username } = author(entry);
  // What somebody else has written can be removed, and its author blocked.
  const hasMenu = isMessage(entry) || !isGone || (!isOwn && (username || (!entry.removed && context.canModerate())));
  if (hasMenu) {
    const name = isOwn ? "you" : username ?? "a deleted account";
    const open = () => {
      const list = element.closest(".messages");
      const row = () => list.querySelector(`:scope > [data-id="${CSS.escape(entry.id)}"]`);
      const find = () => {
        if (row()) equip(row());
        return row()?.querySelector(".more") ?? null;
      };
      toggleMenu(button, find, () => messageMenu(row()));
    };
    const button = iconButton("more", `More for this message of ${name}`, open, { "aria-expanded": "false", class: "icon-button more", onmenu: open });
    row.append(button);
  }
  return row;
}

/** Adds the controls of the messages in an element when they are pointed at or have the focus; `added(message)` follows. A finger
 * that stays on a message opens its menu. */
export function watchMessages(container, added = () => {}) {
  for (const name of ["pointerover", "pointerdown", "focusin"]) {
    container.addEventListener(name, ({ target }) => {
      const element = target.closest(".entry");
      if (!element) return;
      equip(element);
      added(element);
    });
  }
  openOnLongPress(container);
}

function openOnLongPress(container) {
  let timer = null;
  let start = null;
  const end = () => clearTimeout(timer);
  const open = (bubble) => {
    // The end of the touch is no click, which would close the menu, and the browser shows no menu of its own.
    const isOver = new AbortController();
    for (const name of ["touchend", "click", "contextmenu"]) {
      document.addEventListener(name, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, { capture: true, passive: false, signal: isOver.signal });
    }
    document.addEventListener("pointerup", () => setTimeout(() => isOver.abort(), 50), { once: true });
    document.addEventListener("pointercancel", () => isOver.abort(), { once: true });
    bubble.querySelector(".more")?.dispatchEvent(new CustomEvent("menu"));
  };
  container.addEventListener("pointerdown", (event) => {
    end();
    start = event;
    const bubble = event.target.closest(".bubble");
    if (bubble && event.pointerType === "touch" && !event.target.closest("a, button, textarea, summary")) timer = setTimeout(() => open(bubble), 450);
  });
  container.addEventListener("pointermove", (event) => { if (start && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > 10) end(); });
  for (const name of ["pointerup", "pointercancel"]) container.addEventListener(name, end);
}
