"""What is quoted is chosen in threads, so that others are answered meanwhile."""

from types import ModuleType

import pytest

from ragcore.extractive import extract, likeness, matter, selection
from ragcore.types import Chunk, ScoredChunk
from tests.fakes.embedding import WordsEmbedder
from tests.fakes.threads import Threads

PARTS: tuple[tuple[ModuleType, str], ...] = (
    (selection, "units_of"),
    (selection, "choose"),
    (selection, "is_direct"),
    (matter, "question_words"),
    (matter, "words_to_embed"),
    (matter, "main_clause"),
    (likeness, "may_stand_for"),
)


async def test_sentences_are_weighed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads()
    for module, name in PARTS:
        monkeypatch.setattr(module, name, threads.watched(name, getattr(module, name)))
    text = "The price of a room is 80 euros. Breakfast is served until ten."
    chunk = Chunk(id="a", document_id="s:a", knowledge_base="kb", ordinal=0, title="Hotel", text=text, token_count=1)
    found = await extract("What does a room cost?", [ScoredChunk(chunk=chunk, score=0.8)], WordsEmbedder())
    assert found.text
    assert threads.in_loop == {name: {False} for _, name in PARTS}
