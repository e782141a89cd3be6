// The menu of a button, of which one is open at a time. It stands outside the rows of the lists: a row that is made again, because
// somebody else has written or reacted, leaves its menu open.

import { h } from "./dom.js";

let open = null;

/** Opens or closes the menu of a button.
 *
 * `find()` returns the button as it is now, which may have been made again, or null if it is gone. `content()` returns the `items`,
 * pairs of a label and an action, and optionally the `head` above them, a function of one that closes the menu. Escape closes the
 * menu, and so does a click elsewhere. */
export function toggleMenu(button, find, content) {
  const wasOpen = open?.button === button && open.element.isConnected;
  open?.close(false);
  if (wasOpen) return;
  // The browser shows a popover above everything, so nothing that is scrolled or sticky covers it.
  const element = h("div", { class: "menu", popover: "manual" });
  const ending = new AbortController();
  const close = (returnsFocus) => {
    if (open?.element !== element) return;
    const { button } = open;
    open = null;
    ending.abort();
    element.remove();
    button.setAttribute("aria-expanded", "false");
    if (returnsFocus && button.isConnected) button.focus({ preventScroll: true });
  };
  open = { button, find, content, element, close, labels: null, actions: new Map() };
  button.setAttribute("aria-expanded", "true");
  // Inside the landmark of the list.
  (button.closest("main, .panel") ?? document.body).append(element);
  render();
  element.showPopover();
  element.addEventListener("keydown", pressed);
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && open?.element === element && !element.contains(relatedTarget) && relatedTarget !== open.button) close(false);
  });
  // What comes to the list scrolls it too, but without a wheel or a finger.
  for (const name of ["pointerdown", "wheel"]) {
    document.addEventListener(name, ({ target }) => {
      if (!element.contains(target) && !open.button.contains(target)) close(false);
    }, { capture: true, passive: true, signal: ending.signal });
  }
  addEventListener("resize", () => close(element.contains(document.activeElement)), { signal: ending.signal });
  // Below the button, or above it if there is no room; always inside the window.
  const place = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = element;
  const fitsBelow = place.bottom + offsetHeight + 8 < innerHeight;
  element.style.left = `${Math.max(8, Math.min(place.right - offsetWidth, innerWidth - offsetWidth - 8))}px`;
  element.style.top = `${fitsBelow ? place.bottom : Math.max(8, place.top - offsetHeight)}px`;
  element.querySelector("button").focus({ preventScroll: true });
}

/** Is called after a list was made again: the menu has what its row offers now, and is closed if that is gone. */
export function renewMenu() {
  if (!open) return;
  const button = open.find();
  if (!button?.isConnected || !open.element.isConnected) {
    open.close(false);
    return;
  }
  open.button = button;
  button.setAttribute("aria-expanded", "true");
  render();
}

/** Shows the items. As long as they are the same, their buttons stay, and do what is meant now. */
function render() {
  const { element, close } = open;
  const { items, head = null } = open.content();
  open.actions = new Map(items);
  const labels = items.map(([label]) => label).join("\n");
  if (open.labels === labels) return;
  open.labels = labels;
  const focused = element.contains(document.activeElement) ? document.activeElement.textContent : null;
  const choose = (label) => () => {
    const action = open.actions.get(label);
    close(true);
    action();
  };
  element.replaceChildren(...[head?.(close)].filter(Boolean), h("ul", {}, items.map(([label]) => h("li", {}, h("button", { type: "button", onclick: choose(label) }, label)))));
  const buttons = [...element.querySelectorAll("button")];
  if (focused !== null) (buttons.find((each) => each.textContent === focused) ?? buttons[0]).focus({ preventScroll: true });
}

function pressed(event) {
  const { element, close } = open;
  const buttons = [...element.querySelectorAll("button")];
  const index = buttons.indexOf(document.activeElement);
  // From the button, the Tab key goes on.
  if (event.key === "Tab") close(true);
  if (event.key === "Escape") close(true);
  else if (event.key === "ArrowDown") buttons[(index + 1) % buttons.length].focus();
  else if (event.key === "ArrowUp") buttons[(index + buttons.length - 1) % buttons.length].focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
