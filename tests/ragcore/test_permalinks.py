"""The parts of a document that have addresses of their own: each passage is linked by that of its own part."""

import dataclasses
import pathlib

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.ingest import Change, Indexed, IngestOptions, Underway, ingest
from ragcore.links import allowed_urls, deep_link, place
from ragcore.types import Permalink, SourceDocument
from tests.fakes.libraries import opened

SAID = [f"**Ann** said in message {number} that valve {number} is {'open ' * 12}." for number in range(40)]
TEXT = "# Valves\n\n" + "\n\n".join(SAID)
LINKS = tuple(Permalink(line=3 + 2 * number, url=f"https://chat.example/p{number}") for number in range(40))
THREAD = SourceDocument(
    id="s:t1", source="s", content=TEXT.encode(), name="t1.md", url="https://chat.example/t1", permalinks=LINKS
)


async def stored(library, document):
    async def documents():
        yield document

    options = IngestOptions(chunk=ChunkOptions(chunk_tokens=64))
    events = [one async for one in ingest(library, "kb", documents(), options) if not isinstance(one, Underway)]
    assert isinstance(events[0], Indexed), events
    return events[0].change, await library.registry.chunks_of(["s:t1"])


async def test_a_passage_of_a_thread_is_linked_by_its_own_message(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        _, chunks = await stored(library, THREAD)
        assert len(chunks) > 3
        for number, said in enumerate(SAID):
            holding = [chunk for chunk in chunks if said in chunk.text]
            assert holding
            assert {deep_link(chunk, said) for chunk in holding} == {f"https://chat.example/p{number}"}
            assert {place(chunk, said) for chunk in holding} == {""}, "lines of a thread lead nowhere"
        assert allowed_urls(chunks, frozenset()) == {THREAD.url, *(link.url for link in LINKS)}


async def test_a_message_that_moved_is_a_change(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await stored(library, THREAD)
        assert (await stored(library, THREAD))[0] is Change.UNCHANGED
        moved = (*LINKS[:-1], dataclasses.replace(LINKS[-1], url="https://chat.example/moved"))
        change, chunks = await stored(library, dataclasses.replace(THREAD, permalinks=moved))
        assert change is Change.CHANGED
        assert deep_link(chunks[-1], SAID[-1]) == "https://chat.example/moved"


@pytest.mark.parametrize("name", ["t1.md", "t1.txt"])
async def test_a_document_without_such_addresses_is_linked_as_before(tmp_path: pathlib.Path, name: str) -> None:
    async with opened(tmp_path) as library:
        _, chunks = await stored(library, dataclasses.replace(THREAD, permalinks=(), name=name))
        assert {chunk.location.permalinks for chunk in chunks} == {()}
        assert {deep_link(chunk, "").partition("#")[0] for chunk in chunks} == {THREAD.url}
