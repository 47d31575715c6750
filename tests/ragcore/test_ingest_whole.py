"""Chunk methods that must see a document whole, and those that are given it part by part."""

import pathlib
from collections.abc import Sequence

import pytest

from ragcore import chunking
from ragcore.chunking import ChunkOptions, Method, Piece, naive
from ragcore.ingest import IngestOptions
from ragcore.parsing import worker
from ragcore.tokens import Tokenizer
from ragcore.types import Section
from tests.fakes.libraries import changes, fill, opened

TEXT = "\n\n".join(f"# Heading {n}\n\nText {n}." for n in range(6))


@pytest.mark.parametrize("is_whole", [True, False])
async def test_a_method_that_wants_a_document_whole_is_given_it_once(
    is_whole: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, Section | None]] = []

    def cut(
        sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
    ) -> list[Piece]:
        seen.append((len(sections), following))
        return naive.chunk(sections, options, tokenizer, following)

    monkeypatch.setattr(worker, "_PART", 1)
    monkeypatch.setitem(chunking.METHODS, "probe", Method(cut=cut, is_whole=is_whole))  # type: ignore[arg-type]
    async with opened(tmp_path / "data") as library:
        options = IngestOptions(chunk=ChunkOptions(method="probe"))
        assert changes(await fill(library, {"a": TEXT}, options)) == {"s:a": "added"}
        chunks = await library.registry.chunks_of(["s:a"])
    assert [chunk.text for chunk in chunks] == [f"# Heading {n}\n\nText {n}." for n in range(6)]
    assert [chunk.ordinal for chunk in chunks] == list(range(6))
    assert sum(count for count, _ in seen) == 6
    if is_whole:
        assert seen == [(6, None)]
    else:
        assert len(seen) > 1
        assert seen[0][1] is not None
