// The panel with the messages of each day as a bar chart.

import { Problem, Unreachable } from "./api.js";
import { h, notice, svg } from "./dom.js";
import { count, dayKey, errorText, shortDay } from "./format.js";
import { panelFrame } from "./panel.js";
import { on } from "./store.js";

const dayCount = 28;
const width = 320;
const height = 150;

/** The number of messages on each of the last days, oldest first. */
export function messagesByDay(entries, now = new Date(), days = dayCount) {
  const numbers = new Map();
  for (const entry of entries) {
    const key = dayKey(entry.createdAt);
    numbers.set(key, (numbers.get(key) ?? 0) + 1);
  }
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1 - index), 12);
    return { day, number: numbers.get(dayKey(day)) ?? 0 };
  });
}

/** What the panel shows of messages, oldest first; `isAll` tells whether no older one exists. */
export function summary(entries, isAll, now = new Date()) {
  const days = messagesByDay(entries, now);
  const start = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (dayCount - 1));
  const people = new Set(entries.filter((entry) => new Date(entry.createdAt) >= start).map((entry) => entry.author.id));
  return {
    days, total: days.reduce((sum, { number }) => sum + number, 0), personCount: people.size,
    isComplete: isAll || (entries.length > 0 && new Date(entries[0].createdAt) < start),
  };
}

export function activityPanel(context) {
  const { element, body } = panelFrame(context, "Activity");
  let timer = null;
  let isLoading = false;

  function render() {
    timer = null;
    const timeline = context.timeline();
    if (!timeline?.isLoaded) {
      body.replaceChildren(h("p", { class: "muted" }, "Loading…"));
      timer = setTimeout(render, 300);
      return;
    }
    const { days, total, personCount, isComplete } = summary(timeline.entries, timeline.older === null);
    body.replaceChildren(
      h("p", {}, `${count(total, "message")} in the last ${dayCount} days, of ${count(personCount, "person", "people")}.`), chart(days, total),
      isComplete ? "" : h("p", { class: "muted" }, `Only the latest ${count(timeline.entries.length, "message")} are counted. `,
        h("button", { type: "button", class: "button small", onclick: loadMore, disabled: isLoading }, "Count more")),
      h("details", {}, h("summary", {}, "As a table"), table(days)));
  }

  async function loadMore() {
    isLoading = true;
    try {
      const timeline = context.timeline();
      for (let page = 0; page < 10 && timeline.older !== null; page += 1) await timeline.loadOlder(200);
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof Problem)) throw error;
      notice(errorText(error));
    }
    isLoading = false;
    render();
  }

  const later = () => { timer ??= setTimeout(render, 400); };
  const end = on("event", later);
  render();
  return {
    element, reset: render,
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
