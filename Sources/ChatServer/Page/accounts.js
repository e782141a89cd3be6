// The views before the sign-in: sign up, confirm, sign in, forgotten password.

import { aboutList, aboutText } from "./about.js";
import { post } from "./api.js";
import { h, icon } from "./dom.js";
import { form } from "./forms.js";
import { go, link, parts } from "./router.js";

const what = "Talk to the neighbours of your postcode district, and in threads about anything. Others see your name and your district, never your address.";
const email = { name: "email", label: "E-mail address", type: "email", autocomplete: "email", inputmode: "email", spellcheck: "false", maxlength: 254 };
const code = { name: "code", label: "Code", inputmode: "numeric", autocomplete: "one-time-code", spellcheck: "false", maxlength: 12, hint: "The six digits of the mail. They are valid for ten minutes." };
const password = (autocomplete, more = {}) => ({ name: "password", label: "Password", type: "password", autocomplete, ...more });
const newPassword = { hint: "At least 8 characters. A few unrelated words are good.", check: (text) => ([...text].length < 8 ? "The password needs at least 8 characters." : null) };
const username = { name: "username", label: "Name", autocomplete: "nickname", maxlength: 128, hint: "What your neighbours see. 1 to 64 characters." };

/** What was entered, for the next view of the same tab. A browser may load the page again after the mail was read, so the
 * address is in the storage of the tab until the sign-in. */
const addressKey = "entered address";
const entered = { email: sessionStorage.getItem(addressKey) ?? "", password: "", username: "" };

/** Where a text of the operator leads back to, and what is typed there: until another view is shown. */
let before = ["sign-in", "Back to the sign-in"];
let typed = {};

function enterAddress(address) {
  entered.email = address.trim();
  sessionStorage.setItem(addressKey, entered.email);
  return entered.email;
}

const digits = (text) => text.replace(/\s/g, "");

/** The name of this device in the list of sessions. */
function device() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent.replace(/Chrome(?=.*(Edg|OPR))/, ""))?.[0] ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(agent)?.[0];
  return (browser === "Edg" ? "Edge" : browser === "OPR" ? "Opera" : browser) + (system ? ` on ${system}` : "");
}

async function signIn(address, secret, done) {
  await post("/v1/sign-in", { email: address, password: secret, device: device() });
  // The next person at this tab is not shown who was here.
  Object.assign(entered, { email: "", password: "", username: "" });
  sessionStorage.removeItem(addressKey);
  await done();
}

function view(title, brand, children, links) {
  const heading = h("h1", { tabindex: "-1" }, title);
  const element = h(
    "main", { id: "main", class: "card-page", tabindex: "-1" }, h("p", { class: "brand" }, icon("home"), h("span", {}, brand)),
    h("div", { class: "card account" }, heading, children), h("ul", { class: "account-links" }, links.map(([target, text, isButton]) => h("li", {}, h("a", { class: isButton ? "button" : null, href: link(target) }, text)))), aboutList());
  return { element, heading, title };
}

/** Returns the view with a name, or null. `done` is called when the user is signed in. */
export function accountView(name, brand, done, message = null) {
  const note = message ? [h("p", { class: "note" }, message)] : [];
  if (name !== "about") before = name === "sign-up" ? [name, "Back to the sign-up"] : ["sign-in", "Back to the sign-in"];
  if (name !== "about" && name !== "sign-up") typed = {};
  switch (name) {
    case "sign-up": {
      const values = { ...entered, password: "", ...typed };
      const joining = form({
        fields: [{ ...username, value: values.username }, { ...email, value: values.email }, password("new-password", { ...newPassword, value: values.password })],
        submit: "Sign up",
        action: async (values) => {
          Object.assign(entered, { ...values, email: enterAddress(values.email) });
          await post("/v1/sign-up", { ...values, email: entered.email, username: values.username.trim() });
          go(["confirm"]);
        },
      });
      joining.element.addEventListener("input", ({ target }) => { typed[target.name] = target.value; });
      return view("Join your neighbours", brand, [h("p", {}, what), joining.element], [["sign-in", "I have an account"]]);
    }
    case "confirm":
      return confirmView(brand, done);
    case "forgot":
      return view("Forgotten password", brand, [h("p", {}, "We send a code to your address, with which you set a new password."), form({
        fields: [{ ...email, value: entered.email }], submit: "Send the code",
        action: async (values) => {
          await post("/v1/forgot-password", { email: enterAddress(values.email) });
          go(["reset"]);
        },
      }).element], [["sign-in", "Back to the sign-in"]]);
    case "reset":
      return view("Set a new password", brand, [h("p", {}, "If the address has an account, a mail with a code is on its way. All devices are signed out."), form({
        fields: [{ ...email, value: entered.email }, code, password("new-password", { ...newPassword, label: "New password" })], submit: "Set the password",
        action: async (values) => {
          await post("/v1/reset-password", { email: values.email.trim(), code: digits(values.code), password: values.password });
          await signIn(values.email.trim(), values.password, done);
        },
      }).element], [["forgot", "Send another code"], ["sign-in", "Back to the sign-in"]]);
    case "sign-in":
      return view("Sign in", brand, [h("p", {}, what), ...note, form({
        fields: [{ ...email, value: entered.email }, password("current-password")], submit: "Sign in",
        action: async (values) => {
          enterAddress(values.email);
          try {
            await signIn(entered.email, values.password, done);
          } catch (error) {
            if (error.code !== "notRegistered") throw error;
            entered.password = values.password;
            go(["confirm"]);
          }
        },
      }).element], [["sign-up", "Create an account", true], ["forgot", "I have forgotten my password"], ["confirm", "I have a code"]]);
    case "about": {
      const { title, element } = aboutText(parts()[1]);
      return view(title, brand, element, [before]);
    }
    default:
      return null;
  }
}

function confirmView(brand, done) {
  const place = h("div");
  const status = h("p", { class: "muted", role: "status" });

  /** With `takenName` the form asks for another name as well, after the first one was lost to another person. */
  function render(takenName, values) {
    const fields = [{ ...email, value: values.email }, { ...code, value: values.code }];
    if (!entered.password) fields.push(password("current-password", { hint: "The password of your sign-up." }));
    if (takenName) fields.push({ ...username, label: "Another name" });
    const made = form({
      fields, submit: "Confirm",
      action: async (answer) => {
        const address = answer.email.trim();
        const secret = entered.password || answer.password;
        const body = { email: address, code: digits(answer.code), password: secret };
        if (answer.username) body.username = answer.username.trim();
        try {
          await post("/v1/confirm", body);
        } catch (error) {
          // The server does not tell which of the two is wrong.
          if (error.code === "invalidCode" && !entered.password) throw new Error("The code or the password is wrong.", { cause: error });
          if (error.code === "commonPassword") throw Object.assign(new Error("Your password is too much like this name."), { field: "username" });
          if (error.code !== "usernameTaken" || takenName) throw error;
          entered.password = secret;
          render(true, answer);
          return;
        }
        await signIn(address, secret, done);
      },
    });
    place.replaceChildren(made.element);
    if (takenName) made.show([{ name: "username", text: "Somebody else has taken your name meanwhile. Choose another one; the code stays valid." }]);
  }
  render(false, { email: entered.email, code: "" });
  const resend = h("button", {
    type: "button", class: "button small",
    onclick: async () => {
      const address = place.querySelector("[name=email]").value.trim();
      try {
        await post("/v1/resend-code", { email: address });
        status.textContent = "A new code is on its way, if the address waits for its confirmation.";
      } catch (error) {
        status.textContent = error.code === "tooManyAttempts" ? "Too many codes. Wait a while." : error.message;
      }
    },
  }, "Send another code");
  return view("Confirm your address", brand, [h("p", {}, "We have sent you a mail with a code."), place, h("div", { class: "buttons" }, resend), status], [["sign-in", "Back to the sign-in"]]);
}
