// Reads the inbox, in its view and where its entries lead: what was on the screen is no news any more.
//
// The server has one marker for the whole inbox. It moves up to the last of the oldest unread entries that were all seen, or their
// posts; an older one that was not seen keeps those after it unread.

import { Problem, Unreachable, get, path } from "./api.js";
import { execute } from "./commands.js";
import { on, state } from "./store.js";
import { onScreen } from "./visible.js";

/** With more unread entries only "Mark as read" reads them. */
const most = 200;
/** What is on the screen at two looks one after the other is seen. */
const interval = 1_000;

/** The positions and posts of the unread entries, oldest first; null if they are to be read. */
let unread = null;
let visible = new Set();
const seen = new Set();
let timer = null;
let isBusy = false;
/** Counts the changes of the inbox: an answer that was asked for before does not have the last one. */
let changes = 0;

/** Starts to look at what is visible, once. */
export function startSeeing() {
  if (timer !== null) return;
  on("inbox", () => {
    changes += 1;
    unread = null;
  });
  timer = setInterval(look, interval);
}

async function look() {
  const user = state.me?.id;
  if (!user || state.isKept || !state.inbox.count) {
    unread = null;
    seen.clear();
    return;
  }
  if (isBusy) return;
  isBusy = true;
  try {
    const before = changes;
    const items = unread ?? await read();
    if (before !== changes) return;
    unread = items;
    const now = new Set(items.filter(isShown).map(({ position }) => position));
    for (const position of now) if (visible.has(position)) seen.add(position);
    visible = now;
    const end = items.findIndex(({ position }) => !seen.has(position));
    const upTo = items.at(end < 0 ? -1 : end - 1)?.position;
    if (end === 0 || upTo === undefined || state.me?.id !== user) return;
    unread = items.filter(({ position }) => position > upTo);
    await execute("markInboxRead", { upTo });
  } catch (error) {
    // The next change of the inbox tries again.
    if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    unread = [];
  } finally {
    isBusy = false;
  }
}

/** Reads the unread entries; returns none if there may be older ones. */
async function read() {
  const { items, unread: { count, more } } = await get(path(["inbox"], { limit: most }));
  const found = items.filter((item) => item.unread);
  if (more || found.length < count) return [];
  return found.toReversed().map(({ why, position, reply, message }) => ({ position, post: /^(reply|mention|reaction)$/.test(why) ? reply ?? message : null }));
}

/** Whether an entry is on the screen in the inbox, or its post elsewhere. */
function isShown({ position, post }) {
  const places = [`[data-inbox="${position}"]`, ...(post ? [`.entry[data-id="${CSS.escape(post)}"]`] : [])];
  return onScreen([...document.querySelectorAll(places.join())]).length > 0;
}
