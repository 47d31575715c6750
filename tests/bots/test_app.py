"""The operations over the real parts: a folder of documents in, cited answers out, and other processes asking."""

import asyncio
import json
import pathlib
import signal
import subprocess

import pytest

from bots.requests import (
    Ask,
    Found,
    ListSources,
    Search,
    SourceState,
    Sync,
)
from bots.service import socket_in
from ragcore.errors import CitebotError, ConfigError
from ragcore.phrases import phrase
from ragcore.reports import SyncReport
from ragcore.types import Support
from tests.bots.handbook import answered, done, opened, told
from tests.fakes.running import start_command


async def test_a_folder_is_answered_from(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        reports = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert [(report.source, report.added) for report in reports] == [("handbook", 2), ("secret", 1)]
        (failed,) = reports[0].failed
        assert failed.id == "handbook:broken.json"
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


async def test_what_nobody_foresaw_is_told_with_a_reference(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(home) as (operations, _):
        monkeypatch.setattr(operations, "_readable", lambda *_: 1 / 0)
        with pytest.raises(CitebotError, match=r"reference [0-9a-f]{8}") as error:
            await told(operations, Search(query="x"))
        assert "division" not in str(error.value)
        assert "ZeroDivisionError" in caplog.text


@pytest.mark.soak
async def test_from_the_command_line(home: pathlib.Path) -> None:
    (home / "handbook" / "broken.json").unlink()
    code, out, err = await asyncio.to_thread(done, home, "sync")
    assert (code, sorted(err.splitlines())) == (0, ["Syncing handbook ...", "Syncing secret ..."])  # side by side
    assert "handbook: 2 added in" in out
    code, out, err = await asyncio.to_thread(
        done, home, "chat", given="How many leave days carry over?\n每年可以结转几天年假？\n"
    )
    assert (code, err) == (0, "")
    assert "\n[1] Leave policy, Carry-over  leave.md\n" in out
    assert out.count(phrase("no_model", "en")) + out.count(phrase("no_model", "zh")) == 1

    # One process holds the data without end, and the others go through it.
    holder = start_command(home, "chat", stdin=subprocess.PIPE)
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
