import json
from email.message import EmailMessage

from hypothesis import given
from hypothesis import strategies as st

from ragcore.parsing import parse
from ragcore.parsing.lines import split_lines
from ragcore.parsing.markup.rst_text import readable_rst
from ragcore.types import SectionKind
from tests.ragcore.parsing.makers import epub, lines, pdf

CELLS = st.text(st.characters(codec="utf-8", categories=("L", "N", "Zs", "P")), min_size=1, max_size=12).map(str.strip)


@given(rows=st.lists(st.lists(CELLS.filter(bool), min_size=3, max_size=3), min_size=3, max_size=30))
def test_each_line_of_a_table_is_the_row_that_its_location_says(rows: list[list[str]]) -> None:
    source = "\n".join("\t".join(row).replace('"', "'") for row in rows)
    for section in parse(source.encode(), name="x.tsv").sections:
        body = section.text[len(section.header) :].split("\n")
        assert section.location.last_row - section.location.first_row + 1 == len(body)
        for line, row in zip(body, rows[section.location.first_row - 1 :], strict=False):
            assert (
                line
                == "| "
                + " | ".join(" ".join(cell.replace('"', "'").split()).replace("|", "\\|") for cell in row)
                + " |"
            )


def test_delimiters_quotes_and_title_rows() -> None:
    content = b'Prices 2024;;\nItem;Price;Note\n"Pen; blue";1,50;"two\nlines"\nBook;12,00;\n\nEnd of list;;\n'
    title, table, note = parse(content, name="x.csv").sections
    assert title.text == "Prices 2024"
    assert table.text.splitlines()[2:] == ["| Pen; blue | 1,50 | two lines |", "| Book | 12,00 |  |"]
    assert (table.location.first_row, table.location.last_row) == (3, 4)
    assert note.text == "End of list"


def test_json_records_become_a_table_and_other_json_keeps_its_lines() -> None:
    records = json.dumps([{"name": "Pen", "price": 1.5}, {"name": "Book", "price": 12}])
    table = parse(records.encode(), name="x.json").sections[0]
    assert table.text == "| name | price |\n| --- | --- |\n| Pen | 1.5 |\n| Book | 12 |"
    nested = json.dumps({"title": "Plan", "steps": {"one": [1, 2]}}, indent=2)
    parsed = parse(nested.encode(), name="x.json")
    assert parsed.title == "Plan"
    assert (parsed.sections[0].text, parsed.sections[0].location.last_line) == (nested, nested.count("\n") + 1)


def test_jsonl_texts_stand_under_their_titles_and_broken_lines_are_named() -> None:
    parsed = parse(
        b'{"title": "One", "text": "First."}\nnot json\n{"title": "Two", "text": "Second."}\n', name="x.jsonl"
    )
    assert [(s.heading_path, s.text, s.location.first_line) for s in parsed.sections] == [
        (("One",), "First.", 1),
        (("Two",), "Second.", 3),
    ]
    assert parsed.warnings == ("lines that are not valid JSON were left out: 2",)


def test_notebook_cells_keep_headings_code_and_results() -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Study\n", "Why.\n", "\n", "|a|b|\n", "|-|-|\n", "|1|2|"]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
        ],
    }
    parsed = parse(json.dumps(notebook).encode(), name="x.ipynb")
    assert parsed.title == "Study"
    assert [section.kind for section in parsed.sections] == [SectionKind.TEXT, SectionKind.TABLE, SectionKind.TEXT]
    assert "```python\n1 + 1\n```\n\n```\n2\n```" in parsed.sections[2].text


def test_mail_headers_body_and_attachments() -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Offsite in März", "Ada <ada@x.org>", "all@x.org"
    mail["Date"] = "Mon, 01 Jan 2024 10:00:00 +0100"
    mail.set_content("We meet at nine.\n\nBring shoes.")
    mail.add_alternative("<p>We meet at nine.</p>", subtype="html")
    mail.add_attachment(
        pdf([lines(["The agenda has three points."])]), maintype="application", subtype="pdf", filename="agenda.pdf"
    )
    mail.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(50), maintype="image", subtype="png", filename="logo.png")
    parsed = parse(mail.as_bytes(), name="x.eml")
    assert (parsed.title, parsed.author) == ("Offsite in März", "Ada <ada@x.org>")
    assert parsed.updated_at is not None
    body, agenda = parsed.sections
    assert body.text.count("We meet at nine.") == 1
    assert (agenda.heading_path, agenda.location.page) == (("agenda.pdf",), 1)
    assert parsed.warnings == ("attachment logo.png: it is a picture",)


def test_a_mailbox_is_read_mail_by_mail_each_thread_in_its_order() -> None:
    begins = b"From x@x Mon Mar  1 09:00:00 2026\r\n"
    heads = {
        "b": b"From: Bo <b@x>\r\nSubject: Re: Re[2]: Pump\r\nMessage-ID: <b@x>\r\nReferences: <a@x>\r\nDate: Mon, 02 Mar 2026 09:00:00 +0100",
        "a": b"From: a@x\r\nSubject: Pump\r\nMessage-ID: <a@x>\r\nDate: Sun, 01 Mar 2026 09:00:00",
        "c": b"From: c@x\r\nSubject: none\r\nDate: soon",
    }
    content = b"".join(begins + head + b"\r\n\r\n>From " + name.encode() + b"\r\n\r\n" for name, head in heads.items())
    parsed = parse(content, name="box.mbox")
    assert (parsed.title, parsed.titled) == ("Box", False)
    assert [section.heading_path for section in parsed.sections] == [
        ("Pump", "a@x, 2026-03-01 09:00 UTC"),
        ("Pump", "Bo, 2026-03-02 09:00 +0100"),
        ("none", "c@x, soon"),
    ]
    assert [section.text.rpartition("\n\n")[2] for section in parsed.sections] == ["From a", "From b", "From c"]
    assert parsed.updated_at is not None
    assert parsed.updated_at.day == 2


def test_html_only_mail_is_read() -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = "Hi", "a@b.c", "Mon, 01 Jan 2024 10:00:00 +0100"
    mail.set_content("<html><body><p>Only <b>here</b>.</p></body></html>", subtype="html")
    assert "Only here." in parse(mail.as_bytes(), name="").sections[0].text


def test_book_chapters_keep_order_and_names() -> None:
    parsed = parse(
        epub({"b.xhtml": "<p>No heading here.</p>", "a.xhtml": "<h1 id=one>One</h1><p>Text.</p>"}), name="x.epub"
    )
    assert (parsed.title, parsed.author) == ("A Book", "Ada")
    assert [(s.heading_path, s.location.anchor) for s in parsed.sections] == [
        (("Chapter b.xhtml",), ""),
        (("One",), "one"),
    ]


RST = """
=====
Guide
=====

Intro.

.. _setup-here:

Set ``up``
----------

Do this::

    make

Deep
~~~~
End.
"""


def test_rst_headings_and_lines() -> None:
    parsed = parse(RST.encode(), name="x.rst")
    assert parsed.title == "Guide"
    assert [(s.heading_path, s.location.anchor) for s in parsed.sections] == [
        ((), "guide"),
        (("Set up",), "setup-here"),
        (("Set up", "Deep"), "deep"),
    ]
    source = readable_rst(split_lines(RST))
    for section in parsed.sections:
        first = section.location.first_line - 1
        assert section.text.split("\n") == source[first : section.location.last_line]


@given(
    st.lists(
        st.sampled_from(
            ["# A", "## B", "text", "", "| a | b |\n| - | - |\n| 1 | 2 |", "```\nx\n```", "- item", "[l](u)"]
        )
    )
)
def test_markdown_loses_no_line_and_doubles_none(blocks: list[str]) -> None:
    source = split_lines("start\n\n" + "\n".join(blocks) + "\n\nend")
    seen: set[int] = set()
    for section in parse("\n".join(source).encode(), name="x.md").sections:
        body = section.text[len(section.header) :].split("\n")
        start = section.location.first_line - section.header.count("\n")
        numbers = set(range(start, section.location.last_line + 1))
        assert len(body) == section.location.last_line - section.location.first_line + 1
        assert not seen & numbers
        seen |= numbers
    assert {number for number, line in enumerate(source, start=1) if line.strip()} <= seen


def test_source_code_is_one_code_section_named_after_its_file() -> None:
    parsed = parse(b"import os\n\nprint(os.name)\n", name="tools/show.py")
    assert (parsed.title, parsed.media_type, parsed.sections[0].kind) == ("show.py", "text/x-source", SectionKind.CODE)
    assert (parsed.sections[0].location.first_line, parsed.sections[0].location.last_line) == (1, 3)


def test_a_text_that_is_no_file_has_no_line_numbers() -> None:
    for name, place in (("note.txt", (1, 3)), ("", (0, 0))):
        (section,) = parse(b"The pump runs.\n\nIt is green.", name=name, media_type="text/plain").sections
        assert (section.location.first_line, section.location.last_line) == place
        assert section.text == "The pump runs.\n\nIt is green."


def test_the_line_that_tells_excel_the_delimiter_is_no_row() -> None:
    (table,) = parse(b"sep=;\r\nName;Sum, net\r\nAnn;3,5\r\n", name="x.csv").sections
    assert table.text.endswith("| Name | Sum, net |\n| --- | --- |\n| Ann | 3,5 |")
    assert table.location.first_row == 3


def test_short_lines_under_a_name_that_says_nothing_are_text() -> None:
    parsed = parse(b"Rome\nOslo\nBern\nAthens\n", name="cities")
    assert (parsed.media_type, parsed.sections[0].location.last_line) == ("text/plain", 4)
