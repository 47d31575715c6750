"""Files that are hard to cut: each ends in good chunks, or in a failure that says what to do."""

import importlib.util
import io
import time

import pytest

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.errors import ParseError
from ragcore.parsing import ParseOptions, parse
from ragcore.tokens import offline_tokenizer
from tests.ragcore.parsing.makers import pdf
from tests.ragcore.parsing.pictures import frames

TOKENIZER = offline_tokenizer()
ROWS = 3_000


@pytest.fixture(scope="module")
def merged_sheet() -> bytes:
    """Return a sheet of 3,000 rows: a title over all columns, and each region merged over ten rows."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Puffins of the outer isles, counted by ferry"])
    sheet.merge_cells("A1:D1")
    sheet.append(["region", "cliff", "puffins", "remark"])
    for number in range(ROWS):
        region = f"region {number // 10}" if number % 10 == 0 else None
        sheet.append([region, f"cliff {number}", number * 3, "seen from the ferry"])
    for first in range(3, ROWS + 3, 10):
        sheet.merge_cells(start_row=first, end_row=first + 9, start_column=1, end_column=1)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("method", ["naive", "table", "qa", "tag"])
def test_a_large_sheet_with_merged_cells_keeps_each_row_under_its_names(merged_sheet: bytes, method: str) -> None:
    began = time.process_time()
    sections = parse(merged_sheet, name="puffins.xlsx").sections
    pieces = chunk_sections(sections, ChunkOptions(method=method), TOKENIZER)
    assert time.process_time() - began < 20
    rows = [piece for piece in pieces if "cliff" in piece.text and "puffins" in piece.text]
    text = "\n".join(piece.text for piece in rows)
    for number in (0, 9, 10, 1_234, ROWS - 1):
        (line,) = [line for line in text.splitlines() if f"| cliff {number} |" in line]
        assert line.startswith(f"| region {number // 10} |"), "a merged cell counts for each of its rows"
        assert f"| {number * 3} |" in line
    assert all("| region | cliff | puffins | remark |" in piece.text for piece in rows)
    assert all(piece.location.first_row and piece.token_count <= 160 for piece in rows)


def test_a_scanned_law_without_ocr_says_how_to_read_it() -> None:
    with pytest.raises(ParseError) as caught:
        parse(pdf([[], []], image=True), name="law.pdf", options=ParseOptions(ocr=False))
    assert caught.value.reason == "its pages are images without text"
    assert 'pip install "citebot[ocr]"' in caught.value.mend


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
def test_a_scanned_law_is_cut_at_its_articles() -> None:
    pages = [
        [
            (40, 30, "Ferry Operations Act 2031"),
            (40, 150, "Article 1. Purpose"),
            (40, 220, "This Act keeps ferries safe for all who cross."),
        ],
        [
            (40, 30, "Article 2. Duties"),
            (40, 100, "The master counts the passengers before each crossing."),
        ],
    ]
    scan = frames(pages, form="PDF", size=(1_200, 400))
    sections = parse(scan, name="law.pdf").sections
    pieces = chunk_sections(sections, ChunkOptions(method="laws"), TOKENIZER)
    found = {piece.heading_path[-1]: piece for piece in pieces if piece.heading_path}
    assert "This Act keeps ferries safe" in found["Article 1. Purpose"].text
    assert (found["Article 2. Duties"].location.page, found["Article 1. Purpose"].location.page) == (2, 1)
