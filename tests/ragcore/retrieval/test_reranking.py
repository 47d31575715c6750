"""A reranker and rank features change the order of what passed the gate, bring in nothing, and keep nobody waiting."""

import asyncio
import itertools
import logging
import math
import pathlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ConfigError, ModelBadOutput, ModelUnreachable, StoreError
from ragcore.models.http_reranker import Endpoint, HttpReranker
from ragcore.models.rerankers import Reranked, Reranker
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.features import PAGERANK_WEIGHT, PageRank, RankFeature, factors
from ragcore.retrieval.ordering import Placed, arranged
from ragcore.retrieval.reranking import FAILURES, REST_SECONDS, Reranking, text_of
from ragcore.types import Chunk, Question, ScoredChunk, Usage
from tests.fakes.libraries import fill, opened
from tests.fakes.rerank_server import RerankServer
from tests.ragcore.retrieval.test_retriever import WordEmbedder

WORDS = ("engine", "pump", "filter", "valve", "gasket", "bearing", "sensor", "clutch", "radiator", "alternator")
TEXTS = {
    f"n{number}": f"# The {word}\n\nService the {word} of the tractor each {number} weeks. Worth #{number}#."
    for number, word in enumerate(WORDS)
}
ASKED = Question(text="How do I service the tractor pump?", knowledge_bases=("kb",))
ALL = RetrievalOptions(similarity_threshold=0.05, top_n=50)


@dataclass
class Judge:
    """A reranker that answers as it is told."""

    answer: Reranked | Exception = field(default_factory=lambda: Reranked(order=()))
    seconds: float = 0.0
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    name: str = "judge"
    calls: int = 0

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        self.asked.append((query, list(texts)))
        await asyncio.sleep(self.seconds)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Told:
    """A feature that gives the values it is told, in turn."""

    told: Sequence[float]
    weight: float = 1.0
    name: str = "told"
    error: Exception | None = None

    async def values(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[float]:
        if self.error:
            raise self.error
        return list(itertools.islice(itertools.cycle(self.told), len(chunks)))


def chunk(number: int, **more: object) -> Chunk:
    given = {"id": f"g-{number}", "document_id": f"s:{number}", "knowledge_base": "kb", "ordinal": 0, "text": "text"}
    return Chunk(**{**given, "title": "Title", "token_count": 3, **more})  # type: ignore[arg-type]


def placed(values: Sequence[float]) -> list[Placed]:
    return [
        Placed(scored=ScoredChunk(chunk=chunk(number), score=min(1.0, max(0.0, value))), value=value)
        for number, value in enumerate(sorted(values, reverse=True))
    ]


def numbers(chunks: Sequence[ScoredChunk]) -> list[int]:
    return [int(scored.chunk.document_id.removeprefix("s:n")) for scored in chunks]


def ids(chunks: Sequence[ScoredChunk]) -> list[str]:
    return [scored.chunk.id for scored in chunks]


VALUES = st.lists(st.floats(-1, 1), max_size=9)


@st.composite
def verdicts(draw: st.DrawFn, most: int) -> Reranked:
    order = tuple(draw(st.permutations(range(most)))[: draw(st.integers(0, most))])
    scored = draw(st.booleans()) and len(order) == most
    return Reranked(order=order, scores={index: draw(st.floats(0, 1)) for index in order} if scored else {})


@given(VALUES, st.integers(1, 12), st.floats(0, 1), st.data())
def test_nothing_is_added_and_without_a_threshold_nothing_lost(
    values: list[float], shown: int, threshold: float, data: st.DataObject
) -> None:
    passed = placed(values)
    verdict = data.draw(verdicts(min(shown, len(passed))) | st.none())
    counted = data.draw(st.lists(st.floats(1, 3), min_size=len(passed), max_size=len(passed)))
    whole = arranged(passed, counted, verdict, shown=shown)
    assert sorted(ids(whole)) == sorted(ids([one.scored for one in passed]))
    strict = arranged(passed, counted, verdict, shown=shown, threshold=threshold)
    assert set(ids(strict)) <= set(ids(whole))
    scores = verdict.scores if verdict else {}
    dropped = {passed[index].scored.chunk.id for index, score in scores.items() if score < threshold}
    assert set(ids(whole)) - set(ids(strict)) == dropped
    assert {one.chunk.id: one.score for one in whole} == {one.scored.chunk.id: one.scored.score for one in passed}


@given(VALUES)
def test_without_features_and_verdict_the_order_stands(values: list[float]) -> None:
    passed = placed(values)
    assert ids(arranged(passed, [1.0] * len(passed), None, shown=24)) == ids([one.scored for one in passed])


def test_a_verdict_orders_what_was_shown_and_names_its_place() -> None:
    passed = placed([0.9, 0.8, 0.7, 0.6, 0.5])
    told = arranged(passed, [1.0] * 5, Reranked(order=(2, 0)), shown=4)
    assert ids(told) == ["g-2", "g-0", "g-1", "g-3", "g-4"]
    assert [one.ranks.get("rerank") for one in told] == [1, 2, None, None, None]
    scored = arranged(passed, [1.0] * 5, Reranked(order=(2, 1, 0), scores={0: 0.1, 1: 0.2, 2: 0.9}), shown=3)
    assert ids(scored) == ["g-2", "g-1", "g-0", "g-3", "g-4"]


def test_a_feature_moves_a_chunk_by_some_places_also_where_a_reranker_told_the_order() -> None:
    passed = placed([0.5, 0.45, 0.4, 0.1])
    weights = [1.0, 1.0, 1.5, 1.5]
    assert ids(arranged(passed, weights, None, shown=24)) == ["g-2", "g-0", "g-1", "g-3"]
    assert ids(arranged(passed, weights, Reranked(order=(0, 1, 2, 3)), shown=24)) == ["g-0", "g-1", "g-2", "g-3"]
    assert ids(arranged(passed, [1, 1, 1, 5.0], Reranked(order=(0, 1, 2, 3)), shown=24))[0] == "g-3"


@given(st.lists(st.floats(), min_size=1, max_size=5), st.integers(0, 6))
def test_a_factor_is_bounded_whatever_a_feature_says(told: list[float], count: int) -> None:
    chunks = [chunk(number) for number in range(count)]
    features: list[RankFeature] = [Told(told, weight=0.5), Told(told, error=StoreError("gone")), Told(told, weight=0.2)]
    found = asyncio.run(factors(features, ASKED, chunks))
    assert len(found) == count
    assert all(1.0 <= factor <= 1.7 + 1e-9 for factor in found)


async def test_pagerank_is_the_sources_own_or_that_of_its_knowledge_base() -> None:
    feature = PageRank(knowledge_bases={"kb": 40}, sources={"wiki": 100, "mail": 0})
    chunks = [chunk(1), chunk(2, document_id="wiki:a:b"), chunk(3, document_id="mail:x"), chunk(4, knowledge_base="o")]
    assert await feature.values(ASKED, chunks) == [0.4, 1.0, 0.0, 0.0]
    assert await factors([feature], ASKED, chunks[1:2]) == [1 + PAGERANK_WEIGHT]


def test_what_a_reranker_reads() -> None:
    one = chunk(1, heading_path=("Leave", " "), text="Thirty days.\n", keywords=("holiday", "vacation"))
    assert text_of(one) == "Title › Leave\nThirty days.\nholiday, vacation"
    assert text_of(chunk(1, title="")) == "text"


async def test_a_reranker_that_fails_again_and_again_is_left_alone_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    judge = Judge(answer=ModelUnreachable("no connection"))
    reranking = Reranking(judge, now=lambda: now[0])
    two = [chunk(1), chunk(2)]
    with caplog.at_level(logging.WARNING):
        for _ in range(FAILURES + 4):
            assert await reranking.verdict("my secret question", two, 1.0) == (None, Usage())
    assert len(judge.asked) == FAILURES
    assert "secret" not in caplog.text
    now[0] += REST_SECONDS
    judge.answer = Reranked(order=(1, 0))
    assert await reranking.verdict("q", two, 1.0) == (judge.answer, Usage())
    judge.answer = Reranked(order=(2,))
    assert await reranking.verdict("q", two, 1.0) == (None, Usage()), "there is no third text"
    judge.answer = Reranked(order=())
    assert await reranking.verdict("q", two[:1], 1.0) == (None, Usage())
    assert len(judge.asked) == FAILURES + 2, "one chunk needs no order"


PATIENT = replace(ALL, rerank_seconds=60.0)
"""So that a busy machine is no reason for another order."""


async def found_by(
    folder: pathlib.Path,
    *,
    options: RetrievalOptions = PATIENT,
    reranker: Reranker | None = None,
    features: Sequence[RankFeature] = (),
) -> list[list[ScoredChunk]]:
    """Return what is found without and with what reorders, over the same documents."""
    async with opened(folder, WordEmbedder()) as library:
        await fill(library, TEXTS)

        async def found(**more: object) -> list[ScoredChunk]:
            searcher = Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=library.keywords,
                embedder=library.embedder,
                options=options,
                **more,  # type: ignore[arg-type]
            )
            return list((await searcher.retrieve(ASKED)).chunks)

        return [await found(), await found(reranker=reranker, features=features)]


async def test_a_real_endpoint_reorders_what_passed(tmp_path: pathlib.Path) -> None:
    with RerankServer() as server:
        reranker = HttpReranker(Endpoint(base_url=server.url, model="fake"))
        plain, told = await found_by(tmp_path, reranker=reranker)
        await reranker.close()
        assert len(plain) > 3
        assert sorted(ids(plain)) == sorted(ids(told))
        assert numbers(told) == sorted(numbers(plain), reverse=True) != numbers(plain)
        assert [one.ranks["rerank"] for one in told] == list(range(1, len(told) + 1))
        assert server.requests[0].body["query"] == ASKED.text
        assert server.requests[0].body["documents"][0].startswith("The pump\n")


async def test_a_threshold_of_its_own_drops_what_an_endpoint_scores_below_it(tmp_path: pathlib.Path) -> None:
    options = RetrievalOptions(similarity_threshold=0.05, top_n=50, rerank_threshold=0.65, rerank_seconds=60.0)
    with RerankServer() as server:
        reranker = HttpReranker(Endpoint(base_url=server.url, model="fake"))
        plain, told = await found_by(tmp_path, options=options, reranker=reranker)
        await reranker.close()
    assert numbers(told) == sorted((number for number in numbers(plain) if number > 6), reverse=True)
    assert len(plain) > len(told) > 0


async def test_chunks_just_behind_top_n_may_come_before_it(tmp_path: pathlib.Path) -> None:
    options = RetrievalOptions(similarity_threshold=0.05, top_n=2)
    with RerankServer() as server:
        reranker = HttpReranker(Endpoint(base_url=server.url, model="fake"))
        plain, told = await found_by(tmp_path, options=options, reranker=reranker)
        await reranker.close()
    assert len(plain) == len(told) == 2
    assert not set(numbers(told)) <= set(numbers(plain))
    assert numbers(told) == sorted(numbers(told), reverse=True)


@pytest.mark.parametrize("fault", ["hang", "429", "rubbish", "few", "nan", "gone"])
async def test_when_it_fails_the_fused_order_stands_and_nobody_waits(tmp_path: pathlib.Path, fault: str) -> None:
    options = RetrievalOptions(similarity_threshold=0.05, top_n=50, rerank_seconds=0.2)
    with RerankServer() as server:
        match fault:
            case "hang":
                server.hang = 20.0
            case "429":
                server.status, server.headers = 429, {"Retry-After": "20"}
            case "rubbish":
                server.raw = b"<html>no</html>"
            case "few":
                server.change = lambda rows: {"results": rows[:2]}
            case "nan":
                server.change = lambda rows: {"results": [{**row, "relevance_score": math.nan} for row in rows]}
        url = "http://127.0.0.1:1" if fault == "gone" else server.url
        reranker = HttpReranker(Endpoint(base_url=url, model="fake"))
        started = time.perf_counter()
        plain, told = await found_by(tmp_path, options=options, reranker=reranker)
        await reranker.close()
        assert time.perf_counter() - started < 15.0, "it was waited for longer than may be"
    assert plain
    assert told == plain


async def test_whatever_reorders_nothing_below_the_gate_comes_out(tmp_path: pathlib.Path) -> None:
    draw = random.Random(7)
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        searcher = Retriever(
            registry=library.registry, vectors=library.vectors, keywords=library.keywords, embedder=library.embedder
        )
        for _ in range(25):
            threshold = draw.uniform(0.02, 0.5)
            options = RetrievalOptions(similarity_threshold=threshold, top_n=draw.randint(1, 12))
            everything = RetrievalOptions(similarity_threshold=threshold, top_n=50)
            judge = Judge()
            reordering = Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=library.keywords,
                embedder=library.embedder,
                options=options,
                reranker=judge,
                features=[Told([draw.choice([0, 0.5, 1, 99, math.nan, math.inf]) for _ in range(7)], weight=50.0)],
            )
            passed = (await searcher.with_options(everything).retrieve(ASKED)).chunks
            judge.answer = Reranked(order=tuple(draw.sample(range(len(passed)), len(passed))))
            told = await reordering.retrieve(ASKED)
            assert set(ids(told.chunks)) <= set(ids(passed))
            assert len(told.chunks) == min(options.top_n, len(passed))
            assert all(one.score >= threshold for one in told.chunks)
            assert not set(ids(told.near)) & set(ids(passed))


@pytest.mark.parametrize("can_be_read", [True, False])
async def test_what_a_judge_took_is_told(tmp_path: pathlib.Path, *, can_be_read: bool) -> None:
    took = Usage(calls=1, prompt_tokens=7)
    answer = Reranked(order=(1,), usage=took) if can_be_read else ModelBadOutput("no order", raw="prose", usage=took)
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        searcher = Retriever(
            registry=library.registry,
            vectors=library.vectors,
            keywords=library.keywords,
            embedder=library.embedder,
            options=ALL,
            reranker=Judge(answer=answer),
        )
        assert (await searcher.retrieve(ASKED)).usage == took


@pytest.mark.parametrize("wrong", [{"rerank_candidates": 0}, {"rerank_seconds": 0.0}, {"rerank_threshold": 1.5}])
def test_what_cannot_work_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        RetrievalOptions(**wrong)  # type: ignore[arg-type]


async def test_rubbish_of_a_judge_is_no_order() -> None:
    judge = Judge(answer=ModelBadOutput("prose", raw="prose"))
    assert await Reranking(judge).verdict("q", [chunk(1), chunk(2)], 1.0) == (None, Usage())


@pytest.mark.parametrize("calls", [0, 1], ids=["another model", "the language model"])
async def test_a_call_of_the_language_model_that_came_to_nothing_is_one(calls: int) -> None:
    two = [chunk(1), chunk(2)]
    failed = Reranking(Judge(answer=ModelUnreachable("gone"), calls=calls))
    assert await failed.verdict("q", two, 1.0) == (None, Usage(calls=calls))
    late = Reranking(Judge(seconds=60.0, calls=calls))
    assert await late.verdict("q", two, 0.01) == (None, Usage(calls=calls))
    unasked = Reranking(Judge(answer=ConfigError("no such template"), calls=calls))
    assert await unasked.verdict("q", two, 1.0) == (None, Usage())
