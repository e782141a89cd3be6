"""The text of Slack's messages: its marks, its blocks (Block Kit) and its attachments."""
import re

from reading import field

LINK = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
DEEPEST = 20  # blocks within blocks
NO_PREVIEW = "[no preview available]"
MARKS = {"user": "<@{}>", "channel": "<#{}>", "usergroup": "<!subteam^{}>"}


def plain(text, name):
    """Returns a text with the names of users and channels, and without Slack's marks and escapes."""
    def link(match):
        target, label = match[1], match[2] or ""
        kind, id = target[:1], target[1:]
        if kind == "@":
            return "@" + (name("@", id) or label or id).removeprefix("@")
        if kind == "#":
            return "#" + (label or name("#", id) or id)
        if kind == "!":
            return label or "@" + id.partition("^")[0]
        if not label or target.endswith(label):
            return target.removeprefix("mailto:")
        return f"{label} ({target})"
    return LINK.sub(link, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def text_of_blocks(blocks, name):
    """Returns the text of a list of blocks, a line or more each."""
    return "\n".join(filter(str.strip, (text_of_block(each, name) for each in blocks)))


def text_of_block(block, name, depth=0):
    kind = field(block, "type")
    if depth > DEEPEST or kind in ("actions", "input"):
        return ""
    if kind == "mrkdwn":
        return plain(field(block, "text"), name)
    if kind in ("plain_text", "text"):
        return field(block, "text")
    if kind == "link":
        url, label = field(block, "url"), field(block, "text")
        return f"{label} ({url})" if label and not url.endswith(label) else url
    if kind == "emoji":
        return f":{field(block, 'name')}:"
    if kind == "broadcast":
        return f"@{field(block, 'range')}"
    if kind in MARKS:
        return plain(MARKS[kind].format(field(block, f"{kind}_id")), name)
    if kind in ("image", "video") and not field(block, "title", dict):
        return field(block, "alt_text")
    elements = [field(block, "title", dict), field(block, "text", dict), *field(block, "fields", list)]
    elements = [*elements, *field(block, "elements", list), field(block, "description", dict)]
    texts = [text_of_block(each, name, depth + 1) for each in elements if isinstance(each, dict) and each]
    # The elements of these are parts of a line.
    is_line = kind in ("rich_text_section", "rich_text_preformatted", "rich_text_quote")
    return "".join(texts) if is_line else (" " if kind == "context" else "\n").join(filter(str.strip, texts))


def text_of_attachment(attachment, name):
    """Returns the text of an attachment: the one that its author gave for it, or else that of its parts."""
    fallback = field(attachment, "fallback")
    if fallback.strip() and fallback.strip() != NO_PREVIEW:
        return plain(fallback, name)
    fields = [field(each, part) for each in field(attachment, "fields", list) for part in ("title", "value")]
    texts = [field(attachment, "pretext"), field(attachment, "title"), field(attachment, "text"), *fields]
    texts = [plain(text, name) for text in texts] + [text_of_blocks(field(attachment, "blocks", list), name)]
    return "\n".join(filter(str.strip, texts)).strip()
