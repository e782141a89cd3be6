// The commands of the user. Each takes effect once, however often it is sent: a message, a reply, an edit and a thread by their
// own ids, the others by an id beside the command.

import { Unreachable, post } from "./api.js";
import { newID } from "./ids.js";
import { apply, on, refreshSoon, state } from "./store.js";
import { onceCommands } from "./tables.js";

/** A command that breaks a rule of the chat: `code` is that of the domain. */
class Rejection extends Error {
  constructor(rejection) {
    super(rejection.message);
    this.code = rejection.code;
  }
}

/** The ids of the commands whose answers are unknown, by user and text: sent again, a command has the same id. */
const unanswered = new Map();

// The event tells that a command took effect, though not its answer.
on("event", ({ event }) => {
  for (const kept of unanswered.values()) if (kept.id === event.once) kept.isDone = true;
});

/** What a command is about: the thread, the person and the post. */
const subject = ({ thread, user, message, reply }) => JSON.stringify([thread, user, message, reply]);

/** Returns the id beside a command, which is kept until the answer is known. */
function idFor(key, fields) {
  const about = subject(fields);
  // After another command about the same, the one of before is not a retry but wanted anew.
  for (const [other, kept] of unanswered) if (other !== key && kept.isDone && kept.about === about) unanswered.delete(other);
  if (!unanswered.has(key)) unanswered.set(key, { id: newID(), about, isDone: false });
  return unanswered.get(key);
}

/** Whether an error leaves open what became of a command: there was no answer, or a refusal before the command was looked at. */
const isOpen = (error) => error instanceof Unreachable || error.status === 401 || error.status === 429;

/** Executes a command and applies its events, which the stream repeats. Returns its receipt. */
export async function execute(name, fields) {
  const command = { [name]: fields };
  const key = JSON.stringify([state.me?.id, command]);
  const kept = onceCommands.includes(name) ? idFor(key, fields) : null;
  let answer;
  try {
    answer = await post("/v1/commands", kept ? { ...command, once: kept.id } : command);
  } catch (error) {
    if (kept && isOpen(error)) unanswered.set(key, kept);
    else unanswered.delete(key);
    throw error;
  }
  unanswered.delete(key);
  if (answer.rejection) throw new Rejection(answer.rejection);
  // The events of a duplicate are those of before, of which others may have undone the effect since.
  if (answer.duplicate) refreshSoon();
  else for (const event of answer.events) apply(event);
  return answer;
}
