"""JSON: a list of flat records as a table, anything else as its own lines."""

import json
from collections.abc import Sequence
from dataclasses import replace

from ragcore.errors import ParseError
from ragcore.parsing.encoding import decode
from ragcore.parsing.lines import Mark, sections_of_lines, split_lines
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.tables import markdown_table
from ragcore.parsing.titles import one_line
from ragcore.types import Location, ParsedDocument, Section, SectionKind

_LONG_LINE = 2_000
"""Characters of a line from which JSON was written for machines and is laid out anew."""
_MAX_COLUMNS = 40
_LONG_CELL = 400
_TEXT_KEYS = ("text", "content", "body", "description", "answer")
_TITLE_KEYS = ("title", "name", "question", "subject")


def parse_json(job: Job) -> ParsedDocument:
    """Parse JSON.

    Raises:
        ParseError: It is not valid, or nested too deep.
    """
    text = decode(job.content, declared=job.declared_encoding).text
    value = _load(text)
    title = _title_of(value)
    records = value if isinstance(value, list) else _only_list(value)
    sections = _table(records, 1) if records else ()
    return ParsedDocument(title=title, media_type=Media.JSON, sections=sections or _laid_out(text, value))


def parse_jsonl(job: Job) -> ParsedDocument:
    """Parse JSON lines: records with a text each as a section under its title, flat ones as a table.

    Raises:
        ParseError: No line is valid JSON.
    """
    lines = split_lines(decode(job.content, declared=job.declared_encoding).text)
    records: list[tuple[int, object]] = []
    broken: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            broken.append(number)
    if not records:
        raise ParseError("no line of it is valid JSON", mend="write one JSON object a line")
    texts = [section for number, record in records if (section := _text_section(number, record)) is not None]
    contiguous = records[-1][0] - records[0][0] + 1 == len(records)
    sections: Sequence[Section] = texts if len(texts) == len(records) else ()
    if not sections and contiguous:
        sections = _table([record for _, record in records], records[0][0], in_lines=True)
    if not sections:
        sections = [_lines_section(number, record) for number, record in records]
    warnings = (f"lines that are not valid JSON were left out: {', '.join(map(str, broken[:10]))}",) if broken else ()
    return ParsedDocument(title="", media_type=Media.JSONL, sections=tuple(sections), warnings=warnings)


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise ParseError("its JSON is nested too deep", mend="export it with fewer levels") from None
    except ValueError as error:
        raise ParseError(f"its JSON is damaged ({one_line(str(error))[:80]})", mend="export it again") from None


def _title_of(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    return next((one_line(found) for key in _TITLE_KEYS if isinstance(found := value.get(key), str)), "")


def _only_list(value: object) -> list[object]:
    """Return the records of an object that is nothing but a wrapper around one list."""
    lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
    return lists[0] if isinstance(value, dict) and len(value) == 1 and lists else []


def _table(records: Sequence[object], first: int, *, in_lines: bool = False) -> tuple[Section, ...]:
    """Return flat records with common keys as one table; nothing when they are anything else."""
    flat = [record for record in records if isinstance(record, dict) and all(map(_is_scalar, record.values()))]
    columns = list(dict.fromkeys(key for record in flat for key in record))
    if len(flat) != len(records) or len(flat) < 2 or not 1 < len(columns) <= _MAX_COLUMNS:
        return ()
    if sum(len(record) for record in flat) < 0.5 * len(columns) * len(flat):
        return ()
    rows = [[_shown(record.get(column)) for column in columns] for record in flat]
    if any(len(cell) > _LONG_CELL for row in rows for cell in row):
        return ()
    header, text = markdown_table(columns, rows)
    last = first + len(rows) - 1
    place = Location(first_line=first, last_line=last) if in_lines else Location(first_row=first, last_row=last)
    return (Section(text=text, kind=SectionKind.TABLE, header=header, location=place),)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _shown(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _laid_out(text: str, value: object) -> tuple[Section, ...]:
    """Return the file's own lines; those of a machine-written file are laid out anew, without line numbers."""
    lines = split_lines(text)
    if max(map(len, lines)) <= _LONG_LINE:
        return sections_of_lines(lines, [Mark(start=0, end=len(lines), kind=SectionKind.CODE)])
    try:
        pretty = json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        raise ParseError("its JSON is nested too deep", mend="export it with fewer levels") from None
    sections = sections_of_lines(pretty.split("\n"), [Mark(start=0, end=pretty.count("\n") + 1, kind=SectionKind.CODE)])
    return tuple(replace(section, location=Location()) for section in sections)


def _text_section(number: int, record: object) -> Section | None:
    if not isinstance(record, dict):
        return None
    text = next((found for key in _TEXT_KEYS if isinstance(found := record.get(key), str) and found.strip()), "")
    title = _title_of(record)
    path = (title,) if title else ()
    place = Location(first_line=number, last_line=number)
    return Section(text=text, heading_path=path, location=place) if text else None


def _lines_section(number: int, record: object) -> Section:
    place = Location(first_line=number, last_line=number)
    return Section(text=json.dumps(record, ensure_ascii=False), kind=SectionKind.CODE, location=place)
