"""Where the nodes of a cluster are: each in a network namespace of its own, or all of them on 127.0.0.1."""

import collections
import ctypes
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
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

    def delay(self, node, seconds):
        """Holds back what a node sends to the other ones, and to the clients; ends with `end()`."""
        return Delay(self, node, seconds)

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()


class Delay:
    """Passes the frames of a node on by itself, those that the node sends after some seconds.

    Between each port of the node and its bridge comes a pair of interfaces. A kernel without netem has nothing of the kind.
    """

    def __init__(self, network, node, seconds):
        self.network, self.node, self.seconds = network, node, seconds
        for holder in network.holders:
            disable_offloads("cluster", "clients", inside=holder.pid)
        disable_offloads("cluster", "clients")
        self.pairs = []  # (the socket of the node's port, the socket of the bridge's)
        for bridge in ("cluster", "clients"):
            ip("link", "set", f"{bridge}{node}", "nomaster")
            near, far = f"near-{bridge[:3]}{node}", f"far-{bridge[:3]}{node}"
            ip("link", "add", near, "type", "veth", "peer", "name", far)
            disable_offloads(near, far)
            ip("link", "set", far, "master", bridge, "up")
            ip("link", "set", near, "up")
            self.pairs.append((raw_socket(f"{bridge}{node}"), raw_socket(near)))
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        waiting = collections.deque()
        poll = select.poll()
        places = {}
        for port, bridge in self.pairs:
            places[port.fileno()], places[bridge.fileno()] = (port, bridge, self.seconds), (bridge, port, 0)
        for number in places:
            poll.register(number, select.POLLIN)
        while not self.ending.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                self.send(*waiting.popleft()[1:])
            pause = min(0.05, waiting[0][0] - now) if waiting else 0.05
            for number, _ in poll.poll(pause * 1_000):
                source, target, seconds = places[number]
                frame, address = source.recvfrom(1 << 16)
                if address[2] == socket.PACKET_OUTGOING:
                    continue
                if seconds:
                    waiting.append((time.monotonic() + seconds, target, frame))
                else:
                    self.send(target, frame)

    @staticmethod
    def send(target, frame):
        try:
            target.send(frame)
        except OSError:
            pass  # too long, or the queue is full: the frame is lost, and sent again

    def end(self):
        self.ending.set()
        self.thread.join()
        for pair in self.pairs:
            for each in pair:
                each.close()
        for bridge in ("cluster", "clients"):
            ip("link", "del", f"near-{bridge[:3]}{self.node}")
        self.network.heal(self.node)


def raw_socket(interface):
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    found.bind((interface, 0))
    # PACKET_ADD_MEMBERSHIP of PACKET_MR_PROMISC
    found.setsockopt(263, 1, struct.pack("IHH8s", socket.if_nametoindex(interface), 1, 0, b""))
    return found


# Turns off what leaves checksums and segments to the interface, as `ethtool -K` does: a frame that is passed on must be complete.
OFFLOADS = """
import ctypes, fcntl, socket, struct, sys
each = socket.socket()
for name in sys.argv[1:]:
    for command in (0x17, 0x1f, 0x24, 0x2c):  # ETHTOOL_STXCSUM, _STSO, _SGSO, _SGRO
        value = ctypes.create_string_buffer(struct.pack("II", command, 0))
        try:
            fcntl.ioctl(each, 0x8946, struct.pack("16sP8x", name.encode(), ctypes.addressof(value)))
        except OSError:
            pass  # a bridge has only some of them
"""


def disable_offloads(*interfaces, inside=None):
    enter = [] if inside is None else ["nsenter", "--target", str(inside), "--net"]
    subprocess.run([*enter, sys.executable, "-c", OFFLOADS, *interfaces], check=True)


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
