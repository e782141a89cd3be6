"""Whom a text names: a second, independent implementation of the rule, and of the key by which names are equal.

It tries every end after every @. Of code, links and addresses it knows what fits on a line: code between backquotes, and
addresses with a scheme.
"""

import re
import unicodedata

# The property White_Space of PropList.txt.
WHITE_SPACE = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# The property Default_Ignorable_Code_Point of DerivedCoreProperties.txt, and two joiners of letters.
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2d7f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001107f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# The beginnings of the names of the letters that a name may touch.
UNSPACED = ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA", "HALFWIDTH KATAKANA", "HANGUL ", "THAI ", "LAO ", "KHMER ", "MYANMAR ")


def spaced(name):
    """Returns a name with single spaces inside and no white space around it."""
    return re.sub(f"[{WHITE_SPACE}]+", " ", name).strip(" ")


def fold_key(name):
    """Returns the key by which usernames are unique: visible characters and single spaces, case folded, NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", spaced(IGNORABLE.sub("", name))).casefold())


def in_word(character):
    return character == "_" or unicodedata.category(character)[0] in "LN"


def may_touch(character):
    """Returns whether a character is a letter, or a mark of one, of a script whose words have no spaces or take endings without one."""
    return unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith(UNSPACED)


def users(text, user_named):
    """Returns the users whom a text names, each once. `user_named` returns the user with a key, or None."""
    text = IGNORABLE.sub("", re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|https?://\S+", "\0", text))
    found, at = [], 0
    while (at := text.find("@", at) + 1) > 0:
        before = text[:at - 1].rstrip("".join({c for c in text if unicodedata.category(c)[0] == "M"}))[-1:]
        if before and in_word(before) and not may_touch(before) or re.match(rf"[{WHITE_SPACE}]", text[at:]):
            continue
        for end in range(min(len(text), at + 256), at, -1):
            last, after = text[end - 1], text[end:end + 1]
            is_end = not after or unicodedata.category(after)[0] != "M" and (not in_word(after) or may_touch(last))
            user = user_named(fold_key(text[at:end])) if is_end and not re.match(rf"[{WHITE_SPACE}]", last) else None
            if user is not None:
                found += [user] if user not in found else []
                at = end
                break
    return found[:100]
