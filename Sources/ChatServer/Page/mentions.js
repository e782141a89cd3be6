// Names in what is written: after an @ the members whose names match are offered. The server finds whom a text mentions.

import { Problem, Unreachable, all } from "./api.js";
import { announce, avatar, h, personName } from "./dom.js";
import { count } from "./format.js";
import { learn, person, state } from "./store.js";

/** So many members of a thread can be completed, and so many are offered at once. */
const mostMembers = 1_000;
const mostOffered = 6;

/** Offers members below an @ in a text area of a thread. */
export function mentions(area, thread) {
  const list = h("ul", { class: "menu completions", role: "listbox", id: `${area.id}-people`, "aria-label": "People to mention", hidden: true });
  let members = state.threads.get(thread)?.people ?? null;
  let reading = null;
  let offered = [];
  let chosen = 0;

  async function read() {
    try {
      const { items } = await all(["threads", thread, "members"], mostMembers);
      members = items.map((item) => item.user);
      learn(...members);
      if (document.activeElement === area) offer();
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      // The next @ tries again.
      reading = null;
    }
  }

  /** The beginning of a name between the @ and the caret; null if there is no @. */
  function query() {
    if (area.selectionStart !== area.selectionEnd) return null;
    const before = area.value.slice(0, area.selectionStart);
    return /(?:^|[\s(])@([^\s@](?:[^\n@]{0,40}[^\s@])?|)$/u.exec(before)?.[1] ?? null;
  }

  function offer() {
    const start = query()?.toLowerCase() ?? null;
    if (start !== null && !members) reading ??= read();
    const names = (members ?? []).map(({ id }) => person(id)).filter(({ id, username }) => username && id !== state.me.id);
    const matches = start === null ? [] : names.filter(({ username }) => username.toLowerCase().split(/(?=\s)/).some((_, index, words) => words.slice(index).join("").trimStart().startsWith(start)));
    const shown = matches.slice(0, mostOffered);
    const isNew = shown.length && JSON.stringify(shown) !== JSON.stringify(offered);
    offered = shown;
    if (isNew) {
      chosen = 0;
      announce(`${count(shown.length, "person", "people")} to mention. Up and down choose, Enter mentions.`);
    }
    render();
  }

  function render() {
    list.hidden = !offered.length;
    list.replaceChildren(...offered.map((user, index) => h(
      "li", { role: "option", id: `${list.id}-${index}`, "aria-selected": String(index === chosen),
        onpointerdown: (event) => { event.preventDefault(); pick(user); } }, avatar(user), personName(user))));
    if (offered.length) {
      area.setAttribute("aria-controls", list.id);
      area.setAttribute("aria-activedescendant", `${list.id}-${chosen}`);
    } else {
      area.removeAttribute("aria-controls");
      area.removeAttribute("aria-activedescendant");
    }
  }

  function pick(user) {
    const before = area.value.slice(0, area.selectionStart);
    const start = before.length - query().length;
    area.setRangeText(`${user.username} `, start, area.selectionStart, "end");
    close();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function close() {
    offered = [];
    render();
  }

  area.setAttribute("aria-autocomplete", "list");
  area.addEventListener("input", offer);
  area.addEventListener("blur", close);
  return {
    element: list,
    /** Whether a key belongs to the list of people. */
    takes: (event) => {
      if (!offered.length || event.isComposing) return false;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
        render();
      } else if (event.key === "Enter" || event.key === "Tab") pick(offered[chosen]);
      else if (event.key === "Escape") close();
      else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
  };
}
