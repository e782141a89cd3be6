// The view of what happened to the user: replies, mentions, reactions, invitations, moderation and reports.

import { get, path } from "./api.js";
import { execute } from "./commands.js";
import { avatar, emptyState, h, feedback, personName } from "./dom.js";
import { errorText, fullTimeText, listTime, timeElement } from "./format.js";
import { loader } from "./panel.js";
import { go, link } from "./router.js";
import { learn, on, person, state, threadName } from "./store.js";
import { page } from "./threads.js";

const pageSize = 50;

const acts = {
  messageRemoved: "removed a message of yours", replyRemoved: "removed a reply of yours", userMuted: "muted you", userUnmuted: "ended your mute",
  userBanned: "banned you", userUnbanned: "ended your ban", memberRemoved: "removed you", roleSet: "changed your role",
};

/** What the person did, in words. */
export function deed(entry) {
  switch (entry.why) {
    case "reply": return "answered in";
    case "mention": return "mentioned you in";
    case "reaction": return `reacted with ${entry.emoji} in`;
    case "invitation": return "invited you to";
    case "report": return "reported a post in";
    default: return `${acts[entry.kind] ?? "did something as a moderator"} in`;
  }
}

export function inboxPage() {
  const body = h("div");
  /** The position of the newest entry that is shown. */
  let newest = null;

  const readAll = h("button", {
    type: "button", class: "button small",
    onclick: async () => {
      try {
        await execute("markInboxRead", { upTo: newest });
        await load();
      } catch (error) {
        feedback(errorText(error));
      }
    },
  }, "Mark as read");

  const load = loader(body, async () => {
    let first = await get(path(["inbox"], { limit: pageSize }));
    // A page can be empty although entries follow, after many events that have none.
    for (let turn = 0; turn < 20 && !first.items.length && first.older !== null; turn += 1) {
      first = await get(path(["inbox"], { limit: pageSize, before: first.older }));
    }
    const list = h("ul", { class: "cards" });
    let { older } = first;
    const add = ({ items }) => {
      learn(...items.map((item) => item.by));
      list.append(...items.map(card));
    };
    const more = h("button", {
      type: "button", class: "button small", hidden: older === null,
      onclick: async () => {
        more.disabled = true;
        try {
          const next = await get(path(["inbox"], { limit: pageSize, before: older }));
          add(next);
          ({ older } = next);
          more.hidden = older === null;
        } catch (error) {
          feedback(errorText(error));
        }
        more.disabled = false;
      },
    }, "Show more");
    add(first);
    newest = first.items[0]?.position ?? null;
    render();
    if (!first.items.length && older === null) {
      return emptyState("bell", "Nothing has happened yet", "Answers, mentions and reactions to what you write appear here.", h("a", { class: "button", href: link() }, "Go to your threads"));
    }
    return [readAll, list, more];
  });
  load();
  const result = page("Inbox", body);
  const render = () => { readAll.hidden = newest === null || !(state.inbox.count || state.inbox.more); };
  // What is read keeps its mark, and its place, until something else happens.
  const changed = () => {
    render();
    if (state.inbox.newest !== newest) load();
  };
  render();
  const ends = [on("inbox", changed), on("erased", load), on("blocked", load)];
  result.close = () => { for (const end of ends) end(); };
  return result;
}

function card(entry) {
  const by = state.names.has(entry.by.id) ? person(entry.by.id) : entry.by;
  return h(
    "li", { class: entry.unread ? "card inbox-entry has-unread" : "card inbox-entry", "data-inbox": entry.position },
    h("p", { class: "card-head" }, avatar(by), h("span", { class: "deed" }, personName(by), ` ${deed(entry)} `, h("bdi", {}, entry.name ?? (entry.people ? threadName(entry) : "a thread without a name"))),
      entry.unread ? h("span", { class: "badge" }, "New") : null, timeElement(entry.createdAt, listTime(entry.createdAt))),
    entry.reason ? h("p", { class: "muted", dir: "auto" }, entry.reason) : null,
    entry.until ? h("p", { class: "muted" }, `Until ${fullTimeText(entry.until)}`) : null, place(entry));
}

/** Leads to what the entry is about. */
function place(entry) {
  if (entry.why === "invitation") return h("a", { href: link("invitations") }, "Open the invitations");
  if (entry.message) return h("a", { href: link("t", entry.thread, "at", entry.message) }, "Open this message");
  if (!entry.reply) return null;
  const open = async () => {
    try {
      const { message } = await get(path(["replies", entry.reply]));
      go(["t", entry.thread, "m", message]);
    } catch (error) {
      feedback(errorText(error));
    }
  };
  return h("button", { type: "button", class: "link", onclick: open }, "Open this reply");
}
