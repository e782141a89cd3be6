"""Keeps lines, people and members in a database on disk, because an export can have more of them than memory holds."""

TABLES = """
    PRAGMA journal_mode = OFF; PRAGMA cache_size = -8192;
    CREATE TABLE lines (rank, time, number INTEGER PRIMARY KEY, digest UNIQUE, line, own);
    CREATE TABLE people (source, own, time, number, place, PRIMARY KEY (source, own)) WITHOUT ROWID;
    CREATE TABLE members (number INTEGER PRIMARY KEY, channel, id, own, user, UNIQUE (channel, id, own));
    CREATE TABLE joins (channel, id, PRIMARY KEY (channel, id)) WITHOUT ROWID;
"""
# The first person of a source id keeps that id, but not one who has written under their own id before.
FIRST = """
    SELECT own FROM people AS p WHERE source = ? AND (own = source OR NOT EXISTS (
        SELECT 1 FROM people AS d WHERE d.source = p.own AND d.own = p.own AND (d.time, d.number) < (p.time, p.number)))
    ORDER BY time, number LIMIT 1
"""


def clean(text):
    """Returns a text with U+FFFD in the place of characters that are not Unicode, which SQLite does not store."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Table:
    """Texts by a key, on disk: an export can have more users than memory holds."""

    def __init__(self, database, name):
        database.execute(f"CREATE TABLE {name} (key PRIMARY KEY, value) WITHOUT ROWID")
        self.execute, self.name = database.execute, name

    def __setitem__(self, key, value):
        row = key.encode("utf-8", "surrogatepass"), value.encode("utf-8", "surrogatepass")
        self.execute(f"INSERT OR REPLACE INTO {self.name} VALUES (?, ?)", row)

    def get(self, key):
        row = (key.encode("utf-8", "surrogatepass"),)
        found = self.execute(f"SELECT value FROM {self.name} WHERE key = ?", row).fetchone()
        return found and found[0].decode("utf-8", "surrogatepass")

    def __len__(self):
        return self.execute(f"SELECT count(*) FROM {self.name}").fetchone()[0]
