#!/usr/bin/env python3
"""Converts mailing lists in mbox form to the lines of `chat-journal import`.

    mbox.py LIST.mbox ... > history.jsonl

Each file is a channel with the name of the file, or part of the channel of `--channel`; a name that ends with `.gz` is
unpacked. README.md beside this file says what is kept.
"""
import datetime
import email
import email.errors
import email.header
import email.utils
import hashlib
import html.parser
import re
import sys

from converting import main
from reading import milliseconds

LONGEST_MAIL = 32 << 20  # in bytes
MOST_LINES = 500_000  # of a mail: a parsed line takes much more memory than its bytes
SEPARATOR = re.compile(rb"From \S+.* \d{1,2}:\d\d(:\d\d)?.* \d{4}\b")
QUOTED = re.compile(rb">+From ")
MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
# Public archives write `ann at example.org (Ann)`.
MASKED = re.compile(r"(\S+) at (\S+) \((.*)\)", re.DOTALL)
# What Python's parser of mail raises for malformed headers and parts.
PARSING_ERRORS = (
    ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError, email.errors.MessageError)
BREAKS = {"br", "p", "div", "tr", "li", "h1", "h2", "h3", "blockquote", "pre"}


def mails(stream, place, conversion):
    """Yields the bytes of each mail, without its separator, and the number of its first line."""
    mail, count, start, is_blank = None, 0, 0, True
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_MAIL), b""), 1):
        if is_blank and SEPARATOR.match(line):
            if mail:
                yield bytes(mail), start
            mail, count, start = bytearray(), 0, number
        elif mail is None:
            is_text = int(bool(line.strip()))
            conversion.count("left out: lines before the first mail", f"{place}, line {number}", is_text)
        else:
            count += 1
            if count > MOST_LINES or len(mail) + len(line) > LONGEST_MAIL:
                kind = "left out: mails of more than 32 MiB or 500,000 lines"
                conversion.count(kind, f"{place}, line {start}", int(bool(mail)))
                mail, count = bytearray(), MOST_LINES
            else:
                mail += line[1:] if QUOTED.match(line) else line
        is_blank = not line.strip(b"\r\n")
    if mail:
        yield bytes(mail), start


class Text(html.parser.HTMLParser):
    """The text of HTML, without scripts and styles."""

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], None

    def handle_starttag(self, tag, attributes):
        self.hidden = self.hidden or (tag if tag in ("script", "style") else None)
        if tag in BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.hidden = None if tag == self.hidden else self.hidden

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


class Mail:
    """A mail with what is kept of it."""

    def __init__(self, data, place, conversion):
        self.place, self.conversion = place, conversion
        self.mail = email.message_from_bytes(data)
        self.subject, self.body, self.time = self.header("Subject"), self.text(), self.date()
        name, address = email.utils.parseaddr(self.header("From"))
        if masked := MASKED.fullmatch(self.header("From")):
            name, address = masked[3], f"{masked[1]}@{masked[2]}"
        self.user = {"id": address.lower(), "name": name.strip() or address.partition("@")[0]}
        # What answers a mail without an id cannot name it, so a hash of what is kept does.
        found = MESSAGE_ID.search(self.raw("Message-ID"))
        content = repr((self.time, self.user, self.subject, self.body)).encode("utf-8", "replace")
        self.id = found[1] if found else hashlib.sha256(content).hexdigest()
        references = MESSAGE_ID.findall(self.raw("In-Reply-To")) or MESSAGE_ID.findall(self.raw("References"))[-1:]
        self.reply_to = next((each for each in references if each != self.id), None)

    def count(self, kind, number=1):
        self.conversion.count(kind, self.place, number)

    def raw(self, name):
        return str(self.mail.get(name, ""))

    def decode(self, data, charset):
        try:
            return data.decode(charset)
        except UnicodeDecodeError:
            self.count("adapted: bytes that their encoding does not have, as U+FFFD")
            return data.decode(charset, "replace")
        except (LookupError, ValueError):
            self.count("adapted: texts of an unknown encoding, as UTF-8")
            return data.decode("utf-8", "replace")

    def header(self, name):
        parts = email.header.decode_header(self.mail.get(name, ""))
        texts = [part if isinstance(part, str) else self.decode(part, charset or "utf-8") for part, charset in parts]
        return " ".join("".join(texts).split())

    def date(self):
        try:
            moment = email.utils.parsedate_to_datetime(self.raw("Date"))
            if moment.tzinfo is None:
                self.count("adapted: dates without a zone, taken as UTC")
                moment = moment.replace(tzinfo=datetime.timezone.utc)
            return milliseconds(moment)
        except (ValueError, TypeError, OverflowError, IndexError):
            self.count("adapted: mails without a valid date")
            return None

    def text(self):
        plain, rich, parts = [], [], [self.mail]
        while parts:
            part = parts.pop()
            kind, disposition = part.get_content_type(), str(part.get("Content-Disposition", "")).lower()
            is_file = disposition.startswith("attachment") or part.get_param("name")
            if is_file or not kind.startswith(("text/", "multipart/")):
                self.count("left out: attachments")
            elif part.is_multipart():
                parts.extend(reversed(part.get_payload()))
            else:
                data = part.get_payload(decode=True) or b""
                text = self.decode(data, str(part.get_param("charset") or "utf-8")).replace("\r\n", "\n")
                (rich if kind == "text/html" else plain).append(text)
        if any(text.strip() for text in plain):
            self.count("left out: HTML beside the text", len(rich))
            return "\n".join(plain).strip()
        self.count("adapted: HTML, as its text", len(rich))
        parser = Text()
        parser.feed("\n".join(rich))
        return re.sub(r"\n\s*\n\s*", "\n\n", "".join(parser.parts)).strip()


def convert(arguments, conversion):
    for path in arguments.paths:
        name = arguments.channel or re.sub(r"(\.gz|\.mbox|\.txt)+$", "", path.name)
        if name not in conversion.channels:
            conversion.channel(name, name)
        with conversion.open_file(path) as stream:
            for data, line in mails(stream, str(path), conversion):
                place = f"{path}, line {line}"
                try:
                    mail = Mail(data, place, conversion)
                except PARSING_ERRORS:
                    conversion.count("left out: mails that cannot be parsed", place)
                    continue
                if not mail.user["id"]:
                    conversion.count("left out: mails without an author", place)
                    continue
                body = mail.body
                if mail.reply_to:
                    mail.count("left out: subjects of answers", int(bool(mail.subject)))
                elif mail.subject:
                    mail.count("adapted: subjects, as the first line of their mail")
                    body = f"{mail.subject}\n\n{body}".strip()
                channel = conversion.channels[name][0]
                conversion.message(place, mail.time, channel, mail.user, mail.id, mail.reply_to, body)


if __name__ == "__main__":
    HELP = "the channel of all files; by default, each file is a channel"
    sys.exit(main("mbox", __doc__, convert, "FILE", several=True, channel=HELP))
