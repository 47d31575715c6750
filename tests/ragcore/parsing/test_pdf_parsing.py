import base64
import importlib.util
import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from ragcore.errors import EmptyDocument, ParseError
from ragcore.parsing import ParseOptions, parse
from ragcore.types import ParsedDocument, SectionKind
from tests.ragcore.parsing.makers import Words, lines, pdf

BODY = [
    "Every employee is entitled to twenty-five days of paid leave",
    "in each calendar year. Days that were not taken are carried",
    "over until the end of March of the year that follows.",
]
LEFT = [f"left column line {number} goes on about leave" for number in range(12)]
RIGHT = [f"right column line {number} goes on about pay" for number in range(12)]


def whole_text(parsed: ParsedDocument) -> str:
    return "\n".join(section.text for section in parsed.sections)


def test_lines_of_a_paragraph_are_rejoined_on_their_page() -> None:
    parsed = parse(pdf([lines(BODY), lines(["Another page stands here."])]), name="policy.pdf")
    assert [section.location.page for section in parsed.sections] == [1, 2]
    assert parsed.sections[0].text == " ".join(BODY)
    assert parsed.title == "Policy"


def test_a_bigger_line_is_a_heading_and_the_title_is_not_in_the_path() -> None:
    page = [
        Words(text="Staff Handbook", y=740, size=24),
        *lines(BODY, top=700),
        Words(text="Carry-over", y=640, size=15, bold=True),
        *lines(BODY, top=610),
    ]
    parsed = parse(pdf([page]), name="x.pdf")
    assert parsed.title == "Staff Handbook"
    assert [section.heading_path for section in parsed.sections] == [(), ("Carry-over",)]


def test_running_lines_and_page_numbers_go_and_the_text_stays() -> None:
    pages = [
        [
            Words(text="Acme Corp - Confidential", y=765, size=9),
            *lines([f"Paragraph number {number} says something of its own.", *BODY]),
            Words(text=f"Page {number} of 6", y=30, size=9),
        ]
        for number in range(1, 7)
    ]
    text = whole_text(parse(pdf(pages), name="x.pdf"))
    assert "Confidential" not in text
    assert "of 6" not in text
    assert all(f"number {number} says" in text for number in range(1, 7))


def test_headlines_in_large_type_that_differ_by_their_number_stay() -> None:
    pages = [[Words(text=f"Part {number}", y=745, size=18), *lines(BODY)] for number in range(1, 7)]
    text = whole_text(parse(pdf(pages), name="x.pdf"))
    assert all(f"Part {number}" in text for number in range(1, 7))


def test_pages_of_one_line_that_differ_by_their_numbers_keep_it() -> None:
    pages = [[Words(text=f"Ticket {n}0{n} seat {n}"), Words(text=str(n), x=300, y=30)] for n in range(1, 7)]
    parsed = parse(pdf(pages), name="tickets.pdf")
    assert [section.text for section in parsed.sections] == [f"Ticket {n}0{n} seat {n}" for n in range(1, 7)]


def test_a_number_on_each_page_is_no_text_nor_a_stamp_on_scanned_pages() -> None:
    for pages, image in (([[Words(text=str(n), y=30)] for n in range(1, 7)], False),
                         ([[Words(text="Scanned by the archive", y=765)]] * 6, True)):  # fmt: skip
        with pytest.raises(EmptyDocument):
            parse(pdf(pages, image=image), name="x.pdf")


def test_a_line_that_stands_on_one_page_only_is_no_running_line() -> None:
    pages = [[Words(text=f"{word} notice", y=765, size=9), *lines(BODY)] for word in ("First", "Second", "Third")]
    text = whole_text(parse(pdf(pages), name="x.pdf"))
    assert all(f"{word} notice" in text for word in ("First", "Second", "Third"))


@pytest.mark.parametrize("line", ["2 A. Skerry et al.", "Skerry et al. 1024"])
def test_the_authors_above_a_page_of_a_short_paper_are_no_text(line: str) -> None:
    pages = [lines(BODY), [Words(text=line, y=735, size=9), *lines(["Another page.", *BODY], top=700)]]
    assert "Skerry" not in whole_text(parse(pdf(pages), name="x.pdf"))


@pytest.mark.parametrize(
    ("line", "top"),
    [
        ("2 A. Skerry counts", 700),
        ("As told by Skerry et al.", 700),
        ("2 A. Skerry et al.", 722),
        ("2 Skerry et al.", 0),
    ],
)
def test_other_first_lines_of_a_page_stay(line: str, top: float) -> None:
    page = [Words(text=line, y=735, size=9), *(lines(BODY, top=top) if top else [])]
    assert "Skerry" in whole_text(parse(pdf([lines(BODY), page]), name="x.pdf"))


@pytest.mark.parametrize("interleaved", [False, True])
def test_two_columns_are_read_one_after_the_other(interleaved: bool) -> None:
    left, right = lines(LEFT, x=60, size=10), lines(RIGHT, x=330, size=10)
    drawn = [words for pair in zip(left, right, strict=True) for words in pair] if interleaved else [*left, *right]
    page = [Words(text="A title over both of the columns of this page", x=60, y=740, size=18), *drawn]
    text = whole_text(parse(pdf([page]), name="x.pdf"))
    places = [text.index(line) for line in (*LEFT, *RIGHT)]
    assert places == sorted(places)


def cells(rows: list[tuple[str, ...]], columns: tuple[float, ...], top: float = 700) -> list[Words]:
    return [
        Words(text=cell, x=x, y=top - 14 * number)
        for number, row in enumerate(rows)
        for cell, x in zip(row, columns, strict=True)
        if cell
    ]


def test_three_columns_are_read_one_after_the_other() -> None:
    words = [
        "the",
        "committee",
        "found",
        "that",
        "each",
        "of",
        "the",
        "valves",
        "was",
        "opened",
        "and",
        "closed",
        "on",
        "time",
        "by",
        "the",
        "night",
        "shift",
    ]
    columns = [
        [" ".join(words[(line + column) % 9 :][:7]) + f" {name}{line}" for line in range(30)]
        for column, name in enumerate("abc")
    ]
    page = [word for at, column in enumerate(columns) for word in lines(column, x=40 + 185 * at, size=8)]
    text = whole_text(parse(pdf([page]), name="x.pdf"))
    places = [text.index(f" {name}{line}") for name in "abc" for line in range(30)]
    assert places == sorted(places)


def test_figures_under_each_other_are_a_table_under_their_names() -> None:
    rows = [
        ("In millions", "2023", "2022"),
        ("Sales", "$ 3,667", "$ 3,635"),
        ("Cost of sales", "(2,995)", "(2,931)"),
        ("Other", "", "4"),
        ("Gross profit", "672", "704"),
    ]
    page = [*lines(["What was sold in the year and what it cost."], top=740), *cells(rows, (72, 320, 450))]
    text, table = parse(pdf([page]), name="x.pdf").sections
    assert text.text == "What was sold in the year and what it cost."
    assert table.kind is SectionKind.TABLE
    assert table.location.page == 1
    assert table.header == "| In millions | 2023 | 2022 |\n| --- | --- | --- |\n"
    assert table.text.splitlines()[3:] == [
        "| Cost of sales | (2,995) | (2,931) |",
        "| Other |  | 4 |",
        "| Gross profit | 672 | 704 |",
    ]


def test_rows_of_words_stay_rows_of_text() -> None:
    rows = [("Insured name", "Gabriel Diaz"), ("Make", "Jeep"), ("Model", "Grand Cherokee"), ("Color", "White")]
    text = whole_text(parse(pdf([cells(rows, (72, 320))]), name="x.pdf"))
    assert text == "Insured name Gabriel Diaz\nMake Jeep\nModel Grand Cherokee\nColor White"


def test_a_page_number_at_the_end_of_short_pages_goes() -> None:
    pages = [
        [*lines(BODY[: 1 + number % 3]), Words(text=str(number), x=300, y=500 + 20 * number)] for number in range(1, 8)
    ]
    assert all(section.text[-1] in ".ed" for section in parse(pdf(pages), name="x.pdf").sections)


def test_a_cut_word_is_put_together_and_a_compound_keeps_its_hyphen() -> None:
    page = lines(
        [
            "An open question about a domain may be very hard. The reader has to exam-",
            "ine the contexts. This is what is known as open-",
            "domain question answering, a hard thing.",
        ]
    )
    text = whole_text(parse(pdf([page]), name="x.pdf"))
    assert "to examine the contexts" in text
    assert "open-domain question" in text


def test_an_empty_password_opens_and_another_one_does_not() -> None:
    parsed = parse(pdf([lines(BODY)], password="", title="Quarterly Report"), name="x.pdf")
    assert parsed.title == "Quarterly Report"
    assert parsed.sections[0].text == " ".join(BODY)
    with pytest.raises(ParseError, match="protected with a password"):
        parse(pdf([lines(BODY)], password="secret"), name="x.pdf")


def test_progress_moves_by_pages_and_cancel_works_between_them() -> None:
    content = pdf([lines([f"Page {number} has a sentence."]) for number in range(1, 96)])
    seen: list[tuple[int, int]] = []
    parse(content, name="x.pdf", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 95) for done in range(96)]
    asked = iter([False] * 40 + [True])
    with pytest.raises(ParseError, match="stopped"):
        parse(content, name="x.pdf", cancelled=lambda: next(asked))
    assert next(asked, None) is None


def test_several_threads_may_parse_at_once() -> None:
    contents = [pdf([lines([f"Document {number} page {page} says so."]) for page in range(40)]) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        parsed = list(pool.map(lambda content: parse(content, name="x.pdf"), contents))
    for number, document in enumerate(parsed):
        assert [section.text for section in document.sections] == [
            f"Document {number} page {page} says so." for page in range(40)
        ]


def test_images_only_says_how_to_get_ocr() -> None:
    with pytest.raises(ParseError) as caught:
        parse(pdf([[], []], image=True), name="scan.pdf", options=ParseOptions(ocr=False))
    assert "images without text" in caught.value.reason
    assert "citebot[ocr]" in caught.value.mend
    assert "vision_model" in caught.value.mend


SEEN = ParseOptions(ocr=False, images=True)


def test_pages_that_only_a_model_can_see_are_pictures_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.parsing.pdf.document.has_ocr", lambda: False)
    content = pdf([[], lines(BODY), []], image=True)
    first, text, last = parse(content, name="scan.pdf", options=SEEN).sections
    assert [one.location.page for one in (first, text, last)] == [1, 2, 3]
    assert text.image is None
    assert (first.text, last.text) == ("", "")
    for section in (first, last):
        assert section.image is not None
        with Image.open(io.BytesIO(base64.b64decode(section.image.data))) as picture:
            assert (picture.format, picture.size) == ("JPEG", (1224, 1584)), "the page whole"
            assert picture.convert("L").getpixel((600, 800)) == pytest.approx(128, abs=2), "and what it shows"
            assert picture.convert("L").getpixel((20, 20)) == 255


def test_pages_beyond_the_limit_of_pictures_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.parsing.pdf.document.has_ocr", lambda: False)
    monkeypatch.setattr("ragcore.parsing.pdf.shown.MOST_FIGURES", 2)
    parsed = parse(pdf([[], [], [], []], image=True), name="scan.pdf", options=SEEN)
    assert [section.location.page for section in parsed.sections] == [1, 2]
    (warning,) = parsed.warnings
    assert warning.startswith("pages without text, only images: 3, 4; install OCR with: ")
    assert "vision_model" not in warning, "it has one"


def test_pages_are_left_to_ocr_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.parsing.pdf.document.has_ocr", lambda: True)
    with pytest.raises(ParseError, match="images without text"):
        parse(pdf([[], []], image=True), name="scan.pdf", options=SEEN)


def test_what_comes_back_on_each_page_is_read_also_beside_a_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.parsing.pdf.document.has_ocr", lambda: False)
    ticket = [Words(text="Admit one to the harbour", y=750)]
    plain = pdf([ticket] * 4 + [[]], drawing=["", "", "", "", "400 0 0 500 100 100 cm /Im Do"])
    found = parse(plain, name="tickets.pdf", options=SEEN).sections
    assert [section.text for section in found] == [ticket[0].text] * 4 + [""]
    assert found[-1].image is not None


def test_some_scanned_pages_are_a_warning() -> None:
    parsed = parse(pdf([lines(BODY), []], image=True), name="scan.pdf", options=ParseOptions(ocr=False))
    assert parsed.warnings[0].startswith("pages without text, only images: 2;")


def test_a_damaged_page_is_told_and_the_others_are_read() -> None:
    content = pdf([lines([f"Page {number} reads well."]) for number in range(1, 4)])
    parsed = parse(content.replace(b"[10 0 R 12 0 R 14 0 R]", b"[10 0 R 99 0 R 14 0 R]"), name="x.pdf")
    assert [section.location.page for section in parsed.sections] == [1, 3]
    assert parsed.warnings == ("pages that are damaged: 2",)
    with pytest.raises(ParseError, match="nothing of it could be read: pages that are damaged: 1, 2, 3") as raised:
        parse(content.replace(b"[10 0 R 12 0 R 14 0 R]", b"[97 0 R 98 0 R 99 0 R]"), name="x.pdf")
    assert not isinstance(raised.value, EmptyDocument)


@pytest.mark.parametrize(("shapes", "reason"), [(60, "images without text"), (2, "it holds no text")])
def test_letters_drawn_as_shapes_are_no_empty_page(shapes: int, reason: str) -> None:
    drawn = " ".join(f"{10 * number} 10 5 5 re f" for number in range(shapes)).encode()
    # The cross-reference table is wrong then, and PDFium builds its own.
    content = pdf([[]]).replace(
        b"<< /Length 0  >>\nstream\n\n", b"<< /Length %d >>\nstream\n%b\n" % (len(drawn), drawn)
    )
    with pytest.raises(ParseError, match=reason) as raised:
        parse(content, name="x.pdf", options=ParseOptions(ocr=False))
    assert isinstance(raised.value, EmptyDocument) == (shapes == 2)


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
def test_a_scan_on_which_ocr_finds_nothing_is_not_told_to_install_it() -> None:
    with pytest.raises(ParseError) as caught:
        parse(pdf([[], []], image=True), name="scan.pdf")
    assert "OCR found no words" in caught.value.mend
    parsed = parse(pdf([lines(BODY), []], image=True), name="scan.pdf")
    assert "OCR found no words" in parsed.warnings[0]


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
def test_ocr_reads_a_scanned_page() -> None:
    import pypdfium2

    page = pypdfium2.PdfDocument(pdf([lines(BODY, size=16)]))[0]
    picture = page.render(scale=2).to_pil()
    scan = io.BytesIO()
    picture.convert("RGB").save(scan, format="PDF", resolution=144)
    assert "calendar year" in whole_text(parse(scan.getvalue(), name="scan.pdf"))
