from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieval.candidates import Candidates
from ragcore.retrieval.ranking import RELAXED, rank
from ragcore.retrieval.scoring import Background
from ragcore.retrieval.weighing import WeighedQuery
from ragcore.stores.indexes import KeywordQuery

BACKGROUND = Background(mean=0.05, deviation=0.09, count=1000, agreement=0.45)


def weighed(ceiling: float, known: float) -> WeighedQuery:
    return WeighedQuery(keywords=KeywordQuery(), count=1000, ceiling=ceiling, known_ceiling=known, exact={})


def group(
    cosines: dict[str, float] | None, bm25: dict[str, float] | None, *, known: float = 10.0, name: str = "kb"
) -> Candidates:
    return Candidates(
        knowledge_base=name,
        cosines=cosines,
        bm25=bm25,
        weighed=weighed(10.0, known) if bm25 is not None else None,
        backgrounds={"en": BACKGROUND} if cosines is not None else {},
    )


def order(*groups: Candidates, threshold: float = 0.0) -> list[str]:
    return [one.chunk_id for one in rank(groups, weight=0.5, threshold=threshold).candidates]


def test_both_legs_count_and_either_alone_orders_too() -> None:
    cosines, bm25 = {"a": 0.7, "b": 0.3, "c": 0.5}, {"a": 1.0, "b": 6.0, "c": 4.0}
    assert order(group(cosines, None)) == ["a", "c", "b"]
    assert order(group(None, bm25)) == ["b", "c", "a"]
    assert order(group(cosines, bm25))[0] == "c"


def test_knowledge_bases_are_compared_on_one_scale() -> None:
    weak, strong = group({"a": 0.3}, {"a": 1.0}), group({"b": 0.6}, {"b": 5.0}, name="other")
    assert order(weak, strong) == ["b", "a"]


def test_each_language_stands_on_its_own_background() -> None:
    unread = Background(mean=0.4, deviation=0.1, count=1000, agreement=0.18)
    mixed = replace(
        group({"a": 0.6, "b": 0.5}, {"a": 0.0, "b": 0.0}),
        backgrounds={"en": BACKGROUND, "zh": unread},
        languages={"a": "zh", "b": "en"},
    )
    found = {one.chunk_id: one.relevance for one in rank([mixed], weight=0.5, threshold=0.0).candidates}
    assert found["a"] <= 0.0 < found["b"]


@given(st.floats(-1, 1), st.floats(0, 10), st.floats(0, 1))
def test_the_gate_never_depends_on_what_else_was_found(cosine: float, bm25: float, threshold: float) -> None:
    alone = rank([group({"a": cosine}, {"a": bm25})], weight=0.5, threshold=threshold)
    beside = rank([group({"a": cosine, "b": -1.0}, {"a": bm25, "b": 0.0})], weight=0.5, threshold=threshold)
    assert alone.relaxed == beside.relaxed
    assert alone.threshold == beside.threshold


def test_words_that_stand_nowhere_are_forgiven_once_and_for_a_price() -> None:
    half_known = group({"a": 0.1}, {"a": 5.0}, known=5.0)
    ranking = rank([half_known], weight=0.5, threshold=0.3)
    assert ranking.relaxed
    assert ranking.threshold == 0.3 * RELAXED
    mostly_unknown = group({"a": 0.1}, {"a": 3.0}, known=3.0)
    strict = rank([mostly_unknown], weight=0.5, threshold=0.3)
    assert not strict.relaxed
    assert all(candidate.relevance < strict.threshold for candidate in strict.candidates)
    assert not rank([group({"a": 0.8}, {"a": 9.0})], weight=0.5, threshold=0.3).relaxed


def test_nothing_found_is_an_empty_ranking() -> None:
    assert rank([], weight=0.5, threshold=0.2).candidates == ()
    assert rank([group({}, {})], weight=0.5, threshold=0.0).candidates == ()
