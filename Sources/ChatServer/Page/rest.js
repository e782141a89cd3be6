// What is not needed for the first message of a thread. The server joins these modules into a file of their own.

import { accountView } from "./accounts.js";
import { activityPanel } from "./activity.js";
import { showBadge } from "./badge.js";
import { directoryPage } from "./directory.js";
import { inboxPage } from "./inbox.js";
import { startKeys } from "./keys.js";
import { moderationPanel } from "./moderation.js";
import * as notifications from "./notifications.js";
import { peoplePanel } from "./people.js";
import { pinsPanel } from "./pins.js";
import { personPage } from "./profile.js";
import { repliesPanel } from "./replies.js";
import { settingsPage } from "./settings.js";
import { threadSettingsPanel } from "./thread-settings.js";

/** What follows the events and the keys while somebody is signed in. */
export const device = { startKeys, notifications, showBadge };

/** The views. */
export const views = { accountView, directoryPage, inboxPage, personPage, settingsPage };

/** The panels beside a thread, by the part of their address. */
export const panels = { m: repliesPanel, people: peoplePanel, pins: pinsPanel, activity: activityPanel, moderation: moderationPanel, settings: threadSettingsPanel };
