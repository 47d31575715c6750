"""Sentences tile the text, in any script, and a marker stays with the sentence that it closes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.sentences import BlockKind, split_sentences

PIECES = st.sampled_from(
    [
        *(
            "One went. ",
            "5% in 2024. ",
            "NASA did. ",
            "e.g. ",
            "v2.3.1 ",
            '"So." ',
            "(Yes.) ",
            "**Bold.** ",
            "Dr. Who ",
            "Why?",
        ),
        *(
            "他走了。",
            "「好。」",
            "价格3.5元！",
            "यह है। ",
            "Это да. ",
            "هذه؟ ",
            "นี่คือ ",
            "x",
            ".",
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "\t",
        ),
        *(
            "# Head\n",
            "- item\n",
            "> quote\n",
            "| a | b |\n",
            "|---|---|\n",
            "```\n",
            "`a. b` ",
            "[t. t](http://x.y/z.) ",
        ),
        *("[ID:0]", " [ID:1]", "[ID:2][ID:3] ", "\n[ID:4] ", "1. ", "---\n", "===\n", "**Lead**\n"),
    ]
)
TEXTS = st.lists(PIECES, max_size=16).map("".join)


def said(text: str) -> list[str]:
    return [text[s.start : s.end].strip() for s in split_sentences(text)]


@given(st.one_of(TEXTS, st.text(max_size=80)))
def test_sentences_tile_the_text(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(text[s.start : s.end] for s in sentences) == text
    for sentence in sentences:
        assert sentence.start <= sentence.body <= sentence.body_end <= sentence.end
        assert not text[sentence.body_end : sentence.end].strip()


@pytest.mark.parametrize(
    "text",
    [
        "It fell 5% in 2024.|NASA launched it.|Version v2.3.1 is out.",
        'He said "Stop."|Then he left.|(It ended.)|Next one.',
        "See e.g. Fig. 3 for more.|Dr. Smith and J. K. Rowling met at 5 p.m. with approx. 5 others.|Fine.",
        "**Bold.**|Then more.|Really?!|Yes... maybe.",
        "See [A. B](http://x.y/z.html).|Use `a. B` now.|Go to http://a.b/c.d.|End.",
        "他走了。|价格是3.5元！|“是吗？”|这是A.B公司。|（完。）|下一句",
        "彼は「はい。」と言った。|次の文。",
        "यह एक वाक्य है।|यह दूसरा है॥|तीसरा",
        "Это первое.|В 2024 г. он ушёл.|Конец.",
        "هذه جملة أولى.|وهذه ثانية؟|نعم!",
        "Πρώτη πρόταση.|Δεύτερη.",
        "Ends here. [ID:0]|Next one [ID:1].|And.[ID:2][ID:3]|Last",
        "完。[ID:0]|下一句[ID:1]。|再",
    ],
)
def test_sentences_of_many_scripts(text: str) -> None:
    expected = text.split("|")
    wide = any("\u3000" <= c <= "\u9fff" for c in text)
    joined = ("" if wide else " ").join(expected)
    assert said(joined) == expected


def test_thai_is_parted_at_spaces_when_it_is_long() -> None:
    first = "นี่คือประโยคแรกที่ยาวมากและมีรายละเอียดมากมายหลายอย่าง"
    assert said(f"{first} {first}") == [first, first]
    assert said("นี่คือ ประโยค") == ["นี่คือ ประโยค"]


def test_blocks_part_sentences() -> None:
    text = (
        "# Title. One\n\nText one. Text two.\n- item one. More\n1. num\n\n| a | b |\n|---|---|\n| 1. | 2 [ID:0] |\n| 3 | 4 |\n\n"
        "```py\na. B. c\n```\n> quote. Two\n\n**Lead**\nafter\n"
    )
    kinds = [(text[s.start : s.end].strip(), s.kind) for s in split_sentences(text)]
    assert kinds == [
        ("# Title. One", BlockKind.HEADING),
        ("Text one.", BlockKind.PROSE),
        ("Text two.", BlockKind.PROSE),
        ("- item one.", BlockKind.PROSE),
        ("More", BlockKind.PROSE),
        ("1. num", BlockKind.PROSE),
        ("| a | b |", BlockKind.LAYOUT),
        ("|---|---|", BlockKind.LAYOUT),
        ("| 1. | 2 [ID:0] |", BlockKind.ROW),
        ("| 3 | 4 |", BlockKind.ROW),
        ("```py\na. B. c\n```", BlockKind.CODE),
        ("> quote.", BlockKind.PROSE),
        ("Two", BlockKind.PROSE),
        ("**Lead**", BlockKind.HEADING),
        ("after", BlockKind.PROSE),
    ]


def test_a_bold_answer_alone_is_no_heading() -> None:
    assert split_sentences("**Paris**")[0].kind is BlockKind.PROSE


def test_the_body_leaves_list_signs_and_white_space_out() -> None:
    text = "- [x] Pay the bill. \n> 2) Go home [ID:1]\n"
    assert [text[s.body : s.body_end] for s in split_sentences(text)] == ["Pay the bill.", "Go home [ID:1]"]


def test_a_marker_on_its_own_line_belongs_to_the_sentence_above() -> None:
    assert said("It ends.\n[ID:0]\nNext line.\n[ID:1] Heads it.") == [
        "It ends.\n[ID:0]",
        "Next line.",
        "[ID:1] Heads it.",
    ]


def test_a_soft_wrapped_sentence_is_one() -> None:
    assert said("It goes on\nover the line. Next\nOther") == ["It goes on\nover the line.", "Next", "Other"]


@pytest.mark.parametrize(
    "unit", ["[ID:0] ", "a. B ", "。", "| a |\n", "- a\n", "`a` ", "**a.** ", "a\n", '."', "> ", "ก "]
)
def test_splitting_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    split_sentences(unit * (60_000 // len(unit)))
    assert time.process_time() - began < 3


@pytest.mark.parametrize("unit", ["![", "。」", '!"', "。”"])
def test_thousands_of_stops_without_a_word_are_passed_over_once(unit: str) -> None:
    began = time.process_time()
    split_sentences(f"A word. {unit * 8_000} end.")
    assert time.process_time() - began < 1.5
