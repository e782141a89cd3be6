// Loads the code that is not needed for the first message.

import { Unreachable } from "./api.js";

let rest = null;
let loading = null;

/** The exports of `rest.js`; null until they are loaded. */
export const later = () => rest;

/** Loads them once; after an error, again. */
export function loadLater() {
  loading ??= import("./rest.js").then((module) => { rest = module; }, (error) => {
    loading = null;
    // A file that cannot be loaded is a TypeError. Another version of the server has files of other names.
    throw error instanceof TypeError ? new Unreachable("This part of the page cannot be loaded. Reload the page.") : error;
  });
  return loading;
}
