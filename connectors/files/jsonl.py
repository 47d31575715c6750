"""Files of one JSON document a line: ``id``, ``title``, ``text``, ``url``, ``updated_at``, ``author``.

Blocking; run it in a thread. The file is streamed, so its size doesn't matter.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from connectors.rows import clean, moment

ENDINGS = (".jsonl", ".ndjson")

_ID_KEYS = ("id", "_id", "doc_id")  # ours, BEIR's, and a common third
_TOLD = 100  # broken lines told one by one; more are one remark
_MAX_LINE = 50_000_000  # bytes
_SNIFFED = 20  # lines looked at to tell whether a file holds documents at all


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDocument:
    """The document on one line. ``hash`` changes with anything on the line."""

    id: str
    line: int
    text: str
    title: str
    url: str
    author: str
    updated_at: datetime | None
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLine:
    """A line that holds no document: why, and what to do."""

    line: int
    reason: str
    mend: str


def holds_documents(path: Path) -> bool:
    """Tell by its first lines whether a file has a document on each; else it is one document itself."""
    with path.open("rb") as file:
        for line, _ in zip(_lines(file), range(_SNIFFED), strict=False):
            value = _parsed(line or b"")
            if isinstance(value, dict):
                return isinstance(value.get("text"), str) and _id_of(value) is not None
    return False


def documents_from_jsonl(path: Path) -> Iterator[LineDocument | BrokenLine]:
    """Yield the document on each line that isn't empty, or what is wrong with it; OSError as it comes."""
    first_lines: dict[str, int] = {}
    broken = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), start=1):
            if line is not None and not line.strip():
                continue
            found = _document(number, line)
            if isinstance(found, LineDocument) and first_lines.setdefault(found.id, number) != number:
                found = BrokenLine(
                    line=number,
                    reason=f'line {number} repeats the id "{found.id}" of line {first_lines[found.id]}',
                    mend="give each line an id of its own",
                )
            broken += isinstance(found, BrokenLine)
            if isinstance(found, LineDocument) or broken <= _TOLD:
                yield found
    if broken > _TOLD:
        yield BrokenLine(line=0, reason=f"{broken - _TOLD} more lines hold no document", mend="mend the file")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line, None for one that is too long to be held."""
    start = file.read(3)
    if start != b"\xef\xbb\xbf":
        file.seek(0)
    while line := file.readline(_MAX_LINE):
        if len(line) < _MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := file.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _document(number: int, line: bytes | None) -> LineDocument | BrokenLine:
    if line is None:
        return BrokenLine(line=number, reason=f"line {number} is longer than 50 MB", mend="split it")
    value = _parsed(line)
    if isinstance(value, str):
        return BrokenLine(line=number, reason=f"line {number} is not valid JSON: {value}", mend="mend the line")
    identity = _id_of(value)
    if identity is None:
        return BrokenLine(line=number, reason=f"line {number} has no id", mend='give it an "id"')
    text = value.get("text")
    if not isinstance(text, str):
        return BrokenLine(line=number, reason=f"line {number} has no text", mend='give it a "text"')
    return LineDocument(
        id=identity,
        line=number,
        text=clean(text),
        title=_text(value, "title"),
        url=_text(value, "url"),
        author=_text(value, "author"),
        updated_at=moment(value.get("updated_at"), UTC),
        hash=hashlib.sha256(line.strip()).hexdigest()[:24],
    )


def _parsed(line: bytes) -> "dict[str, object] | str":
    """Return the object on a line, or what is wrong with it."""
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except json.JSONDecodeError as error:
        return f"{error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError):
        return "a number or a nesting is too large"
    return value if isinstance(value, dict) else "it is no object"


def _id_of(value: Mapping[str, object]) -> str | None:
    for key in _ID_KEYS:
        found = value.get(key)
        if isinstance(found, str | int) and not isinstance(found, bool):
            identity = clean(str(found)).strip()
            if identity:
                return identity
    return None


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    return clean(found) if isinstance(found, str) else ""
