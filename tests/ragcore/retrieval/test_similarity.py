"""The hybrid similarity: what counts how much, within which bounds; and that it brings in nothing."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.query import analyse
from ragcore.retrieval.similarity import AskedTerms, hybrid_similarity, term_similarity
from ragcore.terms import Kind, terms
from ragcore.types import Chunk, Question
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_retriever import Broken, BrokenEmbedder, WordEmbedder, retriever

WORDS = st.lists(st.sampled_from(["pump", "valve", "tractor", "service", "年假", "申请", "ERR_CONN_104"]), max_size=6)


def chunk(text: str = "", *, title: str = "", keywords: tuple[str, ...] = (), questions: tuple[str, ...] = ()) -> Chunk:
    return Chunk(
        id="g-1", document_id="s:1", knowledge_base="kb", ordinal=0, text=text, title=title, token_count=3,
        keywords=keywords, questions=questions,
    )  # fmt: skip


def asked(text: str) -> AskedTerms:
    clauses = analyse(text).clauses
    sequence = [clause.term for clause in clauses if clause.kind in (Kind.WORD, Kind.PAIR, Kind.IDENTIFIER)]
    return AskedTerms.of({clause.term: clause.weight for clause in clauses}, sequence)


@pytest.mark.parametrize(("question", "word"), [("How do I service the pump?", "pump"), ("年假怎么申请", "年假")])
def test_a_term_counts_by_where_it_stands(question: str, word: str) -> None:
    places = [chunk("else"), chunk(word), chunk(title=word), chunk(keywords=(word,)), chunk(questions=(word,))]
    found = [term_similarity(asked(question), place) for place in places]
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert found[0] == 0.0


def test_neighbours_count_besides() -> None:
    question = asked("clutch pedal spring")
    apart = term_similarity(question, chunk("spring clutch pedal"))
    assert apart < term_similarity(question, chunk("The clutch of the pedal has a spring."))
    assert term_similarity(question, chunk("clutch")) < term_similarity(question, chunk("clutch and spring")) < apart


def test_rare_terms_count_more_and_no_term_counts_nothing() -> None:
    question = AskedTerms.of(
        {term.text: weight for term, weight in zip(terms("valve oil"), (9.0, 1.0), strict=True)}, []
    )
    assert term_similarity(question, chunk("valve")) > term_similarity(question, chunk("oil")) > 0.0
    assert term_similarity(AskedTerms.of({}, []), chunk("valve")) == 0.0


@given(WORDS, WORDS, WORDS, st.floats(-1, 1), st.floats(0, 1))
def test_it_is_a_share_that_more_words_never_lower(
    question: list[str], text: list[str], more: list[str], cosine: float, weight: float
) -> None:
    less = term_similarity(asked(" ".join(question)), chunk("\n".join(text)))
    found = term_similarity(asked(" ".join(question)), chunk("\n".join(text), title="\n".join(more)))
    assert 0.0 <= less <= found + 1e-9 < 1.0
    assert 0.0 <= hybrid_similarity(found, cosine, weight) <= 1.0
    assert hybrid_similarity(found, cosine, 0.0) == found


async def test_it_orders_what_passed_whichever_leg_can_be_searched(tmp_path: pathlib.Path) -> None:
    texts = {f"n{n}": f"# Pump {n}\n\nService the pump. {'Service the pump again. ' * n} Oil it." for n in range(6)}
    texts["title"] = "# Service the pump\n\nSee there."
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, texts)
        question = Question(text="service the pump", knowledge_bases=("kb",))
        options = RetrievalOptions(similarity_threshold=0.05, ranking="similarity", top_n=50)
        for more in ({}, {"embedder": BrokenEmbedder()}, {"keywords": Broken()}):
            fused = await retriever(
                library, options=RetrievalOptions(similarity_threshold=0.05, top_n=50), **more
            ).retrieve(question)
            alike = await retriever(library, options=options, **more).retrieve(question)
            scores = {one.chunk.id: one.score for one in fused.chunks}
            assert scores
            assert {one.chunk.id: one.score for one in alike.chunks} == scores
        first = (await retriever(library, options=options, embedder=BrokenEmbedder()).retrieve(question)).chunks[0]
        assert first.chunk.document_id == "s:title"
