// The panel with the settings of a named thread, for its owners: its name, and who can join it.

import { h, notice } from "./dom.js";
import { form } from "./forms.js";
import { panelFrame } from "./panel.js";
import { execute } from "./store.js";

/** Who can join a named thread: the policies and their labels. */
export const policies = [
  ["open", "Everybody who has the link"], ["listed", "Listed: everyone can find and join it"], ["inviteOnly", "Only people who are invited"],
];

export function threadSettingsPanel(context) {
  const { element, body } = panelFrame(context, "Settings of the thread");
  const { thread } = context;
  const section = (title, ...children) => h("section", { class: "panel-section", "aria-label": title }, h("h3", {}, title), children);
  let shown = null;

  function render() {
    const { name = null, policy = "open", closed = false } = context.info() ?? {};
    const isAllowed = context.mayConfigure();
    const mark = JSON.stringify([name, policy, closed, isAllowed]);
    // Without a change, what is being typed stays.
    if (mark === shown) return;
    shown = mark;
    if (!isAllowed) {
      body.replaceChildren(h("p", { class: "muted" }, "Only owners of the thread can change its settings."));
      return;
    }
    const renaming = form({
      fields: [{ name: "name", label: "Name of the thread", value: name ?? "", maxlength: 240, autocomplete: "off" }], submit: "Rename the thread",
      action: async (values) => {
        await execute("renameThread", { thread, name: values.name.trim() });
        notice("The thread is renamed.");
      },
    });
    const joining = form({
      fields: [{ name: "policy", label: "Who can join?", type: "select", options: policies, value: policy, hint: "In a thread that was only for invited people, new members read only what is written after they join." }],
      submit: "Change who can join",
      action: async (values) => {
        await execute("setThreadPolicy", { thread, policy: values.policy });
        notice("It is changed who can join.");
      },
    });
    body.replaceChildren(section("Name", renaming.element), section("Joining", joining.element));
  }
  render();
  return { element, changed: render, reset: render };
}
