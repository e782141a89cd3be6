// Forms and dialogs: labels, hints, and errors that name their fields.

import { append, h, iconButton } from "./dom.js";
import { errorText } from "./format.js";

let counter = 0;
const fieldsOfCodes = {
  usernameTaken: "username", invalidUsername: "username", invalidEmail: "email", invalidPassword: "password", commonPassword: "password",
  invalidCode: "code", invalidPostcode: "postcode", invalidThreadName: "name", invalidReason: "reason", invalidUntil: "until",
  invalidEmoji: "emoji", invalidAbout: "about",
};

/** Creates a form.
 *
 * A field has `name`, `label`, and optionally `type` (default "text"; "textarea", "select" with `options`),
 * `hint`, `value`, `optional`, `isNamedAbove` if the heading above says the same as its label, and further attributes. `action(values)` is called with the texts; an error that it throws
 * is shown in a summary that leads to its field.
 */
export function form({ fields, submit, action, isDangerous = false, extra = [] }) {
  const id = `form-${(counter += 1)}`;
  const summary = h("div", { class: "error-summary", role: "alert", tabindex: "-1", hidden: true });
  const inputs = new Map();
  const rows = fields.map((field) => row(id, field, inputs));
  const button = h("button", { type: "submit", class: isDangerous ? "button danger" : "button primary" }, submit);
  const element = h("form", { class: "form", novalidate: true, "aria-busy": "false" }, summary, rows, h("div", { class: "buttons" }, button, extra));

  function show(errors) {
    for (const { input, error } of inputs.values()) {
      input.removeAttribute("aria-invalid");
      error.textContent = "";
      error.hidden = true;
    }
    summary.replaceChildren();
    summary.hidden = errors.length === 0;
    if (!errors.length) return;
    const list = h("ul");
    for (const { name, text } of errors) {
      const field = inputs.get(name);
      if (!field) {
        list.append(h("li", {}, text));
        continue;
      }
      field.input.setAttribute("aria-invalid", "true");
      field.error.textContent = text;
      field.error.hidden = false;
      list.append(h("li", {}, h("button", { type: "button", class: "link", onclick: () => field.input.focus() }, `${field.label}: ${text}`)));
    }
    append(summary, [h("p", { class: "error-title" }, errors.length === 1 ? "There is a problem" : "There are problems"), list]);
    summary.focus();
  }

  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (element.getAttribute("aria-busy") === "true") return;
    const values = {};
    const errors = [];
    for (const [name, { input, field }] of inputs) {
      values[name] = input.value;
      if (!field.optional && !values[name].trim()) errors.push({ name, text: "Fill in this field." });
      else if (field.check?.(values[name])) errors.push({ name, text: field.check(values[name]) });
    }
    show(errors);
    if (errors.length) return;
    for (const { hide } of inputs.values()) hide?.();
    element.setAttribute("aria-busy", "true");
    button.disabled = true;
    try {
      await action(values);
    } catch (error) {
      if (error instanceof TypeError || error instanceof ReferenceError) throw error;
      const name = error.field?.split(".").at(-1) ?? fieldsOfCodes[error.code];
      show([{ name, text: errorText(error) }]);
    } finally {
      element.setAttribute("aria-busy", "false");
      button.disabled = false;
    }
  });
  return { element, inputs: Object.fromEntries([...inputs].map(([name, { input }]) => [name, input])), show };
}

function row(id, field, inputs) {
  const { name, label, type = "text", hint, optional, isNamedAbove, options, check, value, ...attributes } = field;
  const inputID = `${id}-${name}`;
  const hintID = hint ? `${inputID}-hint` : null;
  const error = h("p", { class: "field-error", id: `${inputID}-error`, hidden: true });
  const shared = {
    id: inputID, name, "aria-describedby": [hintID, error.id].filter(Boolean).join(" "), required: !optional,
    ...attributes,
  };
  let input;
  if (type === "textarea") input = h("textarea", { rows: 3, ...shared }, value ?? "");
  else if (type === "select") input = h("select", shared, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  else input = h("input", { type, ...(type === "password" ? { autocapitalize: "none", spellcheck: "false" } : {}), ...shared, value: value ?? "" });
  const shower = type === "password" ? passwordShower(input, label) : null;
  inputs.set(name, { input, error, label, field, hide: shower?.hide });
  const labelElement = h("label", { for: inputID, class: isNamedAbove ? "visually-hidden" : null }, label, optional ? h("span", { class: "muted" }, " (optional)") : null);
  const hintElement = hint ? h("p", { class: "hint", id: hintID }, hint) : null;
  return h("div", { class: "field" }, labelElement, hintElement, error, shower ? h("div", { class: "password" }, input, shower.button) : input);
}

/** Returns a button that shows the text of a password, and a function that hides it. */
function passwordShower(input, label) {
  const set = (isShown) => {
    input.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  const button = h("button", { type: "button", class: "button small", "aria-pressed": "false", onclick: () => set(input.type === "password") },
    "Show", h("span", { class: "visually-hidden" }, ` ${label}`));
  // A browser keeps what was entered as the text of a field, but not as a password.
  return { button, hide: () => set(false) };
}

/** Shows a dialog with a form. Returns whether the action was carried out. */
export function dialog({ title, text = [], fields = [], submit, action, isDangerous = false, class: style = "dialog" }) {
  return new Promise((resolve) => {
    const titleID = `dialog-${(counter += 1)}`;
    let isDone = false;
    const close = () => element.close();
    const content = form({
      fields, submit, isDangerous,
      action: async (values) => {
        await action(values);
        isDone = true;
        close();
      },
      extra: [h("button", { type: "button", class: "button", onclick: close }, "Cancel")],
    });
    const element = h(
      "dialog", { class: style, "aria-labelledby": titleID },
      h("div", { class: "dialog-head" }, h("h2", { id: titleID }, title), iconButton("close", "Close", close)),
      [text].flat().map((part) => (part instanceof Node ? part : h("p", {}, part))), content.element);
    const before = document.activeElement;
    element.addEventListener("close", () => {
      element.remove();
      if (before?.isConnected) before.focus();
      resolve(isDone);
    });
    document.body.append(element);
    element.showModal();
    (Object.values(content.inputs)[0] ?? content.element.querySelector(".buttons .button:last-child")).focus();
  });
}
