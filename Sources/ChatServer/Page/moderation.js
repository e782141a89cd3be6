// The panel for the moderators of a thread: reports, mutes and bans, invitations, locking and closing.

import { all } from "./api.js";
import { execute } from "./commands.js";
import { avatar, h, feedback, personName } from "./dom.js";
import { dialog } from "./forms.js";
import { errorText, excerpt, fullTimeText, shortDay, timeElement } from "./format.js";
import { remove } from "./message-actions.js";
import { loader, moreNote, panelFrame } from "./panel.js";
import { link } from "./router.js";
import { learn, state } from "./store.js";

export function moderationPanel(context) {
  const { element, body } = panelFrame(context, "Moderation");
  const button = (label, action, isDangerous = false) => h("button", { type: "button", class: isDangerous ? "button small danger" : "button small", onclick: action }, label);
  const run = (name, fields) => async () => {
    try {
      await execute(name, fields);
      await load();
    } catch (error) {
      feedback(errorText(error));
    }
  };
  const { thread } = context;

  function reportCard(report) {
    const target = report.message ? { message: report.message } : { reply: report.reply };
    return h(
      "li", { class: "card" },
      h("p", { class: "card-head" }, avatar(report.author), personName(report.author), timeElement(report.reportedAt, shortDay(report.reportedAt))),
      h("p", { class: "body", dir: "auto" }, report.body === null ? h("em", {}, "Its text is gone.") : excerpt(report.body, 600)),
      report.removed ? h("p", { class: "muted" }, "Removed already.") : null,
      h("p", { class: "muted" }, "Reported by ", personName(report.by), ": ", h("q", { dir: "auto" }, report.reason ?? "")),
      h("div", { class: "buttons" }, button("Resolve", run("resolveReport", target)),
        report.removed || report.body === null ? null : button("Remove…", () => remove(report, target).then(load), true),
        report.message ? h("a", { class: "button small", href: link("t", thread, "m", report.message) }, "Open") : null));
  }

  function sanctionCard(sanction) {
    const undo = sanction.kind === "ban" ? "unban" : "unmute";
    return h(
      "li", { class: "card" }, h("p", { class: "card-head" }, avatar(sanction.user), personName(sanction.user), h("span", { class: "badge" }, sanction.kind === "ban" ? "Banned" : "Muted")),
      h("p", {}, h("q", { dir: "auto" }, sanction.reason ?? "")),
      h("p", { class: "muted" }, "By ", personName(sanction.by), sanction.until ? `, until ${fullTimeText(sanction.until)}` : ", without an end"),
      h("div", { class: "buttons" }, button(sanction.kind === "ban" ? "End the ban" : "End the mute", run(undo, { thread, user: sanction.user.id }))));
  }

  const invitationCard = (invitation) => h(
    "li", { class: "person" }, avatar(invitation.user), h("span", { class: "person-name" }, personName(invitation.user)),
    button("Take back", run("revokeInvitation", { thread, user: invitation.user.id })));

  const section = (title, list, card, empty, listClass = "cards") => h(
    "section", { class: "panel-section", "aria-label": title }, h("h3", {}, title),
    list.items.length ? h("ul", { class: listClass }, list.items.map(card)) : h("p", { class: "muted" }, empty), moreNote(list));

  const load = loader(body, async () => {
    const [reports, sanctions, invitations] = await Promise.all(["reports", "sanctions", "invitations"].map((part) => all(["threads", thread, part])));
    learn(...[...reports.items, ...sanctions.items, ...invitations.items].flatMap((item) => [item.user, item.by, item.author]));
    const info = context.info();
    const switches = [];
    if (!info?.closed) {
      switches.push(info?.locked ? button("Unlock the thread", run("unlockThread", { thread })) : button("Lock the thread", run("lockThread", { thread })));
      if (context.isOwner() || state.isOperator) switches.push(button("Close for good…", () => close(thread), true));
    }
    return [
      section("Open reports", reports, reportCard, "No report is open."),
      section("Mutes and bans", sanctions, sanctionCard, "Nobody is muted or banned. Mute and ban people in the list of people."),
      section("Invitations", invitations, invitationCard, "Nobody is invited at present.", "people"),
      h("section", { class: "panel-section", "aria-label": "The thread" }, h("h3", {}, "The thread"),
        info?.closed ? h("p", { class: "muted" }, "The thread is closed.") : h("p", { class: "muted" }, "In a locked thread nobody can write or join until it is unlocked."),
        h("div", { class: "buttons" }, switches)),
    ];
  });
  load();
  return { element, changed: load, reset: load };
}

function close(thread) {
  return dialog({
    title: "Close this thread for good?", text: "Nobody can write in it or join it any more, and it cannot be opened again.", submit: "Close for good", isDangerous: true,
    action: () => execute("closeThread", { thread }),
  });
}
