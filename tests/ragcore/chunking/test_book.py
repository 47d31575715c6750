from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.types import Location, Section
from tests.ragcore.chunking.headings import OPTIONS, SECTIONS, TOKENIZER, check, paths, pieces_of

VOYAGE = """A SHORT VOYAGE

Contents

CHAPTER I. The Harbour
CHAPTER II. Open Water
Epilogue


CHAPTER I
The Harbour

We left at dawn.

CHAPTER II
Open Water

The second day was calm.

EPILOGUE

Home at last.
"""

GARDENS = """Gardens

Table of Contents

Soil      3
  Clay    4
  Sand    7
Water     12
  Rain    13

Soil

All begins here.

Clay

It is heavy and wet.

Sand

It is light.

Water

Plants drink.

Rain

It falls.
"""

CHINESE = """海上

第一卷 春

第一回 出港

天亮时我们起航。

第二回 风浪

第二天风平浪静。

第二卷 夏

第三回 归来

终于到家了。

后记

此书写于船上。
"""


def test_chapters_of_a_table_of_contents_are_found_with_the_title_on_a_line_of_its_own() -> None:
    assert paths(VOYAGE, "book") == {
        "We left at dawn.": ("CHAPTER I The Harbour",),
        "The second day was calm.": ("CHAPTER II Open Water",),
        "Home at last.": ("EPILOGUE",),
    }


def test_chapters_are_found_without_a_table_of_contents() -> None:
    text = VOYAGE.partition("\n\n\n")[2]
    assert text
    assert paths(text, "book") == paths(VOYAGE, "book")


def test_chapters_without_numbers_are_those_of_the_table_and_nest_as_it_is_indented() -> None:
    assert paths(GARDENS, "book") == {
        "All begins here.": ("Soil",),
        "It is heavy and wet.": ("Soil", "Clay"),
        "It is light.": ("Soil", "Sand"),
        "Plants drink.": ("Water",),
        "It falls.": ("Water", "Rain"),
    }


def test_a_table_of_contents_without_a_name_shows_by_its_leaders() -> None:
    text = GARDENS.replace("Table of Contents\n\n", "").replace("      ", " ..... ").replace("    ", " ... ")
    assert "Contents" not in text
    assert "Soil ..... 3" in text
    assert paths(text, "book") == paths(GARDENS, "book")


def test_volumes_and_chapters_of_a_chinese_novel_nest() -> None:
    assert paths(CHINESE, "book") == {
        "天亮时我们起航。": ("第一卷 春", "第一回 出港"),
        "第二天风平浪静。": ("第一卷 春", "第二回 风浪"),
        "终于到家了。": ("第二卷 夏", "第三回 归来"),
        "此书写于船上。": ("第二卷 夏", "后记"),
    }


def test_a_chinese_table_of_contents() -> None:
    text = "目录\n\n泥土……1\n雨水……5\n阳光……9\n\n泥土\n\n万物由此开始。\n\n雨水\n\n植物要喝水。\n\n阳光\n\n它很温暖。\n"
    assert paths(text, "book") == {"万物由此开始。": ("泥土",), "植物要喝水。": ("雨水",), "它很温暖。": ("阳光",)}


def test_the_table_of_contents_of_a_pdf_stands_on_a_page_of_its_own() -> None:
    found = [
        Section(text="Contents\n\nSoil .... 2\nWater .... 3", location=Location(page=1)),
        Section(text="Soil\n\nAll begins here.", location=Location(page=2)),
        Section(text="It goes on.\n\nWater\n\nPlants drink.", location=Location(page=3)),
    ]
    pieces = chunk_sections(found, ChunkOptions(method="book"), TOKENIZER)
    assert [(piece.heading_path, piece.location.page) for piece in pieces] == [
        ((), 1),
        (("Soil",), 2),
        (("Soil",), 3),
        (("Water",), 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Contents\n\nOne thing\nAnother thing\nA third\n\nThe box holds all of these.",
        "In Chapter 3 we saw it.\nChapter 4 describes the rest of it.",
        "Soil ... 3\nWater ... 4\nAir ... 5\n\nNothing of the kind follows here.",
        "Part of the plan\n\nIt goes on.",
    ],
)
def test_what_only_looks_like_a_table_or_a_chapter_is_none(text: str) -> None:
    assert set(paths(text, "book").values()) == {()}


def test_headings_of_markup_stay_as_they_are() -> None:
    text = "# Book\n\n## Soil\n\nAll begins.\n\n## Water\n\nPlants drink.\n"
    assert pieces_of(text, "book", "a.md") == pieces_of(text, "naive", "a.md")


WELLS = """# War of Wells

{contents}

Dawn

It was early.

Dusk

It was late.

Night Falls

Nobody came.
"""


@pytest.mark.parametrize(
    "contents",
    [
        "## Contents\n1. Dawn\n2. Dusk\n3. Night falls",
        "## Table of Contents\n\n- Dawn\n- Dusk\n- Night Falls",
        "**Contents**\n\n* [Dawn](#dawn)\n* [Dusk](#dusk)\n* [Night Falls](#night-falls)",
        "Contents:\n\n1. **Dawn**\n2. **Dusk**\n3. **Night Falls**",
    ],
    ids=["numbers", "bullets", "links", "strong"],
)
def test_a_contents_list_in_markdown_names_the_chapters_without_page_numbers(contents: str) -> None:
    assert paths(WELLS.format(contents=contents), "book", "a.md") == {
        "It was early.": ("Dawn",),
        "It was late.": ("Dusk",),
        "Nobody came.": ("Night Falls",),
    }


def test_chapters_that_markup_shows_are_not_found_a_second_time() -> None:
    text = WELLS.format(contents="## Contents\n1. Dawn\n2. Dusk\n3. Night Falls")
    marked = text.replace("\nDawn\n", "\n## Dawn\n").replace("\nDusk\n", "\n## Dusk\n")
    assert paths(marked, "book", "a.md") == {
        "It was early.": ("Dawn",),
        "It was late.": ("Dusk",),
        "Nobody came.": ("Dusk", "Night Falls"),
    }


@given(SECTIONS, OPTIONS)
@example([Section(text=VOYAGE, location=Location(first_line=1, last_line=22))], (16, 0.25))
@example([Section(text=GARDENS, location=Location(first_line=1, last_line=29))], (40, 0.0))
def test_nothing_is_lost_nothing_doubled_everything_in_its_place(
    found: Sequence[Section], options: tuple[int, float]
) -> None:
    check(found, "book", *options)


titles = st.lists(
    st.sampled_from(["Soil", "Rain", "Wind", "Sun", "Snow", "Fog", "雪", "Ice & Hail"]), min_size=3, unique=True
)


@given(titles, st.booleans())
def test_every_chapter_that_a_table_names_is_found_in_its_order(names: list[str], numbered: bool) -> None:
    heads = [f"Chapter {number}: {name}" if numbered else name for number, name in enumerate(names, start=1)]
    contents = "".join(f"{head} ...... {number}\n" for number, head in enumerate(heads, start=3))
    body = "".join(f"{head}\n\nText of {number}.\n\n" for number, head in enumerate(heads))
    assert paths(f"Weather\n\n{contents}\n{body}", "book") == {
        f"Text of {number}.": (head,) for number, head in enumerate(heads)
    }
