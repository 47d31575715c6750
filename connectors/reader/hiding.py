"""Takes secrets out of what a package says: whole, written in another manner, or cut short. Pure."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from urllib.parse import quote, quote_plus

_PIECE = 6
"""Characters of a secret in a row that count as a piece of it: packages shorten what they show of what they got."""


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text with ``***`` in the place of each secret, and of each piece of one."""
    pieces = {piece for secret in secrets for form in _forms(secret) for piece in _pieces(form)}
    hidden = [False] * len(text)
    for length in {len(piece) for piece in pieces}:
        for start in range(len(text) - length + 1):
            if text[start : start + length] in pieces:
                hidden[start : start + length] = [True] * length
    runs = groupby(zip(text, hidden, strict=True), key=lambda told: told[1])
    return "".join("***" if is_hidden else "".join(char for char, _ in run) for is_hidden, run in runs)


def _forms(secret: str) -> set[str]:
    """Return a secret as it stands in texts, in code and in addresses."""
    forms = {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="", errors="replace")}
    forms |= {" ".join(secret.split()), quote_plus(secret, errors="replace")}
    return forms - {""}


def _pieces(form: str) -> Iterator[str]:
    length = min(_PIECE, len(form))
    for start in range(len(form) - length + 1):
        yield form[start : start + length]
