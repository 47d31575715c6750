"""Keywords, questions, facts and tags of a real page, with a real FAQ as tag set, from a model that quotes."""

import json
import pathlib
import re
from collections.abc import AsyncIterator

import pytest

from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import ingest
from ragcore.stores.document_values import DocumentValues
from ragcore.types import SourceDocument
from tests.fakes.chatting import SayingModel
from tests.fakes.embedding import WordsEmbedder
from tests.fakes.libraries import opened
from tests.ragcore.enrich.test_tag_step import fill_tags, run

EVERYTHING = EnrichOptions(
    auto_keywords=2,
    auto_questions=1,
    metadata=(MetadataField(name="library", description="the one that it explains"),),
    tags_from=("labels",),
)


def words_of(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{6,}", text)


def say(rules: str, material: str) -> str:
    """Quote the material in the form that is asked for: two of its long words, or a line as a question."""
    last = next(line for line in reversed(material.splitlines()) if words_of(line))
    first, *_, end = [*words_of(last), *words_of(last)]
    if "You write the questions" in rules:
        return f"What is said of {first} and {end}?"
    if "You fill in a card" in rules:
        return json.dumps({"library": "FastAPI" if "FastAPI" in material else None})
    if "You tag a passage" in rules:
        return json.dumps({"data-engineering-zoomcamp": 7, "no such tag": 9})
    return f"{first}, {end}"


@pytest.mark.soak
async def test_each_step_says_something_of_a_real_page(tmp_path: pathlib.Path, bench: pathlib.Path) -> None:
    page = bench / "documents" / "fastapi-background-tasks.md"
    lines = (bench / "faq-zoomcamp" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines[:40]]
    rows = {" ".join(one["title"].replace('"', "").split()): one["course"] for one in entries}
    assert "data-engineering-zoomcamp" in rows.values()

    async def source() -> AsyncIterator[SourceDocument]:
        yield SourceDocument(id="s:page", source="s", content=page.read_bytes(), name=page.name)

    async with opened(tmp_path, WordsEmbedder()) as library:
        async for _ in ingest(library, "kb", source()):
            pass
        await fill_tags(library, rows)
        model = SayingModel(say)
        report = await run(library, model, EVERYTHING)
        assert (report.failed, report.without, report.error) == ((), (), "")
        chunks = await library.registry.chunks_of(["s:page"])
        assert report.chunks == len(chunks) > 5
        for chunk in chunks:
            said = " ".join((chunk.title, *chunk.heading_path, chunk.text))
            assert chunk.keywords
            assert all(word in said for word in chunk.keywords)
            (question,) = chunk.questions
            assert all(word in said for word in words_of(question))
            assert {tag for tag, _ in chunk.tag_scores} <= set(rows.values())
        assert any(chunk.tag_scores for chunk in chunks)
        found = await library.keywords.read(lambda reader: reader.statistics("kb", ["said"]))
        assert found.frequencies[0] >= len(chunks), "questions are searched by words"
        met = await DocumentValues(library.database).matching("kb", [parse_filter("library = fastapi")])
        assert met.count == 1
        calls = len(model.asked)
        assert (await run(library, model, EVERYTHING)).documents == 0
        assert len(model.asked) == calls
