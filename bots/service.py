"""The local socket: one process holds the data directory, the other commands ask it (design, section 7).

The file's permissions are the wall: whoever may open the socket is the operator.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Protocol

from bots.requests import Event, Request
from bots.wire import decode_event, decode_request, encode_end, encode_error, encode_event, encode_request
from ragcore.errors import BusyError, CitebotError, StoreError
from ragcore.stores.lock import hold

SOCKET_NAME = "citebot.sock"
POINTER_NAME = "citebot.sock.path"
LONGEST_PATH = 100
"""Bytes of a socket's path: Linux takes 107, macOS 103 (``sun_path``)."""
WAIT = 30.0
"""Seconds that a command waits for another one's short life."""
_POLL = 0.1
_LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of one message: an answer with all its chunks stays far below."""


class Backend(Protocol):
    """Whatever answers requests: the operations themselves, or the socket in front of them."""

    def run(self, request: Request) -> AsyncIterator[Event]:
        """Yield the events of a request; raise CitebotError."""
        ...


OpenBackend = Callable[[], AbstractAsyncContextManager[Backend]]


class HolderGone(StoreError):
    """Nobody listens on the socket any more; nothing was asked yet."""


class Remote:
    """The operations of the process behind the socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def run(self, request: Request) -> AsyncIterator[Event]:
        """Yield the events of a request; closing the iterator cancels it there."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._path, limit=_LONGEST_LINE)
        except OSError as error:
            raise HolderGone("the process that held the data has just ended: try again") from error
        try:
            writer.write(encode_request(request))
            await writer.drain()
            while (event := decode_event(await _line(reader))) is not None:
                yield event
        except ConnectionError as error:
            raise StoreError("the process that holds the data ended before it had answered: try again") from error
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def _line(reader: asyncio.StreamReader) -> bytes:
    line = await reader.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError("the stream ended without its last line")
    return line


def socket_in(data_dir: Path) -> Path | None:
    """Return the socket on which a process answers for this directory now, None when there is none.

    What a killed process left behind takes no connection, and counts as none.
    """
    for path in _candidates(data_dir):
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
            probe.settimeout(2)
            try:
                probe.connect(str(path))
            except OSError:
                continue
            return path
    return None


def _candidates(data_dir: Path) -> list[Path]:
    own = data_dir / SOCKET_NAME
    found = [own] if len(os.fsencode(own)) <= LONGEST_PATH else []
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found.append(Path((data_dir / POINTER_NAME).read_text(encoding="utf-8").strip()))
    return found


@contextlib.asynccontextmanager
async def serve(backend: Backend, data_dir: Path) -> AsyncGenerator[Path]:
    """Answer on the directory's socket while the context lasts; only the holder of the lock may."""
    path = data_dir / SOCKET_NAME
    pointer = data_dir / POINTER_NAME
    pointer.unlink(missing_ok=True)
    private: Path | None = None
    if len(os.fsencode(path)) > LONGEST_PATH:
        private = _private_folder()
        path = private / SOCKET_NAME
        pointer.write_text(f"{path}\n", encoding="utf-8")
    path.unlink(missing_ok=True)
    connections: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await _answer(backend, reader, writer)
        except asyncio.CancelledError:
            # By the end of the context, which waits for it. What starts this task takes a cancelled one for a fault of
            # the program, and would print its trace.
            pass
        finally:
            connections.discard(task)

    server = await asyncio.start_unix_server(answer, sock=_bound(path), limit=_LONGEST_LINE)
    try:
        yield path
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        path.unlink(missing_ok=True)
        if private:
            pointer.unlink(missing_ok=True)
            shutil.rmtree(private, ignore_errors=True)


def _private_folder() -> Path:
    """Return a new folder with a short path that only this user may enter."""
    return Path(tempfile.mkdtemp(prefix="citebot-", dir="/tmp" if Path("/tmp").is_dir() else None))


def _bound(path: Path) -> socket.socket:
    """Return a socket bound to the path that only this user may open, from its first moment on."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        bound.bind(str(path))
    finally:
        os.umask(before)
    return bound


async def _answer(backend: Backend, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's request; when its client goes away the work is cancelled."""
    try:
        line = await reader.readline()
        if not line.endswith(b"\n"):
            return
        work = asyncio.ensure_future(_stream(backend, line, writer))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
        if not work.cancelled() and (error := work.exception()) and not isinstance(error, ConnectionError):
            raise error
    except ConnectionError:
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _stream(backend: Backend, line: bytes, writer: asyncio.StreamWriter) -> None:
    try:
        request = decode_request(line)
        async with contextlib.aclosing(_closable(backend.run(request))) as events:
            async for event in events:
                writer.write(encode_event(event))
                await writer.drain()
        writer.write(encode_end())
    except CitebotError as error:
        writer.write(encode_error(error))
    await writer.drain()


async def _closable(events: AsyncIterator[Event]) -> AsyncGenerator[Event]:
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close:
            await close()


class Gateway:
    """The way to the operations: the socket where a process serves it, else the lock and the operations themselves.

    ``command`` is what another process is told holds the lock. With ``serving`` it is taken at once, when it is free,
    and the socket is served meanwhile. Use as an async context.
    """

    def __init__(
        self, data_dir: Path, open_backend: OpenBackend, *, command: str, serving: bool = False, wait: float = WAIT
    ) -> None:
        self._data_dir = data_dir
        self._open_backend = open_backend
        self._command = command
        self._serving = serving
        self._wait = wait
        self._held = AsyncExitStack()
        self._own: Backend | None = None

    async def __aenter__(self) -> "Gateway":
        if self._serving:
            try:
                await self.backend()
            except BaseException:
                await self._held.aclose()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._own = None
        await self._held.aclose()

    async def run(self, request: Request) -> AsyncIterator[Event]:
        """Yield the events of a request; BusyError when the holder neither serves nor ends in time."""
        until = time.monotonic() + self._wait
        while True:
            backend = await self.backend()
            try:
                async with contextlib.aclosing(_closable(backend.run(request))) as events:
                    async for event in events:
                        yield event
            except HolderGone:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_POLL)
            else:
                return

    async def backend(self) -> Backend:
        """Return who answers now, taking the lock when nobody else does."""
        if self._own is not None:
            return self._own
        until = time.monotonic() + self._wait
        while True:
            path = await asyncio.to_thread(socket_in, self._data_dir)
            if path is not None:
                return Remote(path)
            try:
                await self._held.enter_async_context(hold(self._data_dir, command=self._command))
            except BusyError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_POLL)
                continue
            return await self._open()

    async def _open(self) -> Backend:
        own = await self._held.enter_async_context(self._open_backend())
        if self._serving:
            await self._held.enter_async_context(serve(own, self._data_dir))
        self._own = own
        return own
