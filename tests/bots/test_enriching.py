"""Enrichment as the engineer who runs it sees it: its cost before and after, a crash in it, and the background."""

import asyncio
import json
import pathlib
from collections.abc import AsyncIterator

import docx
import pytest

from bots.cli.forms import enrich_form
from bots.cli.syncing import _show_enriched
from bots.requests import Check, Diagnose, Search, Sync
from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.reports import EnrichReport, SyncReport
from tests.bots.handbook import LEAVE, opened, told
from tests.fakes.openai_server import Failure, Hang, OpenAIServer, Reply, Request
from tests.fakes.running import begun, command, environment, running
from tests.fakes.waiting import until
from tests.ragcore.parsing.makers import lines, pdf

SETTINGS = """
[llm]
base_url = "{url}"
model = "fake"
[knowledge_bases.handbook]
auto_keywords = 2
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""


def reply(request: Request) -> Reply:
    """Name the last word of the passage, and its first."""
    words = request.texts[-1].splitlines()[-1].rstrip(".").split()
    return Reply(text=f"{words[-1]}, {words[0]}")


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(reply) as server:
        yield server


@pytest.fixture
def home(tmp_path: pathlib.Path, model: OpenAIServer) -> pathlib.Path:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(LEAVE, encoding="utf-8")
    (tmp_path / "citebot.toml").write_text(SETTINGS.format(url=model.base_url), encoding="utf-8")
    return tmp_path


def asked(model: OpenAIServer) -> list[tuple[str, ...]]:
    return [tuple(request.texts) for request in model.requests]


@pytest.mark.soak
async def test_the_cost_is_told_before_and_after_and_nothing_is_paid_twice(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    async def sync(*options: str) -> tuple[int, dict[str, object], str]:
        status, out, err = await command(home, environment(), "sync", "--json", *options)
        (report,) = [one for one in json.loads(out) if "enriched" in one] or [{}]
        return status, report, err

    status, before, _ = await sync("--dry-run")
    assert (status, before["dry_run"], before["enriched"], before["usage"]["calls"]) == (0, True, 1, 2)  # type: ignore[index]
    assert not model.requests
    status, after, _ = await sync()
    assert status == 0
    assert (after["enriched"], after["chunks"], after["usage"]["calls"], after["failed"]) == (1, 2, 2, [])  # type: ignore[index]
    assert after["usage"]["prompt_tokens"] > 100  # type: ignore[index]
    assert len(model.requests) == 2
    status, again, _ = await sync()
    assert (status, again, len(model.requests)) == (0, {}, 2)
    _, shown, _ = await command(home, environment(), "sync", "--dry-run")
    assert "enriching 0 documents (0 chunks) would take about 0 calls" in shown


@pytest.mark.soak
async def test_a_kill_in_the_middle_asks_nothing_twice(home: pathlib.Path, model: OpenAIServer) -> None:
    for number in range(12):
        (home / "handbook" / f"{number}.md").write_text(f"# Room {number}\n\nRoom {number} holds {number} people.\n")
    model.queue(*(Reply(text="Room, people, leave, sickness") for _ in range(5)), *(Hang() for _ in range(4)))
    async with begun(home, "sync"):
        await until(lambda: len(model.requests) == 9, 60.0)
    answered = set(asked(model)[:5])
    status, out, err = await command(home, environment(), "sync", "--json")
    assert status == 0, err
    report = json.loads(out)[-1]
    assert (report["enriched"], report["chunks"], report["cached"]) == (13, 14, 5)
    assert not answered & set(asked(model)[9:])
    assert len(set(asked(model))) == 14
    assert len(model.requests) == 9 + 9


@pytest.mark.soak
async def test_a_kill_amid_the_overviews_of_a_knowledge_base_asks_nothing_twice(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    settings = (home / "citebot.toml").read_text().replace("auto_keywords = 2", 'raptor = "knowledge_base"')
    (home / "citebot.toml").write_text(settings)
    for number in range(40):
        (home / "handbook" / f"{number}.md").write_text(f"# Room {number}\n\nRoom {number} holds {number} people.\n")
    model.default = Reply(text="A room holds people.")
    model.queue(*(Reply(text="A room holds people.") for _ in range(2)), *(Hang() for _ in range(4)))

    async def report(*options: str) -> dict[str, object]:
        status, out, err = await command(home, environment(), "sync", "--json", *options)
        assert status == 0, err
        found: list[dict[str, object]] = [one for one in json.loads(out) if "enriched" in one]
        return found[-1] if found else {}

    before = await report("--dry-run")
    assert 8 <= before["usage"]["calls"] <= 20  # type: ignore[index]
    async with begun(home, "sync"):
        await until(lambda: len(model.requests) == 6, 60.0)
    answered = set(asked(model)[:2])
    done = await report()
    again = asked(model)[6:]
    assert not answered & set(again)
    assert (done["cached"], done["failed"]) == (2, [])
    assert done["summaries"] == done["usage"]["calls"] + 2 == len(again) + 2  # type: ignore[index]
    count = len(model.requests)
    assert await report() == {}
    assert (await report("--dry-run"))["usage"]["calls"] == 0  # type: ignore[index]
    assert len(model.requests) == count


async def test_an_operation_enriches_what_it_synced_and_searches_by_it(home: pathlib.Path, model: OpenAIServer) -> None:
    model.default = lambda request: Reply(text="unused leave, vacation days")
    async with opened(home) as (operations, _):
        events = await told(operations, Sync(enrich=True))
        reports = [event for event in events if isinstance(event, SyncReport | EnrichReport)]
        assert [type(report) for report in reports] == [SyncReport, EnrichReport]
        (found,) = await told(operations, Search(query="vacation"))
        assert [scored.chunk.document_id for scored in found.chunks][:1] == ["handbook:leave.md"]  # type: ignore[union-attr]
        assert "vacation" not in found.chunks[0].chunk.text  # type: ignore[union-attr]
        assert found.chunks[0].chunk.keywords == ("unused leave", "vacation days")  # type: ignore[union-attr]


async def test_what_is_due_and_changes_is_foreseen_once(home: pathlib.Path, model: OpenAIServer) -> None:
    """A document that lacks something counts as it comes, not as it is too; one that is gone counts no more."""
    folder = home / "handbook"
    for name in ("rooms", "trips"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThere are {name}.\n")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        (folder / "leave.md").write_text(LEAVE.replace("five", "six"), encoding="utf-8")
        (folder / "trips.md").unlink()
        (folder / "new.md").write_text("# New\n\nThis is new.\n")
        *_, before = await told(operations, Sync(enrich=True, dry_run=True))
        assert isinstance(before, EnrichReport)
        *_, after = await told(operations, Sync(enrich=True))
        assert isinstance(after, EnrichReport)
        assert before.documents == after.documents == 3
        assert abs(before.usage.calls - after.usage.calls) <= 1  # how long the new one is nobody knows


async def test_what_is_new_is_foreseen_by_how_it_will_be_cut(home: pathlib.Path, model: OpenAIServer) -> None:
    """As many calls as the sync makes, also where nothing is indexed: of texts, rows, pages and paragraphs."""
    folder = home / "handbook"
    sentences = [f"Room {number} on floor {number // 10} holds {number % 7 + 2} people." for number in range(120)]
    (folder / "rooms.txt").write_text("\n\n".join(sentences), encoding="utf-8")
    rows = [f"How large is room {number}?,It holds {number % 7 + 2} people." for number in range(20)]
    (folder / "faq.csv").write_text("\n".join(["question,answer", *rows]), encoding="utf-8")
    (folder / "plan.pdf").write_bytes(pdf([lines(sentences[at : at + 40]) for at in range(0, 120, 40)]))
    paper = docx.Document()
    for sentence in sentences:
        paper.add_paragraph(sentence)
    paper.save(str(folder / "plan.docx"))
    settings = (home / "citebot.toml").read_text()
    model.default = Reply(text="room, people, leave, sick")
    chunking = 'chunking = {"*.csv" = "qa", "*" = "naive"}\nauto_keywords = 2'
    (home / "citebot.toml").write_text(settings.replace("auto_keywords = 2", chunking))
    async with opened(home) as (operations, _):
        *_, before = await told(operations, Sync(enrich=True, dry_run=True))
        assert not model.requests
        *_, after = await told(operations, Sync(enrich=True))
        assert isinstance(before, EnrichReport)
        assert isinstance(after, EnrichReport)
        assert (before.documents, before.chunks) == (after.documents, after.chunks)
        assert before.usage.calls == len(model.requests) > 20 + 3 * 3
        assert before.usage.prompt_tokens > before.usage.calls * 100


async def test_facts_that_a_model_read_can_be_filtered_by(home: pathlib.Path, model: OpenAIServer) -> None:
    schema = 'auto_keywords = 0\nmetadata = {year = {description = "the year", type = "number"}}'
    text = (home / "citebot.toml").read_text().replace("auto_keywords = 2", schema)
    (home / "citebot.toml").write_text(text)
    (home / "handbook" / "old.md").write_text("# Leave policy of 2019\n\nUnused leave lapses at once.\n")
    model.default = lambda request: Reply(text='{"year": 2019}' if "2019" in request.texts[-1] else "{}")
    async with opened(home) as (operations, _):
        *_, report = await told(operations, Sync(enrich=True))
        assert isinstance(report, EnrichReport)
        assert (report.documents, report.usage.calls) == (2, 2)
        (found,) = await told(operations, Search(query="unused leave", filter="year < 2020"))
        assert {scored.chunk.document_id for scored in found.chunks} == {"handbook:old.md"}  # type: ignore[union-attr]


async def test_a_model_that_is_away_is_told_and_the_documents_are_found(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    model.default = Failure(status=401, message="no such key")
    async with opened(home) as (operations, _):
        events = await told(operations, Sync(enrich=True))
        report = events[-1]
        assert isinstance(report, EnrichReport)
        assert "api_key" in report.error
        (found,) = await told(operations, Search(query="unused leave"))
        assert found.chunks  # type: ignore[union-attr]


async def test_what_stays_without_is_named_by_each_sync_and_the_doctor(
    home: pathlib.Path, model: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    model.default = Reply(text="I'm sorry, I can't help with that.")
    async with opened(home) as (operations, _):
        for _ in range(MOST_ATTEMPTS):
            await told(operations, Sync(enrich=True))
        asked = len(model.requests)
        *_, report = await told(operations, Sync(enrich=True))
        checks = [one for one in await told(operations, Diagnose()) if isinstance(one, Check)]
        assert asked <= len(model.requests) <= asked + 1  # the doctor's own
    assert isinstance(report, EnrichReport)
    mend = "name another model under [llm.tasks.enrich]"
    why = {"reason": "it declined", "count": 2, "mend": mend}
    assert enrich_form(report)["without"] == [
        {"setting": "auto_keywords", "of": "chunk", "count": 2, "refused": 0, "reasons": [why]}
    ]
    (check,) = [one for one in checks if one.name == "enrichment of handbook"]
    found = "auto_keywords: 2 chunks without, asked no more; last: it declined (2)"
    assert (check.state, check.found) == ("warn", found)
    assert check.mend == f"{mend}, or switch that setting off"
    _show_enriched(report)
    assert " ".join(capsys.readouterr().out.split()) == f"! handbook: {found} ({mend})"


async def test_between_syncs_the_doctor_says_what_is_tried_again_and_why(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    async def found() -> list[tuple[str, str]]:
        async with opened(home) as (operations, _):  # another process than the one that synced
            checks = [one for one in await told(operations, Diagnose()) if isinstance(one, Check)]
        return [(one.found, one.mend) for one in checks if one.name == "enrichment of handbook"]

    model.default = Reply(text='{"keywords": ["unu', finish="length")
    async with opened(home) as (operations, _):
        await told(operations, Sync(enrich=True))
    model.default = Reply(text="Fine.")
    again = "auto_keywords: 2 chunks without, asked again at the next sync; last: it was cut at max_tokens (2)"
    assert await found() == [(again, "raise max_tokens under [llm.tasks.enrich], or switch that setting off")]
    model.default = Failure(status=401, message="no such key sk-secret123")
    async with opened(home) as (operations, _):
        await told(operations, Sync(enrich=True))
    (_, (ended, mend)) = await found()
    assert ended.startswith("the last pass ended early: HTTP 401")
    assert "secret123" not in ended
    assert "citebot sync" in mend
    model.default = reply
    async with opened(home) as (operations, _):
        await told(operations, Sync(enrich=True))
    assert await found() == []


async def test_without_a_model_the_setting_that_is_missing_is_named(home: pathlib.Path) -> None:
    text = (home / "citebot.toml").read_text().partition("[knowledge_bases")[2]
    (home / "citebot.toml").write_text(f"[knowledge_bases{text}")
    async with opened(home) as (operations, _):
        *_, report = await told(operations, Sync(enrich=True))
        assert isinstance(report, EnrichReport)
        assert report.error.startswith("no model is set up for auto_keywords: name one under [llm]")


@pytest.mark.soak
async def test_what_is_due_is_done_in_the_background_of_a_run(home: pathlib.Path, model: OpenAIServer) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
    assert not model.requests
    async with running(home) as citebot:
        await until(lambda: "1 document enriched with 2 calls" in citebot.log(), 60.0)
        assert await citebot.end() == 0
    (home / "prompts").mkdir()
    (home / "prompts" / "keywords.j2").write_text("{# inputs: count -#}\nName {{ count }}.")
    (home / "citebot.toml").write_text(f'prompts = "prompts"\n{(home / "citebot.toml").read_text()}')
    async with running(home) as citebot:
        await until(lambda: citebot.log().count("1 document enriched with 2 calls") == 2, 60.0)
        assert await citebot.end() == 0
    assert model.requests[-1].texts[0] == "Name 2."


async def test_what_nobody_foresaw_ends_one_pass_and_no_more(
    home: pathlib.Path, model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        with monkeypatch.context() as broken:
            broken.setattr("bots.app.enriching.enrich", lambda *_, **__: 1 / 0)
            async with operations.enriching.going_on():
                await until(lambda: not operations.enriching._due)
                await asyncio.sleep(0.05)
                broken.undo()
                operations.enriching.soon(["handbook"])
                await until(lambda: len(model.requests) == 2)
