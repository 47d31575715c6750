"""The rows of tables, to be read as a sentence: what the row is of, then ``column: value`` for what was asked. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_YES = frozenset({"yes", "y", "true", "x", "✓", "✔", "ja", "oui", "sí", "si", "да", "是", "有", "可以"})
_NO = frozenset(
    {"no", "n", "false", "none", "-", "–", "✗", "✘", "nein", "non", "нет", "否", "无", "不", "没有", "不可以"}
)
_LONGEST_NAME = 60
"""Characters of a first cell that can still be the name of its row; a longer one is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: its cells that hold something, each with the name of its column (may be empty).

    ``name`` is the first cell where that names what the row is of, else empty; then it stands among the cells.
    ``wide`` says that the table is written in a script with full-width punctuation.
    """

    name: str
    name_column: str
    cells: tuple[tuple[str, str], ...]
    wide: bool

    def said(self, columns: Collection[int] | None = None, question: str = "") -> str:
        """Return the row as a sentence, with the cells of these indexes; all for None."""
        colon, semicolon, comma, stop = ("：", "；", "，", "。") if self.wide else (": ", "; ", " – ", ".")
        kept = [cell for index, cell in enumerate(self.cells) if columns is None or index in columns]
        pairs = semicolon.join(f"{column}{colon}{value}" if column else value for column, value in kept)
        name = self._called(question)
        text = name + comma + pairs if name and pairs else name + pairs
        return text if text.endswith(stop) else text + stop

    def so(self, *, denied: bool = False) -> str:
        """Return what is so of the row, as words: without cells that say no to their column; yes if ``denied``."""
        not_so = _YES if denied else _NO
        said = (f"{column} {value}" for column, value in self.cells if value.strip().casefold() not in not_so)
        return " ".join((self.name, *said))

    def _called(self, question: str) -> str:
        """Return the name as the question has it: ``Paternity`` in a column ``Leave`` is called ``Paternity leave``."""
        asked = question.casefold()
        if self.name_column and f"{self.name} {self.name_column}".casefold() in asked:
            return f"{self.name} {self.name_column[:1].lower()}{self.name_column[1:]}"
        return self.name


def rows(text: str) -> Iterator[Row]:
    """Yield the rows of a Markdown table; of anything else each line, as a row of one cell without a column."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not _RULE.match(lines[1]):
        for line in lines:
            yield Row(name="", name_column="", cells=(("", " ".join(line.split())),), wide=False)
        return
    columns = _cells(lines[0])
    for line in lines[2:]:
        row = _row(columns, _cells(line))
        if row.name or row.cells:
            yield row


def row_of(line: str, text: str) -> Row | None:
    """Return the row that a line is of a Markdown table in ``text``; None for a line that is no row.

    White space need not be the same. Of a row that does not stand there the columns have no names.
    """
    if not line.lstrip().startswith("|"):
        return None
    wanted, columns, before = line.split(), list[str](), ""
    for other in text.splitlines():
        if not other.lstrip().startswith("|"):
            columns = []
        elif _RULE.match(other):
            columns = _cells(before)
        elif other.split() == wanted:
            break
        before = other
    else:
        columns = []
    return _row(columns, _cells(line))


def _row(columns: Sequence[str], values: Sequence[str]) -> Row:
    # The columns' language is the table's: a name or an address in another one stands in it as a guest.
    wide = bool(_DENSE.search("".join(columns) or "".join(values)))
    padded = [*columns, *[""] * (len(values) - len(columns))]
    pairs = [(column, value) for column, value in zip(padded, values, strict=False) if value]
    named = len(pairs) > 1 and bool(values[0]) and len(values[0]) <= _LONGEST_NAME and not _is_number(values[0])
    if not named:
        return Row(name="", name_column="", cells=tuple(pairs), wide=wide)
    return Row(name=values[0], name_column=columns[0] if columns else "", cells=tuple(pairs[1:]), wide=wide)


def _is_number(value: str) -> bool:
    """Whether a cell says nothing without its column: a count, a year, a date, a price."""
    return not any(character.isalpha() for character in value)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    parts = [part.strip() for part in _CELL_BORDER.split(inner)]
    if parts and not parts[-1]:
        parts.pop()
    return [part.replace("\\|", "|").replace("<br>", " ") for part in parts]
