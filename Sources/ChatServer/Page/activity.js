// The panel with the messages of each day as a bar chart, as the server counts them.

import { get, path } from "./api.js";
import { h, svg } from "./dom.js";
import { count, shortDay } from "./format.js";
import { loader, panelFrame } from "./panel.js";
import { on } from "./store.js";

const dayCount = 28;
const width = 320;
const height = 150;

/** The number of messages on each day of an answer, oldest first. The days are those of UTC. */
export function messagesByDay({ from, to, days }) {
  const numbers = new Map(days.map(({ day, messages }) => [day, messages]));
  const result = [];
  // At noon, so that a day has the same date in most time zones.
  for (const day = new Date(`${from}T12:00:00Z`); ; day.setUTCDate(day.getUTCDate() + 1)) {
    const key = day.toISOString().slice(0, 10);
    if (key > to) return result;
    result.push({ day: new Date(day), number: numbers.get(key) ?? 0 });
  }
}

export function activityPanel(context) {
  const { element, body } = panelFrame(context, "Activity");
  let timer = null;

  const load = loader(body, async () => {
    const activity = await get(path(["threads", context.thread, "activity"], { days: dayCount }));
    const days = messagesByDay(activity);
    const total = days.reduce((sum, { number }) => sum + number, 0);
    return [
      h("p", {}, `${activity.more ? "More than " : ""}${count(total, "message")} in the last ${dayCount} days, by ${count(activity.people, "person", "people")}.`),
      chart(days, total), h("details", {}, h("summary", {}, "As a table"), table(days)),
    ];
  });
  const later = ({ kind, fields }) => {
    if (kind !== "messagePosted" || fields.thread !== context.thread) return;
    timer ??= setTimeout(() => {
      timer = null;
      load();
    }, 2_000);
  };
  const end = on("event", later);
  load();
  return {
    element, reset: load,
    close: () => {
      end();
      clearTimeout(timer);
    },
  };
}

function chart(days, total) {
  const most = Math.max(1, ...days.map(({ number }) => number));
  const left = 28;
  const bottom = 20;
  const slot = (width - left) / days.length;
  const scale = (height - bottom - 10) / most;
  const bars = days.map(({ day, number }, index) => {
    const size = number * scale;
    const bar = svg("rect", { class: "bar", x: left + index * slot + 1, y: height - bottom - size, width: slot - 2, height: size, rx: 2 });
    bar.append(svg("title", {}, `${shortDay(day)}: ${count(number, "message")}`));
    return bar;
  });
  const text = (x, y, anchor, content) => svg("text", { class: "axis", x, y, "text-anchor": anchor }, content);
  const line = (y) => svg("line", { class: "rule", x1: left, x2: width, y1: y, y2: y });
  const label = `Messages of each day from ${shortDay(days[0].day)} to today: ${total} in all, at most ${most} on one day.`;
  return svg(
    "svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, line(10), line(height - bottom), ...bars,
    text(left - 6, 14, "end", String(most)), text(left - 6, height - bottom + 4, "end", "0"), text(left, height - 4, "start", shortDay(days[0].day)),
    text(width, height - 4, "end", "Today"));
}

function table(days) {
  const row = ({ day, number }) => h("tr", {}, h("th", { scope: "row" }, shortDay(day)), h("td", {}, String(number)));
  return h(
    "table", { class: "numbers" }, h("caption", { class: "visually-hidden" }, "Messages of each day"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Day"), h("th", { scope: "col" }, "Messages"))),
    h("tbody", {}, days.filter(({ number }) => number > 0).toReversed().map(row)));
}
