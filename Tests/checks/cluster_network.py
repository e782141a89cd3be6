"""Where the nodes of a cluster are: each in a network namespace of its own, or all of them on 127.0.0.1."""

import ctypes
import os
import random
import subprocess
import time

CLONE_NEWNET = 0x40000000


class Network:
    """A namespace for each node, joined by two bridges: one between the nodes, one between the nodes and their clients.

    The bridges are in a new namespace that this process enters, so its children are clients. The namespaces end with their
    processes. A port that is taken off its bridge is a cut: no packet arrives, and no end is told.
    """

    can_cut = True
    subnet = "10.77.0.0/16"

    def __init__(self, count):
        """Raises OSError if this process may not make a namespace."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self.holders = []
        ip("link", "set", "lo", "up")
        for number, bridge in enumerate(("cluster", "clients")):
            ip("link", "add", bridge, "type", "bridge")
            ip("addr", "add", f"10.77.{number}.100/24", "dev", bridge)
            ip("link", "set", bridge, "up")
        for node in range(1, count + 1):
            self.add(node)

    def add(self, node):
        holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        self.holders.append(holder)
        while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.005)
        inside = self.enter(node)
        ip("link", "set", "lo", "up", inside=inside)
        for number, bridge in enumerate(("cluster", "clients")):
            ip("link", "add", f"{bridge}{node}", "type", "veth", "peer", "name", bridge, "netns", str(holder.pid))
            ip("link", "set", f"{bridge}{node}", "master", bridge, "up")
            ip("addr", "add", f"10.77.{number}.{node}/24", "dev", bridge, inside=inside)
            ip("link", "set", bridge, "up", inside=inside)

    def enter(self, node):
        """Returns the words before a command that runs on a node."""
        return ["nsenter", "--target", str(self.holders[node - 1].pid), "--net"]

    def address(self, node, port):
        return f"10.77.0.{node}:{port}"

    def listening(self, node, port):
        return f"0.0.0.0:{port}"

    def client_address(self, node, port):
        return f"10.77.1.{node}:{port}"

    def cut(self, node, clients):
        """Cuts a node off from the other ones, and from the clients if asked."""
        for bridge in ("cluster", "clients") if clients else ("cluster",):
            ip("link", "set", f"{bridge}{node}", "nomaster")

    def heal(self, node):
        for bridge in ("cluster", "clients"):
            ip("link", "set", f"{bridge}{node}", "master", bridge)

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()


class Loopback:
    """All nodes on 127.0.0.1, each with ports of its own."""

    can_cut = False
    subnet = "127.0.0.1/32"

    def __init__(self, count):
        # Below the ports that systems give to clients.
        self.base = random.SystemRandom().randrange(20_000, 32_000 - count * len(PORTS))

    def enter(self, node):
        return []

    def address(self, node, port):
        return f"127.0.0.1:{self.base + (node - 1) * len(PORTS) + PORTS.index(port)}"

    listening = client_address = address

    def close(self):
        pass


# The ports of a node.
PORTS = [2379, 2380, 5432, 8008]


def ip(*words, inside=()):
    subprocess.run([*inside, "ip", *words], check=True)


def join(count):
    """Returns namespaces for a number of nodes, or loopback where they cannot be made."""
    try:
        return Network(count)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no network namespaces here ({error}): all nodes are on 127.0.0.1", flush=True)
        return Loopback(count)
