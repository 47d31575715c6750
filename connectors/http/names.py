"""The addresses of names, asked of the system in threads of their own.

A name server that does not answer holds the thread that asks it for tens of seconds, and nothing ends that. In the
loop's own threads, of which two cores have six, a few such names would keep every other question waiting for one, and
a command from ending.
"""

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Sequence
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

MOST = 32
"""Names that are asked for at once in this process, those among them that nobody waits for any more."""

Found = Sequence[tuple[Any, ...]]

_room = threading.BoundedSemaphore(MOST)


class Names(AbstractResolver):
    """Asks anew each time; whoever connects judges the address."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name, in the system's order; raise OSError where there are none, or no room."""
        return [_result(host, *one) for one in await _asked(host, port, family)]

    async def close(self) -> None:
        """Leave what is still being asked to itself."""


async def _asked(host: str, port: int, family: int) -> Found:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Found] = loop.create_future()

    def tell(value: Found, error: Exception | None) -> None:
        if found.done():  # nobody waits any more
            return
        if error is None:
            found.set_result(value)
        else:
            found.set_exception(error)

    def ask() -> None:
        value: Found = ()
        failure: Exception | None = None
        try:
            value = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
        except (OSError, ValueError) as error:  # UnicodeError, a ValueError: no name that could be one
            failure = error if isinstance(error, OSError) else OSError(errno.EINVAL, "no name of a host")
        finally:
            _room.release()
        with contextlib.suppress(RuntimeError):  # the loop may have ended
            loop.call_soon_threadsafe(tell, value, failure)

    if not _room.acquire(blocking=False):
        raise OSError(errno.EAGAIN, "too many names are being asked for")
    try:
        threading.Thread(target=ask, name="names", daemon=True).start()
    except RuntimeError:
        _room.release()
        raise OSError(errno.EAGAIN, "no thread could be started") from None
    return await found


def _result(host: str, family: int, kind: int, protocol: int, canonical: str, place: tuple[Any, ...]) -> ResolveResult:
    address, port = place[:2]
    scope = place[3] if family == socket.AF_INET6 and len(place) > 3 else 0
    return ResolveResult(
        hostname=host,
        host=f"{address}%{scope}" if scope else address,
        port=port,
        family=family,
        proto=protocol,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
