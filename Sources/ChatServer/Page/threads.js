// The list of threads, invitations, and the views that open a thread.

import { append, avatar, emptyState, h, icon, personName } from "./dom.js";
import { count, excerpt, listTime, timeElement } from "./format.js";
import { later, onLater } from "./later.js";
import { plainText } from "./markdown.js";
import { link, parts } from "./router.js";
import { on, person, state, threadName } from "./store.js";

/** Creates the list of threads, which follows the changes. */
export function sidebar(brand) {
  const list = h("ul", { class: "thread-list" });
  let settle = () => {};
  let narrow = (threads) => threads;
  const top = h("div");
  const filter = h("div");
  const inboxCount = h("span", { class: "unread", hidden: true });
  const inboxLink = h("a", { class: "icon-button inbox-link", href: link("inbox"), title: "Inbox" }, icon("bell"), inboxCount);
  const element = h(
    "div", { class: "sidebar", role: "navigation", tabindex: "-1", "aria-label": "Threads" },
    h("div", { class: "sidebar-head" }, h("p", { class: "brand" }, brand),
      inboxLink,
      h("a", { class: "icon-button", href: link("directory"), "aria-label": "Find threads", title: "Find threads" }, icon("search")),
      h("a", { class: "icon-button", href: link("new"), "aria-label": "Start a thread", title: "Start a thread" }, icon("plus")),
      h("a", { class: "icon-button", href: link("settings"), "aria-label": "Settings", title: "Settings" }, icon("settings"))),
    top, filter, list);
  const rows = new Map();

  function render() {
    const threads = narrow([...state.threads.values()].sort((a, b) => latest(b) - latest(a)));
    const current = parts()[0] === "t" ? parts()[1] : null;
    const focused = document.activeElement?.closest?.(".thread-list a")?.getAttribute("href");
    const wanted = new Map();
    const drafts = later()?.drafts.draftsByThread();
    for (const thread of threads) {
      const mark = JSON.stringify([threadName(thread), thread.unread, thread.lastMessage, thread.policy, thread.locked, thread.closed, thread.notifications?.level, thread.id === current, name(thread), listDay(), drafts?.get(thread.id)]);
      const known = rows.get(thread.id);
      wanted.set(thread.id, known?.mark === mark ? known : { mark, element: row(thread, thread.id === current, drafts?.get(thread.id)) });
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
    if (!state.threads.size) {
      append(top, [emptyState("home", "You are in no thread yet", "Set your postcode to meet the neighbours of your district. A thread with a name needs no postcode.",
        h("a", { class: "button primary small", href: link("postcode") }, "Set your postcode"), h("a", { class: "button small", href: link("directory") }, "Find a thread"))]);
    }
  }
  const latest = (thread) => Math.max(thread.lastMessage?.position ?? 0, thread.lastMessage ? 0 : thread.lastPosition ?? 0);
  const listDay = () => new Date().toDateString();
  const name = (thread) => thread.lastMessage && person(thread.lastMessage.author.id).username;

  const ends = ["threads", "invitations", "names"].map((topic) => on(topic, render));
  onLater(({ drafts, roveLinks, threadFilter }) => {
    ends.push(drafts.onDrafts(render));
    settle = roveLinks(list);
    narrow = threadFilter(filter, list, render);
    render();
  });
  return { element, render, close: () => ends.forEach((end) => end()) };
}

function row(thread, isCurrent, draft) {
  const last = thread.lastMessage;
  const isOwn = last?.author.id === state.me.id;
  const text = !last ? (state.hasMoreThreads && thread.messages ? "…" : "No messages yet") : last.removed ? "Removed message" : last.retracted ? "Deleted message" : last.blocked ? "…" : last.body === null ? "…" : excerpt(plainText(last.body), 90);
  const author = last && (state.names.has(last.author.id) ? person(last.author.id) : last.author);
  const others = thread.people?.filter(({ id }) => id !== state.me.id) ?? [];
  const mark = others.length === 1 ? avatar(state.names.has(others[0].id) ? person(others[0].id) : others[0]) : h(
    "span", { class: "thread-mark" },
    icon(thread.outwardCode ? "home" : thread.people ? "people" : thread.closed || thread.locked || thread.policy === "inviteOnly" ? "lock" : "hash"));
  return h("li", {}, h(
    "a", { class: thread.unread ? "thread-row has-unread" : "thread-row", href: link("t", thread.id), "aria-current": isCurrent ? "page" : null },
    mark, h("span", { class: "thread-row-top" }, h("bdi", { class: "thread-name" }, threadName(thread)),
      thread.notifications?.level === "none" ? h("span", { class: "muted-mark", title: "Nothing notifies you" }, icon("muted"), h("span", { class: "visually-hidden" }, "muted")) : null,
      last ? timeElement(last.createdAt, listTime(last.createdAt)) : null),
    h("span", { class: "thread-row-last" },
      h("span", { class: "excerpt" }, draft ? [h("b", {}, "Draft: "), h("bdi", {}, excerpt(plainText(draft), 90))] : [!last || thread.people?.length === 2 && !isOwn ? null : isOwn ? "You: " : [personName(author), ": "], h("bdi", {}, text)]),
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
