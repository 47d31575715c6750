import pathlib
import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.chunking.heading_lines import heading_line
from ragcore.types import Location, Section
from tests.ragcore.chunking.headings import OPTIONS, SECTIONS, TOKENIZER, check, paths, pieces_of
from tests.soak import scaled

ENGLISH = """Model K2 Coffee Machine

Contents

1 Safety ........ 3
1.1 Symbols ..... 3
1.2 Electricity ... 4
2 Setup ......... 5
2.1 Unpacking .... 5

1 Safety

1.1 Symbols

A triangle warns of danger.

1.2 Electricity
Pull the plug before you clean it.

2 Setup

2.1 Unpacking

Take these out of the box:

1. Machine
2. Filter
3. Spoon

Then keep the box.

2.1.1 Moving it

Two people lift it.

3. Descaling

Do it each month.

Appendix A Parts

See the list.
"""

CHINESE = """设备手册

一、安全须知

（一）用电

清洁前请拔掉电源插头。

（二）高温

蒸汽会烫伤。

二、安装

1、开箱

取出机器、滤网和勺子。

2、接水

打开水箱盖。

2.1 水质

请使用软水。
"""


def test_an_english_manual_has_the_path_of_its_numbers() -> None:
    assert paths(ENGLISH, "manual") == {
        "A triangle warns of danger.": ("1 Safety", "1.1 Symbols"),
        "Pull the plug before you clean it.": ("1 Safety", "1.2 Electricity"),
        "Then keep the box.": ("2 Setup", "2.1 Unpacking"),
        "Two people lift it.": ("2 Setup", "2.1 Unpacking", "2.1.1 Moving it"),
        "Do it each month.": ("3. Descaling",),
        "See the list.": ("Appendix A Parts",),
    }


def test_a_chinese_manual_has_the_path_of_its_numbers() -> None:
    assert paths(CHINESE, "manual") == {
        "清洁前请拔掉电源插头。": ("一、安全须知", "（一）用电"),
        "蒸汽会烫伤。": ("一、安全须知", "（二）高温"),
        "取出机器、滤网和勺子。": ("二、安装", "1、开箱"),
        "打开水箱盖。": ("二、安装", "2、接水"),
        "请使用软水。": ("二、安装", "2、接水", "2.1 水质"),
    }


def test_chapters_and_decimals_nest() -> None:
    text = "第一章 总则\n\n1.1 目的\n\n规范使用。\n\n第二章 使用\n\n2.1 开机\n\n按下按钮。\n\n2.2 关机\n\n再按一次。\n"
    assert paths(text, "manual") == {
        "规范使用。": ("第一章 总则", "1.1 目的"),
        "按下按钮。": ("第二章 使用", "2.1 开机"),
        "再按一次。": ("第二章 使用", "2.2 关机"),
    }


def test_a_piece_has_the_lines_of_its_own_part() -> None:
    lines = ENGLISH.splitlines()
    for piece in pieces_of(ENGLISH, "manual"):
        own = "\n".join(lines[piece.location.first_line - 1 : piece.location.last_line])
        assert piece.text.rstrip() == own


@pytest.mark.parametrize(
    "text",
    [
        "Buy these:\n\n1. Milk\n2. Eggs\n3. Bread\n\nThen come home.",
        "Buy these:\n\n1. Milk\n\n2. Eggs\n\n3. Bread\n\nThen come home.",
        "Take\n2 Cups of flour\nand stir it well.",
        "1. Open the lid.\n2. Pull the lever.\n\nThat is all.",
        "It took part in\n3.1 Million races before that.",
        "In the year\n\n2023 Report\n\nThe numbers rose.",
        "7 Things To Know\n\nThe first is this.",
        "一、牛奶\n二、鸡蛋\n三、面包\n\n然后回家。",
        "1. Definitions.\n\nA work is this.\n\n2. Grant of rights. You may use it.\n\n3. Limits. You may not sell it.",
        '1.1 "Contributor" means each person or body that makes\nCode for others.\n\n1.2 "You" means a person.',
    ],
)
def test_lists_and_numbers_in_prose_are_no_headings(text: str) -> None:
    assert set(paths(text, "manual").values()) == {()}


def test_headings_that_end_in_a_full_stop_or_are_underlined() -> None:
    text = "  0. Definitions.\n\nA work is this\n\n  1. Source Code.\n\nThe form to edit\n\n1.1. Parts\n----------\n\nAll of it\n"
    found = [(piece.heading_path, piece.text.splitlines()[-2]) for piece in pieces_of(text, "manual")]
    assert [path for path, _ in found] == [
        ("0. Definitions.",),
        ("1. Source Code.",),
        ("1. Source Code.", "1.1. Parts"),
    ]


def test_steps_that_are_sentences_are_no_headings_where_headings_are_none() -> None:
    steps = "1. Open the lid.\n\nIt is heavy\n\n2. Fill it.\n\nTo the mark\n\n3. Close it.\n\nThat is all.\n\n"
    assert set(paths(f"1 Setup\n\nDo this:\n\n{steps}2 Use\n\nStart it.\n", "manual").items()) == {
        ("1. Open the lid.", ("1 Setup",)),
        ("2. Fill it.", ("1 Setup",)),
        ("3. Close it.", ("1 Setup",)),
        ("That is all.", ("1 Setup",)),
        ("Start it.", ("2 Use",)),
    }


def test_a_number_that_does_not_follow_is_no_heading() -> None:
    text = "1 Scope\n\nText one.\n\n9 Lives Of A Cat\n\nText two.\n\n2 Terms\n\nText three.\n\n1 Scope\n\nText four.\n"
    assert set(paths(text, "manual").values()) == {("1 Scope",), ("2 Terms",)}
    assert paths(text, "manual")["Text four."] == ("2 Terms",)


def test_headings_hold_over_pages_and_tables_and_end_with_the_section_s_own() -> None:
    found = [
        Section(text="1 Scope\n\nFirst page.", location=Location(page=1)),
        Section(text="Second page.\n\n1.1 Terms\n\nMore.", location=Location(page=2)),
        Section(text="x = 1", location=Location(page=3)),
        Section(text="Other.", heading_path=("Own",), location=Location(page=3)),
        Section(text="1.2 Limits\n\nLast.", heading_path=("Own",), location=Location(page=4)),
    ]
    pieces = chunk_sections(found, ChunkOptions(method="manual"), TOKENIZER)
    assert [(piece.heading_path, piece.location.page) for piece in pieces] == [
        (("1 Scope",), 1),
        (("1 Scope",), 2),
        (("1 Scope", "1.1 Terms"), 2),
        (("1 Scope", "1.1 Terms"), 3),
        (("Own",), 3),
        (("Own", "1.2 Limits"), 4),
    ]


PLAIN = """Installation Guide

1 Safety
Wear gloves.

2 Mounting
2.1 Wall bracket
Drill four holes.
2.1.1 Concrete walls
Use the long screws.
2.2 Pipe clamp
The clamp fits most pipes.

3 Use
The button starts it.
"""


@pytest.mark.parametrize("dot", ["", "."])
@pytest.mark.parametrize("blank", ["\n\n", "\n"])
def test_chapters_with_text_on_the_very_next_line_are_shown_by_the_sections_of_one(dot: str, blank: str) -> None:
    text = re.sub(r"^([\d.]+) ", rf"\g<1>{dot} ", PLAIN.partition("\n\n")[2].replace("\n\n", blank), flags=re.MULTILINE)
    assert paths(text, "manual") == {
        "Wear gloves.": (f"1{dot} Safety",),
        "Drill four holes.": (f"2{dot} Mounting", f"2.1{dot} Wall bracket"),
        "Use the long screws.": (f"2{dot} Mounting", f"2.1{dot} Wall bracket", f"2.1.1{dot} Concrete walls"),
        "The clamp fits most pipes.": (f"2{dot} Mounting", f"2.2{dot} Pipe clamp"),
        "The button starts it.": (f"3{dot} Use",),
    }


def test_a_first_chapter_that_is_not_seen_costs_no_more_than_its_own_heading() -> None:
    text = PLAIN.replace("1 Safety\n", "1 Safety: wear these, and all of the time,\n")
    assert paths(text, "manual")["Use the long screws."] == (
        "2 Mounting",
        "2.1 Wall bracket",
        "2.1.1 Concrete walls",
    )
    assert paths(text, "manual")["The button starts it."] == ("3 Use",)


@pytest.mark.parametrize(
    ("dot", "before"), [(".", "2.1 Wall bracket"), ("", "2.2 Pipe clamp"), (".", "2.2 Pipe clamp")]
)
def test_a_list_with_text_below_its_entries_stays_in_its_section(dot: str, before: str) -> None:
    entries = f"1{dot} Machine\nThe big box.\n2{dot} Filter\nThe paper cone.\n"
    found = paths(PLAIN.replace(before, f"Take these:\n{entries}{before}"), "manual")
    assert found["The big box."] == found["The paper cone."]
    assert found["The big box."][0] == "2 Mounting"
    assert found["The clamp fits most pipes."] == ("2 Mounting", "2.2 Pipe clamp")


@pytest.mark.parametrize(
    "text",
    [
        "1 Milk\nFresh from the farm.\n\n2 Eggs\nBrown ones.\n\n3 Bread\nOf rye.",
        "2 March\nThe ship left.\n\n3 March\nThe ship came back.\n\n4 March\nIt snowed.",
        "1 Coffee\nBlack.\n\n2 Tea\nWith milk.\n\n3 Cake\nOf the day, with cream.\n\n3.20 Euro\nIs what it costs.",
        "1. Open the lid\nIt is heavy.\n\n2. Fill it\nTo the mark.\n\n3. Close it\nThat is all.",
        "It cost\n\n2.1 Million pounds\n\nin all, and then\n\n9.4 Million more\n\nfor the harbour.",
        "1 Alpha\n3 Beta\nThe rest is unknown.\n\n7 Gamma\n9 Delta\nNobody counted.",
    ],
)
def test_entries_dates_and_prices_with_text_below_are_no_headings(text: str) -> None:
    assert set(paths(text, "manual").values()) == {()}


def test_a_real_text_with_headings_within_its_paragraphs_keeps_no_half_of_them() -> None:
    licence = (pathlib.Path(__file__).parents[3] / "LICENSE").read_text(encoding="utf-8")
    assert "1. Definitions." in licence
    assert pieces_of(licence, "manual") == pieces_of(licence, "naive")


def test_headings_of_markup_stay_as_they_are() -> None:
    text = "# Guide\n\nHello.\n\n## 1 Setup\n\nDo this.\n\n## 2 Use\n\nDo that.\n"
    manual, naive = pieces_of(text, "manual", "a.md"), pieces_of(text, "naive", "a.md")
    assert manual == naive


@given(SECTIONS, OPTIONS)
@example([Section(text="1 Scope\n1.1 Terms\n\n\n1.2 Limits\ntext")], (16, 0.0))
def test_nothing_is_lost_nothing_doubled_everything_in_its_place(
    found: Sequence[Section], options: tuple[int, float]
) -> None:
    check(found, "manual", *options)


numbers = st.recursive(
    st.just([]), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=8
)  # a tree: a list of the trees below


@given(st.lists(numbers, min_size=2, max_size=4), st.booleans())
def test_every_tree_of_numbers_is_found_again(tree: list[list[object]], with_contents: bool) -> None:
    headings: list[tuple[str, ...]] = []

    def walk(nodes: Sequence[object], above: tuple[str, ...], prefix: str) -> None:
        for number, below in enumerate(nodes, start=1):
            assert isinstance(below, list)
            here = (*above, f"{prefix}{number} Part {len(headings)}x")
            headings.append(here)
            if len(here) < 6:
                walk(below, here, f"{prefix}{number}.")

    walk(tree, (), "")
    contents = "".join(f"{path[-1]} ..... 4\n" for path in headings) + "\n" if with_contents else ""
    body = "".join(f"{path[-1]}\n\nText of {number}.\n\n" for number, path in enumerate(headings))
    assert paths("Title\n\n" + contents + body, "manual") == {
        f"Text of {number}.": path for number, path in enumerate(headings)
    }


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("第十二章 安装", (12,)),
        ("第二十章", (20,)),
        ("第一百零三回 归来", (103,)),
        ("CHAPTER XIV. The End", (14,)),
        ("Chapter Twelve", (12,)),
        ("Appendix C", (3,)),
        ("１．２ 范围", (1, 2)),
        ("1.1范围", (1, 1)),
        ("10.2.3.4 Deep", (10, 2, 3, 4)),
    ],
)
def test_numbers_are_read(line: str, number: tuple[int, ...]) -> None:
    found = heading_line(line)
    assert found is not None
    assert found.number == number


@pytest.mark.parametrize(
    "line",
    [
        "2 cups of sugar",
        "1.1 It ends. Here.",
        "1.1 Does it end?",
        "1.0.2 2009-06-04 Typos",
        "第二章的内容。",
        "12:30 Lunch",
        "1.2.3",
        "Chapter I think",
    ],
)
def test_other_lines_are_no_headings(line: str) -> None:
    assert heading_line(line) is None


@pytest.mark.parametrize("line", ["1 Scope", ". . " * 40, "a   "], ids=["headings", "leaders", "blanks"])
@pytest.mark.parametrize("method", ["manual", "book"])
def test_the_time_grows_with_the_length_alone(method: str, line: str) -> None:
    text = f"{line}\n" * (scaled(20_000) // len(line))
    started = time.process_time()
    chunk_sections([Section(text=text)], ChunkOptions(method=method), TOKENIZER)
    assert time.process_time() - started < 2 + 20 * len(text) / 1_000_000


def test_marked_headings_of_one_level_are_nested_by_their_numbers() -> None:
    text = "\n\n".join(
        [
            "# Guide",
            "# 1 Scope",
            "One.",
            "# 1.1 Terms",
            "Two.",
            "# 1.1.1 Words",
            "Three.",
            "# 1.2 Limits",
            "Four.",
            "# Notes",
            "Five.",
            "# 2 Setup",
            "Six.",
            "## 2.1 Box",
            "Seven.",
        ]
    )
    assert paths(text, "manual", "a.md") == {
        "One.": ("1 Scope",),
        "Two.": ("1 Scope", "1.1 Terms"),
        "Three.": ("1 Scope", "1.1 Terms", "1.1.1 Words"),
        "Four.": ("1 Scope", "1.2 Limits"),
        "Five.": ("Notes",),
        "Six.": ("2 Setup",),
        "Seven.": ("2 Setup", "2.1 Box"),
    }
