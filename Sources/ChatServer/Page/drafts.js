// What is being written, by user and place, in the storage of the tab.

import { state } from "./store.js";

/** The drafts of a user, by place, in the storage of the tab. */
export function draftsOf(user) {
  const key = (place) => `draft ${user} ${place}`;
  return {
    get: (place) => sessionStorage.getItem(key(place)) ?? "",
    set: (place, text) => {
      // A request that fails after a sign-out gives its text back to nobody.
      if (state.me?.id !== user) return;
      if (text) sessionStorage.setItem(key(place), text);
      else sessionStorage.removeItem(key(place));
    },
  };
}

/** Removes the drafts of everybody but one user, or of everybody. */
export function keepDraftsOf(user) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("draft ") && !(user && key.startsWith(`draft ${user} `))) sessionStorage.removeItem(key);
  }
}

/** Removes the drafts in a thread. */
export function dropDraftsIn(thread) {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(`draft ${state.me.id} ${thread}`)) sessionStorage.removeItem(key);
}
