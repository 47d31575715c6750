"""Takes what was sent to an endpoint out of the error that it answers with."""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

TELLING = 8
"""Bytes of a line from which on it may tell what somebody asked; shorter ones are words that an error needs."""
SEARCHED = 4_000
"""Characters of an error that are read: a few hundred are shown, and a whole prompt may be repeated in it."""
PIECE = 80
"""Most characters that are looked for at once: of a long line an endpoint may repeat the beginning alone."""
HIDDEN = "[…]"

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([\s\S]))")
_DEPTH = 6
"""How often escapes may stand within escapes: JSON in a message in JSON in what Python shows of it are three."""


def without_words(text: str, words: Iterable[str]) -> str:
    """Return an error's text, or its beginning, without any line of the words that were sent.

    However often they were written within quotes, as JSON and Python do it. Where there is nothing of them, the text
    stays as it is.
    """
    found = plain = _plain(text[:SEARCHED])
    lines = {_plain(line) for told in words for line in told.splitlines()}
    telling = [line for line in lines if len(line.encode(errors="replace")) >= TELLING]
    # Whole lines first, and the longest first: they may hold the others.
    for sought in (telling, {piece for line in telling for piece in _pieces(line)}):
        for piece in sorted(sought, key=len, reverse=True):
            found = found.replace(piece, HIDDEN)
    if found == plain:
        return text
    found = re.sub(rf"{re.escape(HIDDEN)}(?:\s*{re.escape(HIDDEN)})+", HIDDEN, found)
    # What was cut off may have taken half of a piece along.
    return found if len(text) <= SEARCHED else found[: found.rindex(HIDDEN) + len(HIDDEN)]


def _pieces(line: str) -> Iterator[str]:
    """Cut a long line into pieces that differ by a character at most: a short one would hide what it needs to tell."""
    if len(line) > PIECE:
        count = math.ceil(len(line) / PIECE)
        ends = [number * len(line) // count for number in range(count + 1)]
        yield from (line[start:end] for start, end in pairwise(ends))


def _plain(text: str) -> str:
    """Return what a text says without its escapes, on one line: the same for words and for what quotes them."""
    if "\\" in text:
        for _ in range(_DEPTH):
            text = _ESCAPE.sub(_character, text)
        text = text.replace("\\", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(text.split())


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""
    return {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "b": "\b"}.get(escape[4], escape[4])
