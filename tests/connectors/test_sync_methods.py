"""Chunk methods by file pattern: a changed setting cuts anew the documents that it touches, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions
from ragcore.ingest import IngestOptions, pipeline_of
from ragcore.ingest.events import matches
from tests.connectors.helpers import files, live, memory_of, put, run, settle
from tests.fakes.libraries import opened

SLIDES = IngestOptions(methods=(("*.md", "one"), ("*", "naive")))


@pytest.fixture
async def library(tmp_path):
    async with opened(tmp_path / "data") as found:
        yield found


async def chunks(library, name):
    return len(await library.registry.chunks_of([f"s:{name}"]))


async def test_a_changed_method_cuts_anew_what_it_touches_alone(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path / "docs", "a.md", "# One\n\ntext\n\n# Two\n\ntext\n")
    put(tmp_path / "docs", "b.txt", "text")
    report = await run(library, files(tmp_path / "docs"))
    assert (report.added, await chunks(library, "a.md")) == (2, 2)
    for options, changed, pieces in (
        (SLIDES, 1, 1),
        (SLIDES, 0, 1),
        (IngestOptions(methods=(("*.txt", "one"), ("A.*", "naive"))), 2, 2),
        (IngestOptions(methods=(("*.pdf", "one"),)), 1, 2),
        (IngestOptions(), 0, 2),
    ):
        foreseen = await run(library, files(tmp_path / "docs"), options=options, dry_run=True)
        report = await run(library, files(tmp_path / "docs"), options=options)
        assert report.is_success
        assert (foreseen.changed, foreseen.unchanged) == (report.changed, report.unchanged) == (changed, 2 - changed)
        assert await chunks(library, "a.md") == pieces


async def test_what_is_not_touched_is_not_fetched(library):
    memory = memory_of(**{"a.md": "one", "b.txt": "two"})
    await run(library, memory.connector())
    reads = memory.reads
    report = await run(library, memory.connector(), options=SLIDES)
    assert report.changed == 1
    assert memory.reads == reads + 1
    assert await live(library) == {"a.md", "b.txt"}


@pytest.mark.parametrize(
    ("pattern", "identity", "name", "does"),
    [
        ("*", "s:a", "", True),
        ("*.PDF", "s:x/a.pdf", "a.pdf", True),
        ("*.pdf", "s:x/a.pdf.txt", "a.pdf.txt", False),
        ("a.*", "s:x/a.pdf", "a.pdf", True),
        ("x/*", "s:x/y/a.pdf", "a.pdf", True),
        ("y/*", "s:x/y/a.pdf", "a.pdf", False),
        ("*/y/*", "s:x/y/a.pdf", "a.pdf", True),
        ("*/y/*", "s:https://host/y/a", "a", True),
        ("plan ?", "s:1234", "Plan B", True),
        ("[ab].md", "s:b.md", "b.md", True),
        ("last", "s:https://host/last/", "", True),
        ("s:*", "s:a", "a", False),
    ],
)
def test_what_a_pattern_means(pattern, identity, name, does):
    assert matches(pattern, identity, name) is does


@given(st.lists(st.tuples(st.sampled_from(["*.a", "*.b", "x/*", "*"]), st.sampled_from(["naive", "one"])), max_size=4))
def test_a_document_has_the_pipeline_of_its_method_whatever_patterns_there_are(methods):
    options = IngestOptions(methods=tuple(methods))
    for identity in ("s:x/1.a", "s:2.b", "s:3"):
        own = options.for_document(identity, "")
        first = next((method for pattern, method in methods if matches(pattern, identity, "")), "naive")
        assert own == IngestOptions(chunk=ChunkOptions(method=first))
        assert own.for_document(identity, "") == own
        alone = IngestOptions(chunk=ChunkOptions(method=first))
        assert pipeline_of(own, tokenizer="t") == pipeline_of(alone, tokenizer="t")
    assert not methods or pipeline_of(options, tokenizer="t") != pipeline_of(IngestOptions(), tokenizer="t")
