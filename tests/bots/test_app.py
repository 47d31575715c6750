"""The operations over the real parts: a folder of documents in, cited answers out, and other processes asking."""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bots.access import audience_of
from bots.app import Operations, diagnosing, open_operations
from bots.requests import (
    Ask,
    BackedUp,
    Backup,
    Check,
    Decide,
    Diagnose,
    Doubt,
    Event,
    Forget,
    Forgotten,
    Found,
    ListFeedback,
    ListSources,
    Recall,
    Recalled,
    Request,
    Search,
    SourceState,
    Sync,
    Unanswered,
)
from bots.service import socket_in
from bots.settings import Settings, load_settings
from bots.turn.claim import Outcome
from bots.turn.claims import Claims
from ragcore.errors import CitebotError, ConfigError
from ragcore.library import DATABASE
from ragcore.phrases import phrase
from ragcore.reports import SyncReport
from ragcore.stores.database import Database
from ragcore.types import Answer, ConversationKey, Support
from tests.bots.turn.helpers import HERE, message

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = """
[knowledge_bases.handbook]
readers = ["slack:T1"]
[knowledge_bases.secret]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
[[sources]]
name = "secret"
type = "files"
path = "secret"
"""
LEAVE = """# Leave policy

## Carry-over

Up to five unused leave days may be carried into the next year. They lapse on 31 March.

## Sick leave

Report sickness to your manager before 10 am.
"""


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    for name in [name for name in os.environ if name.startswith("CITEBOT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "citebot.toml").write_text(SETTINGS)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(LEAVE)
    (tmp_path / "handbook" / "休假.md").write_text("# 休假制度\n\n员工每年最多可以结转五天年假到下一年。\n")
    (tmp_path / "handbook" / "broken.docx").write_bytes(b"PK\x03\x04 nonsense")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "merger.txt").write_text("The merger with Brightwater closes on 4 May.")
    return tmp_path


@contextlib.asynccontextmanager
async def opened(
    home: pathlib.Path, *, mending: bool = True, warming: bool = False
) -> AsyncGenerator[tuple[Operations, Settings]]:
    settings = load_settings(home / "citebot.toml")
    async with open_operations(settings, mending=mending, warming=warming) as operations:
        yield operations, settings


async def told(operations: Operations, request: Request) -> list[Event]:
    return [event async for event in operations.run(request)]


async def answered(operations: Operations, request: Ask) -> Answer:
    last = (await told(operations, request))[-1]
    assert isinstance(last, Answer)
    return last


async def test_a_folder_is_answered_from(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        reports = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert [(report.source, report.added) for report in reports] == [("handbook", 2), ("secret", 1)]
        (failed,) = reports[0].failed
        assert failed.id == "handbook:broken.docx"
        assert failed.reason
        assert failed.mend

        answer = await answered(operations, Ask(question="How many unused leave days may be carried over?"))
        assert answer.support is Support.CITED
        assert answer.citations[0].document_id == "handbook:leave.md"
        assert answer.citations[0].location == "Carry-over"
        assert answer.citations[0].url.endswith("/handbook/leave.md#carry-over")
        chinese = await answered(operations, Ask(question="每年可以结转几天年假？"))
        assert chinese.citations[0].document_id == "handbook:休假.md"
        assert (await answered(operations, Ask(question="Who won the world cup in 1998?"))).abstained

        (found,) = await told(operations, Search(query="carried unused", limit=1))
        assert isinstance(found, Found)
        assert [scored.chunk.document_id for scored in found.chunks] == ["handbook:leave.md"]
        states = [event for event in await told(operations, ListSources()) if isinstance(event, SourceState)]
        assert [(state.name, state.documents) for state in states] == [("handbook", 2), ("secret", 1)]
        assert all(state.last_success for state in states)

        again = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert [(report.added, report.changed, report.unchanged) for report in again] == [(0, 0, 2), (0, 0, 1)]
        with pytest.raises(ConfigError, match="no source"):
            await told(operations, Sync(sources=("nonsense",)))


async def test_an_empty_index_and_an_unknown_document_are_told(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        answer = await answered(operations, Ask(question="How many leave days may be carried over?"))
        assert answer.abstained
        assert any("citebot sync" in note for note in answer.notes)
        for request in (
            Ask(question="?", document_ids=("handbook:no.md",)),
            Search(query="?", document_ids=("no.md",)),
        ):
            with pytest.raises(ConfigError, match=r"no document .*no\.md"):
                await told(operations, request)


async def test_a_warm_start_sends_nothing_to_the_model(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
    calls = []
    server = await asyncio.start_server(lambda *streams: calls.append(streams), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with (home / "citebot.toml").open("a") as file:
        file.write(f'[llm]\nbase_url = "http://127.0.0.1:{port}/v1"\nmodel = "m"\n')
    async with server, opened(home, warming=True) as (operations, _):
        assert operations._warming is not None
        await asyncio.wait_for(operations._warming, 60)
        assert not calls
    async with opened(home, warming=True) as (operations, _):
        pass  # it is ended early, without a word


async def test_without_a_source_the_first_step_is_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "citebot.toml").write_text("")
    async with opened(tmp_path) as (operations, _):
        assert "citebot init" in (await answered(operations, Ask(question="How many days?"))).notes[-1]


async def test_readers_are_answered_from_what_they_may_read(home: pathlib.Path) -> None:
    question = "When does the merger with Brightwater close?"
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        assert (await answered(operations, Ask(question=question))).citations[0].document_id == "secret:merger.txt"
        member = await answered(operations, Ask(question=question, audience=audience_of("slack:T1/@U1")))
        assert not [scored for scored in member.chunks if scored.chunk.document_id.startswith("secret:")]
        outside = Ask(question=question, audience=audience_of("slack:T2"), may_mend=True)
        stranger = await answered(operations, outside)
        assert stranger.chunks == ()
        assert stranger.abstained
        assert 'under [knowledge_bases.handbook]: readers = ["slack:T1", "slack:T2"]' in stranger.notes[-1]
        assert not (await answered(operations, replace(outside, may_mend=False))).notes
        narrowed = Ask(question=question, audience=audience_of("slack:T1"), knowledge_bases=("secret",))
        assert (await answered(operations, narrowed)).chunks == ()
        with pytest.raises(ConfigError, match="no knowledge base"):
            await told(operations, Ask(question=question, knowledge_bases=("nonsense",)))


async def test_searches_and_sources_keep_to_the_audience(home: pathlib.Path) -> None:
    member, stranger = audience_of("slack:T1/@U1"), audience_of("slack:T2")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for audience, bases in ((None, {"handbook", "secret"}), (member, {"handbook"}), (stranger, set())):
            (found,) = await told(operations, Search(query="merger leave Brightwater days", audience=audience))
            assert isinstance(found, Found)
            assert {scored.chunk.knowledge_base for scored in found.chunks} == bases
            states = await told(operations, ListSources(audience=audience))
            assert {state.knowledge_base for state in states if isinstance(state, SourceState)} == bases


async def test_a_conversation_is_remembered_and_forgotten(home: pathlib.Path) -> None:
    here = ConversationKey(platform="terminal", thread="1")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for question in ("How many leave days may be carried over?", "And sickness?"):
            await answered(operations, Ask(question=question, conversation=here))
        await answered(operations, Ask(question="Not remembered?"))
        assert await told(operations, Forget(conversation=here)) == [Forgotten(turns=2)]
        assert await told(operations, Forget(conversation=here)) == [Forgotten(turns=0)]


async def test_a_question_left_unanswered_is_listed_until_it_is_forgotten(home: pathlib.Path) -> None:
    async with opened(home) as (operations, settings):
        database = await Database.open(settings.data_dir / DATABASE)
        claims = Claims(database)
        claim = await claims.claim(message("a", text="How many?"))
        assert claim is not None
        await claims.finish(claim, Outcome.ABSTAINED)
        await database.close()
        (unanswered,) = await told(operations, ListFeedback())
        assert isinstance(unanswered, Unanswered)
        assert (unanswered.question, unanswered.outcome) == ("How many?", "abstained")
        await told(operations, Forget(conversation=HERE, reference=claim.reference))
        assert await told(operations, ListFeedback()) == [unanswered]
        await told(operations, Forget(conversation=HERE))
        assert await told(operations, ListFeedback()) == []


async def test_a_turn_is_told_again_to_those_who_may_read_it(home: pathlib.Path) -> None:
    here = ConversationKey(platform="slack", workspace="T1", channel="C1")
    member, stranger = audience_of("slack:T1/@U1"), audience_of("slack:T2")
    question = "How many unused leave days may be carried over?"
    ask = Ask(question=question, conversation=here, reference="0123abcd", audience=member, private_to="U1")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        events = await told(operations, ask)
        answer = events[-1]
        assert isinstance(answer, Answer)
        (recalled,) = await told(operations, Recall(reference="0123abcd", audience=member))
        whole = Recalled(question=question, answer=answer.raw_text, citations=answer.citations)
        assert recalled == whole
        (recalled,) = await told(operations, Recall(reference="0123abcd", audience=stranger))
        assert recalled == replace(whole, citations=(), withheld=1)
        (recalled,) = await told(
            operations, Recall(reference="0123abcd", audience=member, documents=("secret:merger.txt",))
        )
        assert recalled == replace(whole, withheld=1)
        assert await told(operations, Recall(reference="ffffffff")) == []
        assert await told(operations, Forget(conversation=here, reference="0123abcd")) == [Forgotten(turns=1)]


async def test_much_is_deleted_only_when_agreed(home: pathlib.Path) -> None:
    for number in range(14):
        (home / "handbook" / f"page-{number}.txt").write_text(f"Page {number} says something.")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for number in range(14):
            (home / "handbook" / f"page-{number}.txt").unlink()

        async def full(agreed: bool) -> SyncReport:
            reports = []
            async for event in operations.run(Sync(sources=("handbook",), full=True, ask_first=True)):
                if isinstance(event, Doubt):
                    assert (event.source, event.documents) == ("handbook", 14)
                    await told(operations, Decide(doubt=event.id, agreed=agreed))
                elif isinstance(event, SyncReport):
                    reports.append(event)
            return reports[0]

        (guarded,) = [e for e in await told(operations, Sync(sources=("handbook",))) if isinstance(e, SyncReport)]
        assert guarded.deleted == 0
        assert guarded.warnings
        assert (await full(agreed=False)).deleted == 0
        assert (await full(agreed=True)).deleted == 14


async def test_documents_of_a_source_without_settings_are_told_and_go_with_a_full_run(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
    (home / "citebot.toml").write_text(SETTINGS.rpartition("[[sources]]")[0])
    async with opened(home) as (operations, _):
        reports = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert reports[-1].source == "secret"
        assert "sync --full" in reports[-1].warnings[0]
        reports = [event for event in await told(operations, Sync(full=True)) if isinstance(event, SyncReport)]
        assert (reports[-1].source, reports[-1].deleted) == ("secret", 1)


async def test_the_doctor_tells_of_unused_vectors_when_they_take_much_room(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())

        async def line() -> list[str]:
            checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
            return [check.found for check in checks if check.name == "unused vectors"]

        assert await line() == []
        monkeypatch.setattr(diagnosing, "_MUCH", 1)
        assert await line() == []
        for file in (home / "handbook").glob("*.md"):
            file.write_text("# Another text\n\nOf which nobody had heard.")
        await told(operations, Sync())
        (found,) = await line()
        assert "no document uses" in found


def _spoil(data_dir: pathlib.Path) -> None:
    """Write rubbish over what both indexes can't do without."""
    for file in (data_dir / "keywords" / "meta.json", *(data_dir / "chroma").rglob("*.*")):
        if file.is_file():
            file.write_bytes(b"damaged" * 50)


async def test_the_doctor_finds_a_damaged_index_and_mends_it(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        assert {check.state for check in checks if check.name.startswith("index")} == {"ok"}
        assert all(check.mend for check in checks if check.state != "ok")
    _spoil(home / ".citebot")
    async with opened(home, mending=False) as (operations, _):
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        damaged = {check.name: check for check in checks if check.name.startswith("index")}
        assert {"index: keywords", "index: vectors of handbook"} <= damaged.keys()
        for check in damaged.values():
            assert check.state == "fail"
            assert check.found.startswith("it is damaged: ")
            assert "--repair" in check.mend
        checks = [event for event in await told(operations, Diagnose(repair=True)) if isinstance(event, Check)]
        mended = {check.name: (check.state, check.found) for check in checks if check.name.startswith("index")}
        assert mended == dict.fromkeys(damaged, ("ok", "it was damaged, and has been built anew"))
    _spoil(home / ".citebot")
    # Every other start mends by itself.
    async with opened(home) as (operations, _):
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        assert {check.state for check in checks if check.name.startswith("index")} == {"ok"}
        (file,) = await told(operations, Backup(path=str(home / "backup.zip")))
        assert isinstance(file, BackedUp)
        assert (file.documents, (home / "backup.zip").stat().st_size) == (3, file.size)
        (home / "handbook").rename(home / "gone")
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        (source,) = [check for check in checks if check.name == "source handbook"]
        assert source.state == "fail"


async def test_what_nobody_foresaw_is_told_with_a_reference(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(home) as (operations, _):
        monkeypatch.setattr(operations, "_readable", lambda *_: 1 / 0)
        with pytest.raises(CitebotError, match=r"reference [0-9a-f]{8}") as error:
            await told(operations, Search(query="x"))
        assert "division" not in str(error.value)
        assert "ZeroDivisionError" in caplog.text


def citebot(home: pathlib.Path, *args: str, **more: object) -> "subprocess.Popen[str]":
    env = {name: value for name, value in os.environ.items() if not name.startswith("CITEBOT_")}
    return subprocess.Popen(
        [sys.executable, "-m", "bots", *args],
        cwd=home,
        env={**env, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,  # type: ignore[call-overload]
    )


def done(home: pathlib.Path, *args: str, given: str = "") -> tuple[int, str, str]:
    process = citebot(home, *args)
    out, err = process.communicate(given, timeout=100)
    return process.returncode, out, err


async def test_from_the_command_line(home: pathlib.Path) -> None:
    (home / "handbook" / "broken.docx").unlink()
    code, out, err = await asyncio.to_thread(done, home, "sync")
    assert (code, err) == (0, "Syncing handbook ...\nSyncing secret ...\n")
    assert "handbook: 2 added, 0 unchanged" in out
    code, out, err = await asyncio.to_thread(
        done, home, "chat", given="How many leave days carry over?\n每年可以结转几天年假？\n"
    )
    assert (code, err) == (0, "")
    assert "\n[1] Leave policy, Carry-over  leave.md\n" in out
    assert out.count(phrase("no_model", "en")) + out.count(phrase("no_model", "zh")) == 1

    # One process holds the data without end, and the others go through it.
    holder = citebot(home, "chat")
    try:
        for _ in range(200):
            if await asyncio.to_thread(socket_in, home / ".citebot"):
                break
            await asyncio.sleep(0.1)
        code, out, err = await asyncio.to_thread(done, home, "ask", "--json", "How many leave days carry over?")
        assert (code, err) == (0, "")
        assert json.loads(out)["citations"][0]["document_id"] == "handbook:leave.md"
        code, _, _ = await asyncio.to_thread(done, home, "sync", "--json")
        assert code == 0
        code, _, err = await asyncio.to_thread(done, home, "restore", "citebot.toml")
        assert code == 1
        assert "`citebot chat`" in err
        # Killed, it leaves a stale socket behind, which stops nobody.
        holder.send_signal(signal.SIGKILL)
    finally:
        holder.kill()
        holder.communicate()
    assert socket_in(home / ".citebot") is None
    code, out, err = await asyncio.to_thread(done, home, "sources", "--json")
    assert (code, err) == (0, "")
    assert [source["documents"] for source in json.loads(out)] == [2, 1]
