// The settings: name, postcode, address, password, sessions, blocked people, the user's data, and the end of the account.

import { aboutLinks, aboutList } from "./about.js";
import { Unreachable, all, download, get, path, post, request } from "./api.js";
import { execute } from "./commands.js";
import { avatar, h, feedback, personName } from "./dom.js";
import { deviceSettings } from "./device.js";
import { draftsByThread } from "./drafts.js";
import { dialog, form } from "./forms.js";
import { errorText, fullTimeText } from "./format.js";
import { block } from "./message-actions.js";
import * as outbox from "./outbox.js";
import { loader } from "./panel.js";
import { on, person, state } from "./store.js";
import { learnName } from "./stranger.js";
import { postcodeForm } from "./opening.js";
import { page } from "./threads.js";

/** Creates the settings. `leave(message)` is called when the session has ended. */
export function settingsPage(leave) {
  const list = h("ul", { class: "section-links" });
  const links = h("nav", { "aria-label": "Sections of the settings" }, list);
  const section = (title, ...children) => {
    const heading = h("h2", { tabindex: "-1" }, title);
    const goTo = () => {
      heading.scrollIntoView();
      heading.focus({ preventScroll: true });
    };
    list.append(h("li", {}, h("button", { type: "button", class: "link", onclick: goTo }, title)));
    return h("section", { class: "settings-section", "aria-label": title }, heading, children);
  };
  const sessions = h("div");
  const loadSessions = loader(sessions, () => sessionList(() => loadSessions(), leave));
  loadSessions();

  const nameForm = form({
    fields: [{ name: "username", label: "Your name", isNamedAbove: true, value: state.me.username ?? "", autocomplete: "nickname", maxlength: 128 }], submit: "Change the name",
    action: async ({ username }) => {
      await execute("changeUsername", { username: username.trim() });
      feedback("Your name is changed.");
    },
  });
  const about = h("div");
  const loadAbout = loader(about, async () => (await aboutForm()).element);
  loadAbout();
  const passwordForm = form({
    fields: [
      { name: "old", label: "Present password", type: "password", autocomplete: "current-password" },
      { name: "new", label: "New password", type: "password", autocomplete: "new-password", hint: "At least 8 characters. All other devices are signed out.", check: (text) => ([...text].length < 8 ? "The password needs at least 8 characters." : null) },
    ],
    submit: "Change the password",
    action: async (values) => {
      try {
        await post("/v1/change-password", values);
      } catch (error) {
        if (error.code === "invalidCredentials") throw Object.assign(new Error("The present password is wrong."), { field: "old" });
        if (["invalidPassword", "commonPassword"].includes(error.code)) error.field = "new";
        throw error;
      }
      for (const input of Object.values(passwordForm.inputs)) input.value = "";
      feedback("The password is changed.");
      loadSessions();
    },
  });
  const email = h("div", { class: "found" });
  const loadEmail = loader(email, () => emailForm(() => loadEmail()));
  loadEmail();
  const blocked = h("div");
  let blocks = 0;
  const loadBlocked = loader(blocked, () => blockedList(() => blocks));
  loadBlocked();

  const result = page(
    "Settings", links, section("Your name", nameForm.element),
    section("About you", about),
    section("Your postcode", h("p", { class: "muted" }, "Others see your district, never the whole postcode. You stay in the threads of earlier districts until you leave them."), postcodeForm(false)),
    section("This browser", deviceSettings()),
    section("Blocked people", blocked),
    section("Personal code", h("p", { class: "muted" }, "Give it to a moderator who wants to invite you to a thread."), h("p", {}, h("code", { class: "code" }, state.me.id))),
    section("E-mail address", email),
    section("Password", passwordForm.element),
    section("Signed-in devices", sessions, h("div", { class: "buttons" },
      h("button", { type: "button", class: "button primary", onclick: () => signOut("/v1/sign-out", "Sign out?", "Sign out", leave) }, "Sign out"),
      h("button", { type: "button", class: "button", onclick: () => signOut("/v1/sign-out-everywhere", "Sign out on all devices?", "Sign out everywhere", leave) }, "Sign out everywhere"))),
    section("Your data", h("p", { class: "muted" }, "A file with what the site has of you: your profile, your messages and replies, reactions, threads and devices. It has no text of others."),
      h("div", { class: "buttons" }, h("button", { type: "button", class: "button primary", onclick: exportData }, "Download my data…"))),
    aboutLinks.length ? section("About this site", aboutList()) : null,
    section("Delete the account", h("p", { class: "muted" }, "Everything that you have written is erased for good, for everybody. This cannot be undone."),
      h("div", { class: "buttons" }, h("button", { type: "button", class: "button danger", onclick: () => deleteAccount(leave) }, "Delete the account…"))));
  const countBlocks = ({ kind }) => { if (/^user(Blocked|Unblocked)$/.test(kind)) blocks += 1; };
  const ends = [on("blocked", loadBlocked), on("erased", loadBlocked), on("event", countBlocks)];
  result.close = () => ends.forEach((end) => end());
  return result;
}

/** The present address, and the form with which it is changed: first the new address, then the codes of both mails. */
async function emailForm(reload) {
  const { email, newEmail } = await get("/v1/email");
  if (!newEmail) {
    return [h("p", {}, "Mails go to ", h("strong", {}, email), "."), form({
      fields: [
        { name: "email", label: "New e-mail address", type: "email", autocomplete: "email", inputmode: "email", spellcheck: "false", maxlength: 254, hint: "We send a code to both addresses." },
        { name: "password", label: "Your password", type: "password", autocomplete: "current-password" },
      ],
      submit: "Send the codes",
      action: async (values) => {
        await post("/v1/change-email", { email: values.email.trim(), password: values.password }).catch(wrongPassword);
        await reload();
      },
    }).element];
  }
  const code = { inputmode: "numeric", autocomplete: "one-time-code", spellcheck: "false", maxlength: 12 };
  return [h("p", {}, "Enter the codes of both mails. They are valid for ten minutes; until then mails go to ", h("strong", {}, email), "."), form({
    fields: [{ ...code, name: "code", label: `Code of the mail to ${email}` }, { ...code, name: "newCode", label: `Code of the mail to ${newEmail}` }],
    submit: "Change the address",
    action: async (values) => {
      const digits = (text) => text.replace(/\s/g, "");
      try {
        await post("/v1/confirm-email", { code: digits(values.code), newCode: digits(values.newCode) });
      } catch (error) {
        // The server does not tell which of the two is wrong.
        if (error.code === "invalidCode") throw new Error("One of the codes is wrong or no longer valid.", { cause: error });
        throw error;
      }
      feedback("Your address is changed. All other devices are signed out.");
      await reload();
    },
    extra: [h("button", { type: "button", class: "button", onclick: () => changeAgain(reload) }, "Use another address…")],
  }).element];
}

/** Begins a change of the address again, with other codes. */
function changeAgain(reload) {
  return dialog({
    title: "Change to another address", submit: "Send the codes", text: "The codes of before are no longer valid then.",
    fields: [
      { name: "email", label: "New e-mail address", type: "email", autocomplete: "email", inputmode: "email", spellcheck: "false", maxlength: 254 },
      { name: "password", label: "Your password", type: "password", autocomplete: "current-password" },
    ],
    action: async ({ email, password }) => {
      await post("/v1/change-email", { email: email.trim(), password }).catch(wrongPassword);
      await reload();
    },
  });
}

/** Downloads what the site has of the user, after the password was entered again. */
function exportData() {
  return dialog({
    title: "Download my data", submit: "Download", text: "The file has lines of JSON.",
    fields: [{ name: "password", label: "Your password", type: "password", autocomplete: "current-password" }],
    action: async ({ password }) => {
      const file = await download("/v1/me/export", { password }).catch(wrongPassword);
      // The server ends the file with this line; without it the connection was lost.
      if (!(await file.slice(-64).text()).includes('{"complete":')) throw new Unreachable("The download was interrupted. Try again.");
      const address = URL.createObjectURL(file);
      h("a", { href: address, download: "my-data.jsonl" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      feedback("Your data is downloaded.");
    },
  });
}

/** So many names that the page does not know are read; the others are "Someone", as are those whom the user is not shown. */
const mostNamesRead = 50;

/** The people whom the user has blocked, of whom there are at most 1,000. `changes()` counts the blocks and their ends. */
async function blockedList(changes) {
  const before = changes();
  const { items } = await all(["me", "blocks"]);
  // The answer does not have what was changed meanwhile.
  if (before !== changes()) return blockedList(changes);
  const ids = items.map(({ user }) => user);
  for (const id of ids) state.blocked.add(id);
  if (!items.length) return h("p", { class: "muted" }, "You have blocked nobody.");
  await Promise.all(ids.filter((id) => !state.names.has(id)).slice(0, mostNamesRead).map(learnName));
  return h("ul", { class: "people" }, ids.map(person).map((user) => h(
    "li", { class: "person" }, avatar(user), h("span", { class: "person-name" }, personName(user)),
    h("button", { type: "button", class: "button small", onclick: () => block(user, false) }, "Unblock", h("span", { class: "visually-hidden" }, ` ${user.username ?? "deleted account"}`)))));
}

/** The form for the user's profile text. */
async function aboutForm() {
  const details = await get(path(["people", state.me.id], { limit: 1 }));
  return form({
    fields: [{
      name: "about", label: "About you", isNamedAbove: true, type: "textarea", optional: true, dir: "auto", value: details.about ?? "", hint: "At most 500 characters. The people in your threads can read it.",
      check: (text) => ([...text.trim()].length > 500 ? "At most 500 characters." : null),
    }],
    submit: "Save",
    action: async (values) => {
      await execute("setProfile", { about: values.about.trim() });
      feedback("What you say about yourself is saved.");
    },
  });
}

/** Says that the password of a form is wrong; passes other errors on. */
function wrongPassword(error) {
  throw error.code === "invalidCredentials" ? Object.assign(new Error("The password is wrong."), { field: "password" }) : error;
}

async function sessionList(reload, leave) {
  const { items } = await get("/v1/sessions");
  const end = (session) => async () => {
    try {
      await request("DELETE", path(["sessions", session.id]));
      if (session.current) leave("You are signed out.");
      else await reload();
    } catch (error) {
      feedback(errorText(error));
    }
  };
  return h("ul", { class: "cards" }, items.map((session) => h(
    "li", { class: "card session" },
    h("div", {}, h("p", {}, h("bdi", { class: "name" }, session.device ?? "Unknown device"), session.current ? h("span", { class: "badge" }, "This device") : null),
      h("p", { class: "muted" }, `Signed in ${fullTimeText(session.createdAt)}, last used ${fullTimeText(session.lastUsedAt)}`)),
    session.current ? null : h("button", { type: "button", class: "button small", onclick: end(session) }, "Sign out", h("span", { class: "visually-hidden" }, ` ${session.device ?? "unknown device"}`)))));
}

function signOut(address, title, submit, leave) {
  const waiting = outbox.waitingCount();
  const drafts = draftsByThread().size ? " Your drafts are thrown away." : "";
  return dialog({
    title, submit, isDangerous: waiting > 0 || drafts !== "",
    text: (waiting ? `${waiting === 1 ? "A message is" : `${waiting} messages are`} not sent yet, and will be lost.` : "What you have written stays.") + drafts,
    action: () => endSession(() => post(address), "You are signed out.", leave),
  });
}

/** Ends the session with a request, and removes what waits to be sent. */
async function endSession(end, message, leave) {
  const user = state.me.id;
  state.isSigningOut = true;
  try {
    await end();
    await outbox.clear(user);
  } catch (error) {
    state.isSigningOut = false;
    throw error;
  }
  leave(message);
}

/** Deletes the account; the answer comes when everything is erased, which can take minutes. */
async function eraseAccount(password) {
  try {
    await post("/v1/delete-account", { password }, { timeLimit: null });
  } catch (error) {
    // A proxy may not wait so long. The sessions end before the erasure, which the server completes.
    if (!(error instanceof Unreachable) || !(await hasSessionEnded())) throw error;
  }
}

async function hasSessionEnded() {
  try {
    await get("/v1/me");
    return false;
  } catch (error) {
    return error.status === 401;
  }
}

function deleteAccount(leave) {
  return dialog({
    title: "Delete the account for good?", submit: "Delete everything", isDangerous: true,
    text: [
      "All your messages and replies, your name and your postcode are erased for everybody. Nobody can bring them back, and you cannot sign in any more.",
      "The threads that you own stay, without the names that you gave them. Their first moderator, or else their first member, becomes the owner.",
    ],
    fields: [{ name: "password", label: "Your password", type: "password", autocomplete: "current-password" }],
    action: async ({ password }) => {
      await endSession(() => eraseAccount(password), "Your account is deleted.", leave).catch(wrongPassword);
    },
  });
}
