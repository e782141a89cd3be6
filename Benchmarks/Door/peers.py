"""ejabberd and Prosody for the door: each in a directory of its own, on free ports, without root."""

import glob
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "Tests" / "checks"))
from ports import free_port

PASSWORD, ACCOUNTS = "secret", [f"user{number}" for number in range(10)]

EJABBERD = """
hosts: [localhost]
loglevel: warning
auth_method: internal
auth_password_format: plain
sql_pool_size: 10
{sql}
listen:
  - {{port: {port}, ip: "127.0.0.1", module: ejabberd_c2s, backlog: 1024, access: all, starttls: false}}
  - {{port: {api}, ip: "127.0.0.1", module: ejabberd_http, request_handlers: {{/api: mod_http_api}}}}
api_permissions:
  local: {{who: {{ip: "127.0.0.1/8"}}, what: "*"}}
shaper_rules:
  max_user_sessions: 100000
modules:
  mod_disco: {{}}
  mod_mam: {{db_type: sql, default: always}}
  mod_muc:
    db_type: mnesia
    max_users: 20000
    max_user_conferences: 100000
    default_room_options: {{persistent: true, mam: true, max_users: 20000, presence_broadcast: []}}
"""

PROSODY = """
daemonize = false
pidfile = "{directory}/prosody.pid"
data_path = "{directory}/data"
log = {{ warn = "{directory}/log" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
network_settings = {{ tcp_backlog = 1024 }}
modules_enabled = {{ "disco", "saslauth" }}
modules_disabled = {{ "s2s", "tls" }}
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage = "internal"
VirtualHost "localhost"
Component "conference.localhost" "muc"
    modules_enabled = {{ "muc_mam" }}
    storage = {{ muc_log = "sql" }}
    sql = {{ driver = "SQLite3", database = "{directory}/archive.sqlite" }}
    muc_log_by_default = true
    muc_log_expires_after = "never"
    muc_room_locking = false
    muc_room_cache_size = 10000
    muc_room_default_persistent = true
    muc_room_default_presence_broadcast = {{ visitor = false, participant = false, moderator = false }}
"""


class Absent(Exception):
    """A program of a peer is missing."""


def identity(name):
    """The options that run a process as an unprivileged user, if this is root."""
    if os.geteuid() != 0:
        return {}
    try:
        return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
    except KeyError:
        raise Absent(f"there is no user {name}") from None


def wait_for_port(process, port, log):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"a peer has not opened its port: {log}")


class Peer:
    """A server that speaks XMPP. `pid` is the process whose memory is measured."""

    running = []  # also those that have not started completely

    def __init__(self, directory, user):
        Peer.running.append(self)
        self.directory, self.processes, self.pid = pathlib.Path(directory), [], None
        self.identity, self.port = identity(user), free_port()
        self.directory.chmod(0o755)  # for the user of PostgreSQL
        self.own(self.directory, user)

    def own(self, path, user):
        if self.identity:
            shutil.chown(path, user, self.identity["group"])

    def start(self, command, environment=(), owner=None):
        log = open(self.directory / "output", "ab")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                                   env={**os.environ, "HOME": str(self.directory), **dict(environment)},
                                   **(self.identity if owner is None else owner))
        log.close()
        self.processes.append(process)
        return process

    def plan(self, path, rooms):
        lines = [f"port {self.port}", "domain localhost", "service conference.localhost"]
        lines += [f"account {name} {PASSWORD}" for name in ACCOUNTS] + [f"room room{number}" for number in range(rooms)]
        path.write_text("\n".join(lines) + "\n")

    def stop(self):
        while self.processes:
            process = self.processes.pop()
            # PostgreSQL ends at once on SIGINT, and the others on SIGTERM.
            process.send_signal(signal.SIGINT if "postgres" in process.args[0] else signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Ejabberd(Peer):
    def __init__(self, directory, postgres):
        installed = glob.glob("/usr/lib/*/ejabberd-*")
        if not shutil.which("erl") or not installed:
            raise Absent("the Debian package ejabberd is not installed")
        super().__init__(directory, "ejabberd")
        sql = self.start_postgres() if postgres else f'sql_type: sqlite\nsql_database: "{self.directory}/archive.sqlite"'
        api = free_port()
        (self.directory / "ejabberd.yml").write_text(EJABBERD.format(port=self.port, api=api, sql=sql))
        libraries = sorted({str(pathlib.Path(path).parent) for path in installed})
        # Without a name, so without epmd. A scheduler that spins would give its turn to other programs.
        process = self.start(
            [*"erl -noinput +K true +P 250000 +Q 65536 +sbwt none +sbwtdcpu none +sbwtdio none".split(),
             "-mnesia", "dir", f'"{self.directory}/mnesia"', "-s", "ejabberd"],
            {"ERL_LIBS": ":".join(libraries), "ERL_INETRC": "/etc/ejabberd/inetrc", "ERL_CRASH_DUMP_BYTES": "0",
             "EJABBERD_CONFIG_PATH": str(self.directory / "ejabberd.yml"), "EJABBERD_LOG_PATH": str(self.directory / "ejabberd.log")})
        wait_for_port(process, api, self.directory / "ejabberd.log")
        wait_for_port(process, self.port, self.directory / "ejabberd.log")
        for name in ACCOUNTS:
            body = json.dumps({"user": name, "host": "localhost", "password": PASSWORD}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{api}/api/register", body, {"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=30).close()
        self.pid = process.pid

    def start_postgres(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs or not glob.glob("/usr/share/ejabberd/sql/pg.sql"):
            raise Absent("PostgreSQL is not installed")
        bin, data, port, owner = programs[-1], self.directory / "postgres", free_port(), identity("postgres")
        data.mkdir(mode=0o700)
        if owner:
            shutil.chown(data, "postgres", "postgres")
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/", **owner}
        subprocess.run([f"{bin}/initdb", "-D", str(data), "-A", "trust", "-U", "ejabberd"], **run)
        process = self.start([f"{bin}/postgres", "-D", str(data), "-p", str(port), "-k", str(data), "-h", "127.0.0.1"], owner=owner)
        wait_for_port(process, port, self.directory / "output")
        psql = [f"{bin}/psql", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "ejabberd"]
        for _ in range(100):
            if subprocess.run([*psql, "-c", "select 1", "postgres"], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        subprocess.run([*psql, "-c", "create database ejabberd", "postgres"], **run)
        subprocess.run([*psql, "-f", "/usr/share/ejabberd/sql/pg.sql", "ejabberd"], **run)
        lines = ["sql_type: pgsql", "sql_server: 127.0.0.1", f"sql_port: {port}", "sql_database: ejabberd", "sql_username: ejabberd"]
        return "\n".join([*lines, "sql_password: none"])


class Prosody(Peer):
    def __init__(self, directory):
        if not shutil.which("prosody") or not glob.glob("/usr/lib/*/lua/*/dbd/sqlite3.so"):
            raise Absent("the Debian packages prosody and lua-dbi-sqlite3 are not installed")
        super().__init__(directory, "prosody")
        accounts = self.directory / "data" / "localhost" / "accounts"
        accounts.mkdir(parents=True)
        for name in ACCOUNTS:
            (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{PASSWORD}" }};\n')
        for path in [self.directory / "data", *(self.directory / "data").rglob("*")]:
            self.own(path, "prosody")
        (self.directory / "prosody.cfg.lua").write_text(PROSODY.format(directory=self.directory, port=self.port))
        process = self.start(["prosody", "-F", "--config", str(self.directory / "prosody.cfg.lua")])
        wait_for_port(process, self.port, self.directory / "log")
        self.pid = process.pid
