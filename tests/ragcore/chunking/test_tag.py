import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking.tag import tags_of
from ragcore.types import Section, SectionKind
from tests.ragcore.chunking.files import KINDS, sections_of, table_file
from tests.ragcore.chunking.held import check, cut

ROWS = [
    ["The parcel came with a broken lid.", "damage, Returns"],
    ["Can I pay by invoice?", "payment"],
    ["年假怎么申请", "人事，休假、流程"],
]
TAGS = [("damage", "Returns"), ("payment",), ("人事", "休假", "流程")]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_file_become_chunks_with_tags(kind: str, named: bool) -> None:
    rows = [["Content", "Tags"], *ROWS] if named else ROWS
    pieces = cut("tag", sections_of(kind, table_file(kind, rows)))
    assert [piece.tags for piece in pieces] == TAGS
    assert [piece.embedded for piece in pieces] == [text for text, _ in ROWS]
    assert all(text in piece.text for piece, (text, _) in zip(pieces, ROWS, strict=True))
    if kind == "xlsx":
        assert [piece.location.first_row for piece in pieces] == [1 + named, 2 + named, 3 + named]


def test_named_columns_are_found_among_others_and_in_any_order() -> None:
    rows = [["标签", "编号", "内容"], ["退货,物流", "7", "包裹坏了。"]]
    (piece,) = cut("tag", sections_of("csv", table_file("csv", rows)))
    assert (piece.tags, piece.embedded) == (("退货", "物流"), "包裹坏了。")


def test_rows_without_tags_or_text_carry_none() -> None:
    rows = [["Text", "Tags"], ["One.", "a"], ["Two.", ""], ["", "b"], ["Three.", "c"]]
    pieces = cut("tag", sections_of("csv", table_file("csv", rows)))
    assert [(piece.tags, piece.embedded) for piece in pieces] == [(("a",), "One."), ((), ""), (("c",), "Three.")]
    assert "Two." in pieces[1].text
    assert "| b |" in pieces[1].text


def test_what_is_no_tag_set_is_cut_as_any_other() -> None:
    sections = sections_of("md", b"# Notes\n\nSome text.\n\n| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n")
    assert cut("tag", sections) == cut("naive", sections)


def test_a_long_text_is_cut_and_each_part_keeps_the_tags() -> None:
    rows = [["Text", "Tags"], ["A long tale, told slowly. " * 60, "tale"], ["Short.", "x"]]
    (section,) = sections_of("csv", table_file("csv", rows))
    *parts, last = cut("tag", [section], tokens=60)
    assert len(parts) > 5
    assert {part.tags for part in parts} == {("tale",)}
    assert {part.embedded for part in parts} == {""}
    assert last.tags == ("x",)


def test_tags_are_cleaned() -> None:
    assert tags_of(" Big  Tag ,b;;B， c、 ") == ("Big Tag", "b", "c")
    assert tags_of("") == ()
    assert tags_of("a sentence " * 20) == ()


cells = st.sampled_from(["", "One.", "a, b", "a \\| b", "年，假", "word " * 30, "Text", "Tags"])


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.integers(16, 60))
def test_nothing_is_lost(rows: list[tuple[str, str]], tokens: int) -> None:
    head, *body = [f"| {first} | {second} |" for first, second in rows]
    header = f"{head}\n| --- | --- |\n"
    section = Section(text=header + "\n".join(body), kind=SectionKind.TABLE, header=header if body else "")
    check(section, cut("tag", [section], tokens=tokens), tokens=tokens)
