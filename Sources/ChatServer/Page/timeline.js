// The messages of a thread, or the replies to a message, as far as they are loaded: from some message to another one,
// without a gap.

import { Problem, Unreachable, get, path } from "./api.js";
import { learn, person, setBlocked, state, takeFrom } from "./store.js";

const pageSize = 100;
/** The number of messages that are read first. */
export const firstPageSize = 40;
/** The number of messages that are read before the first unread one. */
const contextSize = 30;

export class Timeline {
  /** `kind` is "message" for the thread `id`, or "reply" for the replies to the message `id`. */
  constructor(kind, id) {
    this.kind = kind;
    this.id = id;
    this.parts = kind === "message" ? ["threads", id, "timeline"] : ["messages", id, "replies"];
    /** By position, ascending. */
    this.entries = [];
    this.byID = new Map();
    /** The value for `before` of the older page; null at the beginning. */
    this.older = null;
    /** The value for `after` of the newer page; null if the latest message is loaded. */
    this.newer = null;
    this.isLoaded = false;
    /** Whether this is what the browser has kept, until it is read again. */
    this.isKept = false;
    this.listener = () => {};
    this.loadingOlder = null;
    this.loadingNewer = null;
    this.refreshing = new Set();
    this.staleWhileRefreshing = new Set();
    /** The events since the beginning of each request that is not answered yet. */
    this.unanswered = new Set();
    /** Counts the parts: a page that was asked for at the edge of another one has no place any more. */
    this.part = 0;
  }

  /** Reads pages and puts them in place. Events that arrived meanwhile may not be in them: they are applied again. */
  async read(queries, place) {
    const events = [];
    this.unanswered.add(events);
    try {
      place(...await Promise.all(queries.map((query) => get(path(this.parts, query)))));
    } finally {
      this.unanswered.delete(events);
    }
    for (const event of events) this.applyOne(event);
  }

  /** Reads the latest page. What is loaded and older is kept if no message is missing in between. */
  async load(limit = pageSize) {
    await this.read([{ limit }], (page) => {
      const oldest = page.items[0]?.position ?? 0;
      const isContiguous = !this.isKept && this.newer === null && page.older !== null && this.entries.some((entry) => entry.position >= oldest);
      this.entries = isContiguous ? this.entries.filter((entry) => entry.position < oldest) : [];
      this.byID = new Map(this.entries.map((entry) => [entry.id, entry]));
      if (!isContiguous) {
        this.older = page.older;
        this.part += 1;
      }
      this.newer = null;
      this.isLoaded = true;
      this.isKept = false;
      for (const entry of page.items) this.insert(entry);
    });
    this.listener({ change: "loaded" });
  }

  /** Shows what was kept. */
  fill(items, older) {
    this.older = older;
    this.isLoaded = true;
    this.isKept = true;
    for (const entry of items) this.insert(entry);
  }

  /** Reads the messages around a position in the place of what is loaded. */
  async loadAround(position) {
    await this.read([{ limit: contextSize, before: position }, { limit: pageSize, after: position - 1 }], (before, page) => {
      this.part += 1;
      this.entries = [];
      this.byID.clear();
      this.older = before.older;
      this.setNewer(page, pageSize);
      this.isLoaded = true;
      this.isKept = false;
      for (const entry of [...before.items, ...page.items]) this.insert(entry);
    });
    this.listener({ change: "around" });
  }

  /** A page that is not full is the last one. What is posted from then on arrives as an event. */
  setNewer(page, limit) {
    this.newer = page.items.length < limit && !page.more ? null : page.newer;
  }

  /** Reads one page of older messages. */
  loadOlder(limit = 2 * pageSize) {
    if (this.older === null) return Promise.resolve();
    this.loadingOlder ??= (async () => {
      let added = [];
      const { part } = this;
      await this.read([{ limit, before: this.older }], (page) => {
        if (part !== this.part) return;
        added = page.items.filter((entry) => !this.byID.has(entry.id));
        for (const entry of added) this.learnEntry(entry);
        this.entries = [...added, ...this.entries];
        this.older = page.older;
      });
      this.listener({ change: "older", added: added.length });
    })().finally(() => { this.loadingOlder = null; });
    return this.loadingOlder;
  }

  /** Reads one page of newer messages. */
  loadNewer(limit = pageSize) {
    if (this.newer === null) return Promise.resolve();
    this.loadingNewer ??= (async () => {
      const { part } = this;
      await this.read([{ limit, after: this.newer }], (page) => {
        if (part !== this.part) return;
        this.setNewer(page, limit);
        for (const entry of page.items) this.insert(entry);
      });
      this.listener({ change: "newer" });
    })().finally(() => { this.loadingNewer = null; });
    return this.loadingNewer;
  }

  learnEntry(entry) {
    this.byID.set(entry.id, entry);
    learn(entry.author);
    if (entry.blocked) setBlocked(entry.author.id, true);
  }

  /** Adds an entry at its place, or replaces it. */
  insert(entry) {
    const known = this.byID.get(entry.id);
    this.learnEntry(entry);
    if (known) {
      this.entries[this.entries.indexOf(known)] = entry;
      return;
    }
    let index = this.entries.length;
    while (index > 0 && this.entries[index - 1].position > entry.position) index -= 1;
    this.entries.splice(index, 0, entry);
  }

  /** Applies a live event. */
  apply(change) {
    for (const events of this.unanswered) events.push(change);
    this.applyOne(change);
  }

  /** Forgets the texts and names that were erased. What is read meanwhile may have them. */
  forgetErased(content) {
    this.apply({ kind: "erased", fields: {}, content });
  }

  forgetOne(content) {
    const hasNoName = new Set(content.namelessUsers);
    const texts = new Set(this.kind === "message" ? content.messages : content.replies);
    const changed = [];
    for (const entry of this.entries) {
      const isNameless = hasNoName.has(entry.author.id);
      if (!isNameless && !texts.has(entry.id)) continue;
      if (isNameless) entry.author = { id: entry.author.id, username: null };
      if (texts.has(entry.id)) {
        entry.body = null;
        // Only an earlier text may be gone.
        if (!isNameless) this.refresh(entry);
      }
      changed.push(entry.id);
    }
    this.listener({ change: "erased", changed });
  }

  applyOne({ kind, fields, event, content }) {
    if (!this.isLoaded) return;
    if (kind === "erased") {
      this.forgetOne(content);
      return;
    }
    const what = this.kind;
    if (kind === `${what}Posted`) {
      if (what === "message" ? fields.thread !== this.id : fields.message !== this.id) return;
      // An older message, of a stream that is behind, is read with its page.
      if (this.byID.has(fields[what]) || (this.older !== null && event.position < (this.entries[0]?.position ?? 0))) return;
      // So is a newer one, if those before it are not loaded.
      if (this.newer !== null) {
        this.listener({ change: "postedLater", author: fields.author });
        return;
      }
      const entry = {
        position: event.position, id: fields[what], author: person(fields.author), body: fields.body,
        createdAt: event.sentAt ?? event.recordedAt, editedAt: null, retracted: false, mentions: fields.mentions,
      };
      if (what === "message") Object.assign(entry, { thread: fields.thread, replyCount: 0 });
      else entry.message = fields.message;
      if (event.blocked) entry.blocked = true;
      const isKnown = state.names.has(fields.author);
      this.insert(entry);
      this.listener({ change: "posted", entry });
      // A text that is null was changed since; the name of a new member is in no event.
      if (!isKnown || fields.body === null) this.refresh(entry);
      return;
    }
    if (kind === "usernameChanged") {
      for (const entry of this.entries) takeFrom(entry, { kind, fields, event });
      return;
    }
    const entry = this.byID.get(fields[what]);
    if (!entry) return;
    if (/^reaction/.test(kind)) {
      // The counts of the server are right whether or not they contained this reaction already.
      if (what === "reply" || !fields.reply) this.refresh(entry);
      return;
    }
    if (takeFrom(entry, { kind, fields, event })) {
      if (kind === `${what}Edited` && fields.body === null) this.refresh(entry);
    } else if (what === "message" && /^reply(Posted|Retracted|Removed)$/.test(kind)) {
      // The count of the server is right whether or not it contained this reply already.
      this.refresh(entry);
      return;
    } else {
      return;
    }
    this.listener({ change: "changed", entry });
  }

  /** Reads one entry again. Calls meanwhile have it read once more. */
  async refresh(entry) {
    const { id, position } = entry;
    if (this.refreshing.has(id)) {
      this.staleWhileRefreshing.add(id);
      return;
    }
    this.refreshing.add(id);
    try {
      do {
        this.staleWhileRefreshing.delete(id);
        await this.read([{ limit: 1, after: position - 1 }], (page) => {
          const found = page.items.find((item) => item.id === id);
          if (found && this.byID.has(id)) this.insert(found);
        });
        this.listener({ change: "changed", entry });
        await new Promise((resolve) => setTimeout(resolve, 200));
      } while (this.staleWhileRefreshing.has(id));
    } catch (error) {
      // A later event, or the next load, reads it again.
      if (!(error instanceof Problem) && !(error instanceof Unreachable)) throw error;
    } finally {
      this.refreshing.delete(id);
    }
  }
}
