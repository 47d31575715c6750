"""What a reader sees of a passage: its words without markup, those that matter in strong type, and a part of it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.rendering.passages import joined, passage_lines, snippet, strong, word_spans
from bots.rendering.plain import plain_inlines
from bots.rendering.tree import Styled, Text

RECORDS = "# Laboratory\n\n### Records\n\nCalibration records are kept for **ten years**.\nNobody checks their own."
CODES = (
    "| Code | Shown when |\n| --- | --- |\n| `E-101` | Battery below 10 % |\n| `E-118` | Calibration slope outside 92 |"
)
WORDS = st.text(st.sampled_from("ab äß年假.,-| \n"), max_size=60)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (RECORDS, ["Laboratory", "Records", "Calibration records are kept for ten years. Nobody checks their own."]),
        (CODES, ["Code · Shown when", "E-101 · Battery below 10 %", "E-118 · Calibration slope outside 92"]),
        ("| TW-350 | a\\|b | |\n| TW-200 | 3 |", ["TW-350 · a|b", "TW-200 · 3"]),
        ("1. open\n2. close\n   - slowly\n\n> quoted\n\n```py\nx = 1\n```", [
            "1. open", "2. close", "• slowly", "quoted", "x = 1",
        ]),
        ("Just words.", ["Just words."]),
        ("", []),
    ],
)  # fmt: skip
def test_a_passage_is_shown_without_its_markup(text: str, lines: list[str]) -> None:
    assert list(passage_lines(text)) == lines


def test_a_short_passage_is_its_own_snippet_without_the_headings_above_it() -> None:
    kept = "Calibration records are kept for ten years. Nobody checks their own."
    assert snippet(RECORDS, ["records"], 300, label="Laboratory, p. 2, Records") == kept
    assert snippet(RECORDS, ["records"], 300, label="Records") == f"Laboratory {kept}"
    assert snippet("# Records", ["records"], 300, label="Records") == "Records"


def test_a_long_passage_is_cut_around_what_was_looked_for() -> None:
    assert snippet(CODES, ["Calibration"], 30) == "… E-118 · Calibration slope …"
    filled = " ".join(["word"] * 100)
    assert "needle here" in snippet(f"{filled} needle here {filled}", ["needle"], 60)
    assert snippet(f"{filled} needle", ["needle"], 60).endswith("word needle")
    assert snippet("保修期" * 200, ["保修"], 60) == f"{'保修期' * 20} …"


@given(text=WORDS, matched=st.lists(st.text("abäß年假", min_size=1, max_size=2), max_size=3), most=st.integers(1, 40))
def test_a_snippet_is_no_longer_than_asked_and_says_what_the_passage_says(
    text: str, matched: list[str], most: int
) -> None:
    said = snippet(text, matched, most)
    assert len(said.removeprefix("… ").removesuffix(" …")) <= most
    assert said.removeprefix("… ").removesuffix(" …").strip() in " ".join(" ".join(passage_lines(text)).split())


@given(text=WORDS, words=st.lists(st.text("ab 年", max_size=2), max_size=3))
def test_strong_type_changes_no_word(text: str, words: list[str]) -> None:
    spans = word_spans(text, words)
    assert plain_inlines(strong(text, spans)) == text
    pieces = strong(text, joined(text, spans))
    assert plain_inlines(pieces) == text
    assert not any(type(one) is type(other) for one, other in itertools.pairwise(pieces))


def test_words_are_found_whole_and_chinese_ones_anywhere() -> None:
    assert [*word_spans("Probe, probes, PROBE", ["probe"])] == [(0, 5), (15, 20)]
    assert word_spans("未休的年假可以", ["年假"]) == [(3, 5)]
    assert word_spans("none", ["", " "]) == []
    assert word_spans("домашний дом", ["дом"]) == [(9, 12)]
    assert word_spans("Überzug über", ["über"]) == [(8, 12)]
    assert word_spans("用PDF文件", ["pdf"]) == [(1, 4)]
    assert word_spans("ภาษาไทย", ["ไทย"]) == [(4, 7)]


def test_words_that_belong_together_are_marked_as_one() -> None:
    text = "Working from another country is possible. Ask first, in the new office."
    spans = word_spans(text, ["working", "another", "country", "possible", "ask", "office"])
    assert [text[start:end] for start, end in joined(text, spans)] == [
        "Working from another country is possible", "Ask", "office",
    ]  # fmt: skip
    assert strong("a b", [(0, 1)]) == (Styled(style="strong", children=(Text(text="a"),)), Text(text=" b"))
