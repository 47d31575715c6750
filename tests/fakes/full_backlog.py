"""A listening socket on loopback that lets no further connection stand: the queue of those to accept is full."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

MOST = 8
"""Connections after which a platform that still takes one is believed to take them all."""
PATIENCE = 0.2
"""Seconds without an answer on loopback that mean: this one hangs."""


@contextlib.contextmanager
def full_backlog() -> Iterator[str]:
    """Yield the address of an endpoint whose connections hang; skip the test where the platform answers anyway."""
    with contextlib.ExitStack() as sockets:
        listening = sockets.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(MOST):
            waiting = sockets.enter_context(socket.socket())
            waiting.settimeout(PATIENCE)
            try:
                waiting.connect(listening.getsockname())
            except TimeoutError:
                break
            except OSError as error:
                pytest.skip(f"a full queue of connections refuses here rather than lets wait: {error}")
        else:
            pytest.skip("the system takes connections here however many wait to be accepted")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
