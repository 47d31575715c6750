"""The command ``sync`` in a chat: admins alone, at once where it is quick, and behind the reply where it isn't."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.platform import Asker
from bots.requests import Event, Request, Sync
from bots.turn.syncing import WAIT, named
from bots.words.sentences import word
from ragcore.errors import ConfigError
from ragcore.reports import FailedDocument, SyncProgress, SyncReport
from tests.bots.turn.flows import Model, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run

ADMIN, OTHER = Asker(id="9", language="en"), Asker(id="U1", language="en")


class Sources(Model):
    """Two sources, whose runs take some seconds."""

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__()
        self.seconds, self.synced, self.ended = seconds, list[Sync](), 0

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if not isinstance(request, Sync):
            async for event in super().run(request):
                yield event
            return
        self.synced.append(request)
        if "nonsense" in request.sources:
            raise ConfigError("there is no source 'nonsense' (there is: wiki, notes)")
        yield SyncProgress(source="wiki", done=1)
        await asyncio.sleep(self.seconds)
        failed = FailedDocument(id="wiki:x", reason="it is encrypted", mend="save it anew")
        yield SyncReport(source="wiki", added=1, changed=2, deleted=3, unchanged=4, failed=(failed,))
        yield SyncReport(source="notes", error="the folder is not there")
        self.ended += 1


def told_to(asker: Asker, text: str, model: Sources, *, private: bool = True) -> str:
    async def talk() -> str:
        async with flowing(model=model) as flow:
            await flow.turns.receive(replace(asked(text), asker=asker, private=private))
            await flow.idle()
            (told,) = flow.texts("q1")
            return str(told)

    return run(talk())


def test_an_admin_is_told_what_became_of_each_source() -> None:
    model = Sources()
    told = told_to(ADMIN, "sync", model)
    assert "1 added, 2 changed, 3 deleted, 4 unchanged, 1 failed" in told
    assert "the folder is not there" in told
    assert model.synced == [Sync()]


@pytest.mark.parametrize("text", ["/sync wiki notes", "/sync wiki, notes"])
def test_sources_may_be_named(text: str) -> None:
    model = Sources()
    told_to(ADMIN, text, model)
    assert model.synced == [Sync(sources=("wiki", "notes"))]


def test_a_source_that_is_not_there_is_told_with_those_that_are() -> None:
    assert "there is: wiki, notes" in told_to(ADMIN, "/sync nonsense", Sources())


@pytest.mark.parametrize("seconds", [0.1, WAIT / 2])
def test_whoever_else_sees_the_reply_learns_of_no_source_and_no_document(seconds: float) -> None:
    model = Sources(seconds)
    told = told_to(ADMIN, "sync", model, private=False)
    assert word("sync_begun", "en", names="").replace("  ", " ") in told
    assert not [name for name in ("wiki", "notes", "added", "folder") if name in told]
    assert model.synced == [Sync()]


def test_whoever_else_sees_that_a_source_is_not_there_learns_of_none_that_is() -> None:
    told = told_to(ADMIN, "/sync nonsense", Sources(), private=False)
    assert word("sync_none") in told
    assert "wiki" not in told


def test_nobody_else_may() -> None:
    model = Sources()
    assert word("sync_admins") in told_to(OTHER, "sync", model)
    assert not model.synced


def test_a_question_that_begins_with_the_word_is_a_question() -> None:
    model = Sources()
    told_to(ADMIN, "sync my calendar with the handbook?", model)
    assert not model.synced


def test_a_long_run_goes_on_behind_the_reply() -> None:
    async def talk() -> None:
        model = Sources(seconds=10 * WAIT)
        async with flowing(model=model) as flow:
            await flow.turns.receive(replace(asked("/sync wiki"), asker=ADMIN))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert "Syncing wiki" in told
            assert model.ended == 0
            await asyncio.sleep(10 * WAIT)
            assert model.ended == 1

    run(talk())


def test_a_process_that_ends_breaks_it_off() -> None:
    async def talk() -> None:
        model = Sources(seconds=10 * WAIT)
        async with flowing(model=model) as flow:
            await flow.turns.receive(replace(asked("sync"), asker=ADMIN))
            await flow.idle()
        await asyncio.sleep(20 * WAIT)
        assert (len(model.synced), model.ended) == (1, 0)

    run(talk())


SOURCES = ("wiki", "notes", "Staff handbook", "Staff", "a, b")


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ()),
        ("wiki notes", ("wiki", "notes")),
        ("wiki,notes wiki", ("wiki", "notes")),
        ("Staff handbook", ("Staff handbook",)),
        ("Staff wiki", ("Staff", "wiki")),
        ("wiki Staff  handbook notes", ("wiki", "Staff handbook", "notes")),
        ("a, b", ("a, b",)),
        ("nonsense, Staff handbook", ("nonsense", "Staff handbook")),
    ],
)
def test_names_are_found_in_what_is_typed(typed: str, names: tuple[str, ...]) -> None:
    assert named(typed, SOURCES) == names
    assert named(f"  {typed} ", SOURCES) == names


@pytest.mark.parametrize("sticks", [False, True])
def test_a_process_that_ends_does_not_wait_for_a_run_that_does_not(sticks: bool) -> None:
    class Stuck(Sources):
        async def run(self, request: Request) -> AsyncIterator[Event]:
            try:
                async for event in super().run(request):
                    yield event
            finally:
                if isinstance(request, Sync) and sticks:
                    await asyncio.sleep(3_600)  # its database hangs

    async def talk() -> None:
        loop = asyncio.get_running_loop()
        async with flowing(model=Stuck(seconds=10 * WAIT)) as flow:
            await flow.turns.receive(replace(asked("sync"), asker=ADMIN))
            await flow.idle()
            began = loop.time()
            await flow.turns.close(0.0)
            assert loop.time() - began < 3.0

    run(talk())
