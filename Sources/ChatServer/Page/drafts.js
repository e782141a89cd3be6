// What is being written: drafts of messages and replies, and edits, by user, thread and post. They are in the local storage, so
// that every tab shows them, and that they survive a reload and a session that ends by itself.

import { feedback } from "./dom.js";
import { on, state } from "./store.js";

/** What a user has written whose session ended by itself is kept for so many days. */
const mostDays = 30;
/** The list of threads shows what is typed after so many milliseconds. */
const delay = 300;

/** The places of a draft. */
export const messagePlace = (thread) => thread;
export const replyPlace = (thread, message) => `${thread} ${message}`;
export const editPlace = (thread, post) => `${thread} edit ${post}`;

const prefix = "draft ";
const keyOf = (user, place) => `${prefix}${user} ${place}`;
const listeners = new Set();
let timer = null;
let hasFailed = false;

/** The drafts in the storage: each has its key, `user`, `place`, `text` and `at`, when it was written. */
function all() {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => {
    const [, user, ...place] = key.split(" ");
    return { ...parsed(localStorage.getItem(key)), key, user, place: place.join(" ") };
  });
}

/** A text that is no draft is one that is very old. */
function parsed(text) {
  try {
    const { text: written, at, ...more } = JSON.parse(text);
    if (typeof written === "string" && typeof at === "number") return { text: written, at, ...more };
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
  }
  return { text: "", at: 0 };
}

/** Calls a function after each change, also by another tab, with the key; with null after several. Returns a function that ends
 * this. */
function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(key) {
  for (const listener of [...listeners]) listener(key);
}

addEventListener("storage", ({ key }) => { if (key === null || key.startsWith(prefix)) tell(key); });

/** Calls a function soon after changes, once for all until then. Returns a function that ends this. */
export function onDrafts(listener) {
  return onChange(() => {
    timer ??= setTimeout(() => {
      timer = null;
      listener();
    }, delay);
  });
}

/** The drafts of a user. */
export function draftsOf(user) {
  return {
    /** Returns a draft: its `text`, and what was set with it; null if there is none. */
    get: (place) => {
      const draft = parsed(localStorage.getItem(keyOf(user, place)));
      return draft.text ? draft : null;
    },
    /** Keeps a text, or forgets it if it is empty. */
    set: (place, text, more = {}) => {
      // A request that fails after a sign-out gives its text back to nobody.
      if (state.me?.id !== user) return;
      const key = keyOf(user, place);
      if (!text && localStorage.getItem(key) === null) return;
      try {
        if (text) localStorage.setItem(key, JSON.stringify({ text, at: Date.now(), ...more }));
        else localStorage.removeItem(key);
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        if (!hasFailed) feedback("This browser has no room for your draft. Send it, or keep the page open.");
        hasFailed = true;
        return;
      }
      tell(key);
    },
    /** Calls a function with a draft that another tab has changed, or null, as long as an element is in the document. */
    follow: (place, element, changed) => {
      const end = onChange((key) => {
        if (key !== null && key !== keyOf(user, place)) return;
        if (!element.isConnected) return end();
        const draft = parsed(localStorage.getItem(keyOf(user, place)));
        changed(draft.text ? draft : null);
      });
    },
  };
}

/** The text that the user has written last in each thread that has a draft. */
export function draftsByThread() {
  const drafts = all().filter(({ user, text }) => user === state.me?.id && text).sort((a, b) => a.at - b.at);
  return new Map(drafts.map(({ place, text }) => [place.split(" ")[0], text]));
}

function drop(isMeant) {
  for (const draft of all()) if (isMeant(draft)) localStorage.removeItem(draft.key);
  tell(null);
}

export const dropDraftsOf = (user) => drop((draft) => draft.user === user);
export const dropDraftsIn = (thread) => drop(({ user, place }) => user === state.me?.id && place.split(" ")[0] === thread);

/** Forgets what others than a user have written, if it was so long ago. */
export const forgetFormer = (user) => drop((draft) => draft.user !== user && draft.at < Date.now() - mostDays * 86_400_000);

/** Forgets the edits of posts whose texts are gone. */
function dropEdits(posts) {
  const gone = new Set(posts.map((post) => `edit ${post}`));
  drop(({ user, place }) => user === state.me?.id && gone.has(place.slice(place.indexOf(" ") + 1)));
}

on("event", ({ kind, fields }) => { if (/^(message|reply)(Retracted|Removed)$/.test(kind)) dropEdits([fields.reply ?? fields.message]); });
on("erased", ({ messages, replies }) => dropEdits([...messages, ...replies]));
