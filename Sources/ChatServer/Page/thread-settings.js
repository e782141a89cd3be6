// The panel with the settings of a named thread, for its owners: its name, and who can join it.

import { execute } from "./commands.js";
import { h, feedback } from "./dom.js";
import { form } from "./forms.js";
import { panelFrame } from "./panel.js";

/** Who can join a named thread: the policies and their labels. */
export const policies = [
  ["open", "Everybody who has the link"], ["listed", "Listed: everyone can find and join it"], ["inviteOnly", "Only people who are invited"],
];

export function threadSettingsPanel(context) {
  const { element, body } = panelFrame(context, "Settings of the thread");
  const { thread } = context;
  const section = (title, ...children) => h("section", { class: "panel-section", "aria-label": title }, h("h3", {}, title), children);
  const info = () => ({ name: context.info()?.name ?? "", policy: context.info()?.policy ?? "open" });
  let shown = info();
  const renaming = form({
    fields: [{ name: "name", label: "Name of the thread", value: shown.name, maxlength: 240, autocomplete: "off" }], submit: "Rename the thread",
    action: async ({ name }) => {
      await execute("renameThread", { thread, name: name.trim() });
      feedback("The thread is renamed.");
    },
  });
  const joining = form({
    fields: [{ name: "policy", label: "Who can join?", type: "select", options: policies, value: shown.policy, hint: "In a thread that was only for invited people, new members read only what is written after they join." }],
    submit: "Change who can join",
    action: async ({ policy }) => {
      await execute("setThreadPolicy", { thread, policy });
      feedback("It is changed who can join.");
    },
  });
  const forms = h("div", { class: "found" }, section("Name", renaming.element), section("Joining", joining.element));
  const refusal = h("p", { class: "muted" }, "Only owners of the thread can change its settings.");
  body.append(forms, refusal);

  function render() {
    forms.hidden = !context.mayConfigure();
    refusal.hidden = !forms.hidden;
    const before = shown;
    shown = info();
    // What the user has begun to change stays.
    for (const [name, input] of [["name", renaming.inputs.name], ["policy", joining.inputs.policy]]) {
      if (input.value === before[name]) input.value = shown[name];
    }
  }
  render();
  return { element, changed: render, reset: render };
}
