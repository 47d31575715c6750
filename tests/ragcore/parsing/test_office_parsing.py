import io
import time
import zipfile
from datetime import date, datetime

import pytest

from ragcore.errors import EmptyDocument, ParseError
from ragcore.parsing import ParseOptions, parse
from ragcore.parsing.office.number_format import show_number
from ragcore.types import SectionKind
from tests.ragcore.parsing.makers import zipped


def word(build: object) -> bytes:
    import docx

    document = docx.Document()
    build(document)  # type: ignore[operator]
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def workbook(build: object) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    build(book)  # type: ignore[operator]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_word_headings_lists_tables_and_properties() -> None:
    def build(document: object) -> None:
        document.core_properties.author = "Ada"
        document.add_heading("Travel policy", level=0)
        document.add_heading("Trains", level=1)
        document.add_paragraph("Second class.")
        document.add_paragraph("Book early", style="List Bullet")
        document.add_paragraph("Keep the ticket", style="List Bullet")
        table = document.add_table(rows=3, cols=2)
        for row, texts in zip(table.rows, (("City", "Limit"), ("Rome", "120"), ("Oslo", "180")), strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text

    parsed = parse(word(build), name="x.bin")
    assert (parsed.title, parsed.author) == ("Travel policy", "Ada")
    text, table = parsed.sections
    assert text.heading_path == ("Trains",)
    assert text.text == "# Travel policy\n\n## Trains\n\nSecond class.\n\n- Book early\n- Keep the ticket"
    assert table.kind is SectionKind.TABLE
    assert table.text == "| City | Limit |\n| --- | --- |\n| Rome | 120 |\n| Oslo | 180 |"


def test_word_shows_accepted_text_only() -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    def build(document: object) -> None:
        paragraph = document.add_paragraph("Keep ")
        for tag, inner in (("ins", "w:t"), ("del", "w:delText")):
            run = f"<w:{tag} {nsdecls('w')}><w:r><{inner}>{tag}erted </{inner}></w:r></w:{tag}>"
            paragraph._p.append(parse_xml(run))

    assert parse(word(build), name="x.docx").sections[0].text == "Keep inserted"


def test_word_leaves_out_deleted_rows_contents_and_soft_hyphens_and_keeps_notes_of_tables() -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    def build(document: object) -> None:
        w = nsdecls("w")
        document.element.body.insert(
            0,
            parse_xml(
                f'<w:sdt {w}><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
                "<w:sdtContent><w:p><w:r><w:t>Carry-over 3</w:t></w:r></w:p></w:sdtContent></w:sdt>"
            ),
        )
        document.styles.add_style("toc 1", 1)
        document.add_paragraph("Annual leave 7", style="toc 1")
        document.add_paragraph("An\xadnual leave is 25 days.")
        table = document.add_table(rows=3, cols=2)
        for row, texts in zip(table.rows, (("Kind", "Days"), ("Sick", "10"), ("Old", "5")), strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
        table.rows[2]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {w}/>"))
        table.cell(1, 1).paragraphs[0]._p.append(parse_xml(f'<w:r {w}><w:footnoteReference w:id="2"/></w:r>'))

    note = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2"><w:p>'
        "<w:r><w:t>Paid by the insurer.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    )
    relation = (
        '<Relationship Id="rId99" Target="footnotes.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>'
    )
    with zipfile.ZipFile(io.BytesIO(word(build))) as archive:
        members: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    rels = members["word/_rels/document.xml.rels"]
    assert isinstance(rels, bytes)
    members["word/_rels/document.xml.rels"] = rels.decode().replace("</Relationships>", relation)
    parsed = parse(zipped({**members, "word/footnotes.xml": note}), name="x.docx")
    assert [section.text for section in parsed.sections] == [
        "Annual leave is 25 days.",
        "| Kind | Days |\n| --- | --- |\n| Sick | 10 |",
        "Paid by the insurer.",
    ]


def test_a_workbook_of_formulas_without_values_is_not_empty() -> None:
    def build(book: object) -> None:
        book.active.append(["=1+1", "=A1*2"])

    with pytest.raises(ParseError, match="formulas without a stored value: 2") as raised:
        parse(workbook(build), name="x.xlsx")
    assert not isinstance(raised.value, EmptyDocument)


def test_overlapping_merges_take_no_time_to_speak_of() -> None:
    def build(book: object) -> None:
        for number in range(1500):
            book.active.append([f"name {number}", "x"])

    with zipfile.ZipFile(io.BytesIO(workbook(build))) as archive:
        members: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"]
    assert isinstance(sheet, bytes)
    merges = "".join(f'<mergeCell ref="A{1 + number % 3}:XFD1500"/>' for number in range(3000))
    members["xl/worksheets/sheet1.xml"] = sheet.replace(
        b"</sheetData>", f"</sheetData><mergeCells>{merges}</mergeCells>".encode()
    )
    began = time.process_time()
    assert "name 1499" in parse(zipped(members), name="x.xlsx").sections[-1].text
    assert time.process_time() - began < 5


def test_sheet_with_title_rows_gaps_merges_dates_and_numbers() -> None:
    def build(book: object) -> None:
        sheet = book.active
        sheet.title = "Prices"
        sheet["B2"] = "Price list 2024"
        sheet.merge_cells("B2:D2")
        for at, name in zip("BCD", ("Item", "Price", "Since"), strict=True):
            sheet[f"{at}4"] = name
        for row, (item, price, since) in enumerate(
            (("Pen", 1.5, date(2024, 3, 1)), ("Book", 1234.5, date(2023, 12, 31))), start=5
        ):
            sheet[f"B{row}"], sheet[f"C{row}"], sheet[f"D{row}"] = item, price, since
            sheet[f"C{row}"].number_format = '#,##0.00 "EUR"'
            sheet[f"D{row}"].number_format = "d mmm yyyy"
        sheet["B9"], sheet["C9"] = "Region", "Share"
        sheet["B10"], sheet["C10"] = "North", 0.125
        sheet["C10"].number_format = "0.0%"
        book.create_sheet("Hidden").sheet_state = "hidden"

    parsed = parse(workbook(build), name="prices.xlsx")
    title, prices, shares = parsed.sections
    assert (title.text, title.location.first_row) == ("Price list 2024", 2)
    assert prices.text.splitlines()[2:] == ["| Pen | 1.50 EUR | 1 Mar 2024 |", "| Book | 1,234.50 EUR | 31 Dec 2023 |"]
    assert (prices.location.sheet, prices.location.first_row, prices.location.last_row) == ("Prices", 5, 6)
    assert shares.text.endswith("| North | 12.5% |")
    assert shares.location.first_row == 10
    assert parsed.warnings == ("hidden sheet left out: Hidden",)


def test_two_tables_side_by_side_are_two_sections() -> None:
    def build(book: object) -> None:
        for row in (("A", "B", None, "C", "D"), ("x", 1, None, "y", 2), ("z", 3, None, "w", 4)):
            book.active.append(row)

    assert [section.text.splitlines()[0] for section in parse(workbook(build), name="x.xlsx").sections] == [
        "| A | B |",
        "| C | D |",
    ]


def test_grouped_headers_name_their_columns_whole() -> None:
    def build(book: object) -> None:
        sheet = book.active
        for row in (
            ("Region", "2023", None, "2022", None),
            (None, "Sales", "Profit", "Sales", "Profit"),
            ("North", 10, 1, 9, 2),
        ):
            sheet.append(row)
        sheet.merge_cells("B1:C1")
        sheet.merge_cells("D1:E1")

    table = parse(workbook(build), name="x.xlsx").sections[0]
    assert table.text.splitlines()[0] == "| Region | 2023 Sales | 2023 Profit | 2022 Sales | 2022 Profit |"
    assert table.location.first_row == 3


def test_a_workbook_over_the_cell_limit_is_refused() -> None:
    content = workbook(lambda book: [book.active.append(range(20)) for _ in range(20)])
    with pytest.raises(ParseError, match="more than 100 cells"):
        parse(content, name="x.xlsx", options=ParseOptions(max_cells=100))


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567, "#,##0", "1,234,567"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (-5, "0", "-5"),
        (0, '0;-0;"none"', "none"),
        (0.256, "0.0%", "25.6%"),
        (12_345_678, '0.0,,"M"', "12.3M"),
        (7, "000", "007"),
        (1.5, "0.##", "1.5"),
        (1250, "[$€-407] #,##0", "€ 1,250"),
        (99.5, '"$"#,##0.00', "$99.50"),
        (45292, "yyyy-mm-dd", "2024-01-01"),
        (45292.75, "d/m/yyyy h:mm AM/PM", "1/1/2024 6:00 PM"),
        (1.5, "[h]:mm", "36:00"),
        (0.5, "hh:mm:ss", "12:00:00"),
        (12345.678, "0.00E+00", "1.23E+04"),
    ],
)
def test_numbers_are_shown_as_a_person_sees_them(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


def test_slides_have_titles_tables_and_notes() -> None:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plans"
    slide.placeholders[1].text = "Hire five people"
    slide.notes_slide.notes_text_frame.text = "Say why."
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Numbers"
    data = CategoryChartData()
    data.categories = ["2022", "2023"]
    data.add_series("Sales", (10, 12))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data)
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 100, 100).text_frame.text = "No title here"
    out = io.BytesIO()
    deck.save(out)
    parsed = parse(out.getvalue(), name="deck.pptx")
    assert parsed.title == "Plans"
    assert [(section.location.slide, section.heading_path) for section in parsed.sections] == [
        (1, ()),
        (1, ()),
        (2, ("Numbers",)),
        (2, ("Numbers",)),
        (3, ()),
    ]
    assert parsed.sections[1].text == "Speaker notes: Say why."
    assert parsed.sections[3].text.splitlines()[0] == "|  | Sales |"
    assert parsed.sections[3].text.splitlines()[2].startswith("| 2022 | 10")


def test_the_points_of_a_slide_are_a_list() -> None:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plans"
    frame = slide.placeholders[1].text_frame
    frame.text = "Open a branch"
    for text, level in (("In Lyon", 1), ("Hire two\vengineers", 0), ("No bullet here", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    paragraph._p.get_or_add_pPr().insert(0, paragraph._p.makeelement(pptx.oxml.ns.qn("a:buNone"), {}))
    slide.notes_slide.notes_text_frame.text = "Say why.\nAnd when."
    out = io.BytesIO()
    deck.save(out)
    points, notes = parse(out.getvalue(), name="deck.pptx").sections
    assert points.text == "# Plans\n\n- Open a branch\n  - In Lyon\n- Hire two\n  engineers\nNo bullet here"
    assert notes.text == "Speaker notes: Say why.\nAnd when."


def test_modified_date_is_read() -> None:
    def build(document: object) -> None:
        document.core_properties.modified = datetime(2024, 5, 6, 7, 8)
        document.add_paragraph("Hello there, this is text.")

    found = parse(word(build), name="x.docx").updated_at
    assert found is not None
    assert (found.year, found.month, found.day) == (2024, 5, 6)
