import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.boxes import MOST_BOXES, boxes_of, lines_within
from ragcore.chunking import METHODS, ChunkOptions, Piece, chunk_sections
from ragcore.parsing import parse
from ragcore.tokens import offline_tokenizer
from ragcore.types import Box, PrintedLine
from tests.conftest import BENCH
from tests.ragcore.parsing.makers import Words, lines, pdf
from tests.ragcore.parsing.printed import Printed, characters
from tests.soak import scaled

TOKENIZER = offline_tokenizer()
WORD = re.compile(r"w[def]c\db\dn\dx\d")
FILES = ["documents/unstructured-multi-column-2p.pdf", "documents/unstructured-layout-parser-paper-fast.pdf",
         "financebench-dev/documents/PEPSICO_2023_8K_dated-2023-05-05.pdf"]  # fmt: skip


def pieces_of(content: bytes, *, method: str = "naive", tokens: int = 40, overlap: float = 0.0) -> list[Piece]:
    options = ChunkOptions(method=method, chunk_tokens=tokens, overlap=overlap)
    return chunk_sections(parse(content, name="x.pdf").sections, options, TOKENIZER)


@st.composite
def pages(draw: st.DrawFn) -> list[list[Words]]:
    """Draw pages of one or two columns of paragraphs, each word of them another one."""
    made: list[list[Words]] = []
    for number in range(draw(st.integers(1, 3))):
        page: list[Words] = []
        columns, top = draw(st.integers(1, 2)), 700.0
        for block in range(draw(st.integers(1, 3))):
            count, size = draw(st.integers(1, 7)), draw(st.sampled_from([9, 11, 11, 18]))
            for column in range(columns):
                texts = [
                    " ".join(f"w{'def'[number]}c{column}b{block}n{line}x{word}" for word in range(45 // size))
                    for line in range(count)
                ]
                page += lines(texts, x=50 + 270 * column, top=top, size=size)
            top -= 1.2 * size * count + 14
        made.append(page)
    return made


@settings(max_examples=scaled(10), deadline=None)
@given(pages(), st.sampled_from([0, 90, 180, 270]), st.sampled_from([0.0, 0.3]), st.sampled_from([24, 60, 160]))
def test_the_boxes_of_a_chunk_hold_its_words_and_of_others_only_those_of_its_lines(
    made: list[list[Words]], rotation: int, overlap: float, tokens: int
) -> None:
    content = pdf(made, entries=f"/Rotate {rotation} /CropBox [20 10 600 780]")
    drawn = {word for page in made for line in page for word in WORD.findall(line.text)}
    beside: dict[str, set[str]] = {}
    with Printed(content) as printed:
        for section in parse(content, name="x.pdf").sections:
            for line in section.lines:
                words = set(WORD.findall(section.text[line.start : line.end])) & drawn
                assert set(WORD.findall(printed.text(line.box))) == words
                beside |= dict.fromkeys(words, words)
        assert beside.keys() == drawn
        for piece in pieces_of(content, tokens=tokens, overlap=overlap):
            boxes = piece.location.boxes
            own = set(WORD.findall(piece.text)) & drawn
            shown = set(WORD.findall(printed.texts(boxes)))
            assert own <= shown
            is_cut = any(char.isalnum() for char in WORD.sub("", piece.text))  # within a word, whose line it shows too
            assert is_cut or shown <= set().union(*(beside[word] for word in own))
            assert piece.location.page == boxes[0].page
            for box in boxes:
                width, height = printed.size(box.page)
                assert 0 <= box.left < box.right <= width
                assert 0 <= box.top < box.bottom <= height


@pytest.mark.parametrize("method", sorted(METHODS))
def test_with_every_method_each_chunk_has_the_boxes_of_its_own_text(method: str) -> None:
    rows = [(f"Row number {row}", f"{row}0,{row}11", f"{row}5,{row}22") for row in range(1, 9)]
    cells = [Words(text=cell, x=x, y=500 - 14 * at)
             for at, row in enumerate([("Item", "2023", "2022"), *rows])
             for cell, x in zip(row, (72, 320, 450), strict=True)]  # fmt: skip
    text = [f"What is said in line {number} of this page, and what is meant by it?" for number in range(12)]
    heading = Words(text="1 About the figures", y=740, size=16)
    content = pdf([[heading, *lines(text, top=700), *cells], lines(text[:5], top=700)])
    with Printed(content) as printed:
        found = pieces_of(content, method=method, tokens=60)
        assert any("| Row number 8 |" in piece.text for piece in found)
        for piece in found:
            own = piece.text[piece.overlap :]
            assert characters(own) <= characters(printed.texts(piece.location.boxes)), piece
            assert len(piece.location.boxes) <= MOST_BOXES


@pytest.mark.parametrize("file", FILES)
def test_the_boxes_of_real_chunks_hold_their_characters(file: str) -> None:
    if not (BENCH / file).is_file():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    content = (BENCH / file).read_bytes()
    with Printed(content) as printed:
        for piece in pieces_of(content, tokens=160):
            # Those of a bullet or a mark that PDFium gives no name to are told apart by nobody.
            assert characters(piece.text[piece.overlap :]) <= characters(printed.texts(piece.location.boxes))


def line(start: int, top: float, *, page: int = 1, left: float = 10, column: int = 0) -> PrintedLine:
    box = Box(page=page, left=left, top=top, right=left + 100, bottom=top + 10)
    return PrintedLine(start=start, end=start + 10, box=box, column=column)


def test_lines_under_each_other_are_one_box_and_columns_and_gaps_part_them() -> None:
    boxes = boxes_of(
        [line(0, 100), line(10, 112), line(20, 300), line(30, 100, left=200, column=1), line(40, 5, page=2)]
    )
    assert [(box.page, box.left, box.top, box.bottom) for box in boxes] == [
        (1, 10, 100, 122), (1, 10, 300, 310), (1, 200, 100, 110), (2, 10, 5, 15),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 700), st.integers(0, 4)), max_size=40))
def test_every_line_lies_in_a_box_and_boxes_are_few(drawn: list[tuple[int, int, int]]) -> None:
    every = [line(10 * at, top, page=page, left=100.0 * column, column=column)
             for at, (page, top, column) in enumerate(sorted(drawn))]  # fmt: skip
    boxes = boxes_of(every)
    assert len(boxes) <= MOST_BOXES
    for one in every:
        inside = [box for box in boxes if box.page == one.box.page and box.left <= one.box.left and
                  box.top <= one.box.top and box.right >= one.box.right and box.bottom >= one.box.bottom]  # fmt: skip
        assert inside


def test_a_line_that_a_chunk_ends_within_is_cut_to_it() -> None:
    found = lines_within([line(0, 0), line(10, 12), line(20, 24)], 5, 15, at=3)
    assert [(one.start, one.end) for one in found] == [(3, 8), (8, 13)]
