// Loads the code that is not needed for the first message.

import { Unreachable } from "./api.js";
import { feedback } from "./dom.js";

let rest = null;
let loading = null;
/** What waits for them. */
const waiting = [];

/** The exports of `rest.js`; null until they are loaded. */
export const later = () => rest;

/** Loads them once; after an error, again. */
export function loadLater() {
  loading ??= import("./rest.js").then(({ device, views, panels, tools }) => {
    rest = { device, views, panels, ...tools };
    for (const use of waiting.splice(0)) use(rest);
  }, (error) => {
    loading = null;
    // A file that cannot be loaded is a TypeError. Another version of the server has files of other names.
    throw error instanceof TypeError ? new Unreachable("This part of the page cannot be loaded. Reload the page.") : error;
  });
  return loading;
}

/** Calls a function with those exports when they are loaded, at once if they are. Does not load them. */
export function onLater(use) {
  if (rest) use(rest);
  else waiting.push(use);
}

/** Loads them if need be, and calls a function with those exports: at once if they are loaded. */
export function withLater(use) {
  if (rest) return use(rest);
  return loadLater().then(() => use(rest), (error) => {
    if (!(error instanceof Unreachable)) throw error;
    feedback(error.message);
  });
}
