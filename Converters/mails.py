"""Reads a mail: its text, its time, and the person who wrote it."""
import datetime
import email.errors
import email.feedparser
import email.header
import email.policy
import email.utils
import hashlib
import html.parser
import re

from reading import milliseconds

PIECE = 1 << 16  # in bytes, of a mail that is parsed
MOST_TEXT = 4 << 20  # in bytes, of the texts of a mail; a line of the import has at most 1 MiB
LONGEST_HEADER = 1 << 14
DATA_URI = re.compile(rb"data:[^\"'\s<>]{1000,}")
MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
# Public archives write `ann at example.org (Ann)`.
MASKED = re.compile(r"(\S+) at (\S+) \((.*)\)", re.DOTALL)
# Lists rewrite senders whose domain forbids what lists do: `'Ann' via list <list@example.org>`.
VIA = re.compile(r"'?(.+?)'? via \S.*", re.DOTALL)
ADDRESS = re.compile(r"([^\s@]+)@[^\s@]+")
# What Python's parser of mail raises for malformed headers and parts.
PARSING_ERRORS = (
    ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError, email.errors.MessageError)
BREAKS = {"br", "p", "div", "tr", "li", "h1", "h2", "h3", "blockquote", "pre"}


class Headers(email.policy.Compat32):
    """Cuts headers, because the time in which Python reads their words and parameters grows with their square."""

    def header_source_parse(self, sourcelines):
        name, value = super().header_source_parse(sourcelines)
        # These are only searched, and the last id of them counts.
        return name, value if name.lower() in ("references", "in-reply-to") else value[:LONGEST_HEADER]


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
        parser = email.feedparser.BytesFeedParser(policy=Headers())
        for start in range(0, len(data), PIECE):
            parser.feed(data[start:start + PIECE])
        self.mail = parser.close()
        self.files = []
        self.subject, self.body, self.time = self.header("Subject"), self.text(), self.date()
        self.user = self.sender()
        found = MESSAGE_ID.search(self.raw("Message-ID"))
        self.id = found[1] if found else self.digest()
        references = MESSAGE_ID.findall(self.raw("In-Reply-To")) or MESSAGE_ID.findall(self.raw("References"))[-1:]
        self.reply_to = next((each for each in references if each != self.id), None)

    def digest(self):
        """Returns a hash of what is kept, as an id: what answers a mail without one cannot name it."""
        content = repr((self.time, self.user, self.subject, self.body)).encode("utf-8", "replace")
        return hashlib.sha256(content).hexdigest()

    def sender(self):
        """Returns the user of the address of the sender, which is that of a list if the list has rewritten it."""
        name, address = email.utils.parseaddr(self.header("From"))
        if masked := MASKED.fullmatch(self.header("From")):
            name, address = masked[3], f"{masked[1]}@{masked[2]}"
        return {"id": address.lower(), "name": name.strip() or address.partition("@")[0] or address}

    def person(self):
        """Returns the user with the id and the name of the person who wrote the mail."""
        id, via = self.user["id"], VIA.fullmatch(self.user["name"])
        name, address = next(iter(self.addresses("X-Original-From")), ("", ""))
        if ADDRESS.fullmatch(address) and address.lower() != id:
            return {"id": id, "name": name or (via[1] if via else address.partition("@")[0]), "own": address.lower()}
        if not via:
            return {**self.user, "own": id}
        if masked := ADDRESS.fullmatch(via[1]):
            return {"id": id, "name": masked[1], "own": via[1].lower()}
        answers = self.addresses("Reply-To")
        found = [address.lower() for name, address in answers if name.strip("' ").casefold() == via[1].casefold()]
        return {"id": id, "name": via[1], "own": next((each for each in found if each != id), f"{id} {via[1]}")}

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
        value = self.mail.get(name, "")
        self.count("adapted: headers of more than 16 KiB, cut", int(len(str(value)) == LONGEST_HEADER))
        return self.words(value)

    def addresses(self, name):
        """Returns the names and the addresses of a header; none if it cannot be read, because the mail is kept then."""
        try:
            return email.utils.getaddresses([self.header(name)])
        except PARSING_ERRORS:
            return []

    def words(self, value):
        parts = email.header.decode_header(value)
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

    def file_name(self, part):
        try:
            return self.words(part.get_filename() or "")
        except PARSING_ERRORS:
            return ""

    def text(self):
        plain, rich, parts, left = [], [], [self.mail], MOST_TEXT
        while parts:
            part = parts.pop()
            kind, disposition = part.get_content_type(), str(part.get("Content-Disposition", "")).lower()
            is_file = disposition.startswith("attachment") or part.get_param("name")
            if is_file or not kind.startswith(("text/", "multipart/")):
                self.files.append(self.file_name(part))
            elif part.is_multipart():
                parts.extend(reversed(part.get_payload()))
            else:
                data = part.get_payload(decode=True) or b""
                if kind == "text/html" and len(data) > left:
                    data = DATA_URI.sub(b"", data)  # images
                left -= len(data)
                if left < 0:
                    self.count("left out: texts of more than 4 MiB")
                    continue
                text = self.decode(data, str(part.get_param("charset") or "utf-8")).replace("\r\n", "\n")
                (rich if kind == "text/html" else plain).append(text)
        if any(text.strip() for text in plain):
            self.count("left out: HTML beside the text", len(rich))
            return "\n".join(plain).strip()
        self.count("adapted: HTML, as its text", len(rich))
        parser = Text()
        parser.feed("\n".join(rich))
        return re.sub(r"\n\s*\n\s*", "\n\n", "".join(parser.parts)).strip()
