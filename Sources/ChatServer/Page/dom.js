// Elements. Text is only ever set as text: the page has no innerHTML.

/** Creates an element. `on...` properties are listeners, other names are attributes; false and null are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Appends elements and texts; null and false are left out. */
export function append(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Creates an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const paths = {
  back: "M15 5l-7 7 7 7",
  more: "M4.5 11.5h1v1h-1zm7 0h1v1h-1zm7 0h1v1h-1z",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4 12l16-8-6 16-3-7z",
  reply: "M9 7l-5 5 5 5M4 12h10a6 6 0 0 1 6 6",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c1.8.8 3 2.9 3 5.5",
  person: "M12 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM5 20c0-3.9 3.1-7 7-7s7 3.1 7 7",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5",
  chart: "M5 20v-7M10 20V6M15 20v-9M20 20V9M3 20h19",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 7a2 2 0 1 0 4 0 2 2 0 0 0-4 0M6 17a2 2 0 1 0 4 0 2 2 0 0 0-4 0",
  plus: "M12 5v14M5 12h14",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  down: "M12 5v14M6 13l6 6 6-6",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  muted: "M6 16V11a6 6 0 0 1 9-5M18 12v4l2 2H8M10 21h4M4 4l16 16",
  mail: "M4 6h16v12H4zM4 7l8 6 8-6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5c1.8 2.3 5.2 2.3 7 0M9 10h.01M15 10h.01",
  hash: "M9 4L7 20M17 4l-2 16M4.5 9h16M3.5 15h16",
  calendar: "M4 6h16v15H4zM4 10h16M8 3v5M16 3v5",
  warning: "M12 4L2.5 20h19zM12 10v4M12 17h.01",
};

/** Returns a decorative icon. */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, svg("path", { d: paths[name] }));
}

/** Returns a button with an icon, whose name is read out. */
export function iconButton(name, label, onclick, properties = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...properties }, icon(name));
}

/** Returns a name of a person, separated from the writing direction of its surroundings. */
export function personName(user) {
  return h("bdi", { class: "name", "data-user": user?.id }, user?.username ?? "Deleted account");
}

const segmenter = new Intl.Segmenter();

/** The first letters of the first and the last word of a name, or the first two of its only word. */
function initials(name) {
  const words = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const letters = (word, number) => [...segmenter.segment(word)].slice(0, number).map(({ segment }) => segment).join("");
  if (!words.length) return letters(name, 1) || "?";
  return words.length > 1 ? (letters(words[0], 1) + letters(words.at(-1), 1)).toUpperCase() : letters(words[0], 1).toUpperCase() + letters(words[0], 2).slice(letters(words[0], 1).length);
}

/** Returns the circle with the initials of a person, whose colour is one of 32 that depends on the id. */
export function avatar(user) {
  let hue = 0;
  for (const letter of user?.id ?? "") hue = (hue * 31 + letter.charCodeAt(0)) % 32;
  const element = h("span", { class: "avatar", "aria-hidden": "true", "data-user": user?.id }, h("bdi", {}, initials(user?.username ?? "?")));
  element.style.setProperty("--hue", String((hue % 16) * 22.5));
  element.style.setProperty("--light", hue < 16 ? "40%" : "52%");
  return element;
}

/** Returns what is shown in place of an empty list: a purpose, and the next step. */
export function emptyState(iconName, title, text, ...actions) {
  return h("div", { class: "placeholder empty" }, icon(iconName), h("p", { class: "empty-title" }, title), text ? h("p", {}, text) : null,
    actions.length ? h("div", { class: "buttons" }, actions) : null);
}

/** Copies a text and says so, or shows it if the browser does not allow it. */
export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    feedback(done);
  } catch {
    feedback(text);
  }
}

let waiting = [];
let quietUntil = 0;
let announcing = null;

/** Has a screen reader say a text. After a text, further ones are collected for three seconds and said as one. */
export function announce(text, summary = null) {
  waiting.push({ text, summary });
  announcing ??= setTimeout(() => {
    announcing = null;
    quietUntil = Date.now() + 3_000;
    const last = waiting.at(-1);
    const text = waiting.length > 1 && last.summary ? last.summary(waiting.length) : last.text;
    waiting = [];
    document.getElementById("announcer").textContent = text;
  }, Math.max(200, quietUntil - Date.now()));
}

/** Forgets what was said and shown, and what would be said. */
export function silence() {
  clearTimeout(announcing);
  announcing = null;
  waiting = [];
  document.getElementById("announcer").textContent = "";
  document.querySelector(".feedback")?.remove();
}

/** Removes what was erased from everything that is shown: the names of people, and the dialogs that quote something. */
export function removeErased({ messages, replies, namelessUsers }) {
  const marks = [
    ...[...messages, ...replies].map((id) => `[data-post="${id}"]`),
    ...namelessUsers.flatMap((id) => [`[data-user="${id}"]`, `option[value="${id}"]`]),
  ];
  closeDialogs((dialog) => marks.some((mark) => dialog.querySelector(mark)));
  for (const id of namelessUsers) {
    const user = { id, username: null };
    for (const element of document.querySelectorAll(`[data-user="${id}"]`)) {
      element.replaceWith(element.classList.contains("avatar") ? avatar(user) : personName(user));
    }
  }
}

/** Closes the dialogs for which a function is true. */
export function closeDialogs(isMeant = () => true) {
  for (const dialog of document.querySelectorAll("dialog")) {
    if (!isMeant(dialog)) continue;
    dialog.close();
    dialog.remove();
  }
}

let feedbackTimer = null;

/** Shows a short text at the bottom, which is read out as well. */
export function feedback(text) {
  document.querySelector(".feedback")?.remove();
  document.body.append(h("p", { class: "feedback", role: "status", "aria-live": "off" }, text));
  announce(text);
  clearTimeout(feedbackTimer);
  feedbackTimer = setTimeout(() => document.querySelector(".feedback")?.remove(), 6_000);
}
