// The view of a person: the name, the profile text, and the threads in common.

import { get, path } from "./api.js";
import { avatar, h, personName } from "./dom.js";
import { pages } from "./directory.js";
import { loader } from "./panel.js";
import { link } from "./router.js";
import { learn, on, person, state, threadName } from "./store.js";
import { messagePeople } from "./opening.js";
import { page } from "./threads.js";

const pageSize = 50;

export function personPage(id) {
  const body = h("div", { class: "found" });
  const result = page("Person", body);
  const isOwn = id === state.me.id;
  /** The threads that are shown, and their names: a thread that is left or renamed changes it. */
  let shown = new Set();
  let names = "";
  const namesNow = () => JSON.stringify([...shown].map((thread) => (state.threads.has(thread) ? threadName(state.threads.get(thread)) : null)));
  const name = () => (state.names.has(id) ? state.names.get(id) ?? "Deleted account" : "a person");
  const setHeading = () => { result.heading.textContent = result.title; };
  Object.defineProperty(result, "title", { get: () => `About ${name()}` });

  function thread(common) {
    shown.add(common.id);
    const known = state.threads.get(common.id);
    return h("li", {}, h("a", { href: link("t", common.id) }, h("bdi", {}, threadName(known ?? common))));
  }

  const load = loader(body, async () => {
    let details;
    try {
      details = await get(path(["people", id], { limit: pageSize }));
    } catch (error) {
      if (error.code !== "notFound") throw error;
      shown = new Set();
      names = namesNow();
      setHeading();
      return h("p", {}, "There is no such person, or you have no thread in common.");
    }
    learn(details);
    setHeading();
    shown = new Set();
    // The direct thread with a person is no place where one can meet the person.
    const named = (page) => ({ ...page, items: page.items.filter((thread) => isOwn || !thread.people) });
    const threads = named(details.threads);
    const readOlder = async (before) => named((await get(path(["people", id], { limit: pageSize, before }))).threads);
    const list = pages(threads, readOlder, "thread-links", thread, () => { names = namesNow(); });
    names = namesNow();
    const user = person(id);
    return [
      h("p", { class: "card-head" }, avatar(user), personName(user), state.blocked.has(id) ? h("span", { class: "badge" }, "Blocked") : null),
      details.about ? h("p", { class: "about", dir: "auto" }, details.about) : h("p", { class: "muted" }, isOwn ? "You have not written anything about yourself." : "This person has not written anything about themself."),
      h("div", { class: "buttons" }, isOwn ? h("a", { class: "button", href: link("settings") }, "Change it in the settings")
        : user.username === null ? null : h("button", { type: "button", class: "button primary", onclick: () => messagePeople(user) }, "Message")),
      h("section", { class: "found panel-section", "aria-label": isOwn ? "Your threads" : "Threads in common" }, h("h2", {}, isOwn ? "Your threads" : "Threads in common"),
        threads.items.length || threads.older !== null ? list : h("p", { class: "muted" }, "None.")),
    ];
  });
  setHeading();
  load();
  const isChange = ({ kind, fields }) => fields.user === id && /^(profileSet|usernameChanged|threadJoined|threadLeft|memberRemoved)$/.test(kind);
  const threadsChanged = () => {
    if (names === namesNow()) return;
    // The name of a thread that the user can no longer read is forgotten at once.
    if ([...shown].some((thread) => !state.threads.has(thread))) body.replaceChildren();
    load();
  };
  const erased = ({ namelessUsers }) => {
    if (namelessUsers.includes(id)) body.replaceChildren();
    load();
  };
  const ends = [
    on("event", (change) => { if (isChange(change)) load(); }), on("threads", threadsChanged),
    on("names", setHeading), on("erased", erased), on("blocked", load),
  ];
  result.close = () => ends.forEach((end) => end());
  return result;
}
