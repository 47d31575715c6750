"""``graph`` and ``answer.use_kg`` as an operator and an asker see them: read out once, cited, and survived by a crash."""

import asyncio
import contextlib
import json
import pathlib
import re
import signal
import sys

import pytest

from bots.requests import Ask, Sync
from ragcore.reports import EnrichReport
from tests.bots.handbook import answered, opened, told
from tests.fakes.openai_server import Hang, OpenAIServer, Reply, Request
from tests.fakes.running import command, environment
from tests.fakes.waiting import until
from tests.ragcore.graph.telling import read_out

SETTINGS = """
[llm]
base_url = "{url}"
model = "fake"
[answer]
use_kg = {use_kg}
top_n = 1
[knowledge_bases.handbook]
graph = true
readers = ["slack:T1"]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""
TEXTS = {
    "company": "# Company\n\nAnn Lee founded Brightwater, which trades in fruit and in fish.\n",
    "harbour": "# Harbour\n\nBrightwater owns Pier Nine, where ships are unloaded day and night.\n",
    "map": "# Map\n\nPort Elm borders Pier Nine, and has a church, a school and a market.\n",
}
QUESTION = "Which town borders the pier that Brightwater owns?"
TOWN = "Port Elm borders Pier Nine"


def reply(request: Request) -> Reply:
    """Read names out of a passage; answer a question from the first block that tells of the town."""
    rules = request.texts[0]
    if "for a knowledge graph" in rules:
        return Reply(text=read_out(rules, request.texts[-1]))
    blocks = re.split(r"^ID: (\d+)$", "\n".join(request.texts), flags=re.MULTILINE)
    told_in = [int(n) for n, text in zip(blocks[1::2], blocks[2::2], strict=True) if TOWN in text]
    return Reply(text=f"{TOWN}. [ID:{told_in[0]}]" if told_in else "Brightwater owns Pier Nine. [ID:0]")


def set_up(home: pathlib.Path, url: str, *, use_kg: bool = True) -> None:
    (home / "handbook").mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (home / "handbook" / f"{name}.md").write_text(text, encoding="utf-8")
    settings = SETTINGS.format(url=url, use_kg=str(use_kg).lower())
    (home / "citebot.toml").write_text(settings, encoding="utf-8")


@pytest.mark.parametrize("use_kg", [True, pytest.param(False, marks=pytest.mark.soak)])
async def test_what_lies_two_steps_away_is_answered_and_cited(tmp_path: pathlib.Path, use_kg: bool) -> None:
    async with OpenAIServer(reply) as server:
        set_up(tmp_path, server.base_url, use_kg=use_kg)
        async with opened(tmp_path) as (operations, _):
            *_, report = await told(operations, Sync(enrich=True))
            assert isinstance(report, EnrichReport)
            assert (report.documents, report.usage.calls, report.failed) == (3, 3, ())
            for audience in (None, frozenset({"slack:T1"})):
                answer = await answered(operations, Ask(question=QUESTION, audience=audience))
                cited = {citation.document_id for citation in answer.citations}
                assert ("handbook:map.md" in cited) is use_kg
                assert all(citation.quote in "".join(TEXTS.values()) for citation in answer.citations)
                assert not any("-graph" in citation.chunk_id for citation in answer.citations)
            asked = len(server.requests)
            await told(operations, Sync(enrich=True))
            assert len(server.requests) == asked


@pytest.mark.soak
async def test_a_kill_in_the_middle_asks_nothing_twice(tmp_path: pathlib.Path) -> None:
    async with OpenAIServer(reply) as server:
        set_up(tmp_path, server.base_url)
        for number in range(8):
            text = f"# Pier\n\nBrightwater owns Pier Nr{number}.\n"
            (tmp_path / "handbook" / f"{number}.md").write_text(text, encoding="utf-8")
        answering = iter([True] * 4)
        server.default = lambda request: reply(request) if next(answering, False) else Hang()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bots", "sync"),
            cwd=tmp_path,
            env=environment(),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await until(lambda: len(server.requests) == 8, 60.0)
            process.send_signal(signal.SIGKILL)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        server.default = reply
        status, out, err = await command(tmp_path, environment(), "sync", "--json")
        assert status == 0, err
        enriched = json.loads(out)[-1]
        assert (enriched["enriched"], enriched["chunks"], enriched["cached"]) == (11, 11, 4)
        assert len(server.requests) == 8 + 7
        async with opened(tmp_path) as (operations, _):
            answer = await answered(operations, Ask(question=QUESTION))
            assert "handbook:map.md" in {citation.document_id for citation in answer.citations}
