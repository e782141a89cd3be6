// The views and functions that open a thread.

import { execute } from "./commands.js";
import { avatar, emptyState, h, icon, feedback, personName } from "./dom.js";
import { form } from "./forms.js";
import { errorText, listTime, timeElement } from "./format.js";
import { newID } from "./ids.js";
import { go, link } from "./router.js";
import { on, state } from "./store.js";
import { policies } from "./thread-settings.js";
import { page } from "./threads.js";

/** What is shown while no thread is chosen. */
export function welcome() {
  const district = [...state.threads.values()].find((thread) => thread.isMember && thread.outwardCode === state.me.postcode?.split(" ")[0]);
  return page(
    `Hello, ${state.me.username ?? "neighbour"}`,
    state.me.postcode ? [
      h("p", {}, "Choose a thread, or start a new one about one subject."),
      h("div", { class: "buttons" },
        district ? h("a", { class: "button primary", href: link("t", district.id) }, icon("home"), `Go to ${district.outwardCode}`) : null,
        h("a", { class: "button", href: link("directory") }, icon("search"), "Find threads"),
        h("a", { class: "button", href: link("new") }, icon("plus"), "Start a thread")),
    ] : [
      h("p", {}, "Tell us your postcode, and you join the thread of your postcode district. Your neighbours see the district, never the whole postcode."),
      postcodeForm(true),
      h("p", {}, "Do you live outside the United Kingdom? Threads with a name need no postcode."),
      h("div", { class: "buttons" }, h("a", { class: "button", href: link("directory") }, icon("search"), "Find threads"),
        h("a", { class: "button", href: link("new") }, icon("plus"), "Start a thread"))]);
}

/** The form that sets the postcode. The user then is in the thread of the district. */
export function postcodeForm(opensThread) {
  return form({
    fields: [{ name: "postcode", label: "Your postcode", isNamedAbove: !opensThread, autocomplete: "postal-code", autocapitalize: "characters", hint: "For example SW1A 1AA", value: state.me.postcode ?? "", maxlength: 16 }],
    submit: state.me.postcode ? "Change the postcode" : "Set the postcode",
    action: async ({ postcode }) => {
      const receipt = await execute("setPostcode", { postcode });
      const thread = receipt.events.map((event) => event.postcodeSet?.thread).find(Boolean);
      feedback(receipt.events.length ? "Your postcode is set." : "This is your postcode already.");
      if (opensThread && thread) openSoon(thread);
    },
  }).element;
}

/** Opens the direct thread with people, and goes to it. */
export async function messagePeople(...users) {
  const others = users.map(({ id }) => id);
  const isWith = ({ isMember, people }) => isMember && people?.length === others.length + 1 && others.every((other) => people.some(({ id }) => id === other));
  const known = [...state.threads.values()].find(isWith);
  if (known) return go(["t", known.id]);
  try {
    const { events } = await execute("openDirect", { with: others });
    const thread = events.map((event) => (event.directOpened ?? event.threadJoined)?.thread).find(Boolean);
    if (thread) openSoon(thread);
  } catch (error) {
    feedback(errorText(error));
  }
}

/** Goes to a thread when the list has it. */
export function openSoon(thread) {
  if (state.threads.has(thread)) return go(["t", thread]);
  const end = on("threads", () => {
    if (!state.threads.has(thread)) return;
    end();
    go(["t", thread]);
  });
}

export function newThreadPage() {
  const id = newID();
  return page("Start a thread", h("p", {}, "A thread is about one subject. You own the threads that you start, and choose their moderators."), form({
    fields: [
      { name: "name", label: "Name", maxlength: 240, autocomplete: "off", hint: "For example “Street party”." },
      { name: "policy", label: "Who can join?", type: "select", options: policies, value: "open", hint: "Others cannot find a thread that is not listed: send them the link, or invite them." },
      { name: "history", label: "What can new members read?", type: "select", options: [["all", "Everything"], ["sinceJoining", "Only what is written after they join"]], value: "all" },
    ],
    submit: "Start the thread",
    // The id makes a second try after a lost answer the same thread.
    action: async ({ name, policy, history }) => {
      await execute("openThread", { thread: id, name: name.trim(), policy, history });
      openSoon(id);
    },
  }).element);
}

export function invitationsPage() {
  const list = h("ul", { class: "cards" });
  const error = h("p", { class: "field-error", role: "alert" });
  const answer = (name, thread) => async () => {
    error.textContent = "";
    try {
      await execute(name, { thread });
      if (name === "acceptInvitation") openSoon(thread);
    } catch (problem) {
      // The view of the thread says why, and until when.
      if (problem.code === "banned") go(["t", thread]);
      else error.textContent = errorText(problem);
    }
  };
  const empty = emptyState("mail", "No invitation at present", "Moderators can invite you to their threads. Threads that are listed need no invitation.", h("a", { class: "button", href: link("directory") }, "Find threads"));
  const more = h("p", { class: "muted" });
  const render = () => {
    empty.hidden = state.invitations.length > 0;
    more.hidden = !state.hasMoreInvitations;
    more.textContent = `Only the latest ${state.invitations.length} are shown.`;
    list.replaceChildren(...state.invitations.map((invitation) => h(
    "li", { class: "card" }, h("p", { class: "card-head" }, h("bdi", { class: "name" }, invitation.name ?? "Deleted thread"), timeElement(invitation.invitedAt, listTime(invitation.invitedAt))),
    h("p", { class: "muted card-head" }, avatar(invitation.by), h("span", {}, "Invited by ", personName(invitation.by)),
      invitation.blocked ? h("span", { class: "badge" }, "Blocked") : null),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "button primary small", onclick: answer("acceptInvitation", invitation.thread) }, "Join"),
      h("button", { type: "button", class: "button small", onclick: answer("declineInvitation", invitation.thread) }, "Decline")))));
  };
  render();
  const result = page("Invitations", error, list, empty, more);
  result.close = on("invitations", render);
  return result;
}
