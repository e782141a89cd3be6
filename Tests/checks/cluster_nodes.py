"""A cluster of three nodes, each with etcd, Patroni and PostgreSQL, configured as the operator's page says."""

import errno
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import program
from cluster_network import join
from cluster_programs import PACKAGE
from program import Failed

PAGE = PACKAGE / "Sources" / "JournalPostgres" / "JournalPostgres.docc" / "OperatingACluster.md"
# Another node leads after some 20 s, and rewinding takes some seconds; the rest is for a busy machine.
PATIENCE = 900


def wait_until(what, condition, patience=PATIENCE, pause=0.1):
    """Waits as `program.wait_until` does, for longer by default."""
    return program.wait_until(what, condition, patience, pause)


class Node:
    def __init__(self, cluster, number):
        self.cluster, self.number, self.name = cluster, number, f"pg{number}"
        self.directory = cluster.directory / self.name
        # That of the database alone: etcd, which ends on a full disk, is not started again by Patroni.
        self.disk = self.directory / "disk"
        self.data = self.disk / "data"
        self.disk.mkdir(parents=True)
        if cluster.disk_size:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={cluster.disk_size}m", "tmpfs", str(self.disk)], check=True)
        cluster.own(self.directory)
        cluster.own(self.disk)
        self.etcd = self.patroni = None

    def spawn(self, log, *command):
        user = self.cluster.programs.as_user() or ["setpriv"]
        with open(self.directory / log, "ab") as file:
            # The process ends with this one; PostgreSQL, which Patroni starts, with the guard.
            return subprocess.Popen([*self.cluster.network.enter(self.number), *user, "--pdeathsig", "KILL", *command],
                                    cwd=self.directory, stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def start_etcd(self):
        settings = self.cluster.configuration("sh", self).split()
        self.etcd = self.spawn("etcd.log", "env", *settings, self.cluster.programs.etcd)

    def start_patroni(self):
        programs = self.cluster.programs
        self.patroni = self.spawn("patroni.log", "env", f"PYTHONPATH={programs.modules}", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8",
                                  programs.python, "-m", "patroni", str(self.directory / "patroni.yml"))

    def start(self):
        if self.etcd is None:
            self.start_etcd()
        if self.patroni is None:
            self.start_patroni()

    def processes(self, but=()):
        """Returns the ids of all processes of the node: those whose working directory is the node's."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) not in but:
                try:
                    path = os.readlink(f"/proc/{entry}/cwd")
                except OSError:
                    continue  # the process has ended, or belongs to another user
                if path == str(self.directory) or path.startswith(f"{self.directory}/"):
                    found.append(int(entry))
        return found

    def postmaster(self):
        """Returns the id of the first process of PostgreSQL; None if it does not run."""
        try:
            number = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            return number if os.readlink(f"/proc/{number}/cwd") == str(self.data) else None
        except (OSError, ValueError):
            return None

    def kill_postmaster(self):
        number = self.postmaster()
        if number is None:
            raise Failed(f"PostgreSQL does not run on {self.name}")
        os.kill(number, signal.SIGKILL)

    def kill_patroni(self):
        self.patroni.kill()
        self.patroni.wait()
        self.patroni = None

    def send(self, number):
        """Sends a signal to Patroni and to all processes of PostgreSQL, not to etcd."""
        for process in self.processes(but=(self.etcd.pid,)):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass  # it has just ended

    def kill_all(self):
        while processes := self.processes():
            for process in processes:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it has just ended
            for child in (self.etcd, self.patroni):
                if child is not None:
                    child.wait()
            time.sleep(0.01)
        self.etcd = self.patroni = None

    def fill(self):
        """Takes the rest of the space of a small disk; `free()` gives it back."""
        with open(self.disk / "filling", "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as fault:
                    if fault.errno != errno.ENOSPC:
                        raise

    def free(self):
        (self.disk / "filling").unlink()

    def run(self, *command):
        """Runs a program on the node as the user of PostgreSQL, and returns its output."""
        done = subprocess.run([*self.cluster.network.enter(self.number), *self.cluster.programs.as_user(), *command], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{command[0]} on {self.name} ended with {done.returncode}: {done.stdout}")
        return done.stdout

    def rest(self, path, body=None):
        """Asks Patroni; returns its JSON, or None if it does not answer."""
        request = urllib.request.Request(f"http://{self.cluster.network.address(self.number, 8008)}{path}",
                                         data=None if body is None else json.dumps(body).encode(), method="GET" if body is None else "POST")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                text = answer.read()
        except (OSError, urllib.error.URLError):
            return None
        return json.loads(text) if body is None else text.decode()

    def sql(self, statement):
        """Runs a statement as the superuser, and returns its rows, separated by `|`."""
        host, port = self.cluster.network.address(self.number, 5432).split(":")
        done = subprocess.run([f"{self.cluster.programs.postgres}/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", "postgres",
                               "-d", "postgres" if statement.startswith("create") else "chat", "-c", statement],
                              env={**os.environ, "PGPASSWORD": self.cluster.passwords["SUPERUSER-PASSWORD"], "PGCONNECT_TIMEOUT": "5"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{statement!r} on {self.name}: {done.stderr.strip()}")
        return done.stdout.strip()

    def has_database(self):
        try:
            return self.sql("select 1") == "1"
        except Failed:
            return False


# Ends all processes below a directory when the input ends, so also after a kill of this program.
GUARD = """cat >/dev/null
for round in 1 2 3; do
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd")/ in "$1"/*) kill -KILL "${process#/proc/}" ;; esac
    done
done 2>/dev/null"""


class Cluster:
    def __init__(self, programs, directory, count=3, disk_size=None):
        """With a size in MiB each node has a disk of its own, in a mount namespace of this program (`full_disk.enter_namespace`)."""
        self.programs, self.directory, self.disk_size = programs, directory, disk_size
        self.guard = subprocess.Popen(["sh", "-c", GUARD, "sh", str(directory)], stdin=subprocess.PIPE, start_new_session=True)
        self.passwords = {f"{name}-PASSWORD": secrets.token_hex(12) for name in ("SUPERUSER", "REPLICATION", "REWIND")}
        self.password = secrets.token_hex(12)
        self.archive = directory / "archive"
        self.archive.mkdir()
        self.own(self.archive)
        self.network = join(count)
        self.nodes = [Node(self, number) for number in range(1, count + 1)]

    def own(self, path):
        if self.programs.user is not None:
            os.chown(path, self.programs.user.pw_uid, self.programs.user.pw_gid)

    def configuration(self, language, node):
        """Returns a block of the operator's page with the addresses, paths and passwords of a node."""
        blocks = re.findall(rf"^<!-- configuration -->\n```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
        if len(blocks) != 1:
            raise Failed(f"{PAGE.name} has {len(blocks)} configurations in {language}")
        text = re.sub(r"^(name: |ETCD_NAME=)pg1$", rf"\g<1>{node.name}", blocks[0], flags=re.M)
        text = re.sub(r"^(.*(?:listen|connect_address|LISTEN|ADVERTISE).*)10\.0\.0\.1:", rf"\g<1>10.0.0.{node.number}:", text, flags=re.M)
        text = re.sub(r"10\.0\.0\.(\d):(\d+)", lambda found: self.network.address(int(found[1]), int(found[2])), text)
        text = re.sub(r"0\.0\.0\.0:(\d+)", lambda found: self.network.listening(node.number, int(found[1])), text)
        used = {"/var/lib/etcd/chat": node.directory / "etcd"} if language == "sh" else {
            "/var/lib/postgresql/15/chat": node.data, "/var/lib/postgresql/chat.pgpass": node.directory / "pgpass",
            "/usr/lib/postgresql/15/bin": self.programs.postgres, "/var/run/postgresql": node.directory,
            "/var/backups/chat/wal": self.archive, "10.0.0.0/24": self.network.subnet, **self.passwords}
        for shown, replacement in used.items():
            if shown not in text:
                raise Failed(f"the configuration of {PAGE.name} has no {shown!r}")
            text = text.replace(shown, str(replacement))
        return text

    def address(self, log, nodes=None):
        hosts = ",".join(self.network.client_address(node.number, 5432) for node in nodes or self.nodes)
        return f"postgres://chat@{hosts}/chat#{log}"

    def start(self):
        for node in self.nodes:
            path = node.directory / "patroni.yml"
            path.write_text(self.configuration("yaml", node))
            self.own(path)
            path.chmod(0o600)
            node.start()
        leader = self.wait_until_healthy()
        leader.sql(f"create role chat login password '{self.password}'")
        leader.sql("create database chat owner chat")
        for node in self.nodes:
            wait_until(f"the database on {node.name}", lambda: node.has_database())

    def members(self):
        """Returns what Patroni knows of each node, by name."""
        for node in self.nodes:
            if node.patroni is not None and (answer := node.rest("/cluster")):
                return {member["name"]: member for member in answer["members"]}
        return {}

    def leader(self):
        """Returns the node that leads; None if there is none."""
        names = [name for name, member in self.members().items() if member["role"] == "leader" and member["state"] == "running"]
        return next((node for node in self.nodes if node.name in names), None)

    def is_healthy(self):
        members = self.members()
        leading = [member for member in members.values() if member["role"] == "leader" and member["state"] == "running"]
        following = [member for member in members.values() if member["role"] == "quorum_standby" and member["state"] == "streaming"]
        return (len(leading) == 1 and len(following) == len(self.nodes) - 1
                and all(member.get("timeline") == leading[0].get("timeline") and member.get("lag") == 0 for member in following))

    def wait_until_healthy(self):
        try:
            wait_until("a leader and two followers in its quorum", self.is_healthy)
        except Failed as failure:
            raise Failed(f"{failure}: {json.dumps(self.members())}") from failure
        return self.leader()

    def close(self, keep):
        for node in self.nodes:
            node.kill_all()
        self.network.close()
        self.guard.communicate()
        if self.disk_size and not keep:
            for node in self.nodes:
                subprocess.run(["umount", str(node.disk)], check=True)
        if not keep:
            shutil.rmtree(self.directory)
