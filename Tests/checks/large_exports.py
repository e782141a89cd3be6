"""Makes exports of any size for `converters.py`, and measures the memory of a conversion.

The users, the names of apps and the senders that a list rewrites grow with the export; the channels do not.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

BODY = "Does someone have a ladder?"
START = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
A_USER = 1  # messages for each user; with few, there are many users
A_FILE = 1 << 20  # bytes of a file of Slack or DynamoDB
# The peak since the program began; `ru_maxrss` has that of the parent, too.
RUN = """
import re, runpy, sys
peak, sys.argv = sys.argv[1], sys.argv[2:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open("/proc/self/status") as status, open(peak, "w") as file:
        file.write(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1])
"""


def run(words, **options):
    """Runs a program of Python; returns its end and the peak of its memory in bytes; None where it is not known."""
    if not pathlib.Path("/proc/self/status").exists():
        return subprocess.run([sys.executable, "-B", *words], **options), None
    with tempfile.NamedTemporaryFile("r") as peak:
        done = subprocess.run([sys.executable, "-B", "-c", RUN, peak.name, *words], **options)
        # A program that was killed has written none.
        return done, int(peak.read() or 0) << 10


def time(number):
    return START + datetime.timedelta(seconds=10 * number)


def make(name, folder, size):
    """Makes an export of about a number of bytes; returns the arguments of its converter."""
    folder.mkdir()
    return {"slack": slack, "discord": discord, "dynamodb": dynamodb, "mbox": mbox}[name](folder, size)


def pieces(size, line, most):
    """Yields lists of lines, each list up to a number of bytes, until they have a number of bytes together."""
    number = total = 0
    while total < size:
        lines, length = [], 0
        while length < most and total + length < size:
            lines.append(line(number))
            length += len(lines[-1]) + 2
            number += 1
        total += length
        yield lines


def slack(folder, size):
    def line(number):
        author = {"user": f"U{number // A_USER}"} if number % 4 else {"bot_id": "B1", "username": f"bot {number // A_USER}"}
        return json.dumps({"type": "message", "ts": f"{int(time(number).timestamp())}.000100", "text": f"{number} {BODY}", **author})

    users = size // (A_USER * 100)
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]))
        with archive.open("users.json", "w", force_zip64=True) as file:
            file.write(b"[" + b",\n".join(b'{"id": "U%d", "name": "user %d"}' % (n, n) for n in range(users)) + b"]")
        for day, lines in enumerate(pieces(size, line, A_FILE)):
            date = START + datetime.timedelta(days=day)
            archive.writestr(f"general/{date:%Y-%m-%d}.json", "[" + ",\n".join(lines) + "]")
    return [folder / "export.zip"]


def discord(folder, size):
    def line(number):
        author = {"id": str(number // A_USER), "name": f"user {number // A_USER}", "discriminator": "0000", "isBot": False}
        if number % 4 == 0:
            author = {**author, "id": "7", "isBot": True}
        return json.dumps({"id": f"1{number:09}", "type": "Default", "timestamp": time(number).isoformat(), "content": f"{number} {BODY}", "author": author})

    with open(folder / "general.json", "w", encoding="utf-8") as file:
        file.write('{"guild": {"id": "1"}, "channel": {"id": "2", "type": "GuildPrivateThread", "name": "general"}, "messages": [')
        separator = ""
        for lines in pieces(size, line, A_FILE):
            file.write(separator + ",\n".join(lines))
            separator = ",\n"
        file.write("]}")
    return [folder / "general.json"]


def dynamodb(folder, size):
    def table(name, files):
        data = folder / name / "data"
        data.mkdir(parents=True)
        count = 0
        for number, items in enumerate(files):
            (data / f"{number:08}.json").write_text("".join(f"{item}\n" for item in items), encoding="utf-8")
            count += len(items)
        summary = {"tableArn": f"arn:aws:dynamodb:eu-west-2:1:table/{name}-x-dev", "itemCount": count}
        (folder / name / "manifest-summary.json").write_text(json.dumps(summary), encoding="utf-8")

    def item(**values):
        return json.dumps({"Item": {name: {"S": value} for name, value in values.items()}})

    def message(number):
        return item(id=f"m{number}", createdAt=time(number).isoformat(), threadID="t", userID=f"u{number // A_USER}", body=f"{number} {BODY}")

    users = size // (A_USER * 200)
    table("User", [[item(id=f"u{n}", username=f"user {n}") for n in range(first, min(users, first + 10_000))] for first in range(0, users, 10_000)])
    table("Thread", [[item(id="t", name="general")]])
    table("Message", pieces(size, message, A_FILE))
    return [folder]


def mbox(folder, size):
    def mail(number):
        person, date = number // A_USER, time(number)
        sender = f"user {person} <u{person}@example.org>" if number % 4 else f"\"'user {person}' via list\" <list@example.org>"
        return (f"From a@b {date:%a %b %d %H:%M:%S %Y}\nFrom: {sender}\nDate: {date:%a, %d %b %Y %H:%M:%S} +0000\n"
                f"Message-ID: <{number}@b>\nSubject: Ladder\n\n{number} {BODY}\n")

    with open(folder / "list.mbox", "w", encoding="utf-8") as file:
        for mails in pieces(size, mail, A_FILE):
            file.write("\n".join(mails) + "\n")
    return [folder / "list.mbox"]


def main():
    """Measures: large_exports.py FORMAT MIB DIRECTORY."""
    name, size, folder = sys.argv[1], int(sys.argv[2]) << 20, pathlib.Path(sys.argv[3]) / f"large-{sys.argv[1]}"
    paths = make(name, folder, size)
    program = pathlib.Path(__file__).resolve().parents[2] / "Converters" / f"{name}.py"
    done, peak = run([str(program), *map(str, paths)], stdout=subprocess.DEVNULL)
    print(f"{name}: {sys.argv[2]} MiB, status {done.returncode}, peak {peak / (1 << 20):.0f} MiB")


if __name__ == "__main__":
    main()
