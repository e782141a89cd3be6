// What the user has read, and reacts with.

import { Unreachable } from "./api.js";
import { execute } from "./commands.js";
import { feedback } from "./dom.js";
import { arrived } from "./events.js";
import { errorText } from "./format.js";
import { markers, moveMarker, on, refreshSoon, state } from "./store.js";

// The four commands that have no id beside them, but the position that the user knew: they have no effect if the user has done the
// opposite since, on another device.

const executeRead = (thread, upTo, seen) => execute("markRead", { thread, upTo, seen });
const executeUnread = (thread, from) => execute("markUnread", { thread, from, seen: known() });
const executeReaction = (entry, emoji) => execute("react", { ...target(entry), emoji, seen: known() });
const executeEndOfReaction = (entry, emoji) => execute("unreact", { ...target(entry), emoji, seen: known() });

/** The position of the last event that was applied: the answer to a command can come before the stream. */
let applied = 0;
on("event", ({ event }) => { applied = Math.max(applied, event.position); });

/** The position that the user knows; nothing if the stream has none, so that nothing is taken as unknown to the user. */
const known = () => (arrived() === null ? undefined : Math.max(arrived(), applied));

const target = (entry) => ("replyCount" in entry ? { message: entry.id } : { reply: entry.id });

// Read markers

const markerDelay = 1_000;
let markerTimer = null;
/** What was known when a marker was moved, by thread. */
const knownAt = new Map();

/** Moves the read marker of a thread forward. The server is told after a moment, because every marker is an event of
 * the journal. */
export function markRead(thread, position) {
  if (!moveMarker(thread, position)) return;
  knownAt.set(thread, known());
  markerTimer ??= setTimeout(sendMarkers, markerDelay);
}

/** The end of the sending of markers: one call sends at a time. */
let sending = Promise.resolve();

/** Sends the read markers. Those that cannot be sent wait for the next call. */
export function sendMarkers() {
  clearTimeout(markerTimer);
  markerTimer = null;
  // The caller of an earlier call has its error.
  sending = sending.catch(() => {}).then(sendEach);
  return sending;
}

async function sendEach() {
  for (const [thread, upTo] of [...markers]) {
    try {
      await executeRead(thread, upTo, knownAt.get(thread));
    } catch (error) {
      if (error instanceof Unreachable) return;
      // The user is no longer a member.
      if (!error.code) throw error;
    }
    if (markers.get(thread) === upTo) markers.delete(thread);
    refreshSoon();
  }
}

/** Marks a message and what follows as unread. A marker that the server got later would read it again. */
export async function markUnread(thread, from) {
  await sendMarkers();
  markers.delete(thread);
  await executeUnread(thread, from);
}

// Reactions

/** What a user who has not reacted yet is offered. */
const common = ["\u{1F44D}", "\u2764\uFE0F", "\u{1F602}", "\u{1F389}", "\u{1F622}", "\u{1F64F}"];

const usedKey = () => `emoji ${state.me.id}`;

/** The six emoji that the user has reacted with last, the latest first. */
export function lastUsed() {
  const used = (localStorage.getItem(usedKey()) ?? "").split(" ").filter(Boolean);
  return [...new Set([...used, ...common])].slice(0, common.length);
}

/** Forgets what a user has reacted with. */
export function forgetUsed() {
  for (const key of Object.keys(localStorage)) if (key.startsWith("emoji ")) localStorage.removeItem(key);
}

export async function react(entry, emoji) {
  await executeReaction(entry, emoji);
  if (/^\p{RGI_Emoji}$/v.test(emoji)) localStorage.setItem(usedKey(), [...new Set([emoji, ...lastUsed()])].slice(0, common.length).join(" "));
}

/** Reacts, or takes the reaction back; the event of it changes what is shown. */
export async function toggleReaction(entry, emoji, isMine) {
  try {
    await (isMine ? executeEndOfReaction(entry, emoji) : react(entry, emoji));
  } catch (error) {
    feedback(errorText(error));
  }
}
