// Notifications of the system while a tab is open: who asks for them, which events lead to one, and when it goes again.
//
// Every tab is told every event. The tab that holds a lock shows the notifications; a tab that shows a thread holds a shared
// lock with its name, so that the first one knows.

import { count, excerpt } from "./format.js";
import { deed } from "./inbox.js";
import { go } from "./router.js";
import { on, person, state, threadName } from "./store.js";

/** The user who wants them on this device, and when that user was here last. */
const settingKey = "notifications";
/** The choice of a user whose session ended elsewhere is kept for so many days. */
const mostDays = 30;
const showing = (place) => `chat-showing ${place}`;
/** More at once are not shown: the oldest one goes. */
const most = 20;

/** What is shown, by thread: one of each, with the latest text. */
const open = new Map();
/** What is shown as soon as the other tabs have told what they show. */
const pending = new Set();
let latest = 0;
let holder = null;
let release = () => {};
let shownPlace = null;
let ends = [];

/** Whether this browser has notifications, which needs https or loopback. */
export const arePossible = () => "Notification" in window && isSecureContext && "locks" in navigator;
export const areOn = () => arePossible() && setting().user === state.me?.id && Notification.permission === "granted";

function setting() {
  const [user, at] = (localStorage.getItem(settingKey) ?? "").split(" ");
  return { user, at: Number(at) };
}

const set = () => localStorage.setItem(settingKey, `${state.me.id} ${Date.now()}`);

/** Forgets the choice of another user than the one who signs in, and that of a user who has not been here for long. */
export function forgetFormer(user) {
  if (setting().user === user) set();
  else if (user || !(setting().at > Date.now() - mostDays * 86_400_000)) localStorage.removeItem(settingKey);
}

/** Asks the person, after a click. Returns why it was not possible, or null. */
export async function turnOn() {
  if (await Notification.requestPermission() !== "granted") return "The browser does not allow it. Allow notifications of this page in the settings of the browser.";
  try {
    // The browsers of phones have the function, and throw.
    new Notification("Notifications are on", { body: "They appear while this page is open in a tab.", tag: "test" });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return "This browser shows no notifications of an open page.";
  }
  set();
  return null;
}

export function turnOff() {
  localStorage.removeItem(settingKey);
  closeIf(() => true);
}

/** Starts to follow the events of the signed-in user, once. */
export function start() {
  if (!arePossible() || holder) return;
  holder = new AbortController();
  const held = new Promise((resolve) => holder.signal.addEventListener("abort", resolve));
  const lead = () => {
    ends = [on("event", notify), on("event", forgetTaken), on("erased", forgetErased), on("threads", forgetRead), on("inbox", forgetInbox)];
    return held;
  };
  navigator.locks.request("chat-notifications", { signal: holder.signal }, lead).catch((error) => {
    if (error.name !== "AbortError") throw error;
  });
}

/** Ends this, and closes what is shown. */
export function stop() {
  holder?.abort();
  holder = null;
  for (const end of ends) end();
  ends = [];
  latest = 0;
  show(null);
  closeIf(() => true);
}

/** Tells the other tabs what this one shows: the id of a thread, "inbox" or null. */
export function show(place) {
  const wanted = document.visibilityState === "visible" ? place : null;
  if (!arePossible() || wanted === shownPlace) return;
  release();
  shownPlace = wanted;
  if (!wanted) {
    release = () => {};
    return;
  }
  const held = new Promise((resolve) => { release = resolve; });
  navigator.locks.request(showing(wanted), { mode: "shared" }, () => held);
}

/** Returns the notification of an event, or null if the user is not to be told of it. */
function describe({ kind, fields, event }) {
  const by = fields.author ?? fields.by ?? fields.user;
  if (!by || by === state.me.id || event.blocked || state.blocked.has(by)) return null;
  const thread = state.threads.get(fields.thread);
  if (event.position <= (thread?.readUpTo ?? 0) && kind === "messagePosted") return null;
  const { level, until } = thread?.notifications ?? { level: "all", until: null };
  const now = until && Date.parse(until) <= Date.now() ? "all" : level;
  if (!event.inbox && (kind !== "messagePosted" || !thread?.isMember || now !== "all")) return null;
  const name = person(by).username ?? "Deleted account";
  const place = thread ? threadName(thread) : "a thread";
  const title = event.inbox ? `${name} ${deed({ why: event.inbox, kind, emoji: fields.emoji })} ${place}` : thread.people ? name : `${name} in ${place}`;
  const isPost = /^(message|reply)Posted$/.test(kind);
  const message = fields.message ?? null;
  return {
    thread: fields.thread, people: [by, ...(thread?.people ?? []).map(({ id }) => id)], title, body: isPost && fields.body ? excerpt(fields.body, 160) : "", position: event.position, isMessage: kind === "messagePosted",
    isKnown: Boolean(thread), post: fields.reply ?? message,
    view: event.inbox && !isPost ? ["inbox"] : fields.reply ? ["t", fields.thread, "m", message] : ["t", fields.thread],
  };
}

async function notify(change) {
  if (!areOn() || change.event.position <= latest) return;
  const item = describe(change);
  if (!item) return;
  latest = item.position;
  pending.add(item);
  const { held } = await navigator.locks.query();
  // Signed out, read or erased meanwhile.
  if (!pending.delete(item) || !areOn()) return;
  const names = new Set(held.map((lock) => lock.name));
  if (names.has(showing(item.thread)) || names.has(showing("inbox"))) return;
  const before = open.get(item.thread);
  if (before) close(before);
  item.number = (before?.number ?? 0) + 1;
  item.shown = new Notification(item.title, {
    body: item.number > 1 ? `${item.body}\n${count(item.number, "event")} in this thread`.trim() : item.body, tag: `${state.me.id} ${item.thread}`,
  });
  item.shown.onclick = () => {
    window.focus();
    close(item);
    go(item.view);
  };
  item.shown.onclose = () => { if (open.get(item.thread) === item) open.delete(item.thread); };
  open.set(item.thread, item);
  if (open.size > most) close(open.values().next().value);
}

function close(item) {
  open.delete(item.thread);
  item.shown.close();
}

function closeIf(isMeant) {
  for (const item of [...pending]) if (isMeant(item)) pending.delete(item);
  for (const item of [...open.values()]) if (isMeant(item)) close(item);
}

/** Closes the notification of a post whose text is another one or gone, and those with a name of before. */
function forgetTaken({ kind, fields }) {
  if (kind === "usernameChanged") closeIf((item) => item.people.includes(fields.user));
  if (/^(message|reply)(Edited|Retracted|Removed)$/.test(kind)) closeIf((item) => item.post === (fields.reply ?? fields.message));
}

function forgetErased({ messages, replies, namelessUsers, namelessThreads }) {
  const gone = new Set([...messages, ...replies, ...namelessUsers, ...namelessThreads]);
  closeIf((item) => gone.has(item.post) || gone.has(item.thread) || item.people.some((id) => gone.has(id)));
}

/** Closes the notifications of threads that were read elsewhere, or that the user can no longer read. */
function forgetRead() {
  closeIf((item) => {
    const thread = state.threads.get(item.thread);
    return thread ? item.isMessage && thread.readUpTo >= item.position : item.isKnown;
  });
}

/** Closes what the inbox has told. */
function forgetInbox() {
  if (!state.inbox.count && !state.inbox.more) closeIf((item) => !item.isMessage);
}
