"""Breaks the samples of the converters for `converters.py`, each in a way that no converter can read."""
import gzip
import json
import shutil
import zipfile

PLACE = r", (entry|line|byte) \d+"


def structure(data):
    """Returns the places of the characters that are JSON's structure, outside of its texts."""
    places, is_text, is_escaped = [], False, False
    for place, character in enumerate(data):
        if is_text:
            is_text = is_escaped or character != ord('"')
            is_escaped = character == ord("\\") and not is_escaped
        elif character == ord('"'):
            is_text = True
        elif character in b"{}[]:":
            places.append(place)
    return places


def cut(rng, data):
    return data[:rng.randrange(1, len(data.rstrip()) - 1)]


def without_structure(rng, data):
    place = rng.choice(structure(data))
    return data[:place] + data[place + 1:]


def not_unicode(rng, data):
    place = rng.randrange(1, len(data.rstrip()))
    return data[:place] + rng.choice([b"\xff", b"\xc3(", b"\xed\xa0\x80"]) + data[place:]


def zeros(rng, data):
    """Loses a block, as a disk does."""
    place = rng.randrange(len(data.rstrip()) - 8)
    return data[:place] + bytes(len(data[place:place + 512])) + data[place + 512:]


def nested(rng, data):
    return data[:data.index(b"[") + 1] + b"[" * rng.randrange(50_000, 200_000)


def trailing(rng, data):
    return data + rng.choice([b"{}", b"]", b"x", b"\x00", data])


def flipped(rng, data):
    """Changes a byte of compressed data or of the sum after it."""
    place = rng.randrange(10, len(data))
    return data[:place] + bytes([data[place] ^ rng.choice([0xff, 0xf0, 0x0f])]) + data[place + 1:]


JSON = [cut, without_structure, not_unicode, zeros, nested, trailing]


def packed(change):
    def change_packed(rng, data):
        return change(rng, gzip.compress(data, mtime=0))
    change_packed.__name__ = f"packed, {change.__name__}"
    return change_packed


def slack(rng, samples, folder):
    """Returns what was done, the arguments, and the pattern of the place."""
    path = folder / "export.zip"
    files = {each.relative_to(samples / "slack").as_posix(): each.read_bytes() for each in sorted((samples / "slack").rglob("*.json"))}
    kind = rng.choice(["archive", "lists", *JSON])
    name = rng.choice(sorted(files))
    if kind == "lists":
        files = {name: data for name, data in files.items() if "/" in name or name == "users.json"}
    elif kind != "archive":
        files[name] = kind(rng, files[name])
    with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for each, data in files.items():
            archive.writestr(each, data)
    if kind == "archive":
        path.write_bytes(cut(rng, path.read_bytes()))
        return "a cut archive", [path], "export.zip" + PLACE
    if kind == "lists":
        return "no lists", [path], "export.zip: none of"
    return f"{name}: {kind.__name__}", [path], name + PLACE


def discord(rng, samples, folder):
    names = ["bob", "bridge", "general", "general-part-2", "old-general"]
    paths = [folder / f"{name}.json" for name in names]
    for path in paths:
        shutil.copy(samples / "discord" / path.name, path)
    path = rng.choice(paths)
    change = rng.choice([*JSON, packed(cut), packed(flipped), "a list", "no channel"])
    if change in ("a list", "no channel"):
        value = json.loads(path.read_text(encoding="utf-8"))
        value = [value] if change == "a list" else {key: part for key, part in value.items() if key != "channel"}
        path.write_text(json.dumps(value), encoding="utf-8")
        return f"{path.name}: {change}", paths, path.name + (PLACE if change == "a list" else ": no channel")
    return applied(rng, change, path, paths)


def applied(rng, change, path, paths):
    """Changes a file, which gets another name if it is compressed."""
    data = change(rng, path.read_bytes())
    if change.__name__.startswith("packed"):
        path.unlink()
        paths = [path.with_name(f"{path.name}.gz") if each == path else each for each in paths]
        path = path.with_name(f"{path.name}.gz")
    path.write_bytes(data)
    return f"{path.name}: {change.__name__}", paths, path.name + PLACE


def dynamodb(rng, samples, folder):
    copy = folder / "tables"
    shutil.copytree(samples / "dynamodb", copy)
    table = rng.choice(["User", "Thread", "Message"])
    data, summary = next(copy.glob(f"{table}/**/data/*.json")), next(copy.glob(f"{table}/**/manifest-summary.json"))
    kind = rng.choice(["table", "item", "summary", cut, without_structure, not_unicode, packed(cut), packed(flipped)])
    if kind == "table":
        shutil.rmtree(copy / table)
        return f"no table {table}", [copy], f"tables: no folder .* {table}"
    if kind == "item":
        lines = data.read_bytes().splitlines(keepends=True)
        lines.pop(rng.randrange(len(lines)))
        data.write_bytes(b"".join(lines))
        return f"{table}: an item too few", [copy], rf"{data.parent.parent.name}: \d items, but"
    if kind == "summary":
        summary.write_bytes(without_structure(rng, summary.read_bytes()))
        return f"{table}: a broken summary", [copy], "manifest-summary.json" + PLACE
    if kind == cut:
        # At the end of a line an item would be missing, which is another case.
        kind = lambda rng, data: data.rstrip()[:-rng.randrange(1, 10)]
        kind.__name__ = "cut"
    what, _, pattern = applied(rng, kind, data, [])
    return what, [copy], pattern


def mbox(rng, samples, folder):
    path = folder / "list.mbox"
    path.write_bytes((samples / "mbox" / rng.choice(["allotments.mbox", "munged.mbox"])).read_bytes())
    changes = {
        "dates": lambda data: b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(b"From ")),
        "UTF-16": lambda data: data.decode("utf-8", "replace").encode("utf-16"),
        "HTML": lambda data: b"<html><body><pre>" + data.replace(b"From ", b"<b>From</b> "), "noise": lambda data: b"x" + rng.randbytes(3_000)}
    kind = rng.choice([*changes, packed(cut), packed(flipped)])
    if kind in changes:
        path.write_bytes(changes[kind](path.read_bytes()))
        return kind, [path], "list.mbox" + PLACE
    return applied(rng, kind, path, [path])


MAKERS = {"slack": slack, "discord": discord, "dynamodb": dynamodb, "mbox": mbox}


def cases(rng, samples, folder, number):
    """Yields a number of broken exports: the converter, what was done, the arguments, and the pattern of the place."""
    for index in range(number):
        name = list(MAKERS)[index % len(MAKERS)]
        copy = folder / f"broken-{index}"
        copy.mkdir(parents=True)
        yield name, *MAKERS[name](rng, samples, copy)
        shutil.rmtree(copy)
