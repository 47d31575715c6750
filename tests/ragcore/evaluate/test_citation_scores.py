"""Citation metrics, counted by hand on small cases."""

import json

import pytest

from ragcore.errors import ConfigError
from ragcore.evaluate.citations import attribute_cases, evaluate_citations, read_cases

ANSWER = "Pumps stop early. They restart at dawn."
PASSAGES = [
    {"pid": "a", "title": "", "text": "Pumps stop early when the tank is empty."},
    {"pid": "b", "title": "", "text": "They restart at dawn unless the valve is shut."},
    {"pid": "c", "title": "", "text": "Herons nest in reeds."},
]


def by_sentence() -> str:
    sentences = [
        {"start": 0, "end": 17, "text": ANSWER[:17], "gold": ["a", "b"], "wrong": [], "label": "supported"},
        {"start": 18, "end": 39, "text": ANSWER[18:], "gold": [], "wrong": ["c"], "label": "unsupported"},
    ]
    return json.dumps({"case_id": "1", "question": "?", "answer": ANSWER, "passages": PASSAGES, "sentences": sentences})


def by_answer() -> str:
    return json.dumps(
        {"case_id": "2", "question": "?", "answer": ANSWER, "passages": PASSAGES, "gold": ["a"], "also": ["b"]}
    )


@pytest.mark.parametrize(
    ("cited", "precision", "recall", "unsupported", "wrong"),
    [
        (ANSWER, 0.0, 0.0, 0.0, 0.0),
        ("Pumps stop early [ID:0]. They restart at dawn.", 1.0, 0.5, 0.0, 0.0),
        ("Pumps stop early. [ID:0][ID:1] They restart at dawn [ID:1].", 1.0, 1.0, 1.0, 0.0),
        ("Pumps stop early [ID:0][ID:2]. They restart at dawn. [ID:2]", 0.5, 0.5, 1.0, 1.0),
        # In the middle of a sentence a marker belongs to none.
        ("Pumps [ID:0] stop early. They restart at dawn.", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_scores_by_sentence(cited: str, precision: float, recall: float, unsupported: float, wrong: float) -> None:
    scores = evaluate_citations(read_cases([by_sentence()]), [cited])
    assert (scores.precision, scores.recall) == (precision, recall)
    assert (scores.unsupported_cited, scores.wrong_cited) == (unsupported, wrong)


@pytest.mark.parametrize(
    ("cited", "precision", "recall"),
    [
        ("Pumps stop early [ID:0]. They restart at dawn [ID:1].", 1.0, 1.0),
        ("Pumps stop early [ID:0][ID:2]. They restart at dawn.", 0.5, 1.0),
        ("Pumps stop early [ID:9]. They restart at dawn.", 0.0, 0.0),
    ],
)
def test_scores_by_answer(cited: str, precision: float, recall: float) -> None:
    scores = evaluate_citations(read_cases([by_answer()]), [cited])
    assert (scores.precision, scores.recall, scores.unsupported_cited) == (precision, recall, None)


async def test_bare_answers_are_attributed() -> None:
    assert await attribute_cases(read_cases([by_answer()])) == ["Pumps stop early [ID:0]. They restart at dawn [ID:1]."]


@pytest.mark.parametrize("line", ["{", "[]", '{"case_id": 1}', '{"case_id": 1, "answer": "x", "passages": [1]}'])
def test_a_line_that_is_no_case_is_named(line: str) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        read_cases([by_answer(), line])


def test_answers_must_match_the_cases() -> None:
    with pytest.raises(ValueError, match="argument"):
        evaluate_citations(read_cases([by_answer()]), [])


def test_a_case_without_its_passages_is_told_so() -> None:
    with pytest.raises(ConfigError, match=r"^line 1 is no citation case: it lacks passages$"):
        read_cases(["{}"])
