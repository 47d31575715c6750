"""Tables drawn with rules, tables that go on on the next page, figures with their captions; and nothing is lost."""

import base64
import io
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.parsing import ParseOptions, parse
from ragcore.parsing.pdf.figures import is_caption
from ragcore.tokens import offline_tokenizer
from ragcore.types import Section, SectionKind
from tests.ragcore.parsing.makers import Words, lines, pdf
from tests.ragcore.parsing.printed import Printed, characters
from tests.soak import scaled

ROWS = [("Item", "Where it is kept"), ("Ladder", "Behind the north door"), ("Lamp", "On the second shelf"),
        ("Rope", "Under the stairs")]  # fmt: skip
MARKDOWN = "| Item | Where it is kept |\n| --- | --- |\n| Ladder | Behind the north door |\n"
X = (72.0, 200.0, 420.0)
HEIGHT = 22.0


def cells(rows: list[tuple[str, ...]], *, top: float = 700, bold: bool = True, x: tuple[float, ...] = X) -> list[Words]:
    """Set rows of cells, each ``HEIGHT`` high, the first of them bold."""
    return [
        Words(text=text, x=left + 4, y=top - HEIGHT * (at + 1) + 7, size=10, bold=bold and not at)
        for at, row in enumerate(rows)
        for left, text in zip(x, row, strict=False)
    ]


def borders(count: int, *, top: float = 700) -> list[float]:
    return [top - HEIGHT * at for at in range(count + 1)]


def stroked(count: int, *, top: float = 700, x: tuple[float, ...] = X) -> str:
    """Draw each rule by itself."""
    rows = borders(count, top=top)
    return " ".join(
        [f"{x[0]} {y} m {x[-1]} {y} l S" for y in rows] + [f"{at} {rows[0]} m {at} {rows[-1]} l S" for at in x]
    )


def boxed(count: int) -> str:
    """Draw a rectangle around each cell."""
    return " ".join(
        f"{left} {y} {right - left} {HEIGHT} re S" for y in borders(count)[1:] for left, right in pairwise(X)
    )


def at_once(count: int) -> str:
    """Draw all rules as one path."""
    return stroked(count).replace(" S", "") + " S"


def filled(count: int) -> str:
    """Draw rules as thin bars, cell by cell."""
    rows = borders(count)
    across = [f"{left} {y} {right - left - 1} 0.7 re f" for y in rows for left, right in pairwise(X)]
    down = [f"{x} {y} 0.7 {HEIGHT} re f" for x in X for y in rows[1:]]
    return " ".join(across + down)


def row_ruled(count: int) -> str:
    return " ".join(f"{X[0]} {y} m {X[-1]} {y} l S" for y in borders(count))


def head_ruled(count: int) -> str:
    rows = borders(count)
    return " ".join(f"{X[0]} {y} m {X[-1]} {y} l S" for y in (rows[0], rows[1], rows[-1]))


def sections_of(content: bytes) -> list[Section]:
    return list(parse(content, name="x.pdf").sections)


@pytest.mark.parametrize("drawn", [stroked, boxed, at_once, filled, row_ruled, head_ruled])
@pytest.mark.parametrize("rotation", [0, 90])
def test_words_between_rules_are_a_table(drawn: Callable[[int], str], rotation: int) -> None:
    text = lines(["What is where in the house is told below."], top=740)
    content = pdf([[*text, *cells(ROWS)]], drawing=[drawn(len(ROWS))], entries=f"/Rotate {rotation}")
    before, table = sections_of(content)
    assert before.text == text[0].text
    assert (table.kind, table.header) == (SectionKind.TABLE, MARKDOWN.partition("| Ladder")[0])
    assert table.text == MARKDOWN + "| Lamp | On the second shelf |\n| Rope | Under the stairs |"
    with Printed(content) as printed:
        (box,) = table.location.boxes
        assert characters(printed.text(box)) == characters("".join(text for row in ROWS for text in row))


def test_a_cell_of_several_lines_is_one_and_text_beside_its_rules_is_left_alone() -> None:
    page = [
        *cells([("Item", "Where it is kept"), ("Ladder", ""), ("Lamp", "On the second shelf")]),
        Words(text="Behind the north door,", x=204, y=669, size=8),
        Words(text="locked at night", x=204, y=660, size=8),
        *lines(["A note to the right."], x=450, top=670, size=10),
    ]
    table, note = sorted(sections_of(pdf([page], drawing=[stroked(3)])), key=lambda section: section.kind != "table")
    assert "| Ladder | Behind the north door, locked at night |" in table.text
    assert note.text == "A note to the right."


FORM = [Words(text=f"{name}:", x=76, y=690 - 14 * at) for at, name in enumerate(("Name", "Street", "Town", "Phone"))] + [
    Words(text=value, x=140, y=690 - 14 * at) for at, value in enumerate(("Ada", "Mill Lane", "York", "none"))
] + [Words(text=f"{name} due", x=300, y=690 - 14 * at) for at, name in enumerate(("Rent", "Tax", "Fee", "Fine"))]  # fmt: skip


@pytest.mark.parametrize("kind", ["form", "prose", "footer"])
def test_rules_that_part_no_cells_make_no_table(kind: str) -> None:
    if kind == "form":
        page, drawing = FORM, "72 600 400 110 re S 72 650 m 472 650 l S 290 600 m 290 710 l S"
    elif kind == "prose":
        column = [
            "Every employee is entitled to thirty days",
            "of paid leave in each year, and to carry",
            "five of them over.",
        ]
        page = [*lines(column, x=60, size=10), *lines([text[::-1] for text in column], x=320, size=10)]
        drawing = " ".join(f"60 {y} m 560 {y} l S" for y in (720, 712, 650))
    else:
        page = lines(["Some text stands on a page with a line above it", "and one below."])
        drawing = " ".join(f"60 {y} m 560 {y} l S" for y in (760, 755, 60))
    plain, ruled = (sections_of(pdf([page], drawing=drawn)) for drawn in ([], [drawing]))
    assert [section.text for section in ruled] == [section.text for section in plain]


def test_a_page_full_of_drawing_takes_little_longer_and_keeps_its_text() -> None:
    words = cells(ROWS)
    zigzag = " ".join(f"{at % 500 + 50} {at * 7 % 600 + 100} l" for at in range(390))
    plain, drawn = (
        sections_of(pdf([words], drawing=[stroked(len(ROWS)) + drawing]))
        for drawing in ("", f" 50 100 m {zigzag} S" * 40)
    )
    assert [section.kind for section in plain] == [SectionKind.TABLE]
    assert [section.text.split() for section in drawn] == [" ".join(word.text for word in words).split()]


def test_figures_are_told_by_their_columns_whatever_rules_part_them() -> None:
    rows = [
        ("In millions", "2023", "2022"),
        ("Sales", "$ 3,667", "$ 3,635"),
        ("Cost", "(2,995)", "(2,931)"),
        ("Profit", "672", "704"),
    ]
    x = (72.0, 200.0, 300.0, 400.0)
    plain, ruled = (sections_of(pdf([cells(rows, x=x)], drawing=drawn)) for drawn in ([], [stroked(4, x=x)]))
    assert [section.text for section in ruled] == [section.text for section in plain]
    assert ruled[0].kind is SectionKind.TABLE


@pytest.mark.parametrize("repeated", [True, False])
def test_a_table_that_goes_on_is_one_and_each_chunk_has_its_own_page(repeated: bool) -> None:
    more = [("Saw", "On the wall of the shed"), ("Axe", "In the box by the fire")]
    second = [ROWS[0], *more] if repeated else more
    content = pdf(
        [
            [*lines(["What is where in the house is told below."], top=740), *cells(ROWS)],
            [*cells(second, top=740, bold=repeated), *lines(["Whatever is missing is bought."], top=600)],
        ],
        drawing=[stroked(len(ROWS)), stroked(len(second), top=740)],
    )
    before, table, after = sections_of(content)
    assert table.text.splitlines() == [f"| {' | '.join(row)} |" for row in (ROWS[0], ("---", "---"), *ROWS[1:], *more)]
    assert (table.location.page, after.location.page) == (1, 2)
    assert {box.page for box in table.location.boxes} == {1, 2}
    pieces = chunk_sections([before, table, after], ChunkOptions(chunk_tokens=30), offline_tokenizer())
    place = dict.fromkeys(ROWS[1:], 1) | dict.fromkeys(more, 2)
    with Printed(content) as printed:
        for piece in pieces:
            if piece.kind is SectionKind.TABLE:
                held = [row for row in place if row[1] in piece.text]
                assert {box.page for box in piece.location.boxes} == {place[row] for row in held}
                assert piece.location.page == place[held[0]]
                shown = characters(printed.texts(piece.location.boxes))
                assert characters(piece.text[piece.overlap :]) <= shown


def test_another_table_on_the_next_page_stays_another() -> None:
    other = [("Item", "What it costs a day"), ("Ladder", "Nothing"), ("Lamp", "A little")]
    pages = [cells(ROWS), cells(other, top=740)]
    found = sections_of(pdf(pages, drawing=[stroked(len(ROWS)), stroked(3, top=740)]))
    assert [section.location.page for section in found] == [1, 2]
    narrow = [("Item", "Cost", "Weight"), ("Ladder", "Nothing", "Much")]
    x = (72.0, 200.0, 300.0, 400.0)
    pages = [cells(ROWS), cells(narrow, top=740, bold=False, x=x)]
    assert len(sections_of(pdf(pages, drawing=[stroked(len(ROWS)), stroked(2, top=740, x=x)]))) == 2


def test_what_says_that_a_table_goes_on_parts_it_not_and_is_kept() -> None:
    figures = [(f"Row {at}", f"{at}1{at}", f"{at}7") for at in range(1, 9)]
    names, x = ("Name", "Amount", "Share"), (72.0, 300.0, 400.0)
    pages = [
        cells([names, *figures[:4]], x=x),
        [*lines(["Table 2 (continued)"], top=745), *cells([names, *figures[4:]], top=730, x=x)],
    ]
    table, told = sections_of(pdf(pages))
    assert [row for row in table.text.splitlines() if "Row" in row] == [f"| {' | '.join(row)} |" for row in figures]
    assert told.text == "Table 2 (continued)"


def test_a_figure_is_its_caption_with_the_rectangle_of_its_picture() -> None:
    page = [
        *lines(["Before the figure stands a paragraph of text."], top=720),
        *lines(["Figure 3: The harbour of Brightwater, seen from", "the old mole."], x=120, top=85, size=10),
        *lines(["After it comes another one, as Figure 3 shows."], top=45),
    ]
    before, figure, after = sections_of(pdf([page], image=True))
    assert figure.text == "Figure 3: The harbour of Brightwater, seen from the old mole."
    assert (figure.location.boxes[0].left, figure.location.boxes[0].top) == (100.0, 192.0)
    assert (before.text, after.text) == (page[0].text, page[-1].text)
    assert len(after.location.boxes) == 1
    assert figure.image is None


def test_the_picture_of_a_figure_goes_along_where_a_model_is_to_describe_it() -> None:
    page = lines(["Figure 3: The harbour of Brightwater."], top=85)
    (figure,) = parse(pdf([page], image=True), name="x.pdf", options=ParseOptions(images=True)).sections
    assert figure.image is not None
    with Image.open(io.BytesIO(base64.b64decode(figure.image.data))) as picture:
        assert picture.size == (800, 1000)
        assert len(picture.getcolors() or ()) == 1, "nothing of the page around it"


SEEN = ParseOptions(images=True, ocr=False)


def test_a_figure_that_is_nearly_outside_its_page_is_a_caption_alone() -> None:
    page = lines(["Figure 3: The harbour of Brightwater."], top=20)
    drawing = ["400 0 0 500 100 -499.96 cm /Im Do"]
    (figure,) = parse(pdf([page], drawing=drawing), name="x.pdf", options=SEEN).sections
    assert (figure.text, figure.image) == (page[0].text, None)


def test_a_picture_without_a_caption_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.parsing.pdf.drawing.region", lambda *_, **__: pytest.fail("it was drawn"))
    page = lines(["What stands here is a sentence of a text.", "And so is this."], top=85)
    assert [one.image for one in parse(pdf([page], image=True), name="x.pdf", options=SEEN).sections] == [None]


@pytest.mark.parametrize("limit", ["MOST_FIGURES", "MOST_BYTES"])
def test_figures_beyond_a_limit_are_captions_and_counted(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    content = pdf([lines([f"Figure {n}: The harbour of {n}0 ships."], top=85) for n in range(1, 4)], image=True)
    assert not parse(content, name="x.pdf", options=SEEN).warnings
    monkeypatch.setattr(f"ragcore.parsing.pdf.shown.{limit}", 1)
    parsed = parse(content, name="x.pdf", options=SEEN)
    assert [one.image is not None for one in parsed.sections] == [True, False, False]
    (warning,) = parsed.warnings
    assert warning.startswith("figures without a picture, over the limit of ")
    assert warning.endswith(": 2")


@pytest.mark.parametrize(
    ("text", "told"),
    [("Figure 3: Sales", True), ("Fig. 2.1. Sales by year", True), ("FIGURE A1 | A map", True), ("图 3 系统结构", True),
     ("图3：系统结构", True), ("Abb. 4: Der Hafen", True), ("Figure 3 shows that sales rose.", False), ("图 3 所示的结构", False),
     ("Table 3: Sales", False), ("Figures: see below", False), ("Fig trees grow here: one", False)],
)  # fmt: skip
def test_captions_are_told_from_sentences(text: str, told: bool) -> None:
    assert is_caption(text) is told


_LETTERS = str.maketrans("0123456789", "abcdefghij")
WORD = re.compile(r"q[a-j]+z")


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[list[Words]], list[str]]:
    """Draw pages of paragraphs, columns, tables with rules or without, and captions; each word stands once."""
    count = iter(range(10_000))

    def text(words: int) -> str:
        # Without digits: lines at a page's edge that differ by these alone run through the document.
        return " ".join(f"q{str(next(count)).translate(_LETTERS)}z" for _ in range(words))

    pages, drawings = [], []
    for _ in range(draw(st.integers(1, 3))):
        page: list[Words] = []
        drawing, top = "", 720.0
        for kind in draw(
            st.lists(st.sampled_from(["text", "columns", "ruled", "rows", "caption", "title"]), min_size=1, max_size=4)
        ):
            if kind in {"text", "caption", "title"}:
                size = 18 if kind == "title" else 10
                head = "Figure 1: " if kind == "caption" else ""
                block = [head + text(4), *(text(5) for _ in range(0 if kind == "title" else draw(st.integers(0, 3))))]
                page += lines(block, top=top, size=size)
                top -= 1.2 * size * len(block) + 10
            elif kind == "columns":
                rows = draw(st.integers(4, 6))
                for x in (60, 320):
                    page += lines([text(6) for _ in range(rows)], x=x, top=top, size=9)
                top -= 1.2 * 9 * rows + 12
            else:
                rows = draw(st.integers(2, 5))
                page += cells([(text(1), text(2)) for _ in range(rows)], top=top + 10)
                drawing += stroked(rows, top=top + 10) if kind == "ruled" else ""
                top -= HEIGHT * rows + 10
        pages.append(page)
        drawings.append(drawing)
    return pages, drawings


@settings(max_examples=scaled(15), deadline=None)
@given(documents())
def test_every_word_stands_in_a_section_once(made: tuple[list[list[Words]], list[str]]) -> None:
    pages, drawings = made
    drawn = Counter(word for page in pages for words in page for word in WORD.findall(words.text))
    found = sections_of(pdf(pages, drawing=drawings))
    assert Counter(word for section in found for word in WORD.findall(section.text)) == drawn
    for section in found:
        held = Counter(
            word for line in section.lines for word in set(WORD.findall(section.text[line.start : line.end]))
        )
        assert held.keys() == set(WORD.findall(section.text)), "each stands on a line with a box"
