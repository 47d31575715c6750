"""What chunk methods say of a piece beside its text, from the document to the indexes and back."""

import pathlib
from dataclasses import replace

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.ingest import IngestOptions
from ragcore.library.recovery import reembed
from ragcore.stores.keyword_document import KEYWORD_WEIGHT, bag
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import changes, fill, opened

FAQ = """| Question | Answer |
| --- | --- |
| How do I cancel my ticket? | Write to the desk. |
| Who may board first? | Families. |
"""
TAGS = """| Content | Tags |
| --- | --- |
| The parcel was damaged. | returns, logistics |
| I want to pay later. | billing |
"""


def by(method: str) -> IngestOptions:
    return replace(IngestOptions(), chunk=ChunkOptions(method=method))


async def test_question_and_answer_are_embedded_together(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"faq": FAQ}, by("qa"))
        assert isinstance(library.embedder, HashEmbedder)
        first, second = sorted(library.embedder.texts)
        assert "| How do I cancel my ticket? | Write to the desk. |" in first
        assert "| Who may board first? | Families. |" in second


async def test_what_is_embedded_of_a_pair_changes_with_its_setting_and_nothing_else(tmp_path: pathlib.Path) -> None:
    texts = {"faq": f"Tickets and boarding.\n\n{FAQ}", "plain": "How do I cancel? Write to the desk."}
    both = IngestOptions(chunk=ChunkOptions(method="qa"), methods=(("plain*", "naive"), ("*", "qa")))
    alone = replace(both, chunk=replace(both.chunk, qa_embed="question"))
    async with opened(tmp_path) as library:
        embedder = library.embedder
        assert isinstance(embedder, HashEmbedder)
        await fill(library, texts, both)
        before = [chunk.text for chunk in await library.registry.chunks_of(["s:faq"])]
        embedder.texts.clear()
        assert changes(await fill(library, texts, alone)) == {"s:faq": "changed", "s:plain": "unchanged"}
        assert sorted(embedder.texts) == ["How do I cancel my ticket?", "Who may board first?"]
        assert [chunk.text for chunk in await library.registry.chunks_of(["s:faq"])] == before, "both are quoted"
        (hit, *_) = await library.vectors.query("kb", embedder.vector("Who may board first?"), 2)
        assert hit.score == pytest.approx(1.0, abs=1e-5)
        embedder.texts.clear()
        assert changes(await fill(library, texts, alone)) == {"s:faq": "unchanged", "s:plain": "unchanged"}
        assert changes(await fill(library, texts, both)) == {"s:faq": "changed", "s:plain": "unchanged"}


async def test_what_a_method_embeds_is_embedded_again_by_another_embedder(tmp_path: pathlib.Path) -> None:
    texts = ["I want to pay later.", "The parcel was damaged."]
    async with opened(tmp_path) as library:
        await fill(library, {"tags": TAGS}, by("tag"))
        embedder = library.embedder
        assert isinstance(embedder, HashEmbedder)
        assert sorted(embedder.texts) == texts
        (hit, *_) = await library.vectors.query("kb", embedder.vector(texts[0]), 2)
        assert hit.score == pytest.approx(1.0, abs=1e-5)
        first, _ = await library.registry.chunks_of(["s:tags"])
        assert "| The parcel was damaged. | returns, logistics |" in first.text
    other = HashEmbedder(name="other", dimension=24)
    async with opened(tmp_path, other) as library:
        async for _ in reembed(library, "kb"):
            pass
        assert sorted(other.texts) == texts


async def test_tags_are_kept_and_searched(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"tags": TAGS}, by("tag"))
        chunks = await library.registry.chunks_of(["s:tags"])
        assert [chunk.tags for chunk in chunks] == [("returns", "logistics"), ("billing",)]
        assert isinstance(library.embedder, HashEmbedder)
        assert sorted(library.embedder.texts) == ["I want to pay later.", "The parcel was damaged."]
        assert bag(chunks[1]).count("bill") == 1 + KEYWORD_WEIGHT, bag(chunks[1])
