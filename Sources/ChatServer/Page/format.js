// Texts for people: times, numbers, and what the codes of the server mean.

import { h } from "./dom.js";

// The words of the page are English; dates are written as in the English of the browser.
const language = navigator.languages.find((language) => /^en\b/i.test(language) && language !== "en") ?? "en-GB";
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const weekday = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
const longDate = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const shortDate = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
const fullTime = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", hourCycle: "h23" });

/** The key of the local day of a time: the same for two times of one day. */
export function dayKey(time) {
  const date = new Date(time);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
}

/** The name of a day: today, yesterday, or the date. */
export function dayName(time, now = new Date()) {
  const key = dayKey(time);
  if (key === dayKey(now)) return "Today";
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (key === dayKey(yesterday)) return "Yesterday";
  const date = new Date(time);
  return (date.getFullYear() === now.getFullYear() ? weekday : longDate).format(date);
}

export const clockTime = (time) => clock.format(new Date(time));
export const fullTimeText = (time) => fullTime.format(new Date(time));

/** A short time for lists: the hour of today, else the day. */
export function listTime(time) {
  return dayKey(time) === dayKey(new Date()) ? clockTime(time) : shortDate.format(new Date(time));
}

export const longDay = (time) => longDate.format(new Date(time));
export const shortDay = (time) => shortDate.format(new Date(time));

/** Returns a `time` element with the full time as its title. */
export function timeElement(time, text = clockTime(time)) {
  return h("time", { datetime: time, title: fullTimeText(time) }, text);
}

/** Returns "1 reply", "2 replies". */
export function count(number, one, many = one + "s") {
  return `${new Intl.NumberFormat(language).format(number)} ${number === 1 ? one : many}`;
}

/** The first characters of a text on one line. */
export function excerpt(text, length = 120) {
  const line = text.replace(/\s+/gu, " ").trim();
  const characters = [...line];
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : line;
}

const explanations = {
  notAMember: "You are not a member of this thread.",
  notResident: "Only people who live in this district can join its thread. Set your postcode in the settings.",
  notInvited: "You need an invitation to join this thread.",
  banned: "A moderator has banned this account from the thread.",
  muted: "A moderator has muted you in this thread, so you cannot write here at present.",
  threadLocked: "The thread is locked: nobody can write here at present.",
  threadClosed: "The thread is closed: nobody can write here any more.",
  retracted: "This message has been deleted.",
  notAModerator: "Only moderators of the thread can do this.",
  notAnOwner: "Only an owner of the thread can do this.",
  lastOwner: "You are the last owner. Make another member an owner first.",
  tooManyBlocks: "You can block at most 1,000 people. Unblock one first.",
  tooManyPins: "A thread has at most 50 pinned messages. Unpin one first.",
  invalidBody: "A message has 1 to 16,384 bytes and is not only blank.",
  tooManyMentions: "A message can mention at most 50 people.",
  invalidReason: "Write a reason of at most 512 bytes.",
  invalidUntil: "Choose an end in the future.",
  invalidThreadName: "A thread's name has 1 to 120 characters and is not a postcode district.",
  invalidAbout: "This text has at most 500 characters and no control characters.",
  cannotMessage: "You cannot message this person.",
  invalidPeople: "A direct thread is of you and 1 to 7 other people.",
  invalidPostcode: "This is not a valid UK postcode. Example: SW1A 1AA.",
  unknownThread: "There is no such thread.",
  unknownMessage: "There is no such message.",
  unknownReply: "There is no such reply.",
  unknownUser: "There is no such person.",
  usernameTaken: "This name is taken. Choose another one.",
  invalidUsername: "A name has 1 to 64 characters, of which one is visible, without control characters.",
  invalidEmail: "This is not an e-mail address.",
  invalidPassword: "A password has 8 to 256 characters.",
  invalidCode: "The code is wrong or no longer valid. Check it, or ask for a new one.",
  invalidCredentials: "The e-mail address or the password is wrong.",
  invalidEmoji: "Type one emoji, or a name such as :wave:, and nothing else.",
  tooManyReactions: "You have 20 reactions on this message, or it has 50 different ones: no more are possible.",
  storageFull: "The server's disk is full. Try again later.",
  clockStepped: "The server's clock is wrong. Try again later.",
};

/** Returns what an error means, for people. */
export function errorText(error) {
  if (error.code === "tooManyAttempts") {
    const seconds = error.retryAfter ?? 60;
    return `Too many tries. Wait ${seconds < 90 ? count(seconds, "second") : count(Math.ceil(seconds / 60), "minute")} and try again.`;
  }
  return explanations[error.code] ?? error.message;
}
