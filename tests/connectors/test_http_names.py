"""A name whose server does not answer holds up nothing but whoever asks for it."""

import asyncio
import socket
import threading

import pytest

from connectors.http import HttpClient, HttpOptions
from connectors.http.names import MOST, Names
from ragcore.errors import SourceUnreachable
from tests.fakes.website import Website


@pytest.fixture
def silent(monkeypatch):
    """Let names that end in ``.silent`` get no answer until the event is set."""
    real, answered = socket.getaddrinfo, threading.Event()

    def getaddrinfo(host, port, *how, **named):
        if not host.endswith(".silent"):
            return real(host, port, *how, **named)
        answered.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield answered
    answered.set()
    for thread in threading.enumerate():
        if thread.name == "names":
            thread.join()


async def test_what_blocks_finds_threads_while_names_get_no_answer(silent):
    async with HttpClient(HttpOptions(timeout=60)) as http:
        asking = [asyncio.create_task(http.get(f"http://n{number}.silent/", limit=9)) for number in range(MOST)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: 7), 20) == 7
        for task in asking:
            task.cancel()
        assert all(
            isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*asking, return_exceptions=True)
        )


async def test_names_without_number_are_refused_until_others_are_answered(silent):
    names = Names()
    asking = [asyncio.create_task(names.resolve(f"n{number}.silent", 80)) for number in range(MOST)]
    await asyncio.sleep(0)
    async with HttpClient(HttpOptions()) as http:
        with pytest.raises(SourceUnreachable):
            await http.get("http://another.silent/", limit=9)
    silent.set()
    assert {found["host"] for one in await asyncio.gather(*asking) for found in one} == {"127.0.0.1"}
    assert await names.resolve("one.silent", 80)


@pytest.mark.parametrize(
    "error",
    [socket.gaierror(socket.EAI_NONAME, "Name or service not known"), UnicodeEncodeError("idna", "a", 0, 1, "label too long")],
    ids=["unknown", "none"],
)  # fmt: skip
async def test_a_name_that_is_not_known_or_none_is_told(monkeypatch, error):
    def getaddrinfo(*how, **named):
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    async with HttpClient(HttpOptions()) as http:
        with pytest.raises(SourceUnreachable, match=r"host name of .* is not known"):
            await http.get("http://nowhere.example/", limit=9)


async def test_names_of_this_machine_are_found():
    async with Website() as site, HttpClient(HttpOptions(addresses=None)) as http:
        site.page("/", "here")
        assert (await http.get(f"http://localhost:{site.port}/", limit=9)).content == b"here"
