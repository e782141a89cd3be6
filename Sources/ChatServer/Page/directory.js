// The view in which threads and people are found: the listed threads, and the people of one's own threads.

import { get, path } from "./api.js";
import { execute } from "./commands.js";
import { avatar, emptyState, h, feedback, personName } from "./dom.js";
import { count, errorText, listTime, timeElement } from "./format.js";
import { loader } from "./panel.js";
import { go, link } from "./router.js";
import { learn, on, person, state } from "./store.js";
import { messagePeople, openSoon } from "./opening.js";
import { page } from "./threads.js";

const pageSize = 50;
/** The search begins so many milliseconds after the last key. */
const searchDelay = 250;
/** A direct thread has at most so many people besides the one who opens it. */
const mostOthers = 7;

export function directoryPage() {
  const threads = threadSearch();
  const people = peopleSearch();
  const section = (title, ...children) => h("section", { class: "settings-section", "aria-label": title }, h("h2", {}, title), children);
  const result = page("Find threads and people", section("Threads", threads.element), section("People", people.element));
  result.close = () => {
    threads.close();
    people.close();
  };
  return result;
}

/** The listed threads, that with the latest post first. */
function threadSearch() {
  const element = h("div", { class: "found" });
  const places = new Map();

  async function join(thread) {
    try {
      await execute("joinThread", { thread });
      openSoon(thread);
    } catch (error) {
      // The view of the thread says why, and until when.
      if (error.code === "banned") go(["t", thread]);
      else feedback(errorText(error));
    }
  }

  function control({ id, name }) {
    const label = h("span", { class: "visually-hidden" }, ` ${name ?? "deleted thread"}`);
    return state.threads.get(id)?.isMember ? h("a", { class: "button small", href: link("t", id) }, "Open", label)
      : h("button", { type: "button", class: "button primary small", onclick: () => join(id) }, "Join", label);
  }

  function card(entry) {
    const place = h("div", { class: "buttons" }, control(entry));
    places.set(entry.id, { place, entry, isMember: state.threads.get(entry.id)?.isMember });
    return h(
      "li", { class: "card session" },
      h("div", {}, h("p", {}, h("bdi", { class: "name" }, entry.name ?? "Deleted thread")),
        h("p", { class: "muted" }, count(entry.members, "member"), ", ", entry.latestPostAt ? ["latest post ", timeElement(entry.latestPostAt, listTime(entry.latestPostAt))] : "no post yet")),
      place);
  }

  const load = loader(element, async () => {
    const first = await get(path(["directory"], { limit: pageSize }));
    places.clear();
    if (!first.items.length) return emptyState("search", "No thread is listed yet", "Start one that everyone can find.", h("a", { class: "button primary", href: link("new") }, "Start a thread"));
    return pages(first, (before) => get(path(["directory"], { limit: pageSize, before })), "cards", card);
  });
  load();
  // The control of a thread that was joined or left changes; the others keep the focus.
  const render = () => {
    for (const [id, known] of places) {
      const isMember = state.threads.get(id)?.isMember;
      if (known.isMember === isMember) continue;
      known.isMember = isMember;
      known.place.replaceChildren(control(known.entry));
    }
  };
  const ends = [on("threads", render), on("erased", load)];
  return { element, close: () => ends.forEach((end) => end()) };
}

/** The people of the user's threads whose names begin with a text. */
function peopleSearch() {
  const field = h("input", { type: "search", id: "people-name", autocomplete: "off", maxlength: 128, "aria-describedby": "people-hint" });
  const status = h("p", { class: "visually-hidden", role: "status" });
  const found = h("div", { class: "found" });
  const group = h("div", { class: "found", role: "group", "aria-label": "New group", hidden: true });
  /** The ids of the people of the new group. */
  const chosen = new Set();
  const choose = (id, isIn) => {
    if (isIn) chosen.add(id);
    else chosen.delete(id);
    renderGroup();
  };
  function renderGroup() {
    const people = [...chosen].map(person);
    group.hidden = !people.length;
    group.replaceChildren(
      h("p", {}, "A group of you and ", people.map((user, index) => [index ? ", " : "", personName(user)]), ". Nobody can be added later."),
      h("div", { class: "buttons" },
        h("button", { type: "button", class: "button primary small", disabled: people.length < 2, onclick: () => messagePeople(...people) }, "Open the conversation"),
        people.map((user) => h("button", { type: "button", class: "button small", onclick: () => remove(user.id) }, h("span", {}, "Remove ", personName(user))))));
  }
  function remove(id) {
    choose(id, false);
    found.querySelector(`[data-choice="${CSS.escape(id)}"]`)?.replaceWith(choice(id));
    field.focus();
  }
  /** The button that takes a person into the new group, or out of it. */
  function choice(id) {
    const isIn = chosen.has(id);
    const change = () => {
      if (!isIn && chosen.size >= mostOthers) return feedback(`A group has at most ${mostOthers + 1} people.`);
      choose(id, !isIn);
      const next = choice(id);
      button.replaceWith(next);
      next.focus();
    };
    const button = h("button", { type: "button", class: "button small", "data-choice": id, "aria-pressed": String(isIn), onclick: change },
      isIn ? "In the group" : "Add to a group", h("span", { class: "visually-hidden" }, ` ${person(id).username}`));
    return button;
  }
  const element = h(
    "form", { class: "found", role: "search", onsubmit: (event) => { event.preventDefault(); load(); } },
    h("div", { class: "field" }, h("label", { for: field.id }, "Name"), h("p", { class: "hint", id: "people-hint" }, "The first letters of the name of a person in your threads"), field), group, status, found);

  const load = loader(found, async () => {
    const name = field.value.trim();
    status.textContent = "";
    if (!name) return [];
    const first = await get(path(["people"], { name, limit: pageSize }));
    const known = first.items.length;
    // The server looks at so many people and no more.
    const isPartial = first.older !== null || first.more;
    status.textContent = known ? `${isPartial ? "More than " : ""}${count(known, "person", "people")} found` : "Nobody found";
    if (!known) return h("p", { class: "muted" }, first.more ? "There are too many people to look at all of them. Nobody is found among the first 10,000." : "Nobody in your threads has such a name.");
    return pages(first, (before) => get(path(["people"], { name, limit: pageSize, before })), "people", (item) => foundPerson(item, choice));
  });
  let timer = null;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, searchDelay);
  });
  const isLeft = ({ kind, fields }) => /^(threadLeft|memberRemoved|userBanned)$/.test(kind) && fields.user === state.me?.id;
  // Who was found may be known from that thread alone.
  const forget = () => {
    chosen.clear();
    renderGroup();
    found.replaceChildren();
    load();
  };
  const ends = [on("erased", load), on("names", renderGroup), on("event", (change) => { if (isLeft(change)) forget(); }), () => clearTimeout(timer)];
  return { element, close: () => ends.forEach((end) => end()) };
}

function foundPerson(item, choice) {
  learn(item);
  const user = person(item.id);
  return h(
    "li", { class: "person" }, avatar(user), h("a", { class: "person-name", href: link("people", user.id) }, personName(user)),
    user.username === null ? null : [
      h("button", { type: "button", class: "button small", onclick: () => messagePeople(user) }, "Message", h("span", { class: "visually-hidden" }, ` ${user.username}`)),
      choice(user.id)]);
}

/** A list with the latest item first, and a button for the next page, which `readOlder(before)` reads. */
export function pages(first, readOlder, listClass, element, added = () => {}) {
  const list = h("ul", { class: listClass });
  const add = (page) => list.append(...page.items.toReversed().map(element));
  let { older } = first;
  const more = h("button", {
    type: "button", class: "button small", hidden: older === null,
    onclick: async () => {
      more.disabled = true;
      try {
        const next = await readOlder(older);
        add(next);
        added();
        older = next.older;
        more.hidden = older === null;
      } catch (error) {
        feedback(errorText(error));
      }
      more.disabled = false;
    },
  }, "Show more");
  add(first);
  return [list, more];
}
