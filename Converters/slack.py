#!/usr/bin/env python3
"""Converts an export of Slack to the lines of `chat-journal import`.

    slack.py EXPORT.zip > history.jsonl

EXPORT is the ZIP as it comes, or the folder that was unpacked from it. README.md beside this file says what is kept.
"""
import re
import sys
import zipfile

from blocks import plain, text_of_attachment, text_of_blocks
from converting import main, names_of
from reading import Failure, field

LISTS = {"channels.json": "open", "groups.json": "inviteOnly", "mpims.json": "inviteOnly", "dms.json": "inviteOnly"}
DAY = re.compile(r"([^/]+)/(\d{4}-\d\d-\d\d)\.json", re.ASCII)
TIMESTAMP = re.compile(r"(\d{1,11})\.(\d{3})\d{0,9}", re.ASCII)
POSTS = {"", "bot_message", "file_share", "file_comment", "me_message", "thread_broadcast", "tombstone"}
JOINS = {"channel_join", "group_join"}


class Export:
    """The files of an export, by their paths below its root. Nothing is unpacked to the disk."""

    def __init__(self, path):
        if path.is_dir():
            found = {each.relative_to(path).as_posix(): each for each in path.rglob("*.json") if each.is_file()}
            self.open_entry = lambda each: open(each, "rb")
        else:
            try:
                archive = zipfile.ZipFile(path)
            except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
                raise Failure(f"{path}, byte {path.stat().st_size}: not a ZIP: {error}") from None
            found = {name_of(info): info for info in archive.infolist() if info.filename.endswith(".json")}
            self.open_entry = archive.open
        lists = [name for name in found if name.rpartition("/")[2] in LISTS and not name.startswith("__MACOSX/")]
        if not lists:
            raise Failure(f"{path}: none of {', '.join(LISTS)} exists: not an export of Slack")
        root = min(lists, key=len).rpartition("/")
        root = root[0] + root[1]
        self.files = {name[len(root):]: each for name, each in found.items() if name.startswith(root)}

    def entries(self, name, conversion):
        """Yields the objects of a file, and the place of each one."""
        try:
            stream = self.open_entry(self.files[name])
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise Failure(f"{name}: {error}") from None
        text = conversion.json(stream, name)
        for entry in text.items():
            if isinstance(entry, dict):
                yield entry, text.place
            else:
                conversion.count("left out: entries that are no objects", text.place)
        text.end()


def name_of(info):
    """Returns the name of an entry of a ZIP. Names of UTF-8 without the mark for it are read as UTF-8 all the same.

    Some programs of Windows write backslashes between the parts of a path.
    """
    name = info.filename
    try:
        name = name if info.flag_bits & 0x800 else name.encode("cp437").decode("utf-8")
    except UnicodeError:
        pass
    return name.replace("\\", "/")


def display_name(user):
    """Returns the name that Slack shows for a user or the author of a message."""
    profile = field(user, "profile", dict) or field(user, "user_profile", dict)
    names = [(profile, "display_name"), (profile, "real_name"), (user, "real_name"), (profile, "name"), (user, "name")]
    return next((field(*name) for name in names if field(*name).strip()), "")


def time_of(text):
    match = TIMESTAMP.fullmatch(text)
    return int(match[1] + match[2]) if match else None


class Slack:
    def __init__(self, export, conversion):
        self.export, self.conversion = export, conversion
        self.names, self.handles = conversion.table("names"), conversion.table("handles")
        self.channels, self.folders = {}, {}

    def convert(self):
        if "users.json" in self.export.files:
            for user, _ in self.export.entries("users.json", self.conversion):
                self.names[field(user, "id")] = display_name(user)
                self.handles[field(user, "id")] = field(user, "name")
        for name, policy in LISTS.items():
            if name in self.export.files:
                for entry, place in self.export.entries(name, self.conversion):
                    self.add_channel(entry, place, policy, is_direct=name == "dms.json")
        for name in sorted(self.export.files):
            day = DAY.fullmatch(name)
            if day and day[1] in self.folders:
                for entry, place in self.export.entries(name, self.conversion):
                    self.add_entry(entry, place, self.folders[day[1]])
            elif name != "users.json" and name not in LISTS:
                self.conversion.count("left out: files that are no day of a channel", name)

    def name(self, kind, id):
        """Returns the name of a user (@) or of a channel (#); None if the export has none."""
        return self.names.get(id) if kind == "@" else self.channels.get(id)

    def user(self, id, name=""):
        return {"id": id, "name": self.names.get(id) or name or id}

    def author(self, entry):
        """Returns the author of a message; None without one. An app can post for many people, each with a name."""
        name = display_name(entry) or field(entry, "username")
        if field(entry, "bot_id") and not field(entry, "user"):
            user = self.user(field(entry, "bot_id"), name or field(field(entry, "bot_profile", dict), "name"))
            return {**user, "own": f"{user['id']} {user['name']}"}
        # A comment on a file names its author in `comment` only.
        authors = (entry, "user"), (field(entry, "comment", dict), "user"), (entry, "username")
        return next((self.user(field(*each), name) for each in authors if field(*each)), None)

    def add_channel(self, entry, place, policy, is_direct):
        id, members = field(entry, "id"), field(entry, "members", list)
        members = [each for each in members if isinstance(each, str) and each]
        handles = "--".join(self.handles.get(each) or each for each in members)
        name = f"dm-{handles}" if is_direct else field(entry, "name")
        folder = id if is_direct else name
        if not id or not folder or id in self.channels or folder in self.folders:
            return self.conversion.count("left out: channels without an id or a name of their own", place)
        self.channels[id] = self.conversion.channel(id, name, policy)
        self.folders[folder] = id
        for each in members:
            self.conversion.member(id, self.user(each))
        self.conversion.count("left out: that a channel is archived", place, int(entry.get("is_archived") is True))
        for kind in ("topic", "purpose"):
            has_text = int(bool(field(field(entry, kind, dict), "value")))
            self.conversion.count(f"left out: a channel's {kind}", place, has_text)

    def add_entry(self, entry, place, channel):
        count, kind, time = self.conversion.count, field(entry, "subtype"), time_of(field(entry, "ts"))
        if kind not in POSTS | JOINS or field(entry, "type") not in ("", "message"):
            return count(f"left out: entries of the type {kind or field(entry, 'type')}", place)
        user = self.author(entry)
        if time is None or not user:
            return count("left out: entries without an author or a valid ts", place)
        if kind in JOINS:
            return self.conversion.join(place, time, self.channels[channel], user)
        count("left out: pins", place, len(field(entry, "pinned_to", list)))
        count("adapted: messages of bots, as those of a user", place, int(bool(field(entry, "bot_id"))))
        count("adapted: replies that Slack also shows in the channel", place, int(kind == "thread_broadcast"))
        id, root, edited = field(entry, "ts"), field(entry, "thread_ts"), field(field(entry, "edited", dict), "ts")
        self.conversion.message(
            place, time, self.channels[channel], user, id, None if root in ("", id) else root, self.text(entry, place),
            time_of(edited), self.reactions(entry, place))

    def text(self, entry, place):
        """Returns the text of a message and of its attachments; without one, that of its blocks or its files' names."""
        count, text = self.conversion.count, plain(field(entry, "text"), self.name)
        attachments, blocks = field(entry, "attachments", list), field(entry, "blocks", list)
        files = field(entry, "files", list) + [entry.get("file")] * bool(field(entry, "file", dict))
        named = ("files", len(files), names_of(field(each, "name") or field(each, "title") for each in files))
        if not text.strip():
            attached = "\n".join(filter(None, (text_of_attachment(each, self.name) for each in attachments)))
            return self.conversion.text(
                place, text, ("blocks", len(blocks), text_of_blocks(blocks, self.name)),
                ("attachments", len(attachments), attached), named)
        # What Slack shows of a link or of another message is not written by the author.
        written = [each for each in attachments if not field(each, "from_url")]
        texts = list(filter(None, (text_of_attachment(each, self.name) for each in written)))
        count("left out: previews of links", place, len(attachments) - len(written))
        count("left out: attachments", place, len(written) - len(texts))
        count("adapted: attachments, below the text of their message", place, len(texts))
        return "\n".join([self.conversion.text(place, text, named), *texts])

    def reactions(self, entry, place):
        """Returns the emoji of a message, each with its users."""
        reactions, lost = [], 0
        for each in field(entry, "reactions", list):
            # `thumbsup::skin-tone-3` has a skin tone, which a name has not.
            name = field(each, "name").partition("::")[0]
            users = [self.user(id) for id in field(each, "users", list) if isinstance(id, str) and id] if name else []
            lost += max(0, max(1, field(each, "count", int)) - len(users))
            reactions.append((f":{name}:", users))
        self.conversion.count("left out: reactions", place, lost)
        return reactions


def convert(arguments, conversion):
    Slack(Export(arguments.paths[0]), conversion).convert()


if __name__ == "__main__":
    sys.exit(main("slack", __doc__, convert, "EXPORT"))
