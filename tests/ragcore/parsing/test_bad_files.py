import contextlib
import io
import time
import zipfile

import pytest

from ragcore.errors import ParseError
from ragcore.parsing import ParseOptions, parse, recognise
from ragcore.parsing.media import Media
from tests.ragcore.parsing.makers import lines, pdf, zipped

OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500)
TYPES = "<Types/>"


def stream(name: str) -> bytes:
    return OLE + name.encode("utf-16-le") + bytes(100)


def bomb() -> bytes:
    return zipped({"[Content_Types].xml": TYPES, "word/document.xml": bytes(30_000_000)})


def lying() -> bytes:
    """Return a zip whose directory promises less than a member unpacks to."""
    content = bytearray(zipped({"[Content_Types].xml": TYPES, "word/document.xml": b"<a>" + b" " * 50_000 + b"</a>"}))
    directory = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    content[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    return bytes(content)


def locked_zip() -> bytes:
    content = bytearray(zipped({"[Content_Types].xml": TYPES, "word/document.xml": "<a/>"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


CASES = {
    "empty": (b"", "x.md", "empty"),
    "blank": (b" \n\t ", "x.txt", "nothing but blanks"),
    "cut pdf": (pdf([lines(["Hello"])])[:200], "x.pdf", "damaged or cut off"),
    "cut zip": (zipped({"word/document.xml": "<a/>"})[:-30], "x.docx", "damaged or cut off"),
    "encrypted office": (stream("EncryptedPackage"), "x.docx", "password"),
    "encrypted zip": (locked_zip(), "x.docx", "password"),
    "old word": (stream("WordDocument"), "x.doc", "old Word"),
    "old excel": (stream("Workbook"), "x.xls", "old Excel"),
    "old powerpoint": (stream("PowerPoint Document"), "x.docx", "old PowerPoint"),
    "outlook": (stream("__substg1.0_0037001F"), "x.msg", "Outlook"),
    "rtf": (b"{\\rtf1 hello}", "x.docx", "rich text"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(100), "x.pdf", "picture"),
    "program": (b"MZ\x90\x00" + bytes(200), "setup.txt", "program"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(200), "tool", "program"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(100), "x.csv", "archive"),
    "zip": (zipped({"a.txt": "hello"}), "x.zip", "zip archive"),
    "sound": (b"ID3\x03" + bytes(100), "x.txt", "sound or video"),
    "database": (b"SQLite format 3\x00" + bytes(100), "x.db", "database"),
    "bomb": (bomb(), "x.docx", "zip bomb"),
    "lying zip": (lying(), "x.docx", ""),
    "opendocument": (
        zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"}),
        "x.odt",
        "OpenDocument",
    ),
    "binary excel": (zipped({"[Content_Types].xml": TYPES, "xl/workbook.bin": b"\0"}), "x.xlsb", "binary Excel"),
    "broken xml": (zipped({"[Content_Types].xml": TYPES, "word/document.xml": "<a><b></a>"}), "x.docx", "damaged"),
    "broken json": (b'{"cells": [', "x.ipynb", "JSON is damaged"),
    "deep json": (b"[" * 100_000 + b"]" * 100_000, "x.json", "nested too deep"),
    "noise": (bytes(range(256)) * 20, "x.dat", "neither text"),
}


@pytest.mark.parametrize(("content", "name", "reason"), CASES.values(), ids=CASES.keys())
def test_a_bad_file_is_one_clear_line_with_a_mend(content: bytes, name: str, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(content, name=name)
    assert reason in caught.value.reason
    assert "\n" not in str(caught.value)
    assert 3 < len(caught.value.mend) < 120


def test_the_size_limit_is_checked_before_anything_else() -> None:
    with pytest.raises(ParseError, match="over the limit"):
        parse(bytes(2_000), name="x.pdf", options=ParseOptions(max_bytes=1_000))


def test_members_and_total_size_of_a_zip_are_limited() -> None:
    many = zipped({f"{number}.xml": "x" for number in range(50)})
    with pytest.raises(ParseError, match="holds 50 files"):
        parse(many, name="x.docx", options=ParseOptions(max_members=10))
    big = zipped({"[Content_Types].xml": TYPES, "word/document.xml": "<a/>" * 1_000})
    with pytest.raises(ParseError, match="would unpack"):
        parse(big, name="x.docx", options=ParseOptions(max_unpacked_bytes=1_000))


def test_a_page_or_part_too_large_for_a_tree_is_refused() -> None:
    options = ParseOptions(max_tree_bytes=100)
    page = b"<html><body>" + b"<p>word</p>" * 50
    part = zipped({"[Content_Types].xml": TYPES, "word/document.xml": "<a>" + "<b/>" * 50 + "</a>"})
    for content, name in ((page, "x.html"), (part, "x.docx")):
        with pytest.raises(ParseError, match="over the limit"):
            parse(content, name=name, options=options)


def test_a_nested_entity_bomb_in_a_package_is_not_expanded() -> None:
    entities = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    document = f"""<?xml version="1.0"?><!DOCTYPE d [{entities}]><w:document xmlns:w="http://x/w"><w:body><w:p><w:r>
      <w:t>Safe &a9;</w:t></w:r></w:p></w:body></w:document>"""
    with pytest.raises(ParseError, match="damaged"):
        parse(zipped({"[Content_Types].xml": TYPES, "word/document.xml": document}), name="x.docx")


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [
        (b"<!doctype html><html><body><p>Hello there</p></body></html>", "x.pdf", "text/html"),
        (b"<!doctype html><html><body><h1>Hello</h1><p>there</p></body></html>", "x.md", "text/html"),
        (b"<!-- A --><!-- B --><html><body><p>Hello there</p></body></html>", "x.rst", "text/html"),
        (b"<div>\n\n# Hello\n\n</div>\n\nThere.\n", "x.md", "text/markdown"),
        (pdf([lines(["Hello there, page."])]), "x.docx", "application/pdf"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "x.xlsx", "text/csv"),
        (b"a\tb\n1\t2\n3\t4\n", "x.pdf", "text/tab-separated-values"),
        (b'{"a": {"b": 1}}', "x.docx", "application/json"),
        (b'{"text": "one"}\n{"text": "two"}\n', "x.txt.json", "application/jsonl"),
        (b"# Title\n\nSome *text* and [a link](http://x).\n", "", "text/markdown"),
        (
            b"From: a@b.c\nTo: d@e.f\nSubject: Hi\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello\n",
            "x.txt",
            "message/rfc822",
        ),
        (b"From: a@b.c\nSubject: Hi\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello\n", "x.pdf", "message/rfc822"),
        (b"Just a sentence, with a comma.\nAnd another, too.\nAnd a third, fine.\n", "", "text/plain"),
        (b"MZ is a prefix, and this is plain text about it.", "x.txt", "text/plain"),
    ],
)
def test_mislabelled_files_are_read_as_what_they_are(content: bytes, name: str, media_type: str) -> None:
    assert parse(content, name=name).media_type == media_type


def test_a_zip_inside_a_zip_is_not_followed() -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(ParseError, match="zip archive"):
        parse(zipped({"inner.docx": inner.getvalue()}), name="x.docx")


@pytest.mark.parametrize(
    ("name", "unit", "end"),
    [
        ("x.md", "<!--\n", ""),
        ("x.md", "<!-- -->\n", "<p>text"),
        ("x.html", "<!-- -->\n", "<p>text"),
        ("x.txt", "<!-- -->\n", "<p>text"),
        ("x.html", "\n", "text"),
        ("x.md", "<!--\n\n", "-->"),
        ("x.md", "<table>\n\n", "</table>"),
        ("x.rst", "== ==\na  b\n", ""),
        ("x.rst", ".. note::\n", ""),
        ("x.rst", "+-+-+\n", ""),
        ("x.rst", ".. list-table::\n\n   * - a\n\n", ""),
    ],
)
def test_what_is_opened_again_and_again_takes_no_time_to_speak_of(name: str, unit: str, end: str) -> None:
    began = time.process_time()
    with contextlib.suppress(ParseError):
        parse((unit * (40_000 // len(unit)) + end).encode(), name=name)
    assert time.process_time() - began < 4


_PAGE = pdf([lines(["A page of a PDF."])])


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\r\n\x00 ",
        b"\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x01\x02",
    ],
    ids=["nothing", "mark", "blanks", "printer", "server", "junk"],
)
def test_a_pdf_is_one_whatever_stands_before_its_header(before: bytes) -> None:
    assert recognise(before + _PAGE, name="a", media_type="") is Media.PDF


@pytest.mark.parametrize(
    ("text", "media"),
    [
        ("The header of a PDF is %PDF-1.7, and its end is %%EOF.", Media.TEXT),
        ("A PDF begins so:\n%PDF-1.7\n1 0 is no object.", Media.TEXT),
        ("# How a PDF begins\n\n```\n%PDF-1.4\n%\u00e2\n```\n", Media.MARKDOWN),
        ("From: a@b.c\nTo: d@e.f\nSubject: Your scan\n\n%PDF-1.4\n1 0 obj\n<<>>\nendobj\n", Media.MAIL),
    ],
    ids=["sentence", "line", "fence", "mail"],
)
def test_a_text_that_speaks_of_a_pdf_is_a_text(text: str, media: Media) -> None:
    assert recognise(text.encode(), name="", media_type="") is media
