"""A filter as a person writes it: ``year >= 2024 and status = active``. Pure.

Conditions are joined by ``and``, or by ``or``; never by both, so that no brackets are needed. A field or a value with
spaces or signs of the grammar in it stands in quotes, where a backslash goes before a quote. A list is written
``in (a, b)``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragcore.errors import ConfigError
from ragcore.filters import WITH_VALUES, WITHOUT_VALUE, Condition, Filter, Operator

_TOKEN = re.compile(
    r"""\s*(?:
        "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<sign>>=|<=|!=|<>|==|[=<>≥≤≠(),])
      | (?P<word>[^\s"'(),=<>!≥≤≠][^\s"(),=<>!≥≤≠]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_BARE = re.compile(r"""[^\s"'(),=<>!≥≤≠\\][^\s"(),=<>!≥≤≠\\]*""")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

_WRITTEN: dict[tuple[str, ...], Operator] = {
    **{tuple(operator.split()): operator for operator in Operator},
    ("==",): Operator.EQUAL,
    ("is",): Operator.EQUAL,
    ("<>",): Operator.NOT_EQUAL,
    ("≠",): Operator.NOT_EQUAL,
    ("is", "not"): Operator.NOT_EQUAL,
    ("≥",): Operator.AT_LEAST,
    ("≤",): Operator.AT_MOST,
    ("does", "not", "contain"): Operator.NOT_CONTAINS,
    ("starts", "with"): Operator.STARTS,
    ("ends", "with"): Operator.ENDS,
    ("is", "empty"): Operator.EMPTY,
    ("is", "not", "empty"): Operator.NOT_EMPTY,
    ("is", "in"): Operator.IN,
    ("is", "not", "in"): Operator.NOT_IN,
}
_LONGEST = max(map(len, _WRITTEN))
_WORDS = frozenset(word for written in _WRITTEN for word in written) | {"and", "or"}


@dataclass(frozen=True, slots=True)
class _Token:
    """A word or sign, and where it begins; ``is_quoted`` words are never part of the grammar."""

    text: str
    at: int
    is_quoted: bool = False
    is_sign: bool = False

    @property
    def word(self) -> str:
        """Return what the grammar may know it as."""
        return "" if self.is_quoted else self.text.casefold()

    @property
    def is_value(self) -> bool:
        """Whether it may be a field or a value."""
        return self.is_quoted or not self.is_sign


def parse_filter(text: str) -> Filter:
    """Return the filter that a text says.

    Raises:
        ConfigError: It says none; the text tells where, and what is expected there.
    """
    reader = _Reader(text)
    conditions = [reader.condition()]
    joins: set[str] = set()
    while (join := reader.join()) is not None:
        joins.add(join)
        conditions.append(reader.condition())
    if len(joins) > 1:
        raise ConfigError(f"the filter {text!r} joins by `and` and by `or`; use one of them throughout")
    return Filter(tuple(conditions), "any" if joins == {"or"} else "all")


def operator_named(text: str) -> Operator | None:
    """Return the operator that a text names, however it is written (``≥``, ``starts with``), None if it is none."""
    return _WRITTEN.get(tuple(text.casefold().split()))


def print_filter(filtered: Filter) -> str:
    """Return a filter as ``parse_filter`` reads it."""
    return f" {'and' if filtered.join == 'all' else 'or'} ".join(map(_print, filtered.conditions))


class _Reader:
    """Reads the tokens of a filter one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0

    def condition(self) -> Condition:
        """Read a condition."""
        field = self._value("a field")
        operator = self._operator(field)
        if operator in WITHOUT_VALUE:
            return Condition(field, operator)
        if operator in WITH_VALUES:
            return Condition(field, operator, self._list())
        return Condition(field, operator, self._value("a value"))

    def join(self) -> Literal["and", "or"] | None:
        """Read what comes between two conditions; None at the end."""
        if self._at == len(self._tokens):
            return None
        word = self._tokens[self._at].word
        if word not in ("and", "or"):
            raise self._wrong("`and` or `or`; a value of several words stands in quotes")
        self._at += 1
        return "and" if word == "and" else "or"

    def _value(self, what: str) -> str:
        token = self._next()
        if token is None or not token.is_value or token.word in ("and", "or"):
            raise self._wrong(what)
        self._at += 1
        return token.text

    def _operator(self, field: str) -> Operator:
        words = [token.word for token in self._tokens[self._at : self._at + _LONGEST]]
        for count in range(len(words), 0, -1):
            operator = _WRITTEN.get(tuple(words[:count]))
            if operator is not None:
                self._at += count
                return operator
        raise self._wrong(f"an operator after {field!r} (one of: {', '.join(Operator)})")

    def _list(self) -> tuple[str, ...]:
        token = self._next()
        if token is None or token.text != "(" or token.is_quoted:
            raise self._wrong("a list, such as (a, b)")
        self._at += 1
        values = [self._value("a value")]
        while (token := self._next()) is not None and token.word == ",":
            self._at += 1
            values.append(self._value("a value"))
        if token is None or token.word != ")":
            raise self._wrong("`,` or `)`")
        self._at += 1
        return tuple(values)

    def _next(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _wrong(self, expected: str) -> ConfigError:
        token = self._next()
        where = "at its end" if token is None else f"at {self._text[token.at : token.at + 20]!r}"
        return ConfigError(f"the filter {self._text!r} cannot be read {where}: expected {expected}")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigError(f"the filter {text!r} cannot be read at {text[at:].strip()[:20]!r}: is a quote missing?")
        kind = match.lastgroup or ""
        said = match[kind]
        quoted = kind in ("double", "single")
        said = _ESCAPED.sub(r"\1", said) if quoted else said
        found.append(_Token(said, match.start(kind), is_quoted=quoted, is_sign=kind == "sign"))
        at = match.end()
    return found


def _print(condition: Condition) -> str:
    parts = [_quoted(condition.field), str(condition.operator)]
    if isinstance(condition.value, tuple):
        parts.append(f"({', '.join(map(_quoted, condition.value))})")
    elif condition.value:
        parts.append(_quoted(condition.value))
    return " ".join(parts)


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def join_printed(filters: Sequence[Filter]) -> str:
    """Return several filters that are all to be met, for a reader."""
    return "; ".join(map(print_filter, filters))
