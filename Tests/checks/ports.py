"""Ports for the servers of the checks."""

import pathlib
import random
import socket

EPHEMERAL = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """Returns a port that is free, and that the system does not give to other sockets by itself.

    While a server is killed and started again, a client that connects to its port could otherwise get the port as its own.
    """
    first, last = map(int, EPHEMERAL.read_text().split()) if EPHEMERAL.exists() else (49_152, 65_535)
    ports = [port for port in range(10_000, 65_000) if not first <= port <= last]
    while ports:
        port = ports.pop(random.SystemRandom().randrange(len(ports)))
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            pass  # in use
    raise RuntimeError("no port is free")
