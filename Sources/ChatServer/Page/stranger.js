// What a user sees of a thread that they cannot read.

import { Problem, Unreachable, get, path } from "./api.js";
import { execute } from "./commands.js";
import { h, personName } from "./dom.js";
import { errorText } from "./format.js";
import { messagePeople } from "./opening.js";
import { link } from "./router.js";
import { atEnd, endText, readStanding, reasonElement } from "./standing.js";
import { learn, on, person, state } from "./store.js";

/** Reads the name of a person. One with whom the user has no thread in common keeps none. */
export async function learnName(id) {
  try {
    learn(await get(path(["people", id], { limit: 1 })));
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof Unreachable)) throw error;
  }
}

/** Shows why the user cannot read the thread of a view, and whether they can join it. */
export async function showStranger(view) {
  if (view.info) return view.reload();
  let isOpen = true;
  let shown = null;
  let endOfBan = () => {};
  const asked = new Set();
  const show = async () => {
    let standing;
    try {
      standing = await readStanding(view.id);
    } catch (error) {
      if (isOpen && !shown) view.failed(error);
      return;
    }
    const unknown = (standing?.people ?? []).filter((id) => !state.names.has(id) && !asked.has(id));
    for (const id of unknown) asked.add(id);
    await Promise.all(unknown.map(learnName));
    // Without a change the button keeps the focus.
    if (!isOpen) return;
    endOfBan();
    endOfBan = atEnd(standing?.ban, show);
    if (shown === JSON.stringify(standing)) return;
    shown = JSON.stringify(standing);
    view.body.replaceChildren(strangersElement(view, standing, show));
  };
  view.ends.push(() => { isOpen = false; }, () => endOfBan(), on("threads", () => (view.info ? view.reload() : show())));
  await show();
}

const toThreads = () => h("p", {}, h("a", { class: "button", href: link() }, "Go to your threads"));

/** Returns what a user who is no member is shown: a ban, the way back to a direct thread, or how to join. `again` reads the
 * standing again. */
function strangersElement(view, standing, again) {
  if (!standing) {
    view.heading.textContent = "No such thread";
    return h("div", { class: "placeholder" }, h("p", {}, "There is no such thread, or it is private and you have no invitation to it."), toThreads());
  }
  const { ban, removal } = standing;
  if (ban) {
    view.heading.textContent = "You are banned";
    return h("div", { class: "placeholder" }, h("p", {}, `A moderator has banned you from this thread${endText(ban)}. You can neither read nor join it.`), reasonElement(ban), toThreads());
  }
  if (standing.people) {
    view.heading.textContent = "Come back?";
    const others = standing.people.filter((id) => id !== state.me.id);
    const names = others.filter((id) => state.names.get(id)).map(person);
    return h(
      "div", { class: "placeholder" },
      h("p", {}, "You have left this conversation", names.length ? [" with ", names.map((user, index) => [index ? ", " : "", personName(user)])] : null, "."),
      others.length > 1 ? h("p", {}, "You will read only what is written from then on.") : null,
      h("p", {}, h("button", { type: "button", class: "button primary", onclick: () => messagePeople(...others.map(person)) }, "Come back")));
  }
  view.heading.textContent = "Join this thread?";
  const error = h("p", { class: "field-error", role: "alert" });
  const join = async () => {
    try {
      await execute("joinThread", { thread: view.id });
    } catch (problem) {
      if (problem.code === "banned") return again();
      // The thread exists, or the server would not have told the standing.
      error.textContent = problem.code === "unknownThread" ? errorText({ code: "notInvited" }) : errorText(problem);
    }
  };
  return h(
    "div", { class: "placeholder" },
    removal ? [h("p", {}, "A moderator has removed you from this thread."), reasonElement(removal)] : null,
    h("p", {}, "You are not a member, and only members can read it. Open threads can be joined by everybody who has their link, others with an invitation."),
    h("p", {}, h("button", { type: "button", class: "button primary", onclick: join }, "Join the thread")), error);
}
