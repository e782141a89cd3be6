// The page: who is signed in, which view is shown, and what the live events change.

import { Problem, Unreachable, get, noteTokens, onSignedOut } from "./api.js";
import { closeDialogs, h, feedback, removeErased, silence } from "./dom.js";
import { errorText } from "./format.js";
import * as events from "./events.js";
import * as outbox from "./outbox.js";
import { isID } from "./ids.js";
import { later, loadLater, onLater } from "./later.js";
import { go, parts } from "./router.js";
import * as store from "./store.js";
import { ThreadView } from "./thread.js";
import { page, sidebar } from "./threads.js";
import { Timeline, firstPageSize } from "./timeline.js";

const brand = document.querySelector("meta[name=application-name]").content;
const app = document.getElementById("app");
const accountViews = ["sign-in", "sign-up", "confirm", "forgot", "reset"];
/** Waits for the first answers so many milliseconds before it shows what the browser has kept. */
const patience = 3_000;
/** What is shown without a session. */
const openViews = [...accountViews, "about"];
/** Notes in a cookie, which lasts as long as that of the session, who is signed in: scripts cannot read the other one. */
const noteSession = (user) => { document.cookie = `signed-in=${user};path=/;samesite=strict;max-age=${user ? 34_560_000 : 0}`; };
const notedUser = () => /(?:^|; )signed-in=([^;]+)/.exec(document.cookie)?.[1];
/** The user whose session has ended, or had when the page was loaded. */
let former = null;
/** Tells the other tabs that another person is signed in, or nobody. */
const sessionChannel = new BroadcastChannel("chat-session");

let shell = null;
let current = null;
let signedOutMessage = null;
/** The view that a person asked for before the sign-in, or was at when the session ended, and then whose it is; in the storage of the
 * tab: a browser may load the page again before. */
const wantedKey = "wanted view";
const want = () => sessionStorage.setItem(wantedKey, `${location.hash} ${former ?? ""}`);

sessionChannel.onmessage = () => location.reload();
onSignedOut(sessionEnded);
addEventListener("hashchange", () => show());
addEventListener("online", () => outbox.flush());
outbox.onReceipt((receipt) => { for (const event of receipt.events) store.apply(event); });
for (const skipLink of document.querySelectorAll(".skip-link")) {
  skipLink.addEventListener("click", (event) => {
    event.preventDefault();
    if (skipLink.matches(".to-writing")) document.querySelector("#writing textarea")?.focus();
    // In one column only the list, the view or the panel is shown.
    else [document.getElementById("main"), shell?.panel, shell?.list.element].find((place) => place?.checkVisibility())?.focus();
  });
}
// The widths at which the page has more columns.
for (const width of ["45rem", "70rem"]) matchMedia(`(min-width: ${width})`).addEventListener("change", setLandmarks);
addEventListener("keydown", (event) => {
  // Escape closes the panel, unless a dialog, a menu or an editor has taken it.
  if (event.key === "Escape" && !event.defaultPrevented && shell && !shell.panel.hidden && !document.querySelector("dialog")) go(["t", parts()[1]]);
});
document.addEventListener("visibilitychange", () => {
  if (!shell) return;
  later()?.device.notifications.show(shownPlace());
  if (document.visibilityState === "hidden") later()?.marks.sendMarkers();
});
store.on("event", (change) => later()?.kept.apply(change));
store.on("event", ({ kind, fields }) => {
  // The view says what else moderators do to the user.
  if (kind === "userUnmuted" && fields.user === store.state.me?.id && fields.thread === current?.thread?.id) feedback("You can write in this thread again.");
});
store.on("threads", () => {
  setTitle();
  later()?.kept.saveOverview();
  // The greeting depends on whether there is a postcode.
  if (current?.key === "" && current.hasPostcode !== Boolean(store.state.me?.postcode)) renew();
});
store.on("names", setTitle);
store.on("inbox", setTitle);
begin();

/** Reads the user, and shows the sign-in if there is none. Without an answer it shows what the browser has kept, and if
 * there is nothing, tries again as long as the server cannot be reached. */
async function begin(attempt = 0) {
  try {
    await readAndEnter();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      former = notedUser();
      noteSession("");
      onLater(({ kept, marks }) => {
        kept.end(error.code);
        marks.forgetUsed();
      });
      forgetFormer(null);
      show();
      return;
    }
    if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    if (await enterWithKept()) return;
    app.replaceChildren(h("main", { id: "main", class: "card-page", tabindex: "-1" }, h("div", { class: "card account" }, h("h1", {}, brand), h("p", { role: "status" }, `${errorText(error)} Trying again…`))));
    setTimeout(() => begin(attempt + 1), Math.min(10_000, 500 * 2 ** attempt));
  }
}

/** Reads what the first view shows at once, and shows it. */
async function readAndEnter() {
  const earliestToken = noteTokens();
  let isWaiting = true;
  // Without a session, one request tells it.
  const asked = notedUser() ? null : get("/v1/me");
  const reading = Promise.resolve(asked).then(() => Promise.all([firstTimeline(), store.load()]));
  const timer = setTimeout(async () => {
    if (isWaiting && (await enterWithKept(() => isWaiting))) isWaiting = false;
  }, patience);
  try {
    const [timeline] = await reading;
    // The stream tells the views that the server is reached.
    if (!isWaiting) return;
    isWaiting = false;
    enter(timeline, earliestToken());
  } catch (error) {
    if (isWaiting) throw error;
    if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
  } finally {
    isWaiting = false;
    clearTimeout(timer);
  }
}

/** Shows what the browser has kept. Returns whether there is something, and it is still wanted. */
async function enterWithKept(isWanted = () => true) {
  try {
    await loadLater();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return false;
  }
  const found = await later().kept.overview();
  if (!found || !isWanted() || shell) return false;
  store.restore(found);
  enter(null, null);
  return true;
}

/** Forgets what users whose sessions ended elsewhere have left, except for the one who is signed in. */
function forgetFormer(user) {
  onLater(({ kept, device, drafts }) => {
    kept.forgetFormer(user);
    drafts.forgetFormer(user);
    device.notifications.forgetFormer(user);
  });
}

/** Keeps what the user sees for a start without a connection. */
function keep() {
  onLater(({ kept }) => { if (shell) kept.renew(() => current?.thread?.timeline); });
}

/** Reads the latest messages of the thread of the address. Returns null without an address or a right to read it. */
async function firstTimeline() {
  const [name, id = ""] = parts();
  if (name !== "t" || !isID(id)) return null;
  const timeline = new Timeline("message", id);
  try {
    await timeline.load(firstPageSize);
  } catch (error) {
    // The view of the thread says why.
    if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
    return null;
  }
  return timeline;
}

/** Shows the threads of the signed-in user. `timeline` is that of the thread of the address, if it was read, and `token`
 * that of the earliest state of what was read. */
function enter(timeline, token) {
  noteSession(store.state.me.id);
  former = null;
  sessionStorage.removeItem(wantedKey);
  // A page that is loaded shows what is unread.
  history.replaceState(null, "");
  const list = sidebar(brand);
  const status = h("p", { class: "connection", role: "status", hidden: true });
  const main = h("main", { id: "main", tabindex: "-1" });
  const panel = h("div", { class: "panel", role: "complementary", tabindex: "-1", "aria-labelledby": "panel-title", hidden: true });
  const panelHeading = h("p", { class: "visually-hidden" });
  shell = { list, status, main, panel, panelHeading, element: h("div", { class: "shell" }, status, list.element, main, panel) };
  app.replaceChildren(shell.element);
  events.start({
    event: store.apply,
    erased: (content) => {
      silence();
      removeErased(content);
      store.forgetErased(content);
      later()?.kept.forgetErased(content);
    },
    accessLost: (thread) => {
      silence();
      closeDialogs();
      onLater(({ drafts }) => drafts.dropDraftsIn(thread));
      store.forgetThread(thread);
      later()?.kept.forgetThread(thread);
    },
    reset: () => {
      store.refreshSoon({ delay: 0, isComplete: true });
      current?.thread?.reset();
      outbox.flush();
      keep();
    },
    status: (text) => {
      showConnection(text);
      if (text !== "live") return;
      current?.thread?.connected();
      outbox.flush();
      later()?.marks.sendMarkers();
    },
    // The answer says whether the account still exists.
    signedOut: () => get("/v1/me").catch(sessionEnded),
    broken: () => get("/v1/me").catch((error) => { if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error; }),
  }, token);
  onLater(() => { if (shell) startDevice(); });
  forgetFormer(store.state.me.id);
  outbox.start(store.state.me.id).catch((error) => feedback(`This browser cannot keep messages: ${error.message}`));
  show(timeline);
  if (token) keep();
  else showConnection("connecting");
}

/** Shows the view of the address again when the code that it needs is loaded. Until then `place` has the state. */
async function showLater(place) {
  place.replaceChildren(h("p", { role: "status" }, "Loading…"));
  try {
    await loadLater();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    if (!place.isConnected) feedback(errorText(error));
    place.replaceChildren(h("p", { role: "alert" }, errorText(error)), h("button", { type: "button", class: "button", onclick: () => showLater(place) }, "Try again"));
    return;
  }
  if (!current || current.isLoading) renew();
  else show();
}

let connectionTimer = null;

/** Shows a lost connection after a moment, so that a short one disturbs nobody. */
function showConnection(text) {
  clearTimeout(connectionTimer);
  const { status } = shell;
  if (text === "live") {
    if (!status.hidden) feedback("Connected again.");
    status.hidden = true;
    status.textContent = "";
  } else {
    connectionTimer = setTimeout(() => {
      status.hidden = false;
      status.textContent = "No connection. What you write is kept and sent later.";
    }, 1_500);
  }
}

/** The session has ended elsewhere, or by its age, or its account was deleted. */
function sessionEnded(code) {
  if (store.state.isSigningOut || !shell) return;
  former = store.state.me.id;
  want();
  const isDeleted = code === "accountDeleted";
  leave(isDeleted ? "Your account is deleted." : "Your session has ended. What you have written is kept.", !isDeleted, code);
}

/** Ends the view of the signed-in user. The next person at this tab finds nothing of it. */
function leave(message, isLost, code) {
  if (!shell) return;
  // Who signs out is not notified any more; a session that is lost is continued.
  const device = later()?.device;
  if (!isLost) device?.notifications.turnOff();
  device?.notifications.stop();
  device?.showBadge(0, false);
  closeCurrent();
  shell.list.close();
  events.stop();
  outbox.stop();
  const user = store.state.me.id;
  noteSession("");
  store.forget();
  onLater(({ kept, marks, drafts }) => {
    kept.end(code);
    marks.forgetUsed();
    if (!isLost) drafts.dropDraftsOf(user);
  });
  shell = null;
  signedOutMessage = message;
  closeDialogs();
  silence();
  sessionChannel.postMessage("changed");
  go(["sign-in"], { replace: true });
  show();
}

/** Continues after a sign-in. */
async function signedIn() {
  signedOutMessage = null;
  sessionChannel.postMessage("changed");
  const earliestToken = noteTokens();
  await store.load();
  // Where another user was is nothing for this one.
  const [view, whose] = sessionStorage.getItem(wantedKey)?.split(" ") ?? [];
  const isWanted = view && (!whose || whose === store.state.me.id);
  history.replaceState(null, "", isWanted ? view : "#/");
  enter(null, earliestToken());
}

function closeCurrent() {
  current?.thread?.close();
  current?.view?.close?.();
  current = null;
}

/** Shows the present view anew. */
function renew() {
  if (current) current.key = null;
  show();
}

/** Shows the view of the address. */
function show(timeline = null) {
  if (!shell) {
    showAccount();
    return;
  }
  // Back leads to no sign-in.
  if (accountViews.includes(parts()[0])) history.replaceState(null, "", "#/");
  const [name = "", id = "", panelName = null, parameter = null] = parts();
  // The thread of a district has its code as an address too.
  const district = name === "t" && [...store.state.threads.values()].find(({ outwardCode }) => outwardCode === id.toUpperCase());
  if (district && district.id !== id) {
    go(["t", district.id, ...parts().slice(2)], { replace: true });
    return;
  }
  const key = ["t", "people", "about"].includes(name) ? `${name} ${id}` : name;
  const isNew = current?.key !== key;
  if (isNew) {
    closeCurrent();
    current = { key, hasPostcode: Boolean(store.state.me.postcode), ...create(name, id, timeline) };
    shell.main.replaceChildren(current.element);
    current.opened = open(current.thread);
  }
  if (panelName === "at" && parameter && current.thread) {
    current.thread.goTo(parameter);
    return;
  }
  if (panelName && current.thread && !later()) showLater(h("div"));
  const hadPanel = !shell.panel.hidden;
  const panel = current.thread?.showPanel(panelName, parameter) ?? null;
  if (shell.panel.lastElementChild !== panel) shell.panel.replaceChildren(...(panel ? [shell.panelHeading, panel] : []));
  shell.panel.hidden = !panel;
  shell.element.dataset.view = panel ? "panel" : name === "" ? "list" : "thread";
  shell.list.render();
  setLandmarks();
  setTitle();
  if (panel && panel.isConnected && !panel.contains(document.activeElement)) panel.querySelector("#panel-title").focus();
  else if (!panel && (isNew || hadPanel)) focusHeading();
}

/** Opens a thread, and loads the code that the first message does not need. */
async function open(thread) {
  await thread?.open();
  try {
    await loadLater();
  } catch (error) {
    // What needs it tries again.
    if (!(error instanceof Unreachable)) throw error;
  }
  startWorker();
}

/** Starts the shortcuts, the notifications and the badge of the icon, once. */
function startDevice() {
  const { startKeys, startSeeing, notifications } = later().device;
  startKeys(() => shell !== null);
  startSeeing();
  notifications.start();
  notifications.show(shownPlace());
  setTitle();
}

/** Has the page start without a connection from now on. Browsers do this on loopback and with https. */
async function startWorker() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  if (workers.controller) {
    workers.addEventListener("controllerchange", () => feedback("The site has a new version. Load the page again to use it."), { once: true });
    return;
  }
  try {
    await workers.register("/worker.js");
  } catch (error) {
    console.warn(`The page does not start without a connection: ${error.message}`);
  }
}

/** In one column, or in two with a panel, the list or the panel stands in the place of the view: then it is the main
 * landmark, and has the heading of level 1. */
function setLandmarks() {
  if (!shell) return;
  const { list, main, panel, panelHeading } = shell;
  const isCovered = !main.checkVisibility();
  later()?.device.notifications.show(shownPlace());
  const set = (element, name, heading, isMain) => {
    element.setAttribute("role", isMain ? "main" : name);
    if (isMain) heading.setAttribute("role", "heading");
    else heading.removeAttribute("role");
    if (isMain) heading.setAttribute("aria-level", "1");
    else heading.removeAttribute("aria-level");
  };
  set(list.element, "navigation", list.element.querySelector(".brand"), isCovered && panel.hidden);
  set(panel, "complementary", panelHeading, isCovered && !panel.hidden);
  panelHeading.hidden = !isCovered;
}

function focusHeading() {
  // On the first view, the focus stays where the browser put it, and so does it in a list that is only narrowed.
  if (shell.hasShown && getComputedStyle(shell.main).display !== "none") current.element.querySelector("h1")?.focus({ preventScroll: true });
  shell.hasShown = true;
}

function create(name, id, timeline) {
  if (name === "t" && id) {
    const thread = new ThreadView(id, timeline?.id === id ? timeline : null);
    return { thread, element: thread.element, title: () => thread.title };
  }
  if (!later()) {
    const place = h("div");
    const { element, title } = page("Loading", place);
    showLater(place);
    return { isLoading: true, element, title: () => title };
  }
  const { views } = later();
  const view = name === "about" ? views.aboutPage(id) : ["", "postcode"].includes(name) ? views.welcome() : name === "new" ? views.newThreadPage() : name === "settings" ? views.settingsPage(leave)
    : name === "invitations" ? views.invitationsPage() : name === "inbox" ? views.inboxPage() : name === "directory" ? views.directoryPage()
    : name === "people" && id ? views.personPage(id) : page("Not found", h("p", {}, "There is no such view."));
  return { view, element: view.element, title: () => (name === "" ? "Threads" : view.title) };
}

function showAccount() {
  // After a reload, the user of before is not known any more.
  const isKept = sessionStorage.getItem(wantedKey)?.split(" ")[0] === location.hash;
  if (parts().length && !openViews.includes(parts()[0]) && !isKept) want();
  if (!later()) {
    const place = h("div", { class: "card account" });
    app.replaceChildren(h("main", { id: "main", class: "card-page", tabindex: "-1" }, place));
    showLater(place);
    return;
  }
  const name = openViews.includes(parts()[0]) ? parts()[0] : "sign-in";
  const view = later().views.accountView(name, brand, signedIn, name === "sign-in" ? signedOutMessage : null);
  app.replaceChildren(view.element);
  document.title = `${view.title} – ${brand}`;
  view.heading.focus();
}

function setTitle() {
  if (!shell || !current) return;
  const unread = store.unreadTotal();
  const { count } = store.state.inbox;
  const numbers = [unread || null, count ? `inbox ${count}` : null].filter(Boolean).join(", ");
  shell.panelHeading.textContent = current.title();
  document.title = `${numbers ? `(${numbers}) ` : ""}${current.title()} – ${brand}`;
  later()?.device.showBadge(count, unread > 0);
}

/** What this tab shows, of which nobody is to be notified: a thread or the inbox, unless a panel covers it. */
function shownPlace() {
  const [name, id] = parts();
  return !shell.main.checkVisibility() ? null : name === "t" ? id : name === "inbox" ? name : null;
}
