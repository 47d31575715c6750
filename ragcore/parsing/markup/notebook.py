"""Jupyter notebooks: text cells as Markdown under their headings, code cells and their printed results."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ragcore.errors import ParseError
from ragcore.parsing.encoding import decode
from ragcore.parsing.lines import split_lines
from ragcore.parsing.markup.markdown import markdown_marks, readable_lines
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.outline import SectionWriter
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument, SectionKind

_OUTPUT_CHARACTERS = 4_000
"""Longer printed results are logs and dumps; only their beginning is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    kind: str
    source: str
    outputs: tuple[str, ...] = ()


def parse_notebook(job: Job) -> ParsedDocument:
    """Parse a notebook of format 3 or 4.

    Raises:
        ParseError: It is not valid JSON, or no notebook.
    """
    try:
        notebook = json.loads(decode(job.content).text)
    except (ValueError, RecursionError):
        raise ParseError("its JSON is damaged", mend="save the notebook again") from None
    if not isinstance(notebook, dict):
        raise ParseError("it is not a notebook", mend="save the notebook again")
    metadata = _record(notebook.get("metadata"))
    kernel = _record(metadata.get("language_info")) or _record(metadata.get("kernelspec"))
    language = one_line(str(kernel.get("name") or kernel.get("language") or ""))
    writer = SectionWriter()
    first = ""
    for cell in _cells(notebook):
        if cell.kind == "code":
            writer.code(cell.source, language)
            for output in cell.outputs:
                writer.code(output)
        elif cell.kind == "markdown":
            heading = _write_markdown(cell.source, writer)
            first = first or heading
        else:
            writer.text(cell.source)
    title = one_line(str(metadata.get("title") or "")) or first
    return ParsedDocument(title=title, media_type=Media.NOTEBOOK, sections=writer.sections(title))


def _write_markdown(source: str, writer: SectionWriter) -> str:
    """Write a text cell and return its first outermost heading."""
    lines = split_lines(source)
    marks = markdown_marks(lines)
    lines = readable_lines(lines, marks)
    first, at = "", 0
    for mark in marks:
        writer.text("\n".join(lines[at : mark.start]).strip("\n"))
        at = mark.end
        if mark.heading is not None:
            writer.heading(replace(mark.heading, anchor=mark.heading.text.replace(" ", "-")))
            first = first or (mark.heading.text if mark.heading.level == 1 else "")
        elif mark.kind is SectionKind.TABLE:
            writer.markdown_table(lines[mark.start : mark.end])
        else:
            writer.text("\n".join(lines[mark.start : mark.end]))
    writer.text("\n".join(lines[at:]).strip("\n"))
    return first


def _record(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _cells(notebook: dict[str, object]) -> Iterator[_Cell]:
    sheets = notebook.get("worksheets")
    sources = [_record(sheet).get("cells") for sheet in sheets] if isinstance(sheets, list) else [notebook.get("cells")]
    for cells in sources:
        for value in cells if isinstance(cells, list) else []:
            cell = _record(value)
            outputs = cell.get("outputs")
            yield _Cell(
                kind=str(cell.get("cell_type", "")),
                source=_joined(cell.get("source", cell.get("input"))),
                outputs=tuple(filter(None, map(_output, outputs if isinstance(outputs, list) else []))),
            )


def _joined(value: object) -> str:
    """Return a multi-line string, which notebooks store as one string or as a list of lines."""
    return "".join(str(line) for line in value) if isinstance(value, list) else value if isinstance(value, str) else ""


def _output(value: object) -> str:
    """Return what an output prints as plain text; pictures and errors' colours are left out."""
    output = _record(value)
    text = _joined(output.get("text")) or _joined(_record(output.get("data")).get("text/plain"))
    return text[:_OUTPUT_CHARACTERS].strip("\n")
