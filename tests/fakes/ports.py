"""Ports for what a test lets listen."""

import socket


def free_port() -> int:
    """Return a port of the loopback that nothing listens on now."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
