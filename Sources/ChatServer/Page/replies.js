// The panel with the replies to a message.

import { Problem, Unreachable, get, path } from "./api.js";
import { composer } from "./composer.js";
import { announce, emptyState, h } from "./dom.js";
import { count, errorText, excerpt } from "./format.js";
import { plainText } from "./markdown.js";
import { renewMenu } from "./menu.js";
import { messageElement } from "./message.js";
import { restoreEdit } from "./message-actions.js";
import { equip, watchMessages } from "./message-controls.js";
import * as outbox from "./outbox.js";
import { panelFrame } from "./panel.js";
import { WritingPlace } from "./standing.js";
import { on, person, state } from "./store.js";
import { Timeline } from "./timeline.js";
import { TimelineView } from "./timeline-view.js";
import { waitingElement } from "./waiting.js";

export function repliesPanel(context, id) {
  const { element, body } = panelFrame(context, "Replies");
  const timeline = new Timeline("reply", id);
  const place = h("ol", { class: "messages parent" });
  watchMessages(place);
  let parent = null;
  let erasures = 0;
  const writing = new WritingPlace(body, () => {
    const made = composer({ thread: context.thread, message: id, label: "Write a reply" });
    made.showRejection(outbox.waitingFor(id));
    return made;
  });
  const waitingElements = new Map();
  const view = new TimelineView(timeline, {
    context, label: "Replies", empty: () => emptyState("reply", "No replies yet", "Answers to one message stay together here, beside the thread."), beginning: () => "",
    waiting: () => outbox.waitingFor(id).filter((item) => !timeline.byID.has(item.id)).map((item) => {
      const key = item.id + (item.rejection ? " rejected" : "");
      if (!waitingElements.has(key)) waitingElements.set(key, waitingElement(item, (text) => writing.composer?.restore(text)));
      return waitingElements.get(key);
    }),
  });
  element.classList.add("replies-panel");
  body.append(h("p", { class: "placeholder" }, "Loading replies…"));
  const showWaiting = () => {
    view.render();
    writing.composer?.showRejection(outbox.waitingFor(id));
  };
  const ends = [outbox.onChange(showWaiting), on("names", () => renderParent()), () => view.close()];

  function renderParent({ isForced = false } = {}) {
    if (!parent || (!isForced && place.querySelector("[data-busy]"))) return;
    const shown = context.timeline()?.byID.get(id) ?? parent;
    place.replaceChildren(messageElement(shown, false, context));
    equip(place.firstChild);
    restoreEdit(place.firstChild);
    renewMenu();
    const isFirst = !writing.composer && !writing.note;
    writing.render(shown.retracted || shown.removed ? { text: "This message is deleted. Nobody can reply to it any more." } : context.refusal());
    if (isFirst && matchMedia("(pointer: fine)").matches) writing.composer?.focus();
  }

  async function load() {
    const before = erasures;
    try {
      const [message] = await Promise.all([get(path(["messages", id])), timeline.load()]);
      // What was erased meanwhile may be in the answer.
      if (before !== erasures) return load();
      parent = message;
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      body.replaceChildren(h("div", { class: "placeholder" }, h("p", {}, errorText(error)), h("button", { type: "button", class: "button", onclick: load }, "Try again")));
      return;
    }
    if (!view.element.isConnected) {
      body.replaceChildren(place, view.element);
      view.showFirst(null);
    }
    renderParent();
    view.render();
  }
  load();

  /** Reads the message above the replies again. */
  async function readParent() {
    const before = erasures;
    try {
      const message = await get(path(["messages", id]));
      if (before !== erasures) return;
      parent = message;
      const shown = context.timeline();
      if (shown?.byID.has(id)) shown.insert(message);
      renderParent();
    } catch (error) {
      // The next event or load reads it again.
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    }
  }

  return {
    element, reset: load,
    changed: () => { renderParent(); view.render(); },
    forgetErased: (content) => {
      erasures += 1;
      timeline.forgetErased(content);
      if (!parent) return;
      if (content.namelessUsers.includes(parent.author.id)) parent = { ...parent, author: { id: parent.author.id, username: null } };
      if (content.messages.includes(id)) {
        parent = { ...parent, body: null };
        load();
      }
      renderParent({ isForced: true });
    },
    close: () => ends.forEach((end) => end()),
    apply: (change) => {
      const { kind, fields } = change;
      const isNew = kind === "replyPosted" && fields.message === id && !timeline.byID.has(fields.reply);
      timeline.apply(change);
      if (isNew && fields.author !== state.me.id && fields.body) {
        announce(`Reply of ${person(fields.author).username}: ${excerpt(plainText(fields.body))}`, (number) => count(number, "new reply", "new replies"));
      }
      if (fields.message === id && /^message(Edited|Retracted|Removed)$/.test(kind)) {
        if (kind === "messageEdited" && fields.body !== null) {
          parent = { ...parent, body: fields.body, editedAt: change.event.recordedAt, editPosition: change.event.position, mentions: fields.mentions };
        } else if (kind !== "messageEdited") parent = { ...parent, body: null, [kind === "messageRemoved" ? "removed" : "retracted"]: true };
        queueMicrotask(() => renderParent());
      }
      if (fields.message === id && !fields.reply && /^reaction/.test(kind)) readParent();
    },
  };
}
