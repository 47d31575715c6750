import time
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import Piece
from ragcore.chunking.questions import find_pairs, is_question, plain_question
from ragcore.types import Location, Section, SectionKind
from tests.ragcore.chunking import held
from tests.ragcore.chunking.files import KINDS, sections_of, table_file, word
from tests.ragcore.chunking.held import TOKENIZER, check
from tests.ragcore.nasty import NASTY

ASKED = [
    ("How do I reset my password?", "Open Settings, choose Security, and press Reset."),
    ("When is the office open?", "From nine to five, Monday to Friday."),
    ("年假可以结转吗？", "可以，最多结转五天，次年三月底前有效。"),
]


cut = partial(held.cut, qa_embed="question")
"""Each piece tells its question where that alone is embedded."""


def found(pieces: list[Piece]) -> list[str]:
    return [piece.embedded for piece in pieces]


def test_question_and_answer_are_embedded_together_and_cut_no_other_way() -> None:
    sections = sections_of("csv", table_file("csv", ASKED))
    alone = cut("qa", sections)
    together = held.cut("qa", sections)
    assert found(together) == ["", "", ""]
    assert together == [replace(piece, embedded="") for piece in alone]
    for piece, (question, answer) in zip(together, ASKED, strict=True):
        assert question in piece.text
        assert answer in piece.text


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_file_are_found_by_the_question_and_hold_the_answer(kind: str, named: bool) -> None:
    rows = [["Question", "Answer"], *ASKED] if named else ASKED
    pieces = cut("qa", sections_of(kind, table_file(kind, rows)))
    assert found(pieces) == [question for question, _ in ASKED]
    for piece, (question, answer) in zip(pieces, ASKED, strict=True):
        assert question in piece.text
        assert answer in piece.text
        assert ("Question" in piece.text) == named
    if kind in ("xlsx", "csv", "tsv"):
        assert [piece.location.first_row for piece in pieces] == [1 + named, 2 + named, 3 + named]
        assert all(piece.location.last_row == piece.location.first_row for piece in pieces)
    if kind == "md":
        assert [piece.location.first_line for piece in pieces] == ([3, 4, 5] if named else [1, 3, 4])


@pytest.mark.parametrize("kind", KINDS)
def test_named_columns_are_found_among_others(kind: str) -> None:
    rows = [
        ["编号", "问题", "类别", "答案"],
        ["1", "怎么请假？", "人事", "在系统里申请。"],
        ["2", "", "", "或者问主管。"],
    ]
    (piece,) = cut("qa", sections_of(kind, table_file(kind, rows)))
    assert piece.embedded == "怎么请假？"
    assert "在系统里申请。" in piece.text
    assert "或者问主管。" in piece.text, "a row without a question answers the one above"


def test_a_table_that_asks_nothing_is_cut_as_any_other() -> None:
    sections = sections_of("csv", table_file("csv", [["City", "Rain", "Sun"], ["Oslo", "a lot", "little"]]))
    assert cut("qa", sections) == cut("naive", sections)


def test_a_table_under_a_question_is_part_of_its_answer() -> None:
    text = b"# Fares\n\n## What does a ticket cost?\n\nIt depends.\n\n| Zone | Price |\n| --- | --- |\n| A | 2 |\n"
    pieces = cut("qa", sections_of("md", text))
    assert found(pieces) == ["What does a ticket cost?", ""]
    assert pieces[1].heading_path[-1] == "What does a ticket cost?"


MARKED = [
    "Q: How long is the trial?\nA: Thirty days.\n\nQ: Can I extend it?\nA: Once.",
    "**Q1.** How long is the trial?\n\n**A1.** Thirty days.\n\n**Q2.** Can I extend it?\n\n**A2.** Once.",
    "Question 1: How long is the trial?\nAnswer: Thirty days.\nQuestion 2: Can I extend it?\nAnswer: Once.",
    "Q: How long is the trial? A: Thirty days.\nQ: Can I extend it? A: Once.",
    "Q: How long is the trial?\nThirty days.\n\nQ: Can I extend it?\nOnce.",
    "How long is the trial?\n\nThirty days.\n\nCan I extend it?\n\nOnce.",
    "**How long is the trial?**\nThirty days.\n\n**Can I extend it?**\nOnce.",
    "1. How long is the trial?\n\nThirty days.\n\n2. Can I extend it?\n\nOnce.",
    "How long is the trial?\nThirty days.\nCan I extend it?\nOnce.",
    "1. How long is the trial?\nThirty days.\n2. Can I extend it?\nOnce.",
    "How long is the trial?\nThirty days.\n\nQ: Can I extend it?\nA: Once.",
]


@pytest.mark.parametrize("text", MARKED, ids=range(len(MARKED)))
def test_marked_pairs_are_chunks(text: str) -> None:
    section = Section(text=f"# FAQ\n\n{text}", heading_path=("FAQ",), location=Location(first_line=1, last_line=99))
    pieces = cut("qa", [section])
    check(section, pieces, tokens=160)
    assert found(pieces) == ["How long is the trial?", "Can I extend it?"]
    assert [("Thirty days." in piece.text, "Once." in piece.text) for piece in pieces] == [(True, False), (False, True)]
    for piece in pieces:
        lines = section.text.split("\n")[piece.location.first_line - 1 : piece.location.last_line]
        assert piece.text.strip() == "\n".join(lines).strip()


@pytest.mark.parametrize(
    "text",
    [
        "问：年假有几天？\n答：十五天。\n问：怎么申请？\n答：在系统里。",
        "问题1：年假有几天？答：十五天。\n问题2：怎么申请？答：在系统里。",
    ],
    ids=["lines", "inline"],
)
def test_chinese_marks(text: str) -> None:
    pieces = cut("qa", [Section(text=text)])
    assert found(pieces) == ["年假有几天？", "怎么申请？"]
    assert ["十五天" in piece.text for piece in pieces] == [True, False]


@pytest.mark.parametrize(
    "answer",
    [
        "It opens at nine, and some ask:\nWhy so late?\nNobody knows.",
        "It opens at nine.\nWhy? And who says so?\nNobody knows.",
        "It opens at nine.\nor at ten?\nNobody knows.",
        f"It opens at nine.\n{'And what of the others ' * 6}?\nNobody knows.",
    ],
)
def test_a_question_within_an_answer_stays_there(answer: str) -> None:
    (piece,) = cut("qa", [Section(text=f"When is it open?\n{answer}")])
    assert piece.embedded == "When is it open?"
    assert piece.text.endswith(answer)


def test_a_question_in_prose_opens_no_pair_without_a_blank_line() -> None:
    section = Section(text="The desk is in building C.\nWhen does it open?\nAt nine.\nAnd then?\nIt closes.")
    assert found(cut("qa", [section])) == [""]


def test_what_is_asked_and_answered_under_another_question_has_not_that_in_its_path() -> None:
    marked = "Q: Is there vegan food?\nA: Each day."
    table = "| Question | Answer |\n| --- | --- |\n| Who cooks? | Ada. |\n"
    text = f"# Canteen\n\n## When is lunch?\n\nAt noon.\n\n{marked}\n\n{table}\n## More?\n\n{marked}\n"
    pieces = cut("qa", sections_of("md", text.encode()))
    assert [(piece.embedded, piece.heading_path) for piece in pieces[-4:]] == [
        ("When is lunch?", ("When is lunch?",)),
        ("Is there vegan food?", ()),
        ("Who cooks?", ()),
        ("Is there vegan food?", ("More?",)),
    ]
    steps = text.replace("When is lunch?", "How to eat")
    assert cut("qa", sections_of("md", steps.encode()))[-3].heading_path == ("How to eat",)


def test_headings_that_ask_and_text_that_does_not() -> None:
    text = b"""# Help

Welcome to the help pages.

## How do I cancel?

Write to us.

## Opening hours

Nine to five.

## Payment

### Which cards do you take?

All of them.
"""
    pieces = cut("qa", sections_of("md", text))
    assert found(pieces) == ["", "How do I cancel?", "", "Which cards do you take?"]
    assert [piece.location.first_line for piece in pieces] == [1, 5, 9, 13]
    assert "".join(piece.text for piece in pieces).replace("\n", "") == text.decode().replace("\n", "")


def test_a_word_document_with_headings_marks_and_a_table() -> None:
    content = word(
        [["Frage", "Antwort"], ["Wo ist das Lager?", "Im Keller."]],
        [
            ("Title", "Hilfe"), ("Normal", "Vorwort."), ("Heading 1", "How do I cancel?"), ("Normal", "Write to us."),
            ("Heading 1", "More"), ("Normal", "Q: Who pays?"), ("Normal", "A: The sender."),
        ],
    )  # fmt: skip
    pieces = cut("qa", sections_of("docx", content))
    assert [one for one in found(pieces) if one] == ["How do I cancel?", "Who pays?", "Wo ist das Lager?"]
    assert any("Vorwort." in piece.text for piece in pieces)


def test_several_ways_to_ask_share_an_answer_and_a_list_of_questions_none() -> None:
    (piece,) = cut("qa", [Section(text="Q: May I park?\nQ: Is there a garage?\nA: Yes, below the house.")])
    assert piece.embedded == "May I park? Is there a garage?"
    contents = "".join(f"What is question {n}?\n\n" for n in range(9))
    pieces = cut("qa", [Section(text=contents)])
    assert len([piece for piece in pieces if piece.embedded]) <= 8
    assert all(len(piece.embedded) < 30 for piece in pieces)


def test_a_long_answer_repeats_the_question_with_each_part() -> None:
    answer = "The office opens at nine, and closes at five. " * 60
    section = Section(text=f"Q: When is it open?\nA: {answer}\n\nQ: Who has a key?\nA: The porter.")
    pieces = cut("qa", [section], tokens=80)
    check(section, pieces, tokens=80)
    *parts, last = pieces
    assert len(parts) > 5
    assert parts[0].embedded == "When is it open?"
    assert all(part.text.startswith("Q: When is it open?\n") for part in parts)
    for part in parts[1:]:
        assert part.embedded == f"When is it open?\n{part.text[part.overlap :].strip()}"
    assert last.embedded == "Who has a key?"


def test_a_long_answer_in_a_row_repeats_header_and_question_with_each_part() -> None:
    rows = [["Question", "Answer"], ["When is it open?", "From nine to five, and at night. " * 40], ["Who?", "You."]]
    (section,) = sections_of("csv", table_file("csv", rows))
    pieces = cut("qa", [section], tokens=60)
    check(section, pieces, tokens=60)
    assert len(pieces) > 5
    assert all(piece.text.startswith(f"{section.header}| When is it open? | ") for piece in pieces[:-1])
    assert all(piece.embedded.startswith("When is it open?") for piece in pieces[:-1])
    assert {piece.location.first_row for piece in pieces[:-1]} == {2}
    assert pieces[-1].embedded == "Who?"


def test_a_question_over_the_budget_loses_nothing() -> None:
    section = Section(text=f"Q: {'Is it this or that, ' * 90}?\nA: Yes.")
    pieces = cut("qa", [section], tokens=40)
    check(section, pieces, tokens=40)
    assert 0 < TOKENIZER.count(pieces[0].embedded) <= 40


lines = st.one_of(
    st.sampled_from(
        [
            "Q: one?",
            "A: two.",
            "Q2. What",
            "问：谁？",
            "答：我。",
            "Who is it?",
            "",
            "",
            "plain text.",
            "## Why?",
            "word " * 40,
        ]
    ),
    st.text(alphabet="QA:?？.*# \n\tab年", max_size=20),
)
texts = st.one_of(st.lists(lines, max_size=12).map("\n".join), NASTY)


@given(texts, st.sampled_from(["", "Why?"]), st.integers(16, 60), st.sampled_from([0.0, 0.3]))
@example("\n\nQ: a?\nA: b\n \n", "", 16, 0.0)
@example("Q: a?\nA: " + "word, " * 200, "", 16, 0.3)
def test_nothing_of_a_text_is_lost(text: str, heading: str, tokens: int, overlap: float) -> None:
    section = Section(text=text, heading_path=(heading,) if heading else ())
    pieces = cut("qa", [section], tokens=tokens, overlap=overlap)
    paths = [piece.heading_path for piece in pieces]
    assert paths == sorted(paths, reverse=True)
    check(section, [replace(piece, heading_path=section.heading_path) for piece in pieces], tokens=tokens)


@given(texts, st.sampled_from(["", "Why?"]))
def test_pairs_tile_the_text(text: str, heading: str) -> None:
    pairs = find_pairs(text, heading)
    assert "".join(text[pair.start : pair.end] for pair in pairs) == (text if pairs else "")
    for pair in pairs:
        if pair.question:
            assert pair.start < pair.answer < pair.end
            assert text[pair.answer : pair.end].strip()


cells = st.sampled_from(["", "Who?", "I am.", "a \\| b", "年假？", "word " * 30, "Question", "Answer"])


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.integers(16, 60))
def test_nothing_of_a_table_is_lost(rows: list[tuple[str, str]], tokens: int) -> None:
    head, *body = [f"| {first} | {second} |" for first, second in rows]
    header = f"{head}\n| --- | --- |\n"
    text = header + "\n".join(body)
    section = Section(text=text, kind=SectionKind.TABLE, header=header if body else "")
    check(section, cut("qa", [section], tokens=tokens), tokens=tokens)


@pytest.mark.parametrize(
    "line",
    [
        "How to reset a router",
        "What is RAG",
        "3.1 Who pays?",
        "**Why?**",
        "如何申请年假",
        "可以退货吗",
        "Q4: Is it open?",
    ],
)
def test_what_asks(line: str) -> None:
    assert is_question(line)


@pytest.mark.parametrize(
    "line", ["", "Opening hours", "What we do", "How it works", "May 2026", "Willing hands", "关于我们", "?!."]
)
def test_what_does_not_ask(line: str) -> None:
    assert not is_question(line)


def test_a_question_is_embedded_in_plain_words() -> None:
    assert plain_question("> **Q 3:** Is this\n  *so*?") == "Is this *so*?"


@pytest.mark.parametrize(
    "text",
    [
        "Q: Why?\nA: So.\n",
        "Q: ",
        "Who?\n\nMe.\n\n",
        "问：谁？答：我。",
        "\n",
        " " * 99 + "?",
        "**",
        "A:",
        "#\n",
        "word? ",
    ],
)
def test_it_takes_about_a_second_a_megabyte(text: str) -> None:
    whole = text * (100_000 // len(text))
    begin = time.process_time()
    find_pairs(whole, "Why?")
    find_pairs(whole)
    assert time.process_time() - begin < 3
