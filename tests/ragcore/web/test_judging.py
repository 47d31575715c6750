"""Passages of the web pass the gate that documents pass, or are left out."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.retrieval.options import RetrievalOptions
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk
from ragcore.web.judging import OF_PAGE, PassageJudge
from ragcore.web.pages import WebPage
from ragcore.web.reading import snippet
from tests.ragcore.retrieval.test_retriever import BrokenEmbedder, WordEmbedder
from tests.soak import scaled

LEAVE = "Everybody has thirty days of annual leave, and may carry five of them over."
TEXTS = {
    "leave": LEAVE,
    "lunch": "The canteen serves soup from noon, and closes at three.",
    "network": "When the tunnel breaks, the client shows ERR_CONN_104 and must be restarted.",
    "zh": "员工每年享有十天带薪年假，需要提前两周申请。",
}


def passage(name: str, text: str, *, ordinal: int = 0) -> Chunk:
    found = snippet(WebPage(title=name, url=f"https://{name}.example/", text=text), offline_tokenizer())
    assert found is not None
    return replace(found, id=f"{found.id}{ordinal}", ordinal=ordinal)


PASSAGES = [passage(name, text) for name, text in TEXTS.items()]


async def names(question: str, *, judge: PassageJudge | None = None, most: int = 3) -> list[str]:
    judge = judge or PassageJudge(WordEmbedder(), RetrievalOptions())
    return [one.chunk.title for one in await judge.relevant(question, PASSAGES, most)]


async def test_what_speaks_of_it_passes_and_the_rest_does_not() -> None:
    assert await names("How many days of annual leave do I have?") == ["leave"]
    assert await names("What does ERR_CONN_104 mean?") == ["network"]
    assert await names("年假有几天？") == ["zh"]
    assert await names("Who won the world cup?") == []
    assert await names("🙂") == []
    assert await names("leave " * 5_000) in ([], ["leave"])


async def test_it_is_the_documents_gate() -> None:
    open_to_all = PassageJudge(WordEmbedder(), RetrievalOptions(similarity_threshold=0.0))
    closed = PassageJudge(WordEmbedder(), RetrievalOptions(similarity_threshold=1.0))
    asked = "How many days of annual leave do I have?"
    assert len(await names(asked, judge=open_to_all, most=9)) == len(PASSAGES)
    assert await names(asked, judge=closed) == []


async def test_without_an_embedder_words_decide() -> None:
    for embedder in (None, BrokenEmbedder()):
        judge = PassageJudge(embedder, RetrievalOptions())
        assert await names("How many days of annual leave do I have?", judge=judge) == ["leave"]
        assert await names("Who won the world cup?", judge=judge) == []


async def test_an_embedder_that_is_late_leaves_it_to_the_words() -> None:
    class Late(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            await asyncio.sleep(60)
            return await super().embed(texts)

    judge = PassageJudge(Late(), RetrievalOptions())
    found = await judge.relevant("How many days of annual leave do I have?", PASSAGES, 3, seconds=0.01)
    assert [one.chunk.title for one in found] == ["leave"]


async def test_no_page_fills_the_answer_and_copies_count_once() -> None:
    judge = PassageJudge(WordEmbedder(), RetrievalOptions())
    long = [
        passage("long", f"Leave of kind {number}: {word} days of annual leave for all.", ordinal=number)
        for number, word in enumerate(("ten", "eleven", "twenty", "thirty"))
    ]
    other = passage("other", "Annual leave is granted in days, by the manager.")
    found = await judge.relevant("How many days of annual leave do I have?", [*long, other], 4)
    titles = [one.chunk.title for one in found]
    assert (titles.count("long"), titles.count("other")) == (OF_PAGE, 1)
    again = [passage("leave", LEAVE), replace(passage("mirror", LEAVE), title="leave")]
    (once,) = await judge.relevant("How many days of annual leave do I have?", again, 4)
    assert len(once.copies) == 1


@settings(max_examples=scaled(8), deadline=None)
@given(
    question=st.text(max_size=200),
    texts=st.lists(st.text(min_size=1, max_size=200), max_size=6),
    most=st.integers(min_value=1, max_value=5),
)
def test_whatever_stands_there_is_judged(question: str, texts: list[str], most: int) -> None:
    passages = [passage(f"p{at}", text) for at, text in enumerate(texts) if text.strip()]
    judge = PassageJudge(WordEmbedder(), RetrievalOptions())
    found = asyncio.run(judge.relevant(question, passages, most))
    assert len(found) <= most
    assert all(0.0 <= one.score <= 1.0 and one.chunk in passages for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
