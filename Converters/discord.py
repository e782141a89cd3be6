#!/usr/bin/env python3
"""Converts JSON of DiscordChatExporter to the lines of `chat-journal import`.

    discord.py CHANNEL.json ... > history.jsonl

Each file is a channel, or a part of one. README.md beside this file says what is kept.
"""
import sys

from converting import main, names_of
from reading import Failure, field, time_of

DIRECT = {"DirectTextChat", "DirectGroupTextChat"}
PRIVATE = DIRECT | {"GuildPrivateThread"}
# The exporter writes the number of a kind that it has no name for: 20 and 23 are answers of bots to commands.
POSTS = {"Default", "Reply", "20", "23"}


def header(path, conversion):
    """Returns the channel of a file; reads no message."""
    with conversion.open_file(path) as stream:
        text = conversion.json(stream, str(path))
        for key in text.keys():
            if key == "messages":
                break
            value = text.value()
            if key == "channel" and field(value, "id"):
                return value
    raise Failure(f"{path}: no channel with an id before the messages: not JSON of DiscordChatExporter")


def add_file(path, channel, name, conversion):
    count = conversion.count
    with conversion.open_file(path) as stream:
        text = conversion.json(stream, str(path))
        expected = None
        for key in text.keys():
            if key != "messages":
                value = text.value()
                expected = value if key == "messageCount" else expected
                continue
            for message in text.items():
                add_message(message, text.place, channel, name, conversion)
        text.end()
        if expected is not None and expected != text.number:
            # A file that was cut is no JSON, so this one is as it was written.
            count("warning: files whose messageCount is not the number of their messages", str(path))
    count("left out: a channel's topic", str(path), int(bool(field(channel, "topic"))))


def add_message(message, place, channel, name, conversion):
    count, kind, author = conversion.count, field(message, "type"), field(message, "author", dict)
    time, has_zone = time_of(field(message, "timestamp"))
    if kind not in POSTS:
        return count(f"left out: messages of the type {kind}", place)
    if not field(message, "id") or not field(author, "id"):
        return count("left out: messages without an id or an author", place)
    count("adapted: times without a zone, taken as UTC", place, int(not has_zone))
    count("adapted: messages without a valid time", place, int(time is None))
    reactions = reactions_of(message, place, count)
    count("left out: pins", place, int(message.get("isPinned") is True))
    count("adapted: messages of bots, as those of a user", place, int(author.get("isBot") is True))
    user = author_of(author)
    if field(channel, "type") in PRIVATE:
        conversion.member(field(channel, "id"), user)
    reference = field(message, "reference", dict)
    # A message that was published from another channel also has a reference.
    is_reply = kind == "Reply" and field(reference, "channelId") in ("", field(channel, "id"))
    count("left out: references to a message of another channel", place, int(bool(reference) and not is_reply))
    conversion.message(
        place, time, name, user, field(message, "id"), field(reference, "messageId") or None if is_reply else None,
        text_of(message, place, conversion), time_of(field(message, "timestampEdited"))[0], reactions,
        [user_of(user) for user in field(message, "mentions", list) if field(user, "id")])


def text_of(message, place, conversion):
    """Returns the content of a message; without it, the text of what it has instead."""
    forwarded = field(message, "forwardedMessage", dict)
    files = field(message, "attachments", list) + field(forwarded, "attachments", list)
    stickers = field(message, "stickers", list) + field(forwarded, "stickers", list)
    embeds = field(message, "embeds", list) + field(forwarded, "embeds", list)
    return conversion.text(
        place, field(message, "content"), ("forwarded messages", int(bool(forwarded)), field(forwarded, "content")),
        ("embeds", len(embeds), "\n".join(filter(None, map(embed_text, embeds)))),
        ("files", len(files), names_of(field(each, "fileName") for each in files)),
        ("stickers", len(stickers), names_of((field(each, "name") for each in stickers), "sticker")))


def embed_text(embed):
    fields = [field(each, name) for each in field(embed, "fields", list) for name in ("name", "value")]
    texts = field(field(embed, "author", dict), "name"), field(embed, "title"), field(embed, "description"), *fields
    return "\n".join(text for text in texts if text.strip())


def author_of(author):
    """Returns the account of an author. A webhook posts for many people, each with a name of their own."""
    user, name = user_of(author), field(author, "name")
    # Bots have a discriminator, and members a nickname; a webhook is no member of the server.
    is_webhook = author.get("isBot") is True and field(author, "discriminator") in ("0000", "0")
    if is_webhook and name and field(author, "nickname") in ("", name):
        user["own"] = f"{user['id']} {name}"
    return user


def user_of(person):
    """Returns the account of an author, or of a user who reacted or is mentioned."""
    names = field(person, "nickname"), field(person, "name"), field(person, "id")
    return {"id": names[2], "name": next(name for name in names if name)}


def reactions_of(message, place, count):
    """Returns the emoji of a message, each with its users. Older exports have their number only."""
    reactions, lost = [], 0
    for each in field(message, "reactions", list):
        emoji = field(each, "emoji", dict)
        users = [user_of(user) for user in field(each, "users", list) if field(user, "id")]
        name = field(emoji, "name")
        users = users if name else []
        lost += max(0, max(1, field(each, "count", int)) - len(users))
        # Only an emoji of a server has an id.
        reactions.append((f":{name}:" if field(emoji, "id") else name, users))
    count("left out: reactions", place, lost)
    return reactions


def convert(arguments, conversion):
    files = [(path, header(path, conversion)) for path in arguments.paths]
    # An id begins with its time, so that the oldest of several channels with a name gets it, whatever comes later.
    files.sort(key=lambda file: (len(file[1]["id"]), file[1]["id"]))
    names = {}
    for path, channel in files:
        id, kind = channel["id"], field(channel, "type")
        if id not in names:
            # Direct messages have the name of a person, which another person can have too.
            name = f"{field(channel, 'name')} {id}" if kind in DIRECT else field(channel, "name")
            names[id] = conversion.channel(id, name, "inviteOnly" if kind in PRIVATE else None)
        add_file(path, channel, names[id], conversion)


if __name__ == "__main__":
    sys.exit(main("discord", __doc__, convert, "FILE", several=True))
