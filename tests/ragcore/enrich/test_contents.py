"""A document without headings gets a table of contents, once, and fails alone."""

import json
import pathlib
import re

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.contents import Entry
from ragcore.enrich.asking import MOST_ATTEMPTS, Asker
from ragcore.enrich.contents import STRETCH, stretches
from ragcore.enrich.making import chunks_of
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich, estimate
from ragcore.ingest import IngestOptions
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.prompts import OWN as PROMPTS
from ragcore.reports import EnrichReport
from ragcore.stores.health import IndexState
from ragcore.stores.model_results import ModelResults
from ragcore.stores.outlines import Outlines
from ragcore.tokens import offline_tokenizer
from tests.conftest import BENCH
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened

PARTS = 20
PROSE = "\n\n".join(
    f"Subject{part}\n\n"
    + "\n\n".join(f"Paragraph {number} tells of part {part} at some length." for number in range(8))
    for part in range(PARTS)
)
HEADED = re.sub(r"^(Subject\d+)$", r"# \1", PROSE, flags=re.MULTILINE)
TABLE = "| name | value |\n| --- | --- |\n" + "\n".join(f"| row {number} | {number} |" for number in range(60))
SMALL = IngestOptions(chunk=ChunkOptions(chunk_tokens=48, overlap=0.0))
CONTENTS = EnrichOptions(contents=True)


def say(rules: str, material: str) -> str:
    """Find the line that stands as a title in each piece, as a good model would."""
    pieces = re.split(r"(?:^|\n\n)\[(\d+)\]\n", material)[1:]
    found = [(int(n), line) for n, text in zip(pieces[::2], pieces[1::2], strict=True) for line in text.split("\n")]
    return json.dumps([{"piece": n, "level": 1, "title": line} for n, line in found if line.startswith("Subject")])


def asker(library: Library, model: SayingModel) -> Asker:
    results = ModelResults(library.database)
    return Asker(model=model, identity="m", results=results, prompts=PROMPTS, tokenizer=offline_tokenizer())


async def run(library: Library, model: SayingModel, options: EnrichOptions = CONTENTS) -> EnrichReport:
    *_, report = [event async for event in enrich(library, "kb", options, asker(library, model))]
    assert isinstance(report, EnrichReport)
    assert {health.state for health in await check(library)} == {IndexState.WELL}
    return report


async def entries(library: Library, name: str) -> list[Entry]:
    document = await library.registry.document(f"s:{name}")
    assert document is not None
    return [entry async for page in chunks_of(library, document) for stored in page for entry in stored.contents]


async def test_sections_are_found_where_headings_do_not_tell_them(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, {"prose": PROSE, "headed": HEADED, "rows": TABLE, "short": "Subject0\n\nOne."}, SMALL)
        before = await estimate(library, "kb", CONTENTS, asker(library, model))
        report = await run(library, model)
        assert (report.documents, report.failed, report.error) == (4, (), "")
        assert (before.usage.calls, before.cached) == (report.usage.calls, 0)
        assert report.usage.calls == 2
        found = await entries(library, "prose")
        assert [entry.title for entry in found] == [f"Subject{part}" for part in range(PARTS)]
        chunks = {chunk.ordinal: chunk.text for chunk in await library.registry.chunks_of(["s:prose"])}
        assert all(entry.title in chunks[entry.ordinal] for entry in found)
        assert [await entries(library, name) for name in ("headed", "rows", "short")] == [[], [], []]
        again = await run(library, model)
        assert (again.documents, again.usage.calls) == (0, 0)
        # A change at its end leaves what was said of the rest.
        await fill(library, {"prose": f"{PROSE}\n\nSubject99\n\nThe last."}, SMALL)
        assert await entries(library, "prose") == []
        changed = await run(library, model)
        assert changed.usage.calls == 1
        assert (await entries(library, "prose"))[-1].title == "Subject99"
        without = await run(library, model, EnrichOptions())
        assert (without.documents, without.usage.calls) == (4, 0)
        assert await entries(library, "prose") == []


@pytest.mark.soak
async def test_rubbish_leaves_the_document_as_it_was_and_is_asked_a_few_times(tmp_path: pathlib.Path) -> None:
    rubbish = SayingModel(lambda rules, material: "I'm sorry." if "Subject3\n" in material else say(rules, material))
    async with opened(tmp_path) as library:
        await fill(library, {"prose": PROSE, "other": PROSE.replace("Subject3\n", "Subject\n")}, SMALL)
        for _ in range(1, MOST_ATTEMPTS):
            report = await run(library, rubbish)
            assert [(one.document_id, one.chunks) for one in report.failed] == [("s:prose", 0)]
            assert report.failed[0].reason.startswith("contents: ")
            assert await entries(library, "prose") == []
            assert len(await entries(library, "other")) == PARTS
        last = await run(library, rubbish)
        assert (last.documents, last.failed) == (1, ())
        titles = {entry.title for entry in await entries(library, "prose")}
        assert "Subject3" not in titles
        assert f"Subject{PARTS - 1}" in titles


@pytest.mark.soak
async def test_what_was_found_before_stays_where_the_model_fails_now(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"prose": PROSE}, SMALL)
        await run(library, SayingModel(say))
        before = await entries(library, "prose")
        broken = SayingModel(lambda rules, material: "" if "table of contents" in rules else material.split()[-1])
        named = EnrichOptions(contents=True, auto_keywords=2)
        other = Asker(
            model=broken,
            identity="another",
            results=ModelResults(library.database),
            prompts=PROMPTS,
            tokenizer=offline_tokenizer(),
        )
        *_, report = [event async for event in enrich(library, "kb", named, other)]
        assert isinstance(report, EnrichReport)
        assert [one.document_id for one in report.failed] == ["s:prose"]
        assert await entries(library, "prose") == before
        assert all(chunk.keywords for chunk in await library.registry.chunks_of(["s:prose"]))


@pytest.mark.parametrize("tokens", [16, 48, 512, 3_000])
async def test_each_chunk_of_prose_is_shown_once_in_stretches_of_a_bounded_size(
    tokens: int, tmp_path: pathlib.Path
) -> None:
    async with opened(tmp_path) as library:
        options = IngestOptions(chunk=ChunkOptions(chunk_tokens=tokens, overlap=0.1))
        await fill(library, {"prose": f"{PROSE}\n\n{TABLE}"}, options)
        document = await library.registry.document("s:prose")
        assert document is not None
        chunks = await library.registry.chunks_of(["s:prose"])
        found = [one async for one in stretches(lambda: chunks_of(library, document), offline_tokenizer())]
        assert [n for one in found for n in one.ordinals] == [c.ordinal for c in chunks if c.kind != "table"]
        assert all(sum(map(offline_tokenizer().count, one.texts)) <= STRETCH for one in found)


async def test_a_real_page_tells_its_sections_and_without_its_headings_the_model_does(tmp_path: pathlib.Path) -> None:
    """The headings of a page of documentation, as they stand, and as plain lines."""
    page = BENCH / "documents" / "fastapi-background-tasks.md"
    if not page.is_file():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    text = page.read_text("utf-8")
    titles = [title.strip() for title in re.findall(r"^#+ (.+?)(?: *\{.*\})?$", text, re.MULTILINE)]
    bare = re.sub(r"^#+ (.+?)(?: *\{.*\})?$", r"\1", text, flags=re.MULTILINE)

    def find(rules: str, material: str) -> str:
        pieces = re.split(r"(?:^|\n\n)\[(\d+)\]\n", material)[1:]
        lines = [(int(n), line) for n, body in zip(pieces[::2], pieces[1::2], strict=True) for line in body.split("\n")]
        return json.dumps([{"piece": n, "level": 2, "title": line} for n, line in lines if line in titles])

    async with opened(tmp_path) as library:
        await fill(library, {"page": text, "bare": bare}, IngestOptions(chunk=ChunkOptions(chunk_tokens=96)))
        model = SayingModel(find)
        report = await run(library, model)
        assert report.failed == ()
        assert await entries(library, "page") == []
        assert [entry.title for entry in await entries(library, "bare")] == titles
        documents = await library.registry.documents(["s:page", "s:bare"])
        for outline in await Outlines(library.database).of([one.generation for one in documents.values()]):
            told = {entry.title.replace("`", "") for entry in outline.entries}
            assert told >= {title.replace("`", "") for title in titles[1:]}
