// The dialog that goes to a day of a thread.

import { get, path } from "./api.js";
import { feedback } from "./dom.js";
import { dialog } from "./forms.js";
import { dayKey, longDay } from "./format.js";

/** Asks for a day, and has the view of a thread show its first message. */
export function chooseDay(view) {
  const date = new Date();
  const today = dayKey(date);
  return dialog({
    title: "Go to a day", submit: "Go",
    fields: [{ name: "day", label: "Day", type: "date", max: today, value: today }],
    action: async ({ day }) => {
      // The beginning of the day where the user is.
      const { items } = await get(path(["threads", view.id, "timeline"], { limit: 1, at: new Date(`${day}T00:00`).toISOString() }));
      if (!items.length) throw Object.assign(new Error("Nobody has written since then."), { field: "day" });
      await view.showPosition(items[0].position);
      if (dayKey(items[0].createdAt) !== day) feedback(`Nobody wrote on that day. The next message is of ${longDay(items[0].createdAt)}.`);
    },
  });
}
