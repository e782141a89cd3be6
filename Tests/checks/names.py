#!/usr/bin/env python3
"""Registers 200 names of ten scripts with the tool, and tries to register a twin of each accepted one.

    names.py --tool chat-journal [--scratch DIR] [--table]

Each name has its expected outcome: accepted, as written or with normalized white space, or refused with a reason. A twin of
a name differs from it in what is not visible: in white space, in scalars that draw nothing, in case, or in composition. Each
twin is a name of another user, and must be refused as taken. --table prints the names as a table.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unicodedata

ACCEPTED = {
    "Latin": "Ann|O'Neill|Zoë|Ångström|Łukasz|Đorđe|Þóra|Jean-Luc|Nguyễn Thị Minh|İpek|José María|D’Arcy|Mary  Ann|Müller|x",
    "Greek": "Αθηνά|Γιώργος|Ελένη|Κώστας Παπαδόπουλος|Σωκράτης|Ὅμηρος|Χρήστος|Ζωή|Μαρία-Ελένη|Ἀριστοτέλης|Νίκος|Φώτης|Θάλεια|Ωρίων|Ξένια",
    "Cyrillic": "Анна|Юрій|Ђорђе|Ёлка|Наталія Іванівна|Željko Жељко|Ґалаґан|Олександр|Мария-Анна|Сергей|Їжак|Цветан|Николай II|Зоя|Ўладзімір",
    "Arabic": "محمد|فاطمة الزهراء|می‌خواهم|نرگس‌خاتون|علی‌رضا|عبد الله|أحمد|ليلى|پروین|ژاله|گل‌نار|اُردو|ﷺ محب|ئامانج|كريم",
    "Hebrew": "שרה|דָּוִד|משה בן-דוד|רחל|יוסף|אברהם|ז׳בוטינסקי|צ״ל|נועם|חנה|ציפי|תמר|אֵלִיָּהוּ|לאה|מִרְיָם",
    "Devanagari": "अनिता|राम|क्‍ष|श्‌रीमान|सुनीता शर्मा|ज़ाकिर|ॐ प्रकाश|कृष्ण|प्रिया|विक्रम|गीता|मोहन|दुर्गा|संजय|ऋषि",
    "Sinhala": "ක්‍රිස්|ශ්‍රී|නිමල්|සුනිල්|ප්‍රියන්ත|කමල්|රංජිත්|චන්ද්‍රිකා|මහින්ද|අනුර|සජිත්|ලක්ෂ්මී|විජේ|රුවන්|දිනේෂ්",
    "Han and kana": "陳大文|山田 太郎|さくら|ナオミ|葛󠄀城|𠮷野|李小龙|王芳|ガンダム|がっこう|ｶﾞﾝﾀﾞﾑ|Ｔｏｍ|髙橋|張偉|々木",
    "Hangul and Thai": "김철수|박지성|이영희|홍길동|한강|สมชาย|น้ำฝน|กัญญา|วิชัย|ปรีชา|서울|부산 사람|ไทย|ใจดี|최민식",
    "Emoji and signs": "👩‍🚀|❤️|🇬🇧|👨‍👩‍👧‍👦|👍🏽|1️⃣|🏳️‍🌈|☕ lover|★|№ 5|½|🏴|€uro|C++|🐕‍🦺",
}
# A text and the reason, in the words of the documentation.
REFUSED = [
    ("", "empty"), (" ", "white space alone"), ("\t\r\n", "white space alone"), ("\u00a0\u2003", "white space alone"),
    ("\u3000", "white space alone"), ("\u2028", "white space alone"), ("\u200d", "invisible alone"), ("\u200c\u200c", "invisible alone"),
    ("\ufe0f", "invisible alone"), ("\u034f", "invisible alone"), ("\U000e0100", "invisible alone"), ("a\u0000b", "control"),
    ("a\u0007b", "control"), ("\u001b[31mAnn", "control"), ("a\u007fb", "control"), ("a\u0080b", "control"), ("a\u009fb", "control"),
    ("a\u200bb", "format"), ("a\u200eb", "format"), ("a\u200fb", "format"), ("a\u202ab", "format"), ("a\u202eb", "format"),
    ("a\u2060b", "format"), ("a\u2066b", "format"), ("a\u2069b", "format"), ("a\ufeffb", "format"), ("a\u00adb", "format"),
    ("a\u061cb", "format"), ("a\u180eb", "format"), ("a\U000110bdb", "format"), ("a\U0001bca0b", "format"), ("a\U0001d173b", "format"),
    ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "format"), ("a\u115fb", "blank"), ("a\u1160b", "blank"), ("a\u3164b", "blank"), ("a\uffa0b", "blank"), ("a\u2800b", "blank"),
    ("a\ufffcb", "blank"), ("a\U0001d159b", "blank"), ("a\U00013441b", "blank"), ("a\U00016fe4b", "blank"),
    ("a\u0378b", "unassigned"), ("a\ufdd0b", "unassigned"), ("a\ufffeb", "unassigned"), ("a\U0001fffeb", "unassigned"),
    ("a\U000e0080b", "unassigned"), ("a" * 65, "more than 64 scalars"), ("é" * 65, "more than 64 scalars"),
    ("a" + "\u0301" * 64, "more than 64 scalars"),
]
SPACES = "\t\n\r\u0085\u00a0\u1680\u2000\u2003\u2009\u2028\u2029\u202f\u205f\u3000"
# Scalars that a name may have and that draw nothing.
INVISIBLE = ["\u200c", "\u200d", "\u034f", "\ufe00", "\ufe0e", "\ufe0f", "\U000e0100", "\U000e01ef", "\u180b"]


def twins(name):
    """Returns texts that differ from a name in what is not visible."""
    found = {f" {name}\u2003", unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name)}
    for space in SPACES:
        found.add(name.replace(" ", space))
        found.add(name.replace(" ", f" {space}"))
    for place in range(len(name) + 1):
        found |= {name[:place] + scalar + name[place:] for scalar in INVISIBLE}
    found |= {name.replace(scalar, "") for scalar in INVISIBLE}
    # Full case mappings that fold back to the same key.
    found |= {each for each in (name.upper(), name.lower(), name.swapcase()) if each.casefold() == name.casefold()}
    return sorted(each for each in found if each != name and len(each) <= 64 and len(each.encode()) <= 256)


def register(tool, journal, names):
    """Registers each name as a user of its own; returns the stored name or the code of the rejection."""
    lines = "".join(json.dumps({"registerUser": {"username": name}}) + "\n" for name in names)
    run = subprocess.run([tool, "run", journal, "--durability", "written"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode not in (0, 1) or len(answers) != len(names):
        sys.exit(f"names: status {run.returncode}, {len(answers)} answers to {len(names)} names: {run.stderr}")
    return [answer["events"][0]["userRegistered"]["username"] if "events" in answer else answer["rejection"]["code"] for answer in answers]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the command-line tool")
    parser.add_argument("--scratch", default=None, help="the directory for the journal")
    parser.add_argument("--table", action="store_true", help="print the names and their outcomes")
    arguments = parser.parse_args()
    tool = pathlib.Path(arguments.tool).resolve()
    accepted = [(script, name) for script, names in ACCEPTED.items() for name in names.split("|")]
    failures = []
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        journal = pathlib.Path(folder) / "journal"
        stored = register(tool, journal, [name for _, name in accepted])
        refused = register(tool, journal, [name for name, _ in REFUSED])
        for (script, name), found in zip(accepted, stored):
            if found != " ".join(name.split()):
                failures.append(f"{script}: {name!r}: {found}")
            if arguments.table:
                print(f"| {script} | {found} | accepted |")
        for (name, reason), found in zip(REFUSED, refused):
            if found != "invalidUsername":
                failures.append(f"{reason}: {name!r}: {found}")
            if arguments.table:
                print(f"| | {name.encode('unicode_escape').decode()[:40]} | refused: {reason} |")
        others = [(name, twin) for (_, name), found in zip(accepted, stored) if found != "invalidUsername" for twin in twins(name)]
        for (name, twin), found in zip(others, register(tool, journal, [twin for _, twin in others])):
            if found not in ("usernameTaken", "invalidUsername"):
                failures.append(f"a twin of {name!r} is accepted: {twin!r}")
        # Two names of the table are twins of one another only if they look alike to a reader of the table.
        if len(set(stored)) != len(stored):
            failures.append("the table has a name twice")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"names: {len(accepted)} accepted and {len(REFUSED)} refused of {len(ACCEPTED)} groups of scripts, {len(others)} twins tried, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
