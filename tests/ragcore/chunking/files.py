"""Small real files for the methods that read tables: the same rows as xlsx, csv, tsv, Markdown and docx."""

import csv
import io
from collections.abc import Sequence

from ragcore.parsing import parse
from ragcore.types import Section

Rows = Sequence[Sequence[str]]

KINDS = ("xlsx", "csv", "tsv", "md", "docx")


def table_file(kind: str, rows: Rows) -> bytes:
    """Write rows as a file of a kind; the first of them as the header where the kind has one."""
    match kind:
        case "xlsx":
            return workbook(rows)
        case "docx":
            return word(rows)
        case "md":
            lines = ["| " + " | ".join(row) + " |" for row in rows]
            return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]).encode()
    out = io.StringIO()
    csv.writer(out, delimiter="\t" if kind == "tsv" else ",").writerows(rows)
    return out.getvalue().encode()


def workbook(rows: Rows) -> bytes:
    """Write rows as the first sheet of a workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def word(rows: Rows = (), paragraphs: Sequence[tuple[str, str]] = ()) -> bytes:
    """Write paragraphs, each with its style, and a table as a Word document."""
    import docx

    document = docx.Document()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    if rows:
        table = document.add_table(rows=0, cols=len(rows[0]))
        for row in rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def sections_of(kind: str, content: bytes) -> tuple[Section, ...]:
    """Read a file as a synchronisation does."""
    return parse(content, name=f"file.{kind}").sections
