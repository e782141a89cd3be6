// The list of threads, invitations, and the views that open a thread.

import { append, avatar, emptyState, h, icon, notice, personName } from "./dom.js";
import { form } from "./forms.js";
import { count, errorText, excerpt, listTime, timeElement } from "./format.js";
import { newID } from "./ids.js";
import { plainText } from "./markdown.js";
import { go, link, parts } from "./router.js";
import { roveLinks } from "./roving.js";
import { execute, on, person, state, threadName } from "./store.js";
import { policies } from "./thread-settings.js";

/** Creates the list of threads, which follows the changes. */
export function sidebar(brand) {
  const list = h("ul", { class: "thread-list" });
  const settle = roveLinks(list);
  const top = h("div");
  const inboxCount = h("span", { class: "unread", hidden: true });
  const inboxLink = h("a", { class: "icon-button inbox-link", href: link("inbox"), title: "Inbox" }, icon("bell"), inboxCount);
  const element = h(
    "div", { class: "sidebar", role: "navigation", tabindex: "-1", "aria-label": "Threads" },
    h("div", { class: "sidebar-head" }, h("p", { class: "brand" }, brand),
      inboxLink,
      h("a", { class: "icon-button", href: link("directory"), "aria-label": "Find threads", title: "Find threads" }, icon("search")),
      h("a", { class: "icon-button", href: link("new"), "aria-label": "Open a thread", title: "Open a thread" }, icon("plus")),
      h("a", { class: "icon-button", href: link("settings"), "aria-label": "Settings", title: "Settings" }, icon("settings"))),
    top, list);
  const rows = new Map();

  function render() {
    const threads = [...state.threads.values()].sort((a, b) => latest(b) - latest(a));
    const current = parts()[0] === "t" ? parts()[1] : null;
    const focused = document.activeElement?.closest?.(".thread-list a")?.getAttribute("href");
    const wanted = new Map();
    for (const thread of threads) {
      const mark = JSON.stringify([threadName(thread), thread.unread, thread.lastMessage, thread.policy, thread.locked, thread.closed, thread.id === current, name(thread), listDay()]);
      const known = rows.get(thread.id);
      wanted.set(thread.id, known?.mark === mark ? known : { mark, element: row(thread, thread.id === current) });
    }
    rows.clear();
    for (const [id, value] of wanted) rows.set(id, value);
    list.replaceChildren(...[...wanted.values()].map(({ element }) => element));
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    settle();
    top.replaceChildren();
    const { count: unread, more } = state.inbox;
    // After many events without an entry, the server has not looked at all that may be unread.
    inboxCount.hidden = !unread && !more;
    inboxCount.textContent = unread > 99 ? "99+" : more ? `${unread}+` : String(unread);
    inboxLink.setAttribute("aria-label", unread ? `Inbox, ${unread}${more ? " or more" : ""} unread` : "Inbox");
    if (state.invitations.length) {
      top.append(h("a", { class: "invitations-link", href: link("invitations") }, icon("mail"), h("span", {}, invitationCount())));
    }
    if (state.hasMoreThreads) {
      append(top, [h("p", { class: "muted sidebar-note" }, `Unread messages are counted in the latest ${count(state.me.threads.length, "thread")} that you joined.`)]);
    }
    if (!threads.length) {
      append(top, [emptyState("home", "You are in no thread yet", "Set your postcode to meet the neighbours of your district. A thread with a name needs no postcode.",
        h("a", { class: "button primary small", href: link("settings") }, "Set your postcode"), h("a", { class: "button small", href: link("directory") }, "Find a thread"))]);
    }
  }
  const latest = (thread) => Math.max(thread.lastMessage?.position ?? 0, thread.lastMessage ? 0 : thread.lastPosition ?? 0);
  const listDay = () => new Date().toDateString();
  const name = (thread) => thread.lastMessage && person(thread.lastMessage.author.id).username;

  const ends = ["threads", "invitations", "names"].map((topic) => on(topic, render));
  return { element, render, close: () => ends.forEach((end) => end()) };
}

function row(thread, isCurrent) {
  const last = thread.lastMessage;
  const isOwn = last?.author.id === state.me.id;
  const text = !last ? (state.hasMoreThreads && thread.messages ? "…" : "No messages yet") : last.removed ? "Removed message" : last.retracted ? "Deleted message" : last.blocked ? "…" : last.body === null ? "…" : excerpt(plainText(last.body.slice(0, 400)), 90);
  const author = last && (state.names.has(last.author.id) ? person(last.author.id) : last.author);
  const others = thread.people?.filter(({ id }) => id !== state.me.id) ?? [];
  const mark = others.length === 1 ? avatar(state.names.has(others[0].id) ? person(others[0].id) : others[0]) : h(
    "span", { class: "thread-mark" },
    icon(thread.outwardCode ? "home" : thread.people ? "people" : thread.closed || thread.locked || thread.policy === "inviteOnly" ? "lock" : "hash"));
  return h("li", {}, h(
    "a", { class: thread.unread ? "thread-row has-unread" : "thread-row", href: link("t", thread.id), "aria-current": isCurrent ? "page" : null },
    mark, h("span", { class: "thread-row-top" }, h("bdi", { class: "thread-name" }, threadName(thread)),
      last ? timeElement(last.createdAt, listTime(last.createdAt)) : null),
    h("span", { class: "thread-row-last" },
      h("span", { class: "excerpt" }, !last || thread.people?.length === 2 && !isOwn ? null : isOwn ? "You: " : [personName(author), ": "], h("bdi", {}, text)),
      h("span", { class: "unread-place" }, thread.unread ? h("span", { class: "unread" }, thread.unread > 999 ? "999+" : String(thread.unread), h("span", { class: "visually-hidden" }, " unread")) : null))));
}

/** Invitations of blocked people are listed, and counted nowhere. */
function invitationCount() {
  const counted = state.invitations.filter((invitation) => !invitation.blocked).length;
  return counted ? (state.hasMoreInvitations ? "More than " : "") + count(counted, "invitation") : "Invitations";
}

/** A page in the place of the thread. */
export function page(title, ...children) {
  const heading = h("h1", { tabindex: "-1" }, title);
  const element = h(
    "section", { class: "page" }, h("header", { class: "thread-head" },
      h("a", { class: "icon-button back", href: "#/", "aria-label": "Back to the threads" }, icon("back")), h("div", { class: "thread-names" }, heading)),
    h("div", { class: "page-body" }, children));
  return { element, heading, title };
}

/** What is shown while no thread is chosen. */
export function welcome() {
  const district = [...state.threads.values()].find((thread) => thread.isMember && thread.outwardCode === state.me.postcode?.split(" ")[0]);
  return page(
    `Hello, ${state.me.username ?? "neighbour"}`,
    state.me.postcode ? [
      h("p", {}, "Choose a thread, or open a new one about one subject."),
      h("div", { class: "buttons" },
        district ? h("a", { class: "button primary", href: link("t", district.id) }, icon("home"), `Go to ${district.outwardCode}`) : null,
        h("a", { class: "button", href: link("directory") }, icon("search"), "Find threads"),
        h("a", { class: "button", href: link("new") }, icon("plus"), "Open a thread")),
    ] : [
      h("p", {}, "Tell us your postcode, and you join the thread of your postcode district. Your neighbours see the district, never the whole postcode."),
      postcodeForm(true),
      h("p", {}, "Do you live outside the United Kingdom? Threads with a name need no postcode."),
      h("div", { class: "buttons" }, h("a", { class: "button", href: link("directory") }, icon("search"), "Find threads"),
        h("a", { class: "button", href: link("new") }, icon("plus"), "Open a thread"))]);
}

/** The form that sets the postcode. The user then is in the thread of the district. */
export function postcodeForm(opensThread) {
  return form({
    fields: [{ name: "postcode", label: "Your postcode", autocomplete: "postal-code", autocapitalize: "characters", hint: "For example SW1A 1AA", value: state.me.postcode ?? "", maxlength: 16 }],
    submit: state.me.postcode ? "Change the postcode" : "Set the postcode",
    action: async ({ postcode }) => {
      const receipt = await execute("setPostcode", { postcode });
      const thread = receipt.events.map((event) => event.postcodeSet?.thread).find(Boolean);
      notice(receipt.events.length ? "Your postcode is set." : "This is your postcode already.");
      if (opensThread && thread) openSoon(thread);
    },
  }).element;
}

/** Opens the direct thread with people, and goes to it. */
export async function messagePeople(...users) {
  const others = users.map(({ id }) => id);
  const isWith = ({ isMember, people }) => isMember && people?.length === others.length + 1 && others.every((other) => people.some(({ id }) => id === other));
  const known = [...state.threads.values()].find(isWith);
  if (known) return go(["t", known.id]);
  try {
    const { events } = await execute("openDirect", { with: others });
    const thread = events.map((event) => (event.directOpened ?? event.threadJoined)?.thread).find(Boolean);
    if (thread) openSoon(thread);
  } catch (error) {
    notice(errorText(error));
  }
}

/** Goes to a thread when the list has it. */
export function openSoon(thread) {
  if (state.threads.has(thread)) return go(["t", thread]);
  const end = on("threads", () => {
    if (!state.threads.has(thread)) return;
    end();
    go(["t", thread]);
  });
}

export function newThreadPage() {
  const id = newID();
  return page("Open a thread", h("p", {}, "A thread is about one subject. You own the threads that you open, and choose their moderators."), form({
    fields: [
      { name: "name", label: "Name", maxlength: 240, autocomplete: "off", hint: "For example “Street party”. Others cannot find a thread that is not listed: send them the link, or invite them." },
      { name: "policy", label: "Who can join?", type: "select", options: policies, value: "open" },
      { name: "history", label: "What can new members read?", type: "select", options: [["all", "Everything"], ["sinceJoining", "Only what is written after they join"]], value: "all" },
    ],
    submit: "Open the thread",
    // The id makes a second try after a lost answer the same thread.
    action: async ({ name, policy, history }) => {
      await execute("openThread", { thread: id, name: name.trim(), policy, history });
      openSoon(id);
    },
  }).element);
}

export function invitationsPage() {
  const list = h("ul", { class: "cards" });
  const error = h("p", { class: "field-error", role: "alert" });
  const answer = (name, thread) => async () => {
    error.textContent = "";
    try {
      await execute(name, { thread });
      if (name === "acceptInvitation") openSoon(thread);
    } catch (problem) {
      // The view of the thread says why, and until when.
      if (problem.code === "banned") go(["t", thread]);
      else error.textContent = errorText(problem);
    }
  };
  const empty = emptyState("mail", "No invitation at present", "Moderators can invite you to their threads. Threads that are listed need no invitation.", h("a", { class: "button", href: link("directory") }, "Find threads"));
  const more = h("p", { class: "muted" });
  const render = () => {
    empty.hidden = state.invitations.length > 0;
    more.hidden = !state.hasMoreInvitations;
    more.textContent = `Only the latest ${state.invitations.length} are shown.`;
    list.replaceChildren(...state.invitations.map((invitation) => h(
    "li", { class: "card" }, h("p", { class: "card-head" }, h("bdi", { class: "name" }, invitation.name ?? "Deleted thread"), timeElement(invitation.invitedAt, listTime(invitation.invitedAt))),
    h("p", { class: "muted card-head" }, avatar(invitation.by), h("span", {}, "Invited by ", personName(invitation.by)),
      invitation.blocked ? h("span", { class: "badge" }, "Blocked") : null),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "button primary small", onclick: answer("acceptInvitation", invitation.thread) }, "Join"),
      h("button", { type: "button", class: "button small", onclick: answer("declineInvitation", invitation.thread) }, "Decline")))));
  };
  render();
  const result = page("Invitations", error, list, empty, more);
  result.close = on("invitations", render);
  return result;
}
