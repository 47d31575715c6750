"""Findings in a prompt: ranked, numbered anew, and cut to what fits; and what a model's verdict is made of."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations import markers
from ragcore.errors import ModelBadOutput
from ragcore.research.judging import verdict_of
from ragcore.research.memory import all_chunks, numbering, ranked, readable, written
from ragcore.research.values import Finding
from ragcore.tokens import offline_tokenizer
from ragcore.types import ScoredChunk
from tests.fakes.researching import chunk

CHUNKS = [ScoredChunk(chunk=chunk(f"d{n}", f"Glider {n} costs {n} francs."), score=0.5) for n in range(8)]


def finding(question: str, *of: int, cites: tuple[int, ...] = ()) -> Finding:
    chunks = tuple(CHUNKS[n] for n in of)
    text = "\n".join(f"Glider {of[n]} costs {of[n]} francs [ID:{n}]." for n in cites)
    return Finding(question=question, text=text, chunks=chunks)


def test_what_is_cited_comes_first_and_each_text_once() -> None:
    findings = [finding("a", 0, 1, 2, cites=(2,)), finding("b", 1, 3, cites=(1, 0)), finding("c", 4)]
    assert [one.chunk.document_id for one in all_chunks(findings)] == [f"docs:d{n}" for n in (2, 3, 1, 4, 0)] or {
        one.chunk.id for one in all_chunks(findings)[:3]
    } == {"d1-0", "d2-0", "d3-0"}


@given(seed=st.integers(0, 10**9))
def test_findings_fit_and_every_number_is_that_of_its_chunk(seed: int) -> None:
    draw = random.Random(seed)
    findings = []
    for n in range(draw.randint(0, 6)):
        of = draw.sample(range(8), draw.randint(0, 8))
        cites = tuple(draw.sample(range(len(of)), draw.randint(0, len(of))))
        findings.append(finding(f"question {n}", *of, cites=cites))
    tokenizer = offline_tokenizer()
    shown = all_chunks(findings)[: draw.randint(0, 8)]
    budget = draw.choice((0, 10, 40, 120, 1_000))
    text = written(ranked("glider 3", findings), numbering(shown), budget, tokenizer)
    assert tokenizer.count(text) <= budget
    for line in text.splitlines():
        for marker in markers.find(line):
            assert markers.strip(line) == shown[marker.id].chunk.text
    sentences = [markers.strip(line) for line in text.splitlines() if markers.find(line)]
    assert len(sentences) == len(set(sentences))
    if budget == 1_000:
        cited = {markers.strip(line) for one in findings for line in one.text.splitlines()}
        assert set(sentences) == cited & {one.chunk.text for one in shown}


def test_what_may_not_be_read_any_more_goes_with_its_sentences() -> None:
    whole = finding("a", 0, 1, 2, cites=(0, 1, 2))
    kept = readable(whole, {one.chunk.id: one for one in (CHUNKS[0], CHUNKS[2])})
    assert kept.text == "Glider 0 costs 0 francs [ID:0].\nGlider 2 costs 2 francs [ID:1]."
    assert kept.chunks == (CHUNKS[0], CHUNKS[2])


FINDINGS = [finding("a", 0, 1, cites=(0, 1)), finding("b", 5, cites=(0,))]


@pytest.mark.parametrize(
    ("reply", "enough", "missing", "pairs"),
    [
        ('{"enough": true, "missing": ["more?"]}', True, (), 0),
        ('{"enough": "True"}', True, (), 0),
        (
            '{"enough": false, "missing": ["price of glider nine", "glider PRICE nine"]}',
            False,
            ("price of glider nine",),
            0,
        ),
        ('{"enough": false, "missing": ["asked before"]}', False, (), 0),
        ('{"enough": false, "missing": "nothing"}', False, (), 0),
        ('{"enough": true, "contradictions": [{"one": 0, "other": 1}]}', True, (), 1),
        (
            '{"enough": true, "contradictions": [["[ID:0]", "[ID:2]"], [2, 0], [0, 0], [0, 99], "x", {"one": null}]}',
            True,
            (),
            1,
        ),
        ('{"enough": true, "contradictions": {"one": 0, "other": 1}}', True, (), 0),
    ],
)
def test_a_verdict_is_read(reply: str, enough: bool, missing: tuple[str, ...], pairs: int) -> None:
    verdict = verdict_of(reply, FINDINGS, ["asked before"])
    assert (verdict.enough, verdict.missing, len(verdict.contradictions)) == (enough, missing, pairs)
    for one in verdict.contradictions:
        assert {one.one.text, one.other.text} <= {scored.chunk.text for scored in CHUNKS}
        assert one.one.chunk_id != one.other.chunk_id


@pytest.mark.parametrize("reply", ["", "yes, that is enough", "[1, 2]", '{"answer": 3}', '{"missing": [1]}'])
def test_what_is_no_verdict_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput):
        verdict_of(reply, FINDINGS, [])
