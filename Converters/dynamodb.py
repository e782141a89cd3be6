#!/usr/bin/env python3
"""Converts the tables of the Amplify tutorials to the lines of `chat-journal import`.

    dynamodb.py FOLDER > history.jsonl

FOLDER holds the exports to S3 of the tables User, Thread, Message, Reply and UserThread, in DynamoDB JSON, as they were
downloaded: each with `manifest-summary.json` and the folder `data`. README.md beside this file says what is kept.
"""
import itertools
import json
import pathlib
import re
import sys

from converting import LONGEST_LINE, OUTWARD_CODE, main
from reading import Failure, field, time_of

REQUIRED, TABLES = {"User", "Thread", "Message"}, {"User", "Thread", "Message", "Reply", "UserThread"}
# The attribute of a relation has the name that the schema gives it, or one that Amplify makes from both models.
USER = ("userID", "userId", "authorID", "authorId", "messageAuthorId", "messageUserId", "replyAuthorId", "replyUserId",
        "userThreadUserId", "userMessagesId", "userRepliesId", "userThreadsId")
THREAD = ("threadID", "threadId", "messageThreadId", "userThreadThreadId", "threadMessagesId", "threadAssociatedId",
          "threadMembersId", "threadUsersId")
MESSAGE = ("messageID", "messageId", "replyMessageId", "messageRepliesId")
BODY = ("body", "content", "text")


def exports(folder, conversion):
    """Returns the export of each table: its folder and its number of items."""
    found = {}
    for path in sorted(folder.rglob("manifest-summary.json")):
        text = conversion.json(open(path, "rb"), str(path))
        summary = text.value()
        text.end()
        name = re.search(r":table/(\w+)", field(summary, "tableArn"))
        table = name[1] if name else ""
        formats = field(summary, "outputFormat"), field(summary, "exportType")
        if formats[0] not in ("", "DYNAMODB_JSON") or formats[1] not in ("", "FULL_EXPORT"):
            raise Failure(f"{path}: export the table whole (FULL_EXPORT) and as DYNAMODB_JSON")
        if table not in TABLES:
            conversion.count(f"left out: tables {table}", str(path))
        elif table in found:
            raise Failure(f"two exports of the table {table}: {found[table][0]} and {path.parent}; keep one of them")
        else:
            found[table] = (path.parent, summary.get("itemCount"))
    if missing := REQUIRED - set(found):
        raise Failure(f"{folder}: no folder with a manifest-summary.json of the table {', '.join(sorted(missing))}")
    return found


def items(export, conversion):
    """Yields the items of a table that were not deleted, each as a dictionary of texts, and their places."""
    folder, expected = export
    number = 0
    for path in sorted(folder.glob("data/*.json*")):
        with conversion.open_file(path) as stream:
            for line_number in itertools.count(1):
                line, place = stream.readline(LONGEST_LINE + 1), f"{path}, line {line_number}"
                if not line:
                    break
                if len(line) > LONGEST_LINE:
                    raise Failure(f"{place}: longer than an item of DynamoDB can be")
                try:
                    item = field(json.loads(line.decode("utf-8-sig")), "Item", dict)
                except (ValueError, RecursionError) as error:
                    raise Failure(f"{place}: not JSON: {str(error)[:80]}") from None
                if not item:
                    raise Failure(f"{place}: no Item of DynamoDB JSON")
                number += 1
                values = {name: field(value, "S") for name, value in item.items() if field(value, "S")}
                if field(item, "_deleted", dict).get("BOOL") is True:
                    conversion.count("left out: items that were deleted", place)
                elif "id" not in values:
                    conversion.count("left out: items without an id", place)
                else:
                    yield values, place
    if expected is not None and expected != number:
        raise Failure(f"{folder}: {number} items, but manifest-summary.json has {expected}: the export is incomplete")


def first(values, names):
    """Returns the first attribute that exists."""
    return next((values[name] for name in names if name in values), None)


def created(values, place, conversion):
    time, has_zone = time_of(values.get("createdAt", ""))
    conversion.count("adapted: items without a valid createdAt", place, int(time is None))
    conversion.count("adapted: times without a zone, taken as UTC", place, int(not has_zone))
    return time


def read_users(export, conversion):
    """Returns the users by their ids, as JSON."""
    users = conversion.table("users")
    for values, place in items(export, conversion):
        conversion.count("left out: postcodes of users", place, int("postcode" in values))
        user = {"id": values["id"], "name": values.get("username") or values["id"]}
        users[values["id"]] = json.dumps({**user, "subject": values["sub"]} if "sub" in values else user)
    return users


def read_threads(export, conversion):
    """Returns the name of each thread here. A thread of a location is that of the district; any other is private."""
    threads = {}
    # By age, because an export has no order: the oldest of several threads with a name gets it, whatever comes later.
    for values, _ in sorted(items(export, conversion), key=lambda item: (item[0].get("createdAt", ""), item[0]["id"])):
        code = (values.get("location") or values.get("name") or "").replace(" ", "").upper()
        if OUTWARD_CODE.fullmatch(code):
            threads[values["id"]] = conversion.channel(f"district {code}", code, is_district=True)
        else:
            threads[values["id"]] = conversion.channel(values["id"], values.get("name") or code, "inviteOnly")
    return threads


def convert(arguments, conversion):
    found = exports(arguments.paths[0], conversion)
    users, threads = read_users(found["User"], conversion), read_threads(found["Thread"], conversion)
    active, lost = conversion.table("active"), conversion.count

    def user(id):
        if not (found := users.get(id)):
            return {"id": id, "name": id}
        active[id] = ""
        return json.loads(found)

    for values, place in items(found["UserThread"], conversion) if "UserThread" in found else ():
        member, thread = first(values, USER), first(values, THREAD)
        if not member or thread not in threads:
            lost("left out: memberships without a user or a thread", place)
        else:
            conversion.join(place, created(values, place, conversion), threads[thread], user(member))
    # The thread of a reply is that of its message; the messages can be more than memory holds.
    thread_of = conversion.table("thread_of")
    for model in ("Message", "Reply"):
        for values, place in items(found[model], conversion) if model in found else ():
            author, message = first(values, USER), None
            if model == "Message":
                thread = first(values, THREAD)
                thread_of[values["id"]] = thread or ""
            else:
                message = first(values, MESSAGE)
                thread = thread_of.get(message or "")
            if not author or thread not in threads:
                lost(f"left out: items of {model} without an author or a thread that exist", place)
            else:
                conversion.message(
                    place, created(values, place, conversion), threads[thread], user(author), values["id"], message,
                    first(values, BODY) or "")
    lost("left out: users without a post or a thread", "the table User", len(users) - len(active))


if __name__ == "__main__":
    sys.exit(main("dynamodb", __doc__, convert, "FOLDER"))
