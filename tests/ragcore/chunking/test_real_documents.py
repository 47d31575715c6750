"""Each chunk method on a real document that nobody here wrote for it."""

import importlib.util
import io
import json
import pathlib

import pypdfium2
import pytest

from ragcore.chunking import METHODS, Piece
from ragcore.parsing import parse
from tests.conftest import BENCH
from tests.ragcore.chunking.files import table_file
from tests.ragcore.chunking.held import cut

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = BENCH / "documents"

# The method, the document, the heading path and the beginning of one of its pieces, and words that stand in that piece.
KNOWN = {
    "naive": ("markitdown-test_blog.html", None, "", "Just by tuning the inference parameters like"),
    "book": ("unstructured-handbook-1p.docx", ("A. PURPOSE",), "##### A. PURPOSE", "appoints and supervises standing trustees"),
    "email": ("unstructured-family-day.eml", None, "", "Make sure to RSVP"),
    "manual": ("unstructured-multi-column-2p.pdf", ("1 Introduction",), "##### 1 Introduction", "Open-domain question answering (QA)"),
    "one": ("unstructured-email-no-html-content-1.eml", (), "", "Subscribed to 63 nf-core repositories"),
    "paper": ("unstructured-multi-column-2p.pdf", ("Abstract",), "##### Abstract", "efﬁcient passage retrieval"),
    "presentation": ("markitdown-test.pptx", None, "# AutoGen", "Multi-Agent Conversation"),
    "table": ("unstructured-stanley-cups.csv", (), "| Team | Location | Stanley Cups |", "| Blues | STL | 1 |"),
}  # fmt: skip


def cut_of(method: str, path: pathlib.Path, content: bytes | None = None) -> list[Piece]:
    """Cut a document, or skip where it isn't there."""
    if content is None:
        if not path.is_file():
            pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
        content = path.read_bytes()
    return cut(method, parse(content, name=path.name).sections)


@pytest.mark.parametrize("method", sorted(KNOWN))
def test_a_method_finds_its_pieces(method: str) -> None:
    name, path, beginning, words = KNOWN[method]
    pieces = cut_of(method, DOCUMENTS / name)
    found = [piece for piece in pieces if words in piece.text and piece.text.startswith(beginning)]
    assert found
    assert path is None or found[0].heading_path == path


def test_the_clauses_of_a_licence_are_articles() -> None:
    pieces = cut_of("laws", ROOT / "LICENSE")
    paths = list(dict.fromkeys(piece.heading_path[-1] for piece in pieces if piece.heading_path))
    assert [path.partition(".")[0] for path in paths] == [str(number) for number in range(1, 10)]
    assert paths[2] == "3. Grant of Patent License"
    (trademarks,) = (piece for piece in pieces if piece.heading_path == ("6. Trademarks",))
    assert trademarks.text.strip().startswith("6. Trademarks. This License does not grant permission")
    assert trademarks.text.strip().endswith("the content of the NOTICE file.")


@pytest.mark.parametrize("kind", ["xlsx", "csv", "md", "docx"])
def test_each_question_of_a_real_faq_stands_with_its_answer(kind: str, bench: pathlib.Path) -> None:
    lines = (bench / "faq-zoomcamp" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines[:60]]
    # A cell of Markdown holds one line, and no bar.
    plain = [[" ".join(one[key].replace("|", "/").split()) for key in ("title", "text")] for one in entries]
    short = [pair for pair in plain if len(pair[1]) < 300 and not any(mark in "".join(pair) for mark in "\\`*_<>")]
    assert len(short) > 10
    content = table_file(kind, [["Question", "Answer"], *short])
    pieces = cut_of("qa", pathlib.Path(f"faq.{kind}"), content)
    for question, answer in short:
        assert any(question in piece.text and answer in piece.text for piece in pieces), question


def test_a_real_faq_as_a_tag_set_gives_a_chunk_a_row(bench: pathlib.Path) -> None:
    lines = (bench / "faq-zoomcamp" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [[" ".join(one["title"].split()), one["course"]] for one in map(json.loads, lines[:80])]
    content = table_file("csv", [["text", "tags"], *rows])
    pieces = cut_of("tag", pathlib.Path("tags.csv"), content)
    assert len(pieces) == len(rows)
    for (text, course), piece in zip(rows, pieces, strict=True):
        assert text in piece.text
        assert piece.tags == (course,)


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
def test_a_scanned_page_is_read(bench: pathlib.Path) -> None:
    with pypdfium2.PdfDocument(bench / "documents" / "unstructured-multi-column-2p.pdf") as document:
        page = document[0].render(scale=2, crop=(0, 600, 0, 0)).to_pil()
    scanned = io.BytesIO()
    page.save(scanned, "PNG")
    pieces = cut_of("picture", pathlib.Path("scan.png"), scanned.getvalue())
    assert "Dense Passage Retrieval" in " ".join(piece.text for piece in pieces)


def test_no_method_is_left_out() -> None:
    assert {*KNOWN, "laws", "qa", "tag", "picture"} == set(METHODS)
