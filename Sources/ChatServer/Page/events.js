// The live events. One tab of the browser holds the stream and passes the events on to the others, because a browser
// opens only six connections to a server of HTTP/1.1, and a stream takes one for good. Without the Web Locks API (on plain
// http beyond loopback) every tab has its own stream.

import { tokenPosition } from "./api.js";

const channel = new BroadcastChannel("chat-events");
let handlers = null;
let source = null;
let lastID = null;
/** The position up to which every event has arrived here; null if none is known. */
export const arrived = () => lastID && tokenPosition(lastID);
/** The token of what was read before the start. */
let firstID = null;
let status = "connecting";
let isLeader = false;
let hasStarted = false;
let release = null;
let abort = null;
let retryTimer = null;
let retries = 0;

/** Starts to deliver events: those after a token, which is of what was read.
 *
 * - `event(event)` is called for each event, in their order.
 * - `erased(content)` is called with what was erased and must be forgotten, and `accessLost(thread)` with a thread of
 *   which the same holds.
 * - `reset()` is called when events may have been missed: at the start without a token, or if the tab that holds the
 *   stream was ahead of the token, and when the server does not know the token.
 * - `status(text)` is called with "live" or "connecting".
 * - `signedOut()` is called when the session has ended.
 * - `broken()` is called when the server does not give a stream; it finds out whether the session has ended.
 */
export function start(newHandlers, after) {
  handlers = newHandlers;
  [firstID, lastID] = [after, after];
  if (!navigator.locks) {
    lead();
    return;
  }
  abort = new AbortController();
  const held = () => new Promise((resolve) => { release = resolve; lead(); });
  navigator.locks.request("chat-events", { signal: abort.signal }, held).catch((error) => {
    if (error.name !== "AbortError") throw error;
  });
  channel.postMessage({ kind: "hello" });
}

/** Ends the stream, for a sign-out. */
export function stop() {
  abort?.abort();
  pause();
  handlers = null;
  isLeader = false;
  hasStarted = false;
  status = "connecting";
  lastID = null;
  release?.();
  release = null;
}

// A stream over a network that has changed can hang without an error. It is opened again, after the last event.
addEventListener("offline", () => {
  pause();
  receive({ kind: "status", status: "connecting" });
});
addEventListener("online", resume);
let lastTick = Date.now();
setInterval(() => {
  const hasSlept = Date.now() - lastTick > 60_000;
  lastTick = Date.now();
  if (hasSlept) resume();
}, 10_000);

function pause() {
  clearTimeout(retryTimer);
  source?.close();
  source = null;
}

function resume() {
  if (!handlers) return;
  if (!isLeader) {
    channel.postMessage({ kind: "hello" });
    return;
  }
  pause();
  lead();
}

channel.onmessage = ({ data }) => {
  if (!handlers) return;
  if (data.kind === "hello") {
    if (isLeader) channel.postMessage({ kind: "status", status, id: lastID });
  } else if (!isLeader) {
    if (data.id) lastID = data.id;
    receive(data);
  }
};

function tell(message) {
  channel.postMessage(message);
  receive(message);
}

function receive(message) {
  if (!handlers) return;
  if (message.kind === "status") {
    const isChange = message.status !== status;
    status = message.status;
    if (isChange) handlers.status(status);
    if (status === "live" && !hasStarted) {
      hasStarted = true;
      if (!firstID || !message.id || tokenPosition(message.id) > tokenPosition(firstID)) handlers.reset();
    }
  } else if (message.kind === "event") {
    handlers.event(JSON.parse(message.data));
  } else if (message.kind === "erased") {
    handlers.erased(JSON.parse(message.data));
  } else if (message.kind === "accessLost") {
    handlers.accessLost(JSON.parse(message.data).thread);
  } else if (message.kind === "reset") {
    handlers.reset();
  } else if (message.kind === "signedOut") {
    handlers.signedOut();
  }
}

/** Opens the stream, after the last event that this tab has seen. */
function lead() {
  if (!handlers) return;
  isLeader = true;
  if (!navigator.onLine) return;
  const isResumed = lastID !== null;
  source = new EventSource("/v1/events" + (isResumed ? "?after=" + encodeURIComponent(lastID) : ""));
  source.onopen = () => {
    retries = 0;
    // Without a token the stream begins with what is new: everything else is read again.
    if (!isResumed && hasStarted) tell({ kind: "reset" });
    tell({ kind: "status", status: "live", id: lastID });
  };
  const pass = (kind) => (message) => {
    if (message.lastEventId) lastID = message.lastEventId;
    tell({ kind, data: message.data, id: lastID });
  };
  source.onmessage = pass("event");
  for (const kind of ["erased", "accessLost"]) source.addEventListener(kind, pass(kind));
  source.addEventListener("signed-out", () => tell({ kind: "signedOut" }));
  source.onerror = () => {
    tell({ kind: "status", status: "connecting" });
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser gives up after an answer with an error, such as that of a proxy whose server is gone.
    source.close();
    retries += 1;
    // The server does not know the token, if it has another journal.
    if (retries > 3) lastID = null;
    handlers?.broken();
    retryTimer = setTimeout(lead, Math.min(10_000, 500 * 2 ** retries) * (0.8 + 0.4 * Math.random()));
  };
}
