// The view of one thread: its head, its messages and the composer; beside it one of the panels.

import { Problem, Unreachable, all, get, path } from "./api.js";
import { announce, emptyState, h, icon, iconButton, feedback } from "./dom.js";
import { count, errorText, excerpt, longDay } from "./format.js";
import { later, loadLater, onLater, withLater } from "./later.js";
import { plainText } from "./markdown.js";
import * as outbox from "./outbox.js";
import { go, link } from "./router.js";
import { WritingPlace, atEnd, readStanding, refusal } from "./standing.js";
import { changesAny, learn, on, person, state, threadName } from "./store.js";
import { Timeline, firstPageSize } from "./timeline.js";
import { TimelineView } from "./timeline-view.js";
import { waitingElement } from "./waiting.js";

/** Reads the latest messages or, if those that are unread are not all among them, the first unread ones. */
async function loadMessages(timeline, unread, firstUnread) {
  if (!timeline.isLoaded && unread <= mostLatest) await timeline.load(Math.max(firstPageSize, unread + 20));
  const isMissing = !timeline.isLoaded || (timeline.older !== null && firstUnread < timeline.entries[0]?.position);
  if (unread && isMissing) await timeline.loadAround(firstUnread);
}

/** So many unread messages are read with the latest ones; more are read from the first one on. */
const mostLatest = 80;

export class ThreadView {
  /** `timeline` is that of the thread, if its latest messages were read before. */
  constructor(id, timeline = null) {
    this.id = id;
    this.firstTimeline = timeline;
    this.ends = [];
    this.roles = new Map();
    this.pinned = new Set();
    this.reportCount = 0;
    /** Whether there are more reports than were read. */
    this.hasMoreReports = false;
    this.mayModerate = false;
    this.element = h("section", { class: "thread", "aria-labelledby": "thread-title" });
    this.heading = h("h1", { id: "thread-title", tabindex: "-1", dir: "auto" });
    this.detail = h("p", { class: "thread-detail" });
    this.tools = h("nav", { class: "thread-tools", "aria-label": "About this thread" });
    this.body = h("div", { class: "thread-body" });
    this.head = h(
      "header", { class: "thread-head" }, h("a", { class: "icon-button back", href: "#/", "aria-label": "Back to the threads" }, icon("back")),
      h("div", { class: "thread-names" }, this.heading, this.detail), this.tools);
    this.element.append(this.head, this.body);
    this.panel = null;
    /** Counts the messages to which the view is on its way: what is shown until then is not read. */
    this.going = 0;
    this.standing = null;
    /** Cancels the look at the end of a mute. */
    this.endOfMute = () => {};
    this.writing = new WritingPlace(this.body, () => this.createComposer(), "writing");
    this.context = {
      thread: id,
      isMember: () => this.isMember,
      canWrite: () => refusal(this.info, this.standing) === null,
      refusal: () => refusal(this.info, this.standing),
      canModerate: () => this.mayModerate,
      isOwner: () => this.roles.get(state.me.id) === "owner",
      isDirect: () => Boolean(this.info?.people),
      mayConfigure: () => this.mayConfigure,
      isPinned: (message) => this.pinned.has(message),
      roles: () => this.roles,
      info: () => this.info,
      timeline: () => this.timeline,
    };
  }

  get info() {
    return state.threads.get(this.id);
  }
  get isMember() {
    return this.info?.isMember ?? false;
  }

  /** Whether the user can rename the thread and decide who joins it: as an owner or, without one, as an operator. */
  get mayConfigure() {
    const isOwner = this.roles.get(state.me.id) === "owner" || (state.isOperator && ![...this.roles.values()].includes("owner"));
    return Boolean(isOwner && this.info && !this.info.people && !this.info.outwardCode);
  }

  /** Reads the thread and shows it. */
  open() {
    this.opening = this.load();
    return this.opening;
  }

  async load() {
    if (!this.info) {
      this.renderStranger();
      return;
    }
    this.renderHead();
    this.timeline = this.firstTimeline ?? new Timeline("message", this.id);
    this.firstTimeline = null;
    const { unread, firstUnread } = this.info;
    const { timeline } = this;
    // Where the user has left the thread, if Back leads to it.
    const { place, distance } = history.state ?? {};
    this.view = new TimelineView(this.timeline, {
      context: this.context, label: "Messages", dayLevel: 2, waiting: () => this.waiting(),
      empty: () => this.emptiness(),
      beginning: () => this.beginning(), reads: this, changed: () => later()?.kept.saveThread(timeline),
    });
    this.body.replaceChildren(h("p", { class: "placeholder" }, "Loading messages…"));
    this.ends.push(
      on("event", (change) => this.apply(change)), on("erased", (content) => this.forgetErased(content)), on("threads", () => this.threadsChanged()),
      on("names", () => this.namesChanged()), outbox.onChange(() => this.outboxChanged()), () => this.view.close(), () => later()?.kept.saveThread(timeline, { isAtOnce: true }));
    try {
      const isFilled = state.isKept && (await later().kept.fill(timeline));
      if (!isFilled) await loadMessages(timeline, place ? 1 : unread, place ?? firstUnread);
    } catch (error) {
      const isFilled = error instanceof Unreachable && (await later()?.kept.fill(timeline));
      if (!isFilled) {
        if (timeline === this.timeline) this.failed(error);
        return;
      }
    }
    later()?.kept.saveThread(timeline);
    // Opened again meanwhile, as after events may have been missed.
    if (timeline !== this.timeline) return;
    this.body.replaceChildren(this.view.element);
    this.renderComposer();
    this.view.showFirst(unread ? firstUnread : null);
    if (place) this.view.showPlace(place, distance);
    this.renderHead();
    // After the first message is shown, which does not need them.
    clearTimeout(this.rightsTimer);
    this.rightsTimer = setTimeout(() => this.refreshRights());
    onLater(() => { if (timeline === this.timeline) this.renderComposer(); });
  }

  /** What a thread without messages shows: the next step is to write, or to invite those who could read it. */
  emptiness() {
    const isAlone = this.mayModerate && this.info.policy === "inviteOnly" && this.info.members === 1;
    return isAlone ? emptyState("people", "You are the only member", this.beginning(), h("a", { class: "button primary", href: link("t", this.id, "people") }, "Invite people"))
      : emptyState("smile", "Nobody has written here yet", this.beginning(), h("button", { type: "button", class: "button", onclick: () => this.writing.composer?.focus() }, "Say hello"));
  }

  /** Says when the thread began and by whom, or why the user does not read its first messages. */
  beginning() {
    const { info } = this;
    const day = info.createdAt ? ` on ${longDay(info.createdAt)}` : "";
    if (info.people) return `This is the beginning of your conversation with ${threadName(info)}${day ? `, ${day.slice(1)}` : ""}.`;
    if (info.history === "sinceJoining" && this.roles.get(state.me.id) !== "owner") return "You joined here. What was written before is for those who were members then.";
    if (info.outwardCode) return `This is the beginning of ${info.outwardCode}${day ? `, opened by its first neighbour${day}` : ""}.`;
    const owner = [...this.roles].find(([, role]) => role === "owner")?.[0];
    return `This is the beginning${day ? `: the thread was opened${day}` : ""}.${!owner ? "" : owner === state.me.id ? " You own it." : ` Its owner is ${person(owner).username ?? "a deleted account"}.`}`;
  }

  failed(error) {
    if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    if (error.code === "notFound") {
      this.renderStranger();
      return;
    }
    this.body.replaceChildren(h("div", { class: "placeholder" }, h("p", {}, errorText(error)),
      h("button", { type: "button", class: "button", onclick: () => this.reload() }, "Try again")));
  }

  reload() {
    this.close();
    this.open();
    // Has the panel of the address made again.
    dispatchEvent(new HashChangeEvent("hashchange"));
  }

  /** Reads what the browser has kept from the server, which is reached again. */
  connected() {
    if (this.timeline?.isKept) this.reset();
  }

  /** Reads everything again after events may have been missed. */
  async reset() {
    if (!this.timeline?.isLoaded) {
      if (this.timeline) this.reload();
      return;
    }
    const { timeline, view } = this;
    try {
      // What the user reads stays in its place.
      const place = timeline.newer === null ? null : timeline.byID.get(view.findAnchor()?.id)?.position;
      await Promise.all([place ? timeline.loadAround(place) : timeline.load(), this.loadRights()]);
      if (timeline !== this.timeline) return;
      if (place) view.showFrom(place);
      view.render();
      this.renderComposer();
      this.panel?.reset?.();
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    }
  }

  close() {
    for (const end of this.ends) end();
    this.ends = [];
    clearTimeout(this.rightsTimer);
    this.endOfMute();
    this.panel?.close?.();
    this.panel = null;
  }

  /** Reads the roles, the pins, the user's standing and, for moderators, the reports. */
  async loadRights() {
    // A direct thread has neither roles nor pins.
    if (this.info?.people) return;
    const call = (this.rightsCall = (this.rightsCall ?? 0) + 1);
    const [roles, pins, standing] = await Promise.all([
      all(["threads", this.id, "roles"], Infinity), get(path(["threads", this.id, "pins"])), readStanding(this.id)]);
    // A later call has the later answer.
    if (call !== this.rightsCall) return;
    learn(...roles.items.map((item) => item.user));
    this.roles = new Map(roles.items.map((item) => [item.user.id, item.role]));
    this.pinned = new Set(pins.items.map((item) => item.id));
    this.standing = standing;
    this.endOfMute();
    this.endOfMute = atEnd(standing?.mute, () => this.rightsChanged());
    this.mayModerate = this.roles.has(state.me.id) || state.isOperator || !this.isMember;
    if (!this.mayModerate && state.isOperator === null && this.info?.policy !== "inviteOnly") this.mayModerate = await this.askWhetherOperator();
    if (this.mayModerate) await this.loadReports();
  }

  /** No answer names the operators to others; only they may read the reports of a thread in which they have no role. */
  async askWhetherOperator() {
    const user = state.me.id;
    let isOperator = true;
    try {
      await get(path(["threads", this.id, "reports"]));
    } catch (error) {
      if (error.code !== "notFound") throw error;
      isOperator = false;
    }
    if (state.me?.id === user) state.isOperator = isOperator;
    return isOperator;
  }

  async loadReports() {
    try {
      const reports = await get(path(["threads", this.id, "reports"], { limit: 200 }));
      this.reportCount = reports.items.length;
      this.hasMoreReports = reports.older !== null;
    } catch (error) {
      if (error.code !== "notFound") throw error;
      this.mayModerate = false;
      this.reportCount = 0;
      this.hasMoreReports = false;
    }
  }

  /** Reads the rights again soon, after an event that may have changed them. */
  rightsChanged() {
    clearTimeout(this.rightsTimer);
    this.rightsTimer = setTimeout(() => this.refreshRights(), 150);
  }

  async refreshRights() {
    const { timeline } = this;
    try {
      await this.loadRights();
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      return;
    }
    // Closed, or opened again meanwhile.
    if (!timeline || timeline !== this.timeline) return;
    this.view.render();
    this.renderHead();
    this.renderComposer();
    this.panel?.changed?.();
  }

  apply(change) {
    const { kind, fields, event } = change;
    this.panel?.apply?.(change);
    if (kind === "usernameChanged") this.timeline.apply(change);
    if (fields.thread !== this.id) return;
    const isNew = kind === "messagePosted" && !this.timeline.byID.has(fields.message);
    this.timeline.apply(change);
    if (isNew && fields.author !== state.me.id && fields.body !== null && !event.blocked) {
      announce(`${person(fields.author).username}: ${excerpt(plainText(fields.body))}`, (number) => count(number, "new message"));
    }
    if (changesAny(kind, "moderation") || (changesAny(kind, "access") && fields.user === state.me.id)) this.rightsChanged();
    else if (changesAny(kind, "access")) this.panel?.changed?.();
  }

  /** Forgets what was erased. A panel that does not know its texts is made again. */
  forgetErased(content) {
    this.timeline.forgetErased(content);
    if (this.panel?.forgetErased) {
      this.panel.forgetErased(content);
    } else if (this.panel) {
      this.panel.close?.();
      this.panel = null;
      dispatchEvent(new HashChangeEvent("hashchange"));
    }
    this.rightsChanged();
  }

  /** A direct thread has the names of its people. */
  namesChanged() {
    if (this.info?.people) this.renderHead();
  }

  /** Shows what waits, and why it was not sent. */
  outboxChanged() {
    this.view.render();
    this.writing.composer?.showRejection(outbox.waitingIn(this.id));
  }

  threadsChanged() {
    if (!this.info) {
      this.renderStranger();
      return;
    }
    this.renderHead();
    if (this.timeline.isLoaded) {
      this.renderComposer();
      this.view.renderSoon();
    }
  }

  renderHead() {
    const { info } = this;
    const name = threadName(info);
    if (this.heading.textContent !== name) this.heading.textContent = name;
    const details = [
      info.people ? "direct message" : info.members === undefined ? null : count(info.members, "member"), info.outwardCode ? "district" : null,
      info.people ? null : info.policy === "inviteOnly" ? "invitation only" : info.policy === "listed" ? "listed" : null, info.closed ? "closed" : info.locked ? "locked" : null,
    ];
    const text = details.filter(Boolean).join(" · ");
    if (this.detail.textContent !== text) this.detail.textContent = text;
    const tools = [["people", "people", "People"], ["activity", "chart", "Activity"]];
    if (this.pinned.size || this.panelName === "pins") tools.push(["pins", "pin", "Pinned messages"]);
    if (this.mayModerate) tools.push(["moderation", "shield", this.reportCount ? `Moderation, ${this.hasMoreReports ? "more than " : ""}${count(this.reportCount, "open report")}` : "Moderation"]);
    if (this.mayConfigure) tools.push(["settings", "settings", "Settings of the thread"]);
    const key = JSON.stringify([tools, this.panelName]);
    if (this.toolsKey === key) return;
    this.toolsKey = key;
    this.tools.replaceChildren(...tools.map(([view, iconName, label]) => h(
      "a", {
        class: "icon-button", href: this.panelName === view ? link("t", this.id) : link("t", this.id, view), "aria-label": label, title: label,
        "aria-current": this.panelName === view ? "true" : null,
      }, icon(iconName), view === "moderation" && this.reportCount ? h("span", { class: "dot", "aria-hidden": "true" }) : null)),
      iconButton("calendar", "Go to a day", () => withLater(({ chooseDay }) => chooseDay(this))));
  }

  /** Shows the composer, or why the user cannot write, below the messages. */
  renderComposer() {
    if (later() && this.view?.element.isConnected) this.writing.render(refusal(this.info, this.standing));
  }

  createComposer() {
    const made = later().composer({ thread: this.id, label: "Write a message" });
    made.showRejection(outbox.waitingIn(this.id));
    return made;
  }

  waiting() {
    this.waitingElements ??= new Map();
    return outbox.waitingIn(this.id).filter((item) => !this.timeline.byID.has(item.id)).map((item) => {
      const key = item.id + (item.rejection ? " rejected" : "");
      if (!this.waitingElements.has(key)) {
        this.waitingElements.set(key, waitingElement(item, (text) => this.writing.composer?.restore(text)));
        // What the user has just written is shown, wherever the list is.
        if (!item.rejection && this.timeline.newer !== null) this.view.jumpToLatest();
        else if (!item.rejection) this.view.isAtBottom = this.view.end === this.timeline.entries.length || this.view.isAtBottom;
      }
      return this.waitingElements.get(key);
    });
  }

  /** Shows why the user cannot read a thread, and whether they can join it. */
  async renderStranger() {
    this.close();
    if (this.panelName) go(["t", this.id], { replace: true });
    this.view = null;
    this.timeline = null;
    this.waitingElements = null;
    this.roles = new Map();
    this.pinned = new Set();
    this.heading.textContent = "Thread";
    this.detail.textContent = "";
    this.tools.replaceChildren();
    this.toolsKey = null;
    this.standing = null;
    this.body.replaceChildren(h("p", { class: "placeholder" }, "Loading…"));
    let isOpen = true;
    this.ends.push(() => { isOpen = false; });
    try {
      await loadLater();
    } catch (error) {
      if (isOpen) this.failed(error);
      return;
    }
    if (isOpen) await later().showStranger(this);
  }

  /** Shows a message of the thread by its id, as a link to it does. */
  async goTo(id) {
    this.going += 1;
    go(["t", this.id], { replace: true });
    try {
      const entry = this.timeline?.byID.get(id) ?? await get(path(["messages", id]));
      if (entry.thread !== this.id) throw new Problem(404, { code: "unknownMessage" });
      await this.showPosition(entry.position);
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      feedback(error.status === 404 ? errorText({ code: "unknownMessage" }) : errorText(error));
    } finally {
      this.going -= 1;
      this.view?.reading?.jumped();
    }
  }

  /** Shows the first message from a position on. */
  async showPosition(position) {
    let view;
    // The thread may be opened again meanwhile.
    do {
      await this.opening;
      ({ view } = this);
      if (!view) return;
      const { timeline } = this;
      const isLoaded = timeline.entries[0]?.position <= position && timeline.entries.at(-1).position >= position;
      if (!isLoaded) await timeline.loadAround(position);
    } while (view !== this.view);
    view.showAt(position);
  }

  /** Shows a panel beside the thread, or none. Returns its element. */
  showPanel(name, parameter) {
    const key = name ? `${name} ${parameter ?? ""}` : null;
    if (this.panel && this.panel.key === key) return this.panel.element;
    this.panel?.close?.();
    this.panel = null;
    this.panelName = name;
    if (this.info) this.renderHead();
    const { panels } = later() ?? {};
    const create = panels && Object.hasOwn(panels, name) ? panels[name] : null;
    if (!name || !create || !this.info) return null;
    this.panel = create(this.context, parameter);
    this.panel.key = key;
    return this.panel.element;
  }

  get title() {
    return this.info ? threadName(this.info) : "Thread";
  }
}

