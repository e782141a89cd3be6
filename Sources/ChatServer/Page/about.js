// The texts of the operator of the site: terms, privacy and contact. Only those that exist are linked.

import { Unreachable } from "./api.js";
import { h } from "./dom.js";
import { loader } from "./panel.js";
import { link } from "./router.js";
import { page } from "./threads.js";

const titles = { terms: "Terms", privacy: "Privacy", contact: "Contact" };
const names = document.querySelector("meta[name=about]").content.split(" ").filter((name) => titles[name]);

/** The links to the texts, as pairs of the parts of an address and a name. */
export const aboutLinks = names.map((name) => [["about", name], titles[name]]);

/** Returns the title and the element of a text. */
export function aboutText(name) {
  if (!names.includes(name)) return { title: "Not found", element: h("p", {}, "There is no such text.") };
  const element = h("div", {}, h("p", { class: "muted" }, "Loading…"));
  loader(element, async () => {
    let response;
    try {
      response = await fetch(`/about/${name}`, { cache: "no-cache", redirect: "error", signal: AbortSignal.timeout(20_000) });
      if (response.ok) return h("p", { class: "about", dir: "auto" }, await response.text());
    } catch {
      // The network, which the error below tells.
    }
    throw new Unreachable();
  })();
  return { title: titles[name], element };
}

/** Returns the view of a text for who is signed in, which leads back to the settings. */
export function aboutPage(name) {
  const { title, element } = aboutText(name);
  const result = page(title, element, h("p", {}, h("a", { href: link("settings") }, "Back to the settings")));
  const back = result.element.querySelector(".back");
  back.href = link("settings");
  back.setAttribute("aria-label", "Back to the settings");
  return result;
}

/** Returns the list of the links; null if there is no text. */
export function aboutList() {
  return aboutLinks.length ? h("ul", { class: "account-links" }, aboutLinks.map(([target, text]) => h("li", {}, h("a", { href: link(...target) }, text)))) : null;
}
