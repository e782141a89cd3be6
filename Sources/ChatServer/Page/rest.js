// What is not needed for the first message of a thread. The server joins these modules into a file of their own.

import { aboutPage } from "./about.js";
import { accountView } from "./accounts.js";
import { activityPanel } from "./activity.js";
import { showBadge } from "./badge.js";
import { composer } from "./composer.js";
import { chooseDay } from "./days.js";
import { directoryPage } from "./directory.js";
import * as drafts from "./drafts.js";
import { explanations } from "./explanations.js";
import { inboxPage } from "./inbox.js";
import * as kept from "./kept.js";
import { startKeys } from "./keys.js";
import { moderationPanel } from "./moderation.js";
import * as marks from "./marks.js";
import * as notifications from "./notifications.js";
import { invitationsPage, newThreadPage, welcome } from "./opening.js";
import { peoplePanel } from "./people.js";
import { pinsPanel } from "./pins.js";
import { personPage } from "./profile.js";
import { Reading } from "./reading.js";
import { repliesPanel } from "./replies.js";
import { MessageKeys, roveLinks } from "./roving.js";
import { startSeeing } from "./seen.js";
import { settingsPage } from "./settings.js";
import { showStranger } from "./stranger.js";
import { changedAnswers } from "./tables.js";
import { threadFilter } from "./thread-filter.js";
import { threadSettingsPanel } from "./thread-settings.js";

/** What follows the events and the keys while somebody is signed in. */
export const device = { startKeys, startSeeing, notifications, showBadge };

/** The views. */
export const views = { aboutPage, accountView, directoryPage, inboxPage, invitationsPage, newThreadPage, personPage, settingsPage, welcome };

/** The panels beside a thread, by the part of their address. */
export const panels = { m: repliesPanel, people: peoplePanel, pins: pinsPanel, activity: activityPanel, moderation: moderationPanel, settings: threadSettingsPanel };

/** What threads and messages use. */
export const tools = { MessageKeys, Reading, changedAnswers, chooseDay, composer, drafts, explanations, kept, marks, roveLinks, showStranger, threadFilter };
