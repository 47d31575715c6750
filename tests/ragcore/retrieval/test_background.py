import numpy as np
import pytest

from ragcore.retrieval.background import summarise
from ragcore.retrieval.scoring import trust
from ragcore.stores.chunk_vectors import SampledChunk

ENGLISH_ONLY = frozenset({"en"})
QUESTION = np.eye(1, 16, dtype=np.float32)[0]


def drawn(count: int, *, language: str = "zh", documents: int | None = None, reads: bool = False) -> list[SampledChunk]:
    """Make chunks about one of four things each; with ``reads`` their vectors show which."""
    draw = np.random.default_rng(0)
    found = []
    for place in range(count):
        topic = place % 4
        vector = 0.3 * draw.standard_normal(16) + (np.eye(16)[topic + 1] if reads else 0.0)
        found.append(
            SampledChunk(
                document_id=str(place % (documents or count)),
                text=f"about{topic} word{topic}x item{place}",
                language=language,
                vector=(vector / np.linalg.norm(vector)).astype(np.float32),
            )
        )
    return found


def test_without_documents_the_operator_s_word_holds() -> None:
    empty = summarise([], 0)
    read = empty.background(QUESTION, "en", "en", ENGLISH_ONLY)
    unread = empty.background(QUESTION, "zh", "zh", ENGLISH_ONLY)
    assert trust(0.0, read) == 1.0
    assert trust(0.0, unread) == 0.0
    assert unread.mean > read.mean
    assert trust(0.0, empty.background(QUESTION, "zh", "zh", None)) == 1.0


@pytest.mark.parametrize(("asked", "written"), [("en", "zh"), ("zh", "en"), ("zh", "zh")])
def test_both_languages_must_be_read(asked: str, written: str) -> None:
    background = summarise([*drawn(20), *drawn(20, language="en", reads=True)], 40)
    assert trust(0.0, background.background(QUESTION, asked, written, ENGLISH_ONLY)) == 0.0
    assert trust(0.0, background.background(QUESTION, "en", "en", ENGLISH_ONLY)) == 1.0


def test_few_documents_do_not_overturn_it_and_many_do() -> None:
    few = summarise(drawn(12, reads=True), 12).background(QUESTION, "zh", "zh", ENGLISH_ONLY)
    assert trust(0.0, few) < 0.5
    many = summarise(drawn(120, reads=True), 1_000).background(QUESTION, "zh", "zh", ENGLISH_ONLY)
    assert trust(0.0, many) == 1.0
    misled = summarise(drawn(120, language="en"), 1_000).background(QUESTION, "en", "en", ENGLISH_ONLY)
    assert trust(0.0, misled) == 0.0


def test_many_chunks_of_two_documents_are_two_documents() -> None:
    sample = summarise(drawn(100, documents=2, reads=True), 100)
    assert sample.languages["zh"].documents == 2
    assert trust(0.0, sample.background(QUESTION, "zh", "zh", ENGLISH_ONLY)) == 0.0


def test_a_language_counts_its_own_chunks() -> None:
    sample = summarise([*drawn(30), *drawn(10, language="en")], 4_000)
    assert sample.background(QUESTION, "zh", "zh", None).count == 3_000
    assert sample.background(QUESTION, "zh", "ru", None).count == 2
