"""Plain text and source code: the lines as they are, with their numbers."""

import re
from collections.abc import Sequence

from ragcore.parsing.encoding import decode
from ragcore.parsing.lines import Mark, sections_of_lines, split_lines
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument, SectionKind

_TITLE_CHARACTERS = 120
_SENTENCE_END = re.compile(r"[.!?;:,。！？；：，]$")


def parse_text(job: Job) -> ParsedDocument:
    """Parse plain text: one section of all lines."""
    lines = split_lines(decode(job.content, declared=job.declared_encoding).text)
    title = _first_line_title(lines)
    return ParsedDocument(title=title, media_type=Media.TEXT, sections=sections_of_lines(lines, [], title))


def parse_code(job: Job) -> ParsedDocument:
    """Parse source code: one section of all lines."""
    lines = split_lines(decode(job.content, declared=job.declared_encoding).text)
    marks = [Mark(start=0, end=len(lines), kind=SectionKind.CODE)]
    return ParsedDocument(title="", media_type=Media.CODE, sections=sections_of_lines(lines, marks))


def _first_line_title(lines: Sequence[str]) -> str:
    """Return the first line when it stands alone and reads like a title, not like a sentence."""
    filled = [number for number, line in enumerate(lines[:50]) if line.strip()]
    if not filled:
        return ""
    first = filled[0]
    line = one_line(lines[first])
    alone = first + 1 >= len(lines) or not lines[first + 1].strip() or set(lines[first + 1].strip()) <= set("=-*~#")
    titled = alone and any(char.isalpha() for char in line) and len(line) <= _TITLE_CHARACTERS
    return line if titled and not _SENTENCE_END.search(line) and len(filled) > 1 else ""
