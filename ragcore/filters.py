"""Filters over what is known of documents: conditions on named values, and what meets them. Pure.

A value is text; what it looks like decides how it compares. ``2024``, ``-1.5`` and ``12,000`` are numbers,
``2026-11-23`` is a day (a time after it is left out), all else is text, compared without regard to case, width and
spacing. Names of fields are compared like text. An empty value is none at all.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from ragcore.errors import ConfigError

MOST = 400
"""Of a value so many characters count: an index entry of PostgreSQL holds 2,700 bytes."""
MOST_NAME = 100
"""Most characters of a field's name that count."""
SHOWN = 8
"""Values of a field that a sample of it has at most."""
MOST_CONDITIONS = 32
"""Most conditions of one filter: each is a step into an index."""
MOST_VALUES = 200
"""Most values that ``in`` may list: all of them stand in one statement, and SQLite takes 999."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?")
_EXACT_DIGITS = 15  # a float tells numbers of so many digits apart
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[t ][0-9]{2}:[0-9]{2}.*)?")
_DAY_SHAPED = re.compile(r"[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2})?")


class Kind(StrEnum):
    """How a value compares."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


class Operator(StrEnum):
    """What a condition asks of a value."""

    EQUAL = "="
    NOT_EQUAL = "!="
    MORE = ">"
    LESS = "<"
    AT_LEAST = ">="
    AT_MOST = "<="
    CONTAINS = "contains"
    NOT_CONTAINS = "not contains"
    IN = "in"
    NOT_IN = "not in"
    STARTS = "start with"
    ENDS = "end with"
    EMPTY = "empty"
    NOT_EMPTY = "not empty"


WITHOUT_VALUE = frozenset({Operator.EMPTY, Operator.NOT_EMPTY})
WITH_VALUES = frozenset({Operator.IN, Operator.NOT_IN})
ORDERED = frozenset({Operator.MORE, Operator.LESS, Operator.AT_LEAST, Operator.AT_MOST})

_OPPOSITES = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.CONTAINS: Operator.NOT_CONTAINS,
    Operator.IN: Operator.NOT_IN,
    Operator.EMPTY: Operator.NOT_EMPTY,
    Operator.MORE: Operator.AT_MOST,
    Operator.LESS: Operator.AT_LEAST,
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it compares: its text, and for a number or a day (its ordinal) where it ranks."""

    text: str
    kind: Kind
    rank: float | None = None

    def equals(self, other: "Value") -> bool:
        """Return whether both say the same: ``1.0`` and ``1`` do."""
        return self.kind is other.kind and (self.text == other.text if self.rank is None else self.rank == other.rank)


def normal(text: str) -> str:
    """Return a text as filters compare it: case, width and spacing folded, and cut to ``MOST`` characters."""
    written = text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", written).casefold())
    return " ".join(folded.split())[:MOST].rstrip()


@lru_cache(maxsize=1024)
def field_name(text: str) -> str:
    """Return the name of a field as filters compare it."""
    return normal(text)[:MOST_NAME].rstrip()


@lru_cache(maxsize=4096)
def read(text: str) -> Value:
    """Return a value as it compares."""
    said = normal(text)
    if _NUMBER.fullmatch(said) and sum(map(str.isdigit, said)) <= _EXACT_DIGITS:
        return Value(said, Kind.NUMBER, float(said.replace(",", "")) + 0.0)
    if day := _DAY.fullmatch(said):
        try:
            return Value(said, Kind.DATE, float(date.fromisoformat(day[1]).toordinal()))
        except ValueError:
            pass
    return Value(said, Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a field: ``Condition("year", Operator.AT_LEAST, "2024")``.

    ``value`` is a tuple for ``in`` and ``not in``, and "" for ``empty`` and ``not empty``. All but ``empty`` ask for a
    field that has a value. What is ordered asks for one of the same kind: ``> 10`` is met by no day and no word.

    Raises:
        ConfigError: The field has no name, or the value is not one that the operator can compare.
    """

    field: str
    operator: Operator
    value: str | tuple[str, ...] = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if not self.name:
            raise ConfigError("a filter names a field with an empty name")
        if self.operator in WITHOUT_VALUE:
            if self.value:
                raise ConfigError(f"`{self.field} {self.operator}` takes no value")
        elif isinstance(self.value, tuple) is not (self.operator in WITH_VALUES):
            wanted = "a list, such as (a, b)" if self.operator in WITH_VALUES else "one value"
            raise ConfigError(f"`{self.field} {self.operator}` takes {wanted}")
        elif len(self.values) > MOST_VALUES:
            raise ConfigError(f"`{self.field} {self.operator}` lists more than {MOST_VALUES} values")
        elif not self.values or not all(one.text for one in self.values):
            raise ConfigError(f"`{self.field} {self.operator}` needs a value; for none there is `{self.field} empty`")
        elif self.operator in ORDERED and self.values[0].rank is None:
            shaped = _DAY_SHAPED.fullmatch(self.values[0].text)
            what = "is no day of the calendar; write YYYY-MM-DD" if shaped else "is neither a number nor a YYYY-MM-DD"
            raise ConfigError(f"`{self.field} {self.operator} {self.value}`: {what}")

    @property
    def name(self) -> str:
        """Return the field's name as it is compared."""
        return field_name(self.field)

    @property
    def values(self) -> tuple[Value, ...]:
        """Return what is compared with: several values for ``in`` and ``not in``, none for ``empty``."""
        if self.operator in WITHOUT_VALUE:
            return ()
        return tuple(map(read, (self.value,) if isinstance(self.value, str) else self.value))

    @property
    def opposite(self) -> "Condition | None":
        """Return what is met by all else that can be compared; None where no operator says so."""
        both = _OPPOSITES | {right: left for left, right in _OPPOSITES.items()}
        operator = both.get(self.operator)
        return Condition(self.field, operator, self.value) if operator else None

    def is_met_by(self, value: str) -> bool:
        """Return whether a value meets it; "" stands for none."""
        return _test(self)(read(value))


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions of which all must be met, or any.

    Raises:
        ConfigError: There is no condition, or there are more than ``MOST_CONDITIONS``.
    """

    conditions: tuple[Condition, ...]
    join: Literal["all", "any"] = "all"

    def __post_init__(self) -> None:
        """Refuse what says nothing or too much."""
        if not 0 < len(self.conditions) <= MOST_CONDITIONS:
            raise ConfigError(f"a filter has from 1 to {MOST_CONDITIONS} conditions, not {len(self.conditions)}")

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of the fields that it asks for, as they are compared."""
        return frozenset(condition.name for condition in self.conditions)

    def is_met_by(self, record: Mapping[str, str]) -> bool:
        """Return whether a record meets it; the record's fields are named as ``field_name`` writes them."""
        met = (condition.is_met_by(record.get(condition.name, "")) for condition in self.conditions)
        return all(met) if self.join == "all" else any(met)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowValues:
    """What some rows of a table hold: a text for each of the fields in each row, "" where there is none."""

    fields: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def records(self) -> Iterator[dict[str, str]]:
        """Yield each row as a record; of two columns of one name the first that is filled counts."""
        for row in self.rows:
            record: dict[str, str] = {}
            for field, text in zip(self.fields, row, strict=True):
                if text:
                    record.setdefault(field, text)
            yield record


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownField:
    """A field that documents have, with how its values compare and a few of them; ``is_whole``: those are all."""

    name: str
    kind: Kind
    sample: tuple[str, ...]
    is_whole: bool = False

    def beside(self, other: "KnownField", most: int) -> "KnownField":
        """Return what is known of a field that two knowledge bases have; at most so many values of it."""
        every = tuple(sorted({*self.sample, *other.sample}))
        whole = self.is_whole and other.is_whole and len(every) <= most
        kind = self.kind if self.kind is other.kind else Kind.TEXT
        return KnownField(name=self.name, kind=kind, sample=spread(every, most), is_whole=whole)


def spread(values: Sequence[str], most: int) -> tuple[str, ...]:
    """Return at most so many of the values, evenly drawn, the first and the last among them."""
    if len(values) <= most:
        return tuple(values)
    return tuple(values[place * (len(values) - 1) // (most - 1)] for place in range(most))


@lru_cache(maxsize=256)
def _test(condition: Condition) -> Callable[[Value], bool]:
    """Return what tells whether a value meets a condition."""
    asked = condition.values
    first = asked[0] if asked else Value("", Kind.TEXT)

    def ordered(compare: Callable[[float, float], bool]) -> Callable[[Value], bool]:
        limit = first.rank
        return lambda value: (
            value.rank is not None and limit is not None and value.kind is first.kind and compare(value.rank, limit)
        )

    def among(value: Value) -> bool:
        return any(map(value.equals, asked))

    tests: dict[Operator, Callable[[Value], bool]] = {
        Operator.EQUAL: among,
        Operator.IN: among,
        Operator.NOT_EQUAL: lambda value: bool(value.text) and not among(value),
        Operator.NOT_IN: lambda value: bool(value.text) and not among(value),
        Operator.CONTAINS: lambda value: first.text in value.text,
        Operator.NOT_CONTAINS: lambda value: bool(value.text) and first.text not in value.text,
        Operator.STARTS: lambda value: value.text.startswith(first.text),
        Operator.ENDS: lambda value: value.text.endswith(first.text),
        Operator.EMPTY: lambda value: not value.text,
        Operator.NOT_EMPTY: lambda value: bool(value.text),
        Operator.MORE: ordered(lambda value, limit: value > limit),
        Operator.LESS: ordered(lambda value, limit: value < limit),
        Operator.AT_LEAST: ordered(lambda value, limit: value >= limit),
        Operator.AT_MOST: ordered(lambda value, limit: value <= limit),
    }
    return tests[condition.operator]
