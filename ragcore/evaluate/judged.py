"""Judged retrieval data on disk: a corpus, queries and judgements, in BEIR's layout or the plainer one of shared/bench.

corpus.jsonl     {"_id" or "doc_id", "title", "text", "url"?}
queries.jsonl    {"_id" or "qid", "text" or "query", "history"?: [{"role", "content"}]}
qrels/test.tsv   with a header line, or qrels.tsv without: query id, document id, grade, tab-separated
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ragcore.errors import ConfigError
from ragcore.types import Message, Role

_ROLES = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDocument:
    """One document of the corpus."""

    id: str
    title: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """One query, with the turns before it, and the grade of each judged document (> 0: relevant)."""

    id: str
    text: str
    grades: Mapping[str, int]
    history: tuple[Message, ...] = ()


def read_corpus(folder: Path) -> Iterator[JudgedDocument]:
    """Yield the documents.

    Raises:
        ConfigError: The file is missing or not what it should be.
    """
    for row in _rows(folder / "corpus.jsonl"):
        yield JudgedDocument(
            id=_text(row, "_id", "doc_id"),
            title=str(row.get("title") or ""),
            text=str(row.get("text") or ""),
            url=str(row.get("url") or ""),
        )


def read_queries(folder: Path) -> list[JudgedQuery]:
    """Return the queries for which something relevant is judged; the others cannot be measured.

    Raises:
        ConfigError: A file is missing or not what it should be.
    """
    grades = _read_grades(folder)
    found: list[JudgedQuery] = []
    for row in _rows(folder / "queries.jsonl"):
        query_id = _text(row, "_id", "qid")
        mine = grades.get(query_id, {})
        if any(grade > 0 for grade in mine.values()):
            text = _text(row, "text", "query")
            found.append(JudgedQuery(id=query_id, text=text, grades=mine, history=_history(row.get("history"))))
    return found


def _read_grades(folder: Path) -> dict[str, dict[str, int]]:
    """Read whichever file of judgements there is; a line whose grade is no number is the header."""
    path = next((folder / name for name in ("qrels/test.tsv", "qrels.tsv") if (folder / name).is_file()), None)
    if path is None:
        told = f"{folder} has neither qrels/test.tsv nor qrels.tsv"
        raise ConfigError(f"{told}; beside them stand corpus.jsonl and queries.jsonl, as in BEIR")
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), start=1):
        parts = line.split("\t")
        try:
            query_id, document_id, grade = parts[0], parts[-2], int(parts[-1])
        except (ValueError, IndexError):
            if number == 1:
                continue
            raise ConfigError(f"{path}, line {number}: not a query id, a document id and a grade") from None
        grades.setdefault(query_id, {})[document_id] = grade
    return grades


def _history(turns: object) -> tuple[Message, ...]:
    """Read earlier turns, passing over what is no turn."""
    if not isinstance(turns, list):
        return ()
    return tuple(
        Message(role=turn["role"], text=str(turn.get("content", "")))
        for turn in turns
        if isinstance(turn, dict) and turn.get("role") in _ROLES
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    for number, line in enumerate(_lines(path), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: not JSON") from error
        if not isinstance(row, dict):
            raise ConfigError(f"{path}, line {number}: not a JSON object")
        yield row


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines that are not empty."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from (line.rstrip("\r\n") for line in file if line.strip())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read: it is not UTF-8") from error


def _text(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of the fields that is there."""
    for name in names:
        if name in row:
            return str(row[name])
    raise ConfigError(f"a line has none of the fields {', '.join(names)}")
