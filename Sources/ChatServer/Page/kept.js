// What the page shows without a connection: the list of threads, and the latest messages of the threads that were opened
// last. It is of the user who was signed in last, and is removed when the page learns that the session has ended. A start
// without a connection cannot learn it, and shows what was kept at most 30 days ago. A start with a connection shows nothing
// of what was kept before: it may have been erased since, and is read again.

import { Problem, Unreachable } from "./api.js";
import { transaction } from "./database.js";
import { dropDraftsOf } from "./drafts.js";
import * as outbox from "./outbox.js";
import { snapshot, state, takeFrom } from "./store.js";
import { Timeline } from "./timeline.js";

const mostThreads = 10;
const mostMessages = 60;
const mostDays = 30;
/** Changes within so many milliseconds are written once. */
const delay = 500;

/** The user of whom this tab keeps something. */
let owner = null;
/** When the overview was read that `overview` has returned. */
let keptAt = 0;
/** What is written soon: the timers by the key of the record. */
const timers = new Map();
/** Counts what had to be forgotten: a page that was read before may have it. */
let forgotten = 0;

const threadKey = (id) => `thread ${id}`;

/** Runs a transaction. Without a database, as in some private windows, nothing is kept. */
async function run(mode, body, name = "kept") {
  try {
    return await transaction(name, mode, body);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    console.warn(`Nothing is kept for a start without a connection: ${error.message}`);
    return undefined;
  }
}

/** Calls a function with each record of a thread, which changes it, or removes it by returning null. */
const eachThread = (store, change) => eachItem(store, IDBKeyRange.bound("thread ", "thread ~"), change);

function eachItem(store, range, change) {
  const reading = store.openCursor(range);
  reading.onsuccess = () => {
    const cursor = reading.result;
    if (!cursor) return;
    const changed = change(cursor.value);
    if (changed === null) cursor.delete();
    else if (changed) cursor.update(changed);
    cursor.continue();
  };
}

/** Begins to keep what a user sees. What was kept of any user is removed. Returns the ids of the threads of the same user. */
async function begin(user) {
  owner = user;
  const threads = [];
  await run("readwrite", (store) => {
    const reading = store.get("overview");
    reading.onsuccess = () => {
      const isSame = reading.result?.user === user;
      eachThread(store, ({ id, openedAt }) => {
        if (isSame) threads.push({ id, openedAt });
        return null;
      });
      store.put(overviewRecord());
    };
  });
  return threads.sort((a, b) => b.openedAt - a.openedAt).map(({ id }) => id);
}

/** Begins to keep what the user sees, and reads the threads that were kept before again. `shown()` returns the timeline that is
 * shown, or null. */
export async function renew(shown) {
  const threads = await begin(state.me.id);
  if (shown()) saveThread(shown(), { isAtOnce: true });
  for (const id of threads) {
    if (!state.threads.has(id) || id === shown()?.id) continue;
    const timeline = new Timeline("message", id);
    try {
      let count;
      do {
        count = forgotten;
        await timeline.load(mostMessages);
        // What was erased meanwhile may be in the answer.
      } while (count !== forgotten);
    } catch (error) {
      // The thread is kept again when it is opened.
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      continue;
    }
    saveThread(timeline, { isAtOnce: true });
  }
}

/** Ends this, and removes everything, unless another user is signed in by now; if the account was deleted, also what the user
 * has written. */
export async function end(code) {
  const user = owner;
  let former = user;
  owner = null;
  for (const { timer } of timers.values()) clearTimeout(timer);
  timers.clear();
  await run("readwrite", (store) => {
    const reading = store.get("overview");
    reading.onsuccess = () => {
      former ??= reading.result?.user;
      if (!user || (reading.result?.user ?? user) === user) store.clear();
    };
  });
  if (code !== "accountDeleted" || !former) return;
  dropDraftsOf(former);
  await outbox.clear(former).catch((error) => console.warn(error.message));
}

/** Returns what is kept of the list of threads, for `restore` of the store; null if there is nothing. */
export async function overview() {
  const found = await run("readonly", (store) => store.get("overview"));
  if (!found || found.at < Date.now() - mostDays * 86_400_000) return null;
  owner = found.user;
  keptAt = found.at;
  return found.data;
}

/** What is kept of the list of threads. What was only kept is no newer for being written again. */
const overviewRecord = () => ({ key: "overview", user: owner, at: state.isKept ? keptAt : Date.now(), data: snapshot() });

/** Writes a record, unless the session has ended meanwhile, also in another tab. */
function put(store, record) {
  const reading = store.get("overview");
  reading.onsuccess = () => { if (owner && reading.result?.user === owner) store.put(record()); };
}

/** Calls a function soon, once for all calls until then. */
function soon(key, wait, write) {
  if (wait > 0 && timers.has(key)) return;
  clearTimeout(timers.get(key)?.timer);
  const act = () => {
    timers.delete(key);
    if (owner) write();
  };
  timers.set(key, { timer: setTimeout(act, wait), act });
}

addEventListener("pagehide", () => {
  for (const { timer, act } of [...timers.values()]) {
    clearTimeout(timer);
    act();
  }
});

/** Writes the list of threads soon, or without a delay if something in it has to be forgotten. */
export function saveOverview(wait = delay) {
  // What is only kept is no news.
  if (!owner || (state.isKept && wait > 0)) return;
  soon("overview", wait, () => run("readwrite", (store) => {
    if (state.me?.id === owner) put(store, overviewRecord);
  }));
}

/** Writes the latest messages of a thread soon, or at once if the timeline no longer follows the events. */
export function saveThread(timeline, { isAtOnce = false } = {}) {
  const { id } = timeline;
  const write = () => {
    if (!timeline.isLoaded || timeline.isKept || timeline.newer !== null || !state.threads.get(id)?.isMember) return;
    const items = timeline.entries.slice(-mostMessages);
    const older = items.length < timeline.entries.length ? items[0].position : timeline.older;
    const record = { key: threadKey(id), id, openedAt: Date.now(), items: structuredClone(items), older };
    run("readwrite", (store) => {
      put(store, () => record);
      const reading = store.getAll(IDBKeyRange.bound("thread ", "thread ~"));
      reading.onsuccess = () => {
        const others = reading.result.filter((other) => other.id !== id).sort((a, b) => b.openedAt - a.openedAt);
        for (const { key } of others.slice(mostThreads - 1)) store.delete(key);
      };
    });
  };
  if (!owner) return;
  if (isAtOnce) {
    clearTimeout(timers.get(threadKey(id))?.timer);
    timers.delete(threadKey(id));
    write();
  } else {
    soon(threadKey(id), delay, write);
  }
}

/** Fills a timeline with what is kept of it. Returns whether there is something. */
export async function fill(timeline) {
  const found = await run("readonly", (store) => store.get(threadKey(timeline.id)));
  if (!found || !owner) return false;
  timeline.fill(found.items, found.older);
  return true;
}

/** Forgets what waits to be sent of users whose sessions ended elsewhere, except of `user`, if it was written so long ago. */
export function forgetFormer(user) {
  const oldest = new Date(Date.now() - mostDays * 86_400_000).toISOString();
  return run("readwrite", (store) => eachItem(store, undefined, (item) => (item.user !== user && item.writtenAt < oldest ? null : undefined)), "outbox");
}

/** Forgets the texts and names that were erased. */
export function forgetErased({ messages, namelessUsers }) {
  forgotten += 1;
  const texts = new Set(messages);
  const hasNoName = new Set(namelessUsers);
  saveOverview(0);
  return run("readwrite", (store) => eachThread(store, (record) => ({
    ...record,
    items: record.items.map((entry) => ({
      ...entry, body: texts.has(entry.id) || hasNoName.has(entry.author.id) ? null : entry.body,
      author: hasNoName.has(entry.author.id) ? { id: entry.author.id, username: null } : entry.author,
    })),
  })));
}

/** Forgets a thread that the user can no longer read. */
export function forgetThread(id) {
  forgotten += 1;
  clearTimeout(timers.get(threadKey(id))?.timer);
  timers.delete(threadKey(id));
  saveOverview(0);
  return run("readwrite", (store) => store.delete(threadKey(id)));
}

/** Forgets what an event takes away, also of threads that are not shown: texts, names of before and ended invitations. */
export function apply(change) {
  if (!owner || !/^(message(Edited|Retracted|Removed)|usernameChanged|threadRenamed|invitation(Declined|Revoked))$/.test(change.kind)) return;
  forgotten += 1;
  saveOverview(0);
  run("readwrite", (store) => eachThread(store, (record) => (record.items.filter((entry) => takeFrom(entry, change)).length ? record : undefined)));
}
