// The part of the settings that holds for this browser alone: notifications of the system, shortcuts, and the Enter key.

import { enterSends } from "./composer.js";
import { h, feedback } from "./dom.js";
import { showHelp } from "./keys.js";
import * as notifications from "./notifications.js";

export function deviceSettings() {
  const status = h("p", { class: "muted", role: "status" });
  const button = h("button", { type: "button", class: "button", onclick: change });
  function render(problem = null) {
    const isOn = notifications.areOn();
    button.hidden = !notifications.arePossible();
    button.textContent = isOn ? "Turn off notifications" : "Turn on notifications…";
    status.textContent = problem ?? (button.hidden ? "This browser has no notifications for this page, which needs a secure connection."
      : isOn ? "New messages are shown by your system while this page is open in a tab, with their text. What notifies you is set in the list of people of each thread."
      : "Your system can show new messages while this page is open in a tab.");
  }
  async function change() {
    if (notifications.areOn()) {
      notifications.turnOff();
      render();
    } else {
      render(await notifications.turnOn());
    }
  }
  render();
  return h("div", { class: "found" }, status, h("div", { class: "buttons" }, button, h("button", { type: "button", class: "button", onclick: showHelp }, "Keyboard shortcuts…")), enterChoice());
}

/** The choice what Enter does where a message is written. */
function enterChoice() {
  const choose = (event) => {
    enterSends.set(event.currentTarget.value === "send");
    feedback("It is set for this device.");
  };
  const options = [["send", "Sends the message; Shift+Enter begins a new line"], ["line", "Begins a new line; Control+Enter sends the message"]];
  return h("label", { class: "field" }, h("span", {}, "The Enter key"), h("select", { oninput: choose }, options.map(([value, label]) => h(
    "option", { value, selected: (value === "send") === enterSends.get() }, label))));
}
