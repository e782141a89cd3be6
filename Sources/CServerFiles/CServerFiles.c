#include "CServerFiles.h"

/* C23, which clang accepts in every mode. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_json[] = {
#embed "../ChatServer/openapi.json"
};
static const unsigned char about_js[] = {
#embed "../ChatServer/Page/about.js"
};
static const unsigned char accounts_js[] = {
#embed "../ChatServer/Page/accounts.js"
};
static const unsigned char activity_js[] = {
#embed "../ChatServer/Page/activity.js"
};
static const unsigned char api_js[] = {
#embed "../ChatServer/Page/api.js"
};
static const unsigned char app_js[] = {
#embed "../ChatServer/Page/app.js"
};
static const unsigned char badge_js[] = {
#embed "../ChatServer/Page/badge.js"
};
static const unsigned char commands_js[] = {
#embed "../ChatServer/Page/commands.js"
};
static const unsigned char composer_js[] = {
#embed "../ChatServer/Page/composer.js"
};
static const unsigned char database_js[] = {
#embed "../ChatServer/Page/database.js"
};
static const unsigned char days_js[] = {
#embed "../ChatServer/Page/days.js"
};
static const unsigned char device_js[] = {
#embed "../ChatServer/Page/device.js"
};
static const unsigned char directory_js[] = {
#embed "../ChatServer/Page/directory.js"
};
static const unsigned char dom_js[] = {
#embed "../ChatServer/Page/dom.js"
};
static const unsigned char drafts_js[] = {
#embed "../ChatServer/Page/drafts.js"
};
static const unsigned char emoji_picker_js[] = {
#embed "../ChatServer/Page/emoji-picker.js"
};
static const unsigned char events_js[] = {
#embed "../ChatServer/Page/events.js"
};
static const unsigned char explanations_js[] = {
#embed "../ChatServer/Page/explanations.js"
};
static const unsigned char format_js[] = {
#embed "../ChatServer/Page/format.js"
};
static const unsigned char forms_js[] = {
#embed "../ChatServer/Page/forms.js"
};
static const unsigned char icon_svg[] = {
#embed "../ChatServer/Page/icon.svg"
};
static const unsigned char ids_js[] = {
#embed "../ChatServer/Page/ids.js"
};
static const unsigned char inbox_js[] = {
#embed "../ChatServer/Page/inbox.js"
};
static const unsigned char index_html[] = {
#embed "../ChatServer/Page/index.html"
};
static const unsigned char kept_js[] = {
#embed "../ChatServer/Page/kept.js"
};
static const unsigned char keys_js[] = {
#embed "../ChatServer/Page/keys.js"
};
static const unsigned char later_js[] = {
#embed "../ChatServer/Page/later.js"
};
static const unsigned char markdown_js[] = {
#embed "../ChatServer/Page/markdown.js"
};
static const unsigned char marks_js[] = {
#embed "../ChatServer/Page/marks.js"
};
static const unsigned char mentions_js[] = {
#embed "../ChatServer/Page/mentions.js"
};
static const unsigned char menu_js[] = {
#embed "../ChatServer/Page/menu.js"
};
static const unsigned char message_actions_js[] = {
#embed "../ChatServer/Page/message-actions.js"
};
static const unsigned char message_controls_js[] = {
#embed "../ChatServer/Page/message-controls.js"
};
static const unsigned char message_js[] = {
#embed "../ChatServer/Page/message.js"
};
static const unsigned char moderation_js[] = {
#embed "../ChatServer/Page/moderation.js"
};
static const unsigned char notifications_js[] = {
#embed "../ChatServer/Page/notifications.js"
};
static const unsigned char opening_js[] = {
#embed "../ChatServer/Page/opening.js"
};
static const unsigned char outbox_js[] = {
#embed "../ChatServer/Page/outbox.js"
};
static const unsigned char panel_js[] = {
#embed "../ChatServer/Page/panel.js"
};
static const unsigned char people_js[] = {
#embed "../ChatServer/Page/people.js"
};
static const unsigned char pins_js[] = {
#embed "../ChatServer/Page/pins.js"
};
static const unsigned char profile_js[] = {
#embed "../ChatServer/Page/profile.js"
};
static const unsigned char reactions_js[] = {
#embed "../ChatServer/Page/reactions.js"
};
static const unsigned char reading_js[] = {
#embed "../ChatServer/Page/reading.js"
};
static const unsigned char replies_js[] = {
#embed "../ChatServer/Page/replies.js"
};
static const unsigned char rest_js[] = {
#embed "../ChatServer/Page/rest.js"
};
static const unsigned char router_js[] = {
#embed "../ChatServer/Page/router.js"
};
static const unsigned char roving_js[] = {
#embed "../ChatServer/Page/roving.js"
};
static const unsigned char seen_js[] = {
#embed "../ChatServer/Page/seen.js"
};
static const unsigned char settings_js[] = {
#embed "../ChatServer/Page/settings.js"
};
static const unsigned char standing_js[] = {
#embed "../ChatServer/Page/standing.js"
};
static const unsigned char store_js[] = {
#embed "../ChatServer/Page/store.js"
};
static const unsigned char stranger_js[] = {
#embed "../ChatServer/Page/stranger.js"
};
static const unsigned char style_css[] = {
#embed "../ChatServer/Page/style.css"
};
static const unsigned char thread_filter_js[] = {
#embed "../ChatServer/Page/thread-filter.js"
};
static const unsigned char thread_settings_js[] = {
#embed "../ChatServer/Page/thread-settings.js"
};
static const unsigned char thread_js[] = {
#embed "../ChatServer/Page/thread.js"
};
static const unsigned char threads_js[] = {
#embed "../ChatServer/Page/threads.js"
};
static const unsigned char timeline_view_js[] = {
#embed "../ChatServer/Page/timeline-view.js"
};
static const unsigned char timeline_js[] = {
#embed "../ChatServer/Page/timeline.js"
};
static const unsigned char visible_js[] = {
#embed "../ChatServer/Page/visible.js"
};
static const unsigned char waiting_js[] = {
#embed "../ChatServer/Page/waiting.js"
};
static const unsigned char worker_js[] = {
#embed "../ChatServer/Page/worker.js"
};

const struct CServerFile CServerFiles[] = {
    {"/v1/openapi.json", "application/json", openapi_json, sizeof openapi_json},
    {"/about.js", "text/javascript; charset=utf-8", about_js, sizeof about_js},
    {"/accounts.js", "text/javascript; charset=utf-8", accounts_js, sizeof accounts_js},
    {"/activity.js", "text/javascript; charset=utf-8", activity_js, sizeof activity_js},
    {"/api.js", "text/javascript; charset=utf-8", api_js, sizeof api_js},
    {"/app.js", "text/javascript; charset=utf-8", app_js, sizeof app_js},
    {"/badge.js", "text/javascript; charset=utf-8", badge_js, sizeof badge_js},
    {"/commands.js", "text/javascript; charset=utf-8", commands_js, sizeof commands_js},
    {"/composer.js", "text/javascript; charset=utf-8", composer_js, sizeof composer_js},
    {"/database.js", "text/javascript; charset=utf-8", database_js, sizeof database_js},
    {"/days.js", "text/javascript; charset=utf-8", days_js, sizeof days_js},
    {"/device.js", "text/javascript; charset=utf-8", device_js, sizeof device_js},
    {"/directory.js", "text/javascript; charset=utf-8", directory_js, sizeof directory_js},
    {"/dom.js", "text/javascript; charset=utf-8", dom_js, sizeof dom_js},
    {"/drafts.js", "text/javascript; charset=utf-8", drafts_js, sizeof drafts_js},
    {"/emoji-picker.js", "text/javascript; charset=utf-8", emoji_picker_js, sizeof emoji_picker_js},
    {"/events.js", "text/javascript; charset=utf-8", events_js, sizeof events_js},
    {"/explanations.js", "text/javascript; charset=utf-8", explanations_js, sizeof explanations_js},
    {"/format.js", "text/javascript; charset=utf-8", format_js, sizeof format_js},
    {"/forms.js", "text/javascript; charset=utf-8", forms_js, sizeof forms_js},
    {"/icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
    {"/ids.js", "text/javascript; charset=utf-8", ids_js, sizeof ids_js},
    {"/inbox.js", "text/javascript; charset=utf-8", inbox_js, sizeof inbox_js},
    {"/", "text/html; charset=utf-8", index_html, sizeof index_html},
    {"/kept.js", "text/javascript; charset=utf-8", kept_js, sizeof kept_js},
    {"/keys.js", "text/javascript; charset=utf-8", keys_js, sizeof keys_js},
    {"/later.js", "text/javascript; charset=utf-8", later_js, sizeof later_js},
    {"/markdown.js", "text/javascript; charset=utf-8", markdown_js, sizeof markdown_js},
    {"/marks.js", "text/javascript; charset=utf-8", marks_js, sizeof marks_js},
    {"/mentions.js", "text/javascript; charset=utf-8", mentions_js, sizeof mentions_js},
    {"/menu.js", "text/javascript; charset=utf-8", menu_js, sizeof menu_js},
    {"/message-actions.js", "text/javascript; charset=utf-8", message_actions_js, sizeof message_actions_js},
    {"/message-controls.js", "text/javascript; charset=utf-8", message_controls_js, sizeof message_controls_js},
    {"/message.js", "text/javascript; charset=utf-8", message_js, sizeof message_js},
    {"/moderation.js", "text/javascript; charset=utf-8", moderation_js, sizeof moderation_js},
    {"/notifications.js", "text/javascript; charset=utf-8", notifications_js, sizeof notifications_js},
    {"/opening.js", "text/javascript; charset=utf-8", opening_js, sizeof opening_js},
    {"/outbox.js", "text/javascript; charset=utf-8", outbox_js, sizeof outbox_js},
    {"/panel.js", "text/javascript; charset=utf-8", panel_js, sizeof panel_js},
    {"/people.js", "text/javascript; charset=utf-8", people_js, sizeof people_js},
    {"/pins.js", "text/javascript; charset=utf-8", pins_js, sizeof pins_js},
    {"/profile.js", "text/javascript; charset=utf-8", profile_js, sizeof profile_js},
    {"/reactions.js", "text/javascript; charset=utf-8", reactions_js, sizeof reactions_js},
    {"/reading.js", "text/javascript; charset=utf-8", reading_js, sizeof reading_js},
    {"/replies.js", "text/javascript; charset=utf-8", replies_js, sizeof replies_js},
    {"/rest.js", "text/javascript; charset=utf-8", rest_js, sizeof rest_js},
    {"/router.js", "text/javascript; charset=utf-8", router_js, sizeof router_js},
    {"/roving.js", "text/javascript; charset=utf-8", roving_js, sizeof roving_js},
    {"/seen.js", "text/javascript; charset=utf-8", seen_js, sizeof seen_js},
    {"/settings.js", "text/javascript; charset=utf-8", settings_js, sizeof settings_js},
    {"/standing.js", "text/javascript; charset=utf-8", standing_js, sizeof standing_js},
    {"/store.js", "text/javascript; charset=utf-8", store_js, sizeof store_js},
    {"/stranger.js", "text/javascript; charset=utf-8", stranger_js, sizeof stranger_js},
    {"/style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"/thread-filter.js", "text/javascript; charset=utf-8", thread_filter_js, sizeof thread_filter_js},
    {"/thread-settings.js", "text/javascript; charset=utf-8", thread_settings_js, sizeof thread_settings_js},
    {"/thread.js", "text/javascript; charset=utf-8", thread_js, sizeof thread_js},
    {"/threads.js", "text/javascript; charset=utf-8", threads_js, sizeof threads_js},
    {"/timeline-view.js", "text/javascript; charset=utf-8", timeline_view_js, sizeof timeline_view_js},
    {"/timeline.js", "text/javascript; charset=utf-8", timeline_js, sizeof timeline_js},
    {"/visible.js", "text/javascript; charset=utf-8", visible_js, sizeof visible_js},
    {"/waiting.js", "text/javascript; charset=utf-8", waiting_js, sizeof waiting_js},
    {"/worker.js", "text/javascript; charset=utf-8", worker_js, sizeof worker_js},
};

const size_t CServerFileCount = sizeof CServerFiles / sizeof *CServerFiles;
