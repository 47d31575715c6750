import asyncio
import contextlib
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import pytest

from bots.requests import Ask, Event, ListSources, Request, Search
from bots.service import LONGEST_PATH, Gateway, Remote, serve, socket_in
from ragcore.errors import BusyError, ConfigError, StoreError
from ragcore.types import Delta, Status

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Echo:
    """Answers with the question's words; remembers what was cancelled."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    async def run(self, request: Request) -> AsyncIterator[Event]:
        match request:
            case Ask(question="forever"):
                yield Status(stage="search")
                try:
                    await asyncio.sleep(3600)
                finally:
                    self.cancelled.set()
            case Ask():
                for word in request.question.split():
                    yield Delta(text=word)
            case Search():
                raise ConfigError("no such knowledge base")
            case _:
                return


async def asked(backend: Remote | Gateway, question: str) -> list[Event]:
    return [event async for event in backend.run(Ask(question=question))]


@pytest.fixture
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    # A short name: most of these tests are about sockets whose path fits.
    return tmp_path_factory.mktemp("s")


async def test_a_request_is_answered_through_the_socket(data_dir: pathlib.Path) -> None:
    async with serve(Echo(), data_dir) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert socket_in(data_dir) == path
        remote = Remote(path)
        assert await asked(remote, "a 年假 c") == [Delta(text="a"), Delta(text="年假"), Delta(text="c")]
        assert [event async for event in remote.run(ListSources())] == []
        with pytest.raises(ConfigError, match="no such knowledge base"):
            _ = [event async for event in remote.run(Search(query="x"))]
        many = await asyncio.gather(*(asked(remote, f"q{n}") for n in range(20)))
        assert many == [[Delta(text=f"q{n}")] for n in range(20)]
    assert socket_in(data_dir) is None
    assert not path.exists()


async def test_long_messages_pass(data_dir: pathlib.Path) -> None:
    async with serve(Echo(), data_dir) as path:
        word = "x" * 3_000_000
        assert await asked(Remote(path), word) == [Delta(text=word)]


async def test_a_client_that_goes_away_cancels_its_request(data_dir: pathlib.Path) -> None:
    echo = Echo()
    async with serve(echo, data_dir) as path:
        events = Remote(path).run(Ask(question="forever"))
        assert await anext(events) == Status(stage="search")
        await events.aclose()  # type: ignore[attr-defined]
        await asyncio.wait_for(echo.cancelled.wait(), 5)


async def test_closing_ends_what_is_under_way(data_dir: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    async with contextlib.AsyncExitStack() as stack:
        path = await stack.enter_async_context(serve(Echo(), data_dir))
        events = Remote(path).run(Ask(question="forever"))
        await anext(events)
        await stack.aclose()
        with pytest.raises(StoreError):
            await anext(events)
    assert not caplog.records, "whoever stops Citebot reads no trace"


async def test_rubbish_harms_nobody(data_dir: pathlib.Path) -> None:
    async with serve(Echo(), data_dir) as path:
        for rubbish in (b"", b"\n", b"GET / HTTP/1.1\r\n\r\n", b"{}\n", b"half a line"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(rubbish)
            writer.write_eof()
            await reader.read()
            writer.close()
        assert await asked(Remote(path), "still here") == [Delta(text="still"), Delta(text="here")]


async def test_a_long_path_falls_back_to_a_short_one(data_dir: pathlib.Path) -> None:
    deep = data_dir / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    async with serve(Echo(), deep) as path:
        assert len(os.fsencode(path)) <= LONGEST_PATH
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        found = socket_in(deep)
        assert found == path
        assert await asked(Remote(path), "a") == [Delta(text="a")]
    assert socket_in(deep) is None
    assert not path.parent.exists()


def test_a_stale_socket_counts_as_none(data_dir: pathlib.Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(data_dir / "citebot.sock"))
    left.close()
    assert (data_dir / "citebot.sock").exists()
    assert socket_in(data_dir) is None
    (data_dir / "citebot.sock").unlink()
    (data_dir / "citebot.sock").write_text("not a socket")
    assert socket_in(data_dir) is None


@contextlib.asynccontextmanager
async def echo() -> AsyncGenerator[Echo]:
    yield Echo()


async def test_the_gateway_takes_the_lock_for_a_short_life(data_dir: pathlib.Path) -> None:
    async with Gateway(data_dir / "new", echo, command="ask") as first:
        assert await asked(first, "a") == [Delta(text="a")]
        async with Gateway(data_dir / "new", echo, command="ask", wait=0.3) as second:
            with pytest.raises(BusyError):
                await asked(second, "b")
    async with Gateway(data_dir / "new", echo, command="ask", wait=0) as third:
        assert await asked(third, "c") == [Delta(text="c")]


async def test_another_command_waits_for_a_short_life(data_dir: pathlib.Path) -> None:
    async with Gateway(data_dir, echo, command="ask", wait=10) as second:
        async with Gateway(data_dir, echo, command="ask") as first:
            await asked(first, "a")
            waiting = asyncio.create_task(asked(second, "b"))
            await asyncio.sleep(0.3)
            assert not waiting.done()
        assert await asyncio.wait_for(waiting, 10) == [Delta(text="b")]


HOLDER = """
    import asyncio, contextlib, pathlib, sys
    from bots.service import Gateway
    from bots.requests import Ask
    from ragcore.types import Delta

    class Backend:
        async def run(self, request):
            yield Delta(text=f"holder {request.question}")

    @contextlib.asynccontextmanager
    async def backend():
        yield Backend()

    async def main():
        async with Gateway(pathlib.Path(sys.argv[1]), backend, command="chat", serving=True) as gateway:
            await gateway.backend()
            print("up", flush=True)
            await asyncio.sleep(3600)

    asyncio.run(main())
"""


@contextlib.contextmanager
def holder(data_dir: pathlib.Path) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(data_dir)], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"up\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_other_processes_ask_the_holder_and_survive_its_death(data_dir: pathlib.Path) -> None:
    with holder(data_dir) as process:
        async with Gateway(data_dir, echo, command="ask") as gateway:
            assert await asked(gateway, "a") == [Delta(text="holder a")]
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert (data_dir / "citebot.sock").exists()
            # The stale socket is told from a living one, the lock died with its holder, and the next one serves.
            assert await asked(gateway, "b") == [Delta(text="b")]
    with holder(data_dir):
        async with Gateway(data_dir, echo, command="ask") as gateway:
            assert await asked(gateway, "c") == [Delta(text="holder c")]
