"""A document's chunks on their way from reading to writing: how many of them are held, whatever its length."""

import gc
import pathlib
from collections.abc import AsyncIterator, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.ingest import Indexed, ingest
from ragcore.ingest.spool import SLICE, Draft, Spool, slices
from ragcore.stores.rows import StoredChunk
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, Section, SectionKind, SourceDocument
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.soak import scaled


def draft(number: int) -> Draft:
    chunk = Chunk(
        id=f"g-{number}", document_id="d", knowledge_base="kb", ordinal=number, text="t", title="", token_count=1
    )
    return Draft(stored=StoredChunk(chunk=chunk, vector_key=str(number), language="en"), text=f"text {number}")


@settings(max_examples=scaled(25), deadline=None)
@given(st.lists(st.lists(st.integers(0, 3 * SLICE), max_size=4), max_size=4))
def test_what_went_in_comes_out_in_slices_as_often_as_asked(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    expected: list[Draft] = []
    made: list[Spool] = []
    for parts in counts:
        spool = Spool(folder)
        for count in parts:
            fresh = [draft(len(expected) + number) for number in range(count)]
            spool.extend(fresh)
            expected += fresh
        assert len(spool) == sum(parts)
        made.append(spool)
    for _ in range(2):
        read = list(slices(made))
        assert [one for part in read for one in part] == expected
        assert all(len(part) == SLICE for part in read[:-1])
        assert all(0 < len(part) <= SLICE for part in read)
    assert not list(folder.iterdir()), "a file that has no name leaves nothing behind"


SECTIONS = st.lists(
    st.builds(
        Section,
        text=st.sampled_from(["## Heading", "Some text. And more of it.", " ", "a,b\n1,2\n3,4", "long " * 90]),
        kind=st.sampled_from(SectionKind),
        heading_path=st.sampled_from([(), ("Heading",), ("Heading", "Deeper")]),
    ),
    max_size=8,
)


@given(SECTIONS, st.data())
def test_a_document_cut_in_parts_is_the_same_as_one_cut_whole(sections: list[Section], data: st.DataObject) -> None:
    options, tokenizer = ChunkOptions(chunk_tokens=32), offline_tokenizer()
    at = data.draw(st.integers(0, len(sections)))
    following = sections[at] if at < len(sections) else None
    parts = [
        *chunk_sections(sections[:at], options, tokenizer, following=following),
        *chunk_sections(sections[at:], options, tokenizer),
    ]
    assert parts == chunk_sections(sections, options, tokenizer)


class Watching(HashEmbedder):
    """Notes how many chunks this process holds whenever texts are embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[int] = []
        self.asked: list[int] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.held.append(alive())
        self.asked.append(len(texts))
        return await super().embed(texts)


def alive() -> int:
    """Return how many chunks are alive."""
    gc.collect()
    return sum(isinstance(one, Chunk) for one in gc.get_objects())


@pytest.fixture
def fresh_heap() -> Iterator[None]:
    """Let the collector look at nothing older than the test: all that other tests left takes it seconds each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("fresh_heap")
@pytest.mark.parametrize("times", [2, 5])
async def test_few_chunks_are_held_however_long_the_document_is(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The most that is alive at once while embedding and writing is the same for 2 slices and for 5.

    That is four: the newest of the document, which is in no file, the one being read, and texts that wait for the
    embedder, of which almost a slice may be left when the next one comes.
    """
    text = "\n\n".join(f"## Part {number}\n\nValve {number} is open." for number in range(times * SLICE))
    embedder = Watching()
    written: list[int] = []

    async def one() -> AsyncIterator[SourceDocument]:
        yield SourceDocument(id="s:big", source="s", content=text.encode(), name="big.md")

    async with opened(tmp_path, embedder) as library:
        stage = library.staging.stage

        async def watched(chunks: Sequence[StoredChunk]) -> None:
            written.append(len(chunks))
            embedder.held.append(alive())
            await stage(chunks)

        monkeypatch.setattr(library.staging, "stage", watched)
        before = alive()
        events = [event async for event in ingest(library, "kb", one())]
        assert isinstance(events[-1], Indexed)
        assert events[-1].embedded == events[-1].chunks == times * SLICE
        assert written == [SLICE] * times
        assert max(embedder.asked) <= SLICE
        assert max(embedder.held) - before <= 4 * SLICE
