// What was written and is not yet acknowledged by the server. It is kept in IndexedDB, so it survives a lost connection,
// a reload and a crash of the browser. Every item has an id that was made here; the server executes an id once, so an
// item can be sent again as often as needed.

import { Problem, Unreachable, post } from "./api.js";
import { transaction as run } from "./database.js";

const channel = new BroadcastChannel("chat-outbox");
const batchSize = 50;
let owner = null;
let items = [];
const listeners = new Set();
let retryTimer = null;
let failures = 0;
let flushing = null;
let isDirty = false;
let receiptHandler = () => {};

const transaction = (mode, body) => run("outbox", mode, body);

/** Only one tab sends at a time. Without the Web Locks API (on plain http beyond loopback) each tab sends; the ids make
 * that harmless. */
function exclusively(name, body) {
  return navigator.locks ? navigator.locks.request(name, body) : body();
}

async function refresh() {
  const all = await transaction("readonly", (store) => store.getAll());
  items = all.filter((item) => item.user === owner);
  for (const listener of listeners) listener();
}

async function changed() {
  channel.postMessage("changed");
  await refresh();
}

channel.onmessage = () => refresh();

/** Calls a handler after each change of the outbox, also by another tab. Returns a function that ends this. */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Is called with the receipt of each item that the server accepted. */
export function onReceipt(handler) {
  receiptHandler = handler;
}

/** Starts to send what a user wrote. */
export async function start(user) {
  owner = user;
  failures = 0;
  await refresh();
  flush();
}

export function stop() {
  owner = null;
  items = [];
  clearTimeout(retryTimer);
}

/** The items for a thread, or those that reply to a message, in the order in which they were written. */
export function waitingIn(thread) {
  return items.filter((item) => item.thread === thread && !item.message);
}
export function waitingFor(message) {
  return items.filter((item) => item.message === message);
}
export const waitingCount = () => items.length;

/** Keeps a message, or a reply if `message` is given, and sends it as soon as possible. Returns when it is kept. */
export async function add({ id, thread, message = null, body }) {
  const user = owner;
  await transaction("readwrite", (store) =>
    store.add({ user, id, thread, message, body, writtenAt: new Date().toISOString(), rejection: null }));
  await changed();
  flush();
}

/** Removes an item that was not accepted. */
export async function drop(item) {
  await transaction("readwrite", (store) => store.delete(item.order));
  await changed();
}

/** Removes everything that a user wrote and did not send. */
export async function clear(user) {
  await transaction("readwrite", (store) => {
    const reading = store.openCursor();
    reading.onsuccess = () => {
      if (!reading.result) return;
      if (reading.result.value.user === user) reading.result.delete();
      reading.result.continue();
    };
    return reading;
  });
  await changed();
}

function command(item) {
  // The author is named, so that the server rejects the item if another person is signed in by now.
  const fields = { author: item.user, body: item.body, findMentions: true };
  return item.message ? { reply: { reply: item.id, message: item.message, ...fields } } : { postMessage: { message: item.id, thread: item.thread, ...fields } };
}

/** Sends what waits. Calls during a run have one more run follow. */
export function flush() {
  clearTimeout(retryTimer);
  if (!owner) return;
  if (flushing) {
    isDirty = true;
    return;
  }
  isDirty = false;
  flushing = exclusively("chat-outbox", sendAll)
    .then(() => { failures = 0; }, retryLater)
    .finally(() => {
      flushing = null;
      if (isDirty) flush();
    });
}

function retryLater(error) {
  if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
  if (error.status === 401 || error.code === "anotherUser") return;
  failures += 1;
  const delay = error.retryAfter ? error.retryAfter * 1_000 : Math.min(15_000, 500 * 2 ** failures);
  clearTimeout(retryTimer);
  retryTimer = setTimeout(flush, delay * (0.8 + 0.4 * Math.random()));
}

async function sendAll() {
  for (;;) {
    // Read under the lock: another tab may have sent some of them.
    const all = await transaction("readonly", (store) => store.getAll());
    const batch = firstItems(all.filter((item) => item.user === owner && !item.rejection));
    if (!batch.length) return;
    const answers = await send(batch);
    await transaction("readwrite", (store) => {
      let last;
      for (const [index, answer] of answers.entries()) {
        const item = batch[index];
        last = answer.rejection ? store.put({ ...item, rejection: answer.rejection }) : store.delete(item.order);
      }
      return last;
    });
    for (const answer of answers) if (!answer.rejection) receiptHandler(answer);
    await changed();
  }
}

/** The first items that fit into one request. */
function firstItems(waiting) {
  const batch = [];
  let bytes = 0;
  for (const item of waiting.slice(0, batchSize)) {
    bytes += item.body.length * 6 + 500;
    if (batch.length && bytes > 900_000) break;
    batch.push(item);
  }
  return batch;
}

async function send(batch) {
  try {
    return await post("/v1/commands", batch.map(command));
  } catch (error) {
    // The server can never take this item as it is: show it as rejected, and go on with the others.
    const isHopeless = error instanceof Problem && [400, 413].includes(error.status);
    if (!isHopeless) throw error;
    if (batch.length === 1) return [{ rejection: { code: error.code, message: error.message } }];
    // Nothing of the batch was executed.
    const half = batch.length >> 1;
    return [...(await send(batch.slice(0, half))), ...(await send(batch.slice(half)))];
  }
}
