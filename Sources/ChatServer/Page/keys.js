// The keyboard shortcuts, the dialog that lists them, and the dialog that goes to a thread.

import { h, iconButton } from "./dom.js";
import { count } from "./format.js";
import { commandsOf } from "./message-controls.js";
import { link } from "./router.js";
import { roveLinks } from "./roving.js";
import { on, state, threadName } from "./store.js";

/** Whether shortcuts of one character work on this device. */
const settingKey = "single-character shortcuts";
const mostFound = 20;

const hasCharacterKeys = () => localStorage.getItem(settingKey) !== "off";

function setCharacterKeys(isOn) {
  if (isOn) localStorage.removeItem(settingKey);
  else localStorage.setItem(settingKey, "off");
}

/** Each has its single character or null, further keys, what it does, and `run()`, which returns whether it did. */
const shortcuts = [
  { character: "?", text: "Show the keyboard shortcuts", run: showHelp },
  { character: "/", keys: "Ctrl+K", matches: (event) => event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey, worksInFields: true, text: "Go to a thread by its name", run: showSwitcher },
  { character: "j", keys: "Alt+↓", matches: (event) => event.key === "ArrowDown" && isAltAlone(event), text: "Next thread", run: () => openNeighbour(1) },
  { character: "k", keys: "Alt+↑", matches: (event) => event.key === "ArrowUp" && isAltAlone(event), text: "Previous thread", run: () => openNeighbour(-1) },
  { character: "c", text: "Write", run: focusComposer },
  { character: "r", text: "Reply to the message with the focus", run: () => withMessage((entry) => { const place = entry.querySelector('a[aria-label="Reply"], a.replies'); place?.click(); return Boolean(place); }) },
  { character: "e", text: "Edit the message with the focus, if it is yours", run: () => withMessage((entry) => runCommand(entry, "edit")) },
  { character: "+", text: "React to the message with the focus", run: () => withMessage((entry) => runCommand(entry, "react")) },
];

/** The keys that need no shortcut, for the list. */
const others = [
  [["↑", "↓"], "Previous or next message or thread of a list"], [["Page Up", "Page Down"], "One page of messages up or down"], [["Home", "End"], "First or last message or thread of a list"],
  [["Enter", "→"], "The actions of the message with the focus"], [["Esc", "←"], "Back to the message; Esc closes a menu, a dialog or a panel"], [["↑"], "In an empty field: edit your last message"],
];

const isAltAlone = (event) => event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
const isField = (target) => target instanceof Element && Boolean(target.closest('input:not([type="checkbox"]), textarea, select'));

let hasStarted = false;

/** Starts to listen for shortcuts, once; `isActive()` tells whether somebody is signed in. */
export function startKeys(isActive) {
  if (hasStarted) return;
  hasStarted = true;
  addEventListener("keydown", (event) => {
    if (!isActive() || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open], .menu:not([hidden])")) return;
    const isInField = isField(event.target);
    if (event.key === "ArrowUp" && isInField && editLatest(event)) {
      event.preventDefault();
      return;
    }
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    const isMeant = (shortcut) => (shortcut.matches?.(event) && (shortcut.worksInFields || !isInField))
      || (event.key === shortcut.character && !hasModifier && !isInField && hasCharacterKeys());
    if (shortcuts.find(isMeant)?.run()) event.preventDefault();
  });
}

function withMessage(act) {
  const entry = document.activeElement?.closest(".entry[data-id]");
  return entry ? act(entry) : false;
}

function runCommand(entry, name) {
  const command = commandsOf(entry)[name];
  command?.();
  return Boolean(command);
}

/** Edits the last message of the user that is shown above an empty composer. */
function editLatest({ target, altKey, ctrlKey, metaKey, shiftKey }) {
  if (!target.matches(".composer textarea") || target.value || altKey || ctrlKey || metaKey || shiftKey) return false;
  const entries = target.closest("main, .panel").querySelectorAll(".timeline .entry[data-id]");
  const latest = [...entries].findLast((entry) => commandsOf(entry).edit);
  return latest ? runCommand(latest, "edit") : false;
}

function openNeighbour(direction) {
  const links = [...document.querySelectorAll(".thread-list a[href]")];
  const index = links.findIndex((each) => each.hasAttribute("aria-current"));
  const next = index < 0 ? links.at(direction > 0 ? 0 : -1) : links[index + direction];
  if (!next) return false;
  location.hash = next.getAttribute("href");
  return true;
}

/** Gives the focus to the field in which one writes. Returns whether one is shown. */
function focusComposer() {
  const areas = [...document.querySelectorAll("main .composer textarea, .panel .composer textarea")].filter((area) => area.checkVisibility());
  // That of a panel is nearer to what the user does.
  areas.at(-1)?.focus();
  return areas.length > 0;
}

/** Shows a dialog without a form. `closed()` is called at its end. */
function sheet(title, children, closed = () => {}) {
  const before = document.activeElement;
  const element = h(
    "dialog", { class: "dialog", "aria-labelledby": "sheet-title" },
    h("div", { class: "dialog-head" }, h("h2", { id: "sheet-title" }, title), iconButton("close", "Close", () => element.close())), children);
  element.addEventListener("close", () => {
    closed();
    element.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(element);
  element.showModal();
  return element;
}

/** Lists the shortcuts. Those of one character can be turned off. */
export function showHelp() {
  const box = h("input", { type: "checkbox", id: "character-keys", oninput: () => setCharacterKeys(box.checked) });
  box.checked = hasCharacterKeys();
  const row = (keys, text) => h("tr", {}, h("th", { scope: "row" }, keys.map((key, index) => [index ? " or " : "", h("kbd", {}, key)])), h("td", {}, text));
  sheet("Keyboard shortcuts", [
    h("p", { class: "muted" }, "Shortcuts of one character do nothing while you write in a field."),
    h("p", { class: "check" }, box, h("label", { for: box.id }, "Shortcuts of one character, on this device")),
    h("table", { class: "numbers" }, h("tbody", {},
      shortcuts.map(({ character, keys, text }) => row([character, keys].filter(Boolean), text)), others.map(([keys, text]) => row(keys, text)))),
  ]);
  return true;
}

/** Finds a thread of the user by its name, and goes there. */
function showSwitcher() {
  const field = h("input", { type: "search", id: "switcher-name", autocomplete: "off", maxlength: 240 });
  const status = h("p", { class: "visually-hidden", role: "status" });
  const list = h("ul", { class: "thread-links" });
  const settle = roveLinks(list);
  const links = () => [...list.querySelectorAll("a")];
  function render() {
    const text = field.value.trim().toLocaleLowerCase();
    const names = [...state.threads.values()].map((thread) => ({ thread, name: threadName(thread) }));
    const position = ({ lastMessage, lastPosition }) => lastMessage?.position ?? lastPosition ?? 0;
    const found = names.filter(({ name }) => name.toLocaleLowerCase().includes(text)).sort((a, b) => position(b.thread) - position(a.thread));
    list.replaceChildren(...found.slice(0, mostFound).map(({ thread, name }) => h("li", {}, h("a", { href: link("t", thread.id), onclick: () => dialog.close() }, h("bdi", {}, name)))),
      h("li", {}, h("a", { href: link("directory"), onclick: () => dialog.close() }, "Find other threads and people")));
    status.textContent = `${count(found.length, "thread")} found`;
    settle();
  }
  field.addEventListener("input", render);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") links()[0].focus();
    else if (event.key === "Enter") links()[0].click();
    else return;
    event.preventDefault();
  });
  const end = on("threads", render);
  const dialog = sheet("Go to a thread", [h("div", { class: "field" }, h("label", { for: field.id }, "Name of the thread"), field), status, list], end);
  render();
  field.focus();
  return true;
}
