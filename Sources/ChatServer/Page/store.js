// What the page knows of the user: threads, unread counts, names, invitations. Views follow its changes.

import { Problem, Unreachable, all, get } from "./api.js";
import { later } from "./later.js";

export const state = {
  me: null,
  /** The threads of the user by id, with the fields of `/v1/me` and of `/v1/threads`. */
  threads: new Map(),
  /** The names of people by id. */
  names: new Map(),
  /** The people whom the user has blocked, as far as the server has told. */
  blocked: new Set(),
  invitations: [],
  /** The number of unread entries of the inbox, whether there can be more, and the position of the newest entry. */
  inbox: { count: 0, more: false, newest: null },
  /** Whether the user has more threads, or more invitations, than one answer of the server. */
  hasMoreThreads: false,
  hasMoreInvitations: false,
  /** Whether the user is an operator; null until an answer has told. */
  isOperator: null,
  /** Whether the user is ending the session here, so that its end is no surprise. */
  isSigningOut: false,
  /** Whether the server was not reached yet, and all this is what the browser has kept. */
  isKept: false,
};

const listeners = new Map();

/** Calls a listener at each change of a topic: `threads`, `invitations`, `inbox`, `names`, `blocked`, `event` or `erased`. Returns
 * a function that ends this. */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
  return () => listeners.get(topic).delete(listener);
}

function emit(topic, value) {
  for (const listener of [...(listeners.get(topic) ?? [])]) listener(value);
}

const emitting = new Map();

/** Tells the listeners of a topic soon, once for all changes until then: many events can arrive at once. */
function emitSoon(topic) {
  if (emitting.has(topic)) return;
  emitting.set(topic, setTimeout(() => {
    emitting.delete(topic);
    if (state.me) emit(topic);
  }, 30));
}

/** Keeps the names of people that an answer contains. */
export function learn(...people) {
  let isNew = false;
  for (const person of people) {
    if (!person?.id || state.names.get(person.id) === person.username) continue;
    state.names.set(person.id, person.username);
    isNew = true;
  }
  if (isNew) emitSoon("names");
}

/** The person with an id, with the present name as far as it is known. */
export function person(id) {
  return { id, username: state.names.has(id) ? state.names.get(id) : "Someone" };
}

/** The name of a thread; that of a direct thread is the names of the other people. */
export function threadName(thread) {
  if (!thread.people) return thread.name ?? "Deleted thread";
  const others = thread.people.filter(({ id }) => id !== state.me?.id);
  return others.map(({ id, username }) => (state.names.has(id) ? state.names.get(id) : username) ?? "Deleted account").join(", ");
}

/** Forgets the user, and what is on its way for the user. */
export function forget() {
  userCount += 1;
  state.me = null;
  state.threads.clear();
  state.names.clear();
  state.blocked.clear();
  state.invitations = [];
  state.inbox = { count: 0, more: false, newest: null };
  state.hasMoreThreads = false;
  state.hasMoreInvitations = false;
  state.isOperator = null;
  state.isSigningOut = false;
  state.isKept = false;
  summaries.clear();
  markers.clear();
}

/** What `/v1/threads` says of the threads, by id. */
let summaries = new Map();

/** Counts the users of this page, so that an answer for an earlier one has no effect. */
let userCount = 0;

/** Counts what had to be forgotten: an answer that was asked for before may have it, and is asked for again. */
let forgotten = 0;

/** The events since each answer that is asked for, which may lack them. */
const unanswered = new Set();

/** Reads the user, the threads and the invitations. After the first time, only the threads with the latest events, unless
 * the answer about the user does not have all threads. */
export async function load({ isComplete = true } = {}) {
  const count = userCount;
  const before = forgotten;
  const since = [];
  unanswered.add(since);
  let me, pages, invitations, inbox, joined;
  try {
    [me, pages, invitations, inbox] = await Promise.all([
      get("/v1/me"), all(["threads"], isComplete || state.hasMoreThreads ? Infinity : 1), all(["invitations"]), get("/v1/inbox?limit=1"),
    ]);
    // The answer about the user has the first threads only.
    joined = me.more ? await all(["me", "threads"]) : { items: me.threads, isComplete: true };
  } finally {
    unanswered.delete(since);
  }
  if (count !== userCount) return;
  if (before !== forgotten) return load();
  [me.threads, me.more] = [joined.items, !joined.isComplete];
  if (pages.isComplete) summaries = new Map();
  // A part of the list does not tell whether the user can still read a thread that the user has left.
  for (const { id, isMember } of state.threads.values()) {
    if (isMember && !me.more && !me.threads.some((thread) => thread.id === id)) summaries.delete(id);
  }
  for (const summary of pages.items) summaries.set(summary.id, summary);
  const threads = new Map();
  for (const thread of me.threads) threads.set(thread.id, withMarker({ ...summaries.get(thread.id), ...thread, isMember: true }));
  // Operators can read threads that they have not joined. Beyond the threads of one answer, the user counts as a member.
  const isMember = me.more;
  for (const summary of summaries.values()) {
    if (!threads.has(summary.id)) threads.set(summary.id, { ...summary, unread: 0, firstUnread: null, readUpTo: 0, lastMessage: null, isMember });
  }
  state.me = me;
  state.isKept = false;
  state.threads = threads;
  state.invitations = invitations.items;
  const former = JSON.stringify(state.inbox);
  state.inbox = { ...inbox.unread, newest: inbox.items[0]?.position ?? null };
  state.hasMoreThreads = me.more;
  state.hasMoreInvitations = !invitations.isComplete;
  learn(me, ...me.threads.flatMap((thread) => [thread.lastMessage?.author, ...(thread.people ?? [])]));
  for (const change of since) applyToLists(change);
  emit("threads");
  emit("invitations");
  if (former !== JSON.stringify(state.inbox)) emit("inbox");
}

/** What is kept for a start without a connection: at most so many threads, those with the latest messages. */
const mostKeptThreads = 200;

export function snapshot() {
  const latest = (thread) => thread.lastMessage?.position ?? 0;
  const threads = [...state.threads.values()].sort((a, b) => latest(b) - latest(a)).slice(0, mostKeptThreads);
  const { me, blocked, invitations, inbox, hasMoreThreads, hasMoreInvitations, isOperator } = state;
  return structuredClone({ me: { ...me, threads: [] }, threads, blocked, invitations, inbox, hasMoreThreads, hasMoreInvitations, isOperator });
}

/** Shows what was kept, until the server is reached. */
export function restore(kept) {
  Object.assign(state, kept, { isKept: true, threads: new Map(kept.threads.map((thread) => [thread.id, thread])) });
  state.me.threads = kept.threads.filter(({ isMember }) => isMember);
  learn(state.me, ...kept.threads.flatMap((thread) => [thread.lastMessage?.author, ...(thread.people ?? [])]));
}

/** Forgets what was erased: the texts of posts, and the names of people and threads. */
export function forgetErased(erased) {
  forgotten += 1;
  const hasNoName = new Set([...erased.namelessUsers, ...erased.namelessThreads]);
  const texts = new Set([...erased.messages, ...erased.replies]);
  for (const user of erased.namelessUsers) state.names.set(user, null);
  for (const thread of [...state.threads.values(), ...summaries.values()]) {
    if (hasNoName.has(thread.id)) thread.name = null;
    if (thread.people) thread.people = thread.people.map((user) => (hasNoName.has(user.id) ? { id: user.id, username: null } : user));
    if (!thread.lastMessage) continue;
    thread.lastMessage = { ...thread.lastMessage };
    if (texts.has(thread.lastMessage.id)) thread.lastMessage.body = null;
    if (hasNoName.has(thread.lastMessage.author.id)) thread.lastMessage.author = { id: thread.lastMessage.author.id, username: null };
  }
  state.invitations = state.invitations.map((invitation) => ({
    ...invitation, name: hasNoName.has(invitation.thread) ? null : invitation.name,
    by: hasNoName.has(invitation.by.id) ? { id: invitation.by.id, username: null } : invitation.by,
  }));
  for (const topic of ["names", "threads", "invitations"]) emit(topic);
  emit("erased", erased);
  refreshSoon({ isComplete: true });
}

/** Forgets a thread that the user can no longer read, and the people, who may be known from there alone. */
export function forgetThread(id) {
  forgotten += 1;
  state.threads.delete(id);
  summaries.delete(id);
  markers.delete(id);
  state.names.clear();
  emit("threads");
  refreshSoon({ delay: 0, isComplete: true });
}

let refreshTimer = null;
let isRefreshing = false;
let isStale = false;
let needsAll = false;

/** Reads everything again after `delay` ms; 500 ms after the last reading if changes came meanwhile. */
export function refreshSoon({ delay = 120, isComplete = false } = {}) {
  isStale = true;
  needsAll ||= isComplete;
  if (refreshTimer || isRefreshing) return;
  refreshTimer = setTimeout(async () => {
    refreshTimer = null;
    isRefreshing = true;
    isStale = false;
    // A call during the reading asks for another one.
    const isComplete = needsAll;
    needsAll = false;
    try {
      if (state.me) await load({ isComplete });
    } catch (error) {
      needsAll ||= isComplete;
      // The stream tells when the server is back; what was missed is read then.
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    } finally {
      isRefreshing = false;
      if (isStale && state.me) refreshSoon({ delay: 500 });
    }
  }, delay);
}

/** Returns the kind of an event and its fields. */
function kindOf(event) {
  for (const [name, value] of Object.entries(event)) {
    if (value && typeof value === "object" && !Array.isArray(value)) return [name, value];
  }
  return ["unknown", {}];
}

/** Whether events of a kind can change one of these answers, which have the names of the table that the server prints. An unknown
 * kind can change each, and so can all until the table is loaded. */
export function changesAny(kind, ...answers) {
  const changed = later()?.changedAnswers[kind];
  return !changed || answers.some((answer) => changed.includes(answer));
}

const flags = { threadLocked: { locked: true }, threadUnlocked: { locked: false }, threadClosed: { closed: true } };

/** Takes from a post what an event takes away: its text, or the former name of its author. Returns whether it had it. */
export function takeFrom(post, { kind, fields, event }) {
  if (kind === "usernameChanged" && post.author.id === fields.user) {
    post.author = renamed(post.author, fields);
    return true;
  }
  const [, what, act] = /^(message|reply)(Edited|Retracted|Removed)$/.exec(kind) ?? [];
  if (!what || post.id !== fields[what]) return false;
  if (act === "Edited") {
    if (post.retracted || post.removed || event.position <= (post.editPosition ?? post.position)) return false;
    // A text that is null was changed since.
    if (fields.body !== null) {
      Object.assign(post, { body: fields.body, mentions: fields.mentions, editedAt: event.recordedAt, editPosition: event.position });
      return true;
    }
  } else Object.assign(post, { reactions: [], [act.toLowerCase()]: true });
  Object.assign(post, { body: null, mentions: [] });
  return true;
}

/** A person after a change of name; the new name is null if there is a later one. */
const renamed = (person, { user, username }) => (person.id === user ? { id: user, username: username ?? null } : person);

/** Applies an event to the lists: new messages are shown, and what it takes away is in none any more. */
function applyToLists(change) {
  const { kind, fields, event } = change;
  if (kind === "messagePosted") countUnread(event, fields);
  if (kind === "threadRenamed" || kind === "threadPolicySet" || flags[kind]) configure(kind, fields);
  if (/^invitation(Declined|Revoked)$/.test(kind) && fields.user === state.me.id) {
    state.invitations = state.invitations.filter(({ thread }) => thread !== fields.thread);
    emitSoon("invitations");
  }
  const isRenaming = kind === "usernameChanged";
  if (isRenaming) {
    if (fields.username) learn({ id: fields.user, username: fields.username });
    else state.names.delete(fields.user);
    state.me = { ...state.me, ...renamed(state.me, fields) };
    state.invitations = state.invitations.map((invitation) => ({ ...invitation, by: renamed(invitation.by, fields) }));
  }
  for (const thread of [...state.threads.values(), ...summaries.values()]) {
    if (isRenaming && thread.people) thread.people = thread.people.map((person) => renamed(person, fields));
    const post = thread.lastMessage && { ...thread.lastMessage };
    if (!post || !takeFrom(post, change)) continue;
    thread.lastMessage = post;
    emitSoon("threads");
  }
}

/** Applies an event of the stream, or of the receipt of a command. */
export function apply(event) {
  const [kind, fields] = kindOf(event);
  const change = { kind, fields, event };
  for (const since of unanswered) since.push(change);
  if (kind === "operatorGranted" || kind === "operatorRevoked") state.isOperator = kind === "operatorGranted";
  if ((kind === "userBlocked" || kind === "userUnblocked") && fields.by === state.me?.id) setBlocked(fields.user, kind === "userBlocked");
  if (state.me) applyToLists(change);
  if (kind === "notificationsSet" && state.threads.has(fields.thread)) state.threads.get(fields.thread).notifications = { level: fields.level, until: fields.until ?? null };
  emit("event", change);
  if (event.inbox || changesAny(kind, "details", "inbox")) refreshSoon();
}

/** Shows a new name, policy or lock of a thread at once. A name that is null was changed since. */
function configure(kind, fields) {
  for (const thread of [state.threads.get(fields.thread), summaries.get(fields.thread)]) {
    if (!thread) continue;
    if (flags[kind]) Object.assign(thread, flags[kind]);
    else if (kind === "threadPolicySet") thread.policy = ["inviteOnly", "listed"].includes(fields.policy) ? fields.policy : undefined;
    else thread.name = fields.name;
  }
  emitSoon("threads");
}

/** Shows a new message in the list at once; the numbers of the server follow. */
function countUnread(event, fields) {
  const thread = state.threads.get(fields.thread);
  if (!thread || (thread.lastMessage?.position ?? 0) >= event.position) return;
  thread.lastMessage = {
    position: event.position, id: fields.message, author: person(fields.author), body: fields.body, createdAt: event.sentAt ?? event.recordedAt,
  };
  if (fields.author !== state.me.id && !event.blocked && event.position > thread.readUpTo) {
    thread.unread += 1;
    thread.firstUnread ??= event.position;
  }
  emitSoon("threads");
}

export function setBlocked(user, isBlocked) {
  if (state.blocked.has(user) === isBlocked) return;
  if (isBlocked) state.blocked.add(user);
  else state.blocked.delete(user);
  emitSoon("blocked");
}

/** Read markers that the server does not have yet, by thread. */
export const markers = new Map();

/** Moves the read marker of a thread forward on this page. Returns whether the server is to be told. */
export function moveMarker(id, position) {
  const thread = state.threads.get(id);
  if (!thread?.isMember || position <= thread.readUpTo) return false;
  markers.set(id, position);
  withMarker(thread);
  emitSoon("threads");
  return true;
}

/** Shows a marker that the server does not have yet. */
function withMarker(thread) {
  const position = markers.get(thread.id) ?? 0;
  if (position <= thread.readUpTo) return thread;
  thread.readUpTo = position;
  if ((thread.lastMessage?.position ?? 0) <= position) [thread.unread, thread.firstUnread] = [0, null];
  return thread;
}

export const unreadTotal = () => [...state.threads.values()].reduce((sum, thread) => sum + thread.unread, 0);
