// The panel with the members of a thread, who lives in its district among them.

import { all, get, path } from "./api.js";
import { execute } from "./commands.js";
import { avatar, copy, h, iconButton, feedback, personName } from "./dom.js";
import { dialog } from "./forms.js";
import { errorText } from "./format.js";
import { isID } from "./ids.js";
import { renewMenu, toggleMenu } from "./menu.js";
import { block } from "./message-actions.js";
import { loader, panelFrame } from "./panel.js";
import { go, link } from "./router.js";
import { learn, person, state } from "./store.js";
import { messagePeople } from "./opening.js";

const roleNames = { owner: "Owner", moderator: "Moderator" };
const ends = { none: "It does not end by itself", hour: "In one hour", day: "In one day", week: "In one week", month: "In 30 days" };
const hours = { hour: 1, day: 24, week: 168, month: 720 };

export function peoplePanel(context, selected) {
  const { element, body } = panelFrame(context, "People");
  const chosen = h("div", { class: "found" });
  const members = h("div");
  const controls = h("div");
  body.append(chosen, members, controls);

  const loadChosen = loader(chosen, () => (selected ? personCard(context, selected) : []));
  const loadControls = loader(controls, () => [
    h("div", { class: "buttons" },
      context.isDirect() ? null : h("button", { type: "button", class: "button small", onclick: () => copy(location.origin + location.pathname + link("t", context.thread), "The link is copied.") }, "Copy link to the thread"),
      context.canModerate() ? h("button", { type: "button", class: "button small", onclick: () => invite(context) }, "Invite…") : null,
      context.isMember() ? h("button", { type: "button", class: "button small", onclick: () => leave(context) }, "Leave…") : null),
    context.isMember() ? levelChoice(context) : null,
  ]);
  const loadMembers = loader(members, () => list(context));
  const load = () => Promise.all([loadChosen(), loadMembers().then(renewMenu), loadControls()]);
  load();
  let timer = null;
  const loadSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (!document.querySelector("dialog")) load(); }, 250);
  };
  return {
    element, changed: loadSoon, reset: load, close: () => clearTimeout(timer),
    apply: ({ kind }) => { if (/^(postcodeSet|usernameChanged|userBlocked|userUnblocked)$/.test(kind)) loadSoon(); },
  };
}

/** What of the thread notifies the user. */
function levelChoice(context) {
  const { level } = context.info()?.notifications ?? { level: "all" };
  const choose = (event) => run("setNotifications", { thread: context.thread, level: event.currentTarget.value }, "The notifications are set.");
  return h("label", { class: "field" }, "Notify me about", h(
    "select", { oninput: choose }, [["all", "Everything"], ["mentions", "Mentions of you"], ["none", "Nothing"]].map(([value, label]) => h(
      "option", { value, selected: value === level }, label))));
}

/** The members in pages, the latest first; in a district with a badge on those who live there, who follow if they are no
 * members. */
async function list(context) {
  const code = context.info()?.outwardCode;
  const title = code ? `People of ${code}` : "Members";
  const readMembers = (before) => get(path(["threads", context.thread, "members"], { limit: 100, before }));
  const [first, residents] = await Promise.all([readMembers(null), code ? all(["threads", context.thread, "residents"]) : { items: [] }]);
  const others = new Map(residents.items.map(({ user }) => [user.id, user]));
  learn(...others.values());
  const items = h("ul", { class: "people" });
  const add = (page) => {
    learn(...page.items.map((item) => item.user));
    items.append(...page.items.toReversed().map(({ user }) => personRow(context, user, others.delete(user.id) ? "Lives here" : null)));
    if (page.older === null) items.append(...[...others.values()].map((user) => personRow(context, user, "Lives here, not a member")));
  };
  add(first);
  let { older } = first;
  const more = h("button", {
    type: "button", class: "button small", hidden: older === null,
    onclick: async () => {
      try {
        const page = await readMembers(older);
        add(page);
        older = page.older;
        more.hidden = older === null;
      } catch (error) {
        feedback(errorText(error));
      }
    },
  }, "Show more");
  return h("section", { class: "panel-section", "aria-label": title }, h("h3", {}, title), items, more);
}

function personRow(context, user, residence) {
  const role = context.roles().get(user.id);
  const isOwn = user.id === state.me.id;
  const open = ({ currentTarget: button }) => {
    const list = button.closest(".panel-body");
    toggleMenu(button, () => list.querySelector(`[data-person="${CSS.escape(user.id)}"] > button`), () => ({ items: personActions(context, person(user.id)) }));
  };
  const button = isOwn ? null : iconButton("more", `Actions for ${user.username ?? "a deleted account"}`, open, { "aria-expanded": "false" });
  return h(
    "li", { class: "person", "data-person": user.id }, avatar(user), h("span", { class: "person-name" }, personName(user), isOwn ? h("span", { class: "muted" }, " (you)") : null),
    residence ? h("span", { class: "residence" }, residence) : null,
    role ? h("span", { class: "badge" }, roleNames[role]) : null, state.blocked.has(user.id) ? h("span", { class: "badge" }, "Blocked") : null, button);
}

function personCard(context, id) {
  const user = person(id);
  const role = context.roles().get(id);
  const items = id === state.me.id ? [] : personActions(context, user);
  return h(
    "section", { class: "card person-card", "aria-label": "This person" }, h("p", { class: "card-head" }, avatar(user), personName(user), role ? h("span", { class: "badge" }, roleNames[role]) : null),
    h("div", { class: "buttons" }, items.map(([label, action]) => h("button", { type: "button", class: "button small", onclick: action }, label))));
}

/** Whether the thread is the one to message a person. */
const isOnlyOther = (context, user) => context.info()?.people?.length === 2 && context.info().people.some(({ id }) => id === user.id);

/** What the user can do about a person, as pairs of a label and an action. */
function personActions(context, user) {
  const roles = context.roles();
  const role = roles.get(user.id) ?? "member";
  const items = [];
  if (user.username !== null && !isOnlyOther(context, user)) items.push(["Message", () => messagePeople(user)]);
  items.push(["Profile", () => go(["people", user.id])]);
  items.push(state.blocked.has(user.id) ? ["Unblock", () => block(user, false)] : ["Block", () => block(user, true)]);
  const setRole = (name) => () => run("setRole", { thread: context.thread, user: user.id, role: name }, "The role is changed.");
  const hasOwner = [...roles.values()].includes("owner");
  if (context.isOwner() || (state.isOperator && !hasOwner)) {
    if (role !== "moderator") items.push(["Make moderator", setRole("moderator")]);
    if (role !== "owner" && context.isOwner()) items.push(["Make owner", setRole("owner")]);
    if (role !== "member") items.push(["Make an ordinary member", setRole("member")]);
  }
  if (context.canModerate()) {
    items.push(["Mute…", () => sanction(context, user, "mute")], ["Ban…", () => sanction(context, user, "ban")]);
    items.push(["Remove from the thread…", () => removeMember(context, user)]);
  }
  return items;
}

async function run(name, fields, done) {
  try {
    await execute(name, fields);
    feedback(done);
  } catch (error) {
    feedback(errorText(error));
  }
}

const about = (user) => h("p", {}, personName(user));
const reason = { name: "reason", label: "Reason", type: "textarea", maxlength: 500, hint: "The person and the moderators see it." };

/** Asks for the reason and the end of a mute or a ban. */
function sanction(context, user, kind) {
  return dialog({
    title: kind === "mute" ? "Mute this person" : "Ban this person",
    text: [about(user), kind === "mute" ? "They can read, but not write in this thread." : "They are removed from the thread and cannot join it."],
    submit: kind === "mute" ? "Mute" : "Ban", isDangerous: true,
    fields: [reason, { name: "until", label: "When does it end?", type: "select", options: Object.entries(ends), value: "none" }],
    action: async ({ reason, until }) => {
      const end = hours[until] ? new Date(Date.now() + hours[until] * 3_600_000).toISOString() : null;
      await execute(kind, { thread: context.thread, user: user.id, reason, until: end });
      feedback(kind === "mute" ? "Muted." : "Banned.");
    },
  });
}

function removeMember(context, user) {
  return dialog({
    title: "Remove this person from the thread", text: [about(user), "They can join again unless they need an invitation."], submit: "Remove", isDangerous: true,
    fields: [reason], action: ({ reason }) => execute("removeMember", { thread: context.thread, user: user.id, reason }),
  });
}

/** Invites a person of another thread, or by the id that they find in their settings. */
async function invite(context) {
  const known = [...state.names].filter(([id, name]) => id !== state.me.id && name).sort((a, b) => a[1].localeCompare(b[1]));
  await dialog({
    title: "Invite to this thread", submit: "Invite", text: "They find the invitation in their list of threads.",
    fields: [
      { name: "user", label: "Somebody you have met", type: "select", optional: true, options: [["", "Choose…"], ...known], value: "" },
      { name: "id", label: "Or their personal code", optional: true, hint: "Everybody finds their own code in the settings.", autocomplete: "off", check: (text) => (text.trim() && !isID(text.trim()) ? "This is not a personal code." : null) },
    ],
    action: async ({ user, id }) => {
      const chosen = id.trim().toLowerCase() || user;
      if (!chosen) throw Object.assign(new Error("Choose a person or enter a code."), { field: "user" });
      const receipt = await execute("invite", { thread: context.thread, user: chosen });
      feedback(receipt.events.length ? "Invited." : "This person is invited or a member already.");
    },
  });
}

function leave(context) {
  return dialog({
    title: "Leave this thread?", text: ["You can no longer read it. What you have written stays.", context.isDirect() ? "To come back, message the person again." : []], submit: "Leave", isDangerous: true,
    action: async () => {
      await execute("leaveThread", { thread: context.thread });
      location.hash = link();
    },
  });
}

