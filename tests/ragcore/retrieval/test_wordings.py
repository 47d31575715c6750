"""A question that is searched by several wordings: one ranking, each wording behind its own gate, nothing else changed."""

import pathlib
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.retrieval.fusing import Reading, fused
from ragcore.retrieval.judging import MOST_NEAR
from ragcore.retrieval.ordering import Placed
from ragcore.types import Chunk, Message, Question, ScoredChunk
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_retriever import TEXTS, WordEmbedder, retriever
from tests.soak import scaled

LEAVE = Question(text="How many days of paid vacation are there?", knowledge_bases=("kb",))
CHINESE = "员工有几天带薪年假？"


def chunk(name: str) -> Chunk:
    return Chunk(id=name, document_id=name, knowledge_base="kb", ordinal=0, text=name, title=name, token_count=1)


def placed(name: str, value: float, *copies: str, leg: str = "dense", matched: tuple[str, ...] = ()) -> Placed:
    scored = ScoredChunk(
        chunk=chunk(name), score=value, ranks={leg: 1}, copies=tuple(map(chunk, copies)), matched=matched
    )
    return Placed(scored=scored, value=value)


def named(passed: Sequence[Placed]) -> list[tuple[str, float]]:
    return [(one.scored.chunk.id, one.value) for one in passed]


def test_each_chunk_counts_by_its_best_wording() -> None:
    one = Reading(passed=(placed("a", 0.6, matched=("leave",)), placed("b", 0.3)))
    other = Reading(passed=(placed("c", 0.5), placed("b", 0.4, leg="keyword"), placed("a", 0.2, matched=("假",))))
    found = fused([one, other]).passed
    assert named(found) == [("a", 0.6), ("c", 0.5), ("b", 0.4)]
    assert found[0].scored.matched == ("leave", "假")
    assert found[2].scored.ranks == {"keyword": 1, "dense": 1}


def test_copies_that_two_wordings_found_stand_once() -> None:
    one = Reading(passed=(placed("a", 0.6, "b"), placed("d", 0.3)))
    other = Reading(passed=(placed("b", 0.5, "c"), placed("c2", 0.4)))
    found = fused([one, other]).passed
    assert named(found) == [("a", 0.6), ("c2", 0.4), ("d", 0.3)]
    assert [copy.id for copy in found[0].scored.copies] == ["b", "c"]


def test_what_passed_relaxed_counts_only_where_nothing_else_passed() -> None:
    relaxed = Reading(passed=(placed("a", 0.9),), relaxed=True)
    strict = Reading(passed=(placed("b", 0.3),))
    assert named(fused([relaxed, strict]).passed) == [("b", 0.3)]
    assert not fused([relaxed, strict]).relaxed
    assert named(fused([relaxed, Reading(passed=())]).passed) == [("a", 0.9)]
    assert fused([relaxed, Reading(passed=())]).relaxed


def test_what_came_near_to_one_gate_and_passed_another_is_told_once() -> None:
    one = Reading(passed=(placed("a", 0.6, "b"),))
    other = Reading(passed=(), near=tuple(placed(name, 0.1).scored for name in ("a", "b", "c")))
    assert [scored.chunk.id for scored in fused([one, other]).near] == ["c"]
    both = Reading(passed=(), near=(placed("c", 0.15).scored, placed("d", 0.12).scored))
    assert [(near.chunk.id, near.score) for near in fused([both, other]).near] == [
        ("c", 0.15), ("d", 0.12), ("a", 0.1), ("b", 0.1)
    ]  # fmt: skip


_READINGS = st.builds(
    lambda rows, near, relaxed: Reading(
        passed=tuple(sorted((placed(n, v, *c) for n, (v, c) in rows.items()), key=lambda one: -one.value)),
        near=tuple(placed(name, 0.1).scored for name in sorted(near - rows.keys())),
        relaxed=relaxed,
    ),
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.tuples(st.sampled_from([0.2, 0.4, 0.6]), st.lists(st.sampled_from("uvw"), max_size=2, unique=True)),
        max_size=5,
    ),
    st.sets(st.sampled_from("abcdefxyz"), max_size=MOST_NEAR),
    st.booleans(),
)


@settings(max_examples=scaled(30), deadline=None)
@given(st.lists(_READINGS, min_size=1, max_size=4))
def test_one_ranking_holds_what_the_wordings_let_through_and_no_more(readings: list[Reading]) -> None:
    together = fused(readings)
    passed = [one for reading in readings for one in reading.passed]
    values = [one.value for one in together.passed]
    assert values == sorted(values, reverse=True)
    names = [text.id for one in together.passed for text in (one.scored.chunk, *one.scored.copies)]
    assert len({one.scored.chunk.id for one in together.passed}) == len(together.passed)
    assert set(names) <= {text.id for one in passed for text in (one.scored.chunk, *one.scored.copies)}
    assert bool(together.passed) is bool(passed)
    assert not {near.chunk.id for near in together.near} & set(names)
    assert len(together.near) <= MOST_NEAR
    if not any(reading.relaxed for reading in readings):
        assert {one.scored.chunk.id for one in passed} <= set(names), "nothing is lost"
        for one in together.passed:
            best = max(other.value for other in passed if other.scored.chunk.id == one.scored.chunk.id)
            assert one.value == best


async def test_documents_in_another_language_are_found_by_the_translation(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        plain = await search.retrieve(LEAVE)
        both = await search.retrieve(replace(LEAVE, wordings=(LEAVE.text, CHINESE)))
        alone = await search.retrieve(replace(LEAVE, text=CHINESE))
    assert {one.chunk.document_id for one in plain.chunks} == {"s:leave"}
    assert {one.chunk.document_id for one in both.chunks} == {"s:leave", "s:zh"}
    scores = {one.chunk.document_id: one.score for one in (*alone.chunks, *plain.chunks)}
    assert {one.chunk.document_id: one.score for one in both.chunks} == scores
    assert "vacation" in next(one for one in both.chunks if one.chunk.document_id == "s:leave").matched


async def test_a_wording_takes_the_place_of_the_question_and_of_what_was_said_before(tmp_path: pathlib.Path) -> None:
    said = (Message(role="user", text="What does the client show when the tunnel breaks, ERR_CONN_104?"),)
    leaning = replace(LEAVE, text="And how many of them?", history=said)
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        worded = await search.retrieve(replace(leaning, wordings=(LEAVE.text,)))
        assert worded == await search.retrieve(LEAVE)
        late = await search.retrieve(replace(leaning, wordings=(leaning.text, CHINESE)))
        found = {one.chunk.document_id for one in late.chunks}
        by_words = {one.chunk.document_id for one in (await search.retrieve(leaning)).chunks}
        assert found == by_words | {"s:zh"}, "where only the translation came, words of earlier turns still help"
        # One that finds nothing lets nothing in.
        strange = replace(LEAVE, wordings=(LEAVE.text, "Quelle heure est-il à Tokyo maintenant ?"))
        assert (await search.retrieve(strange)).chunks == (await search.retrieve(LEAVE)).chunks
        nothing = replace(LEAVE, text="Who won the match?", wordings=("Who won the match?", "谁赢了比赛？"))
        assert (await search.retrieve(nothing)).chunks == ()


async def test_keywords_help_what_has_them_and_cost_the_others_nothing(tmp_path: pathlib.Path) -> None:
    asked = replace(LEAVE, text="paid leave for employees, and the menu")
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        plain = {one.chunk.document_id: one.score for one in (await search.retrieve(asked)).chunks}
        with_words = (await search.retrieve(replace(asked, keywords=("paid vacation", "sabbatical")))).chunks
        helped = {one.chunk.document_id: one.score for one in with_words}
    assert helped["s:leave"] > plain["s:leave"]
    assert all(helped[name] >= score for name, score in plain.items())
