// Texts for people: times, numbers, and what the codes of the server mean.

import { h } from "./dom.js";
import { later } from "./later.js";

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

const clockTime = (time) => clock.format(new Date(time));
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

/** Returns what an error means, for people. */
export function errorText(error) {
  if (error.code === "tooManyAttempts") {
    const seconds = error.retryAfter ?? 60;
    return `Too many tries. Wait ${seconds < 90 ? count(seconds, "second") : count(Math.ceil(seconds / 60), "minute")} and try again.`;
  }
  return later()?.explanations[error.code] ?? error.message;
}
