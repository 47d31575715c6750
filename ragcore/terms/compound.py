"""Tokens that are more than one plain word: numbers, hyphenated words, identifiers, paths, addresses, versions."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ragcore.terms.model import Kind
from ragcore.terms.normal import fold, stem
from ragcore.terms.scripts import MARKS, UNSPACED

# A term relative to the start of its token: text, start, end, kind.
Relative = tuple[str, int, int, Kind]

WORD = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}])"
_PIECE = re.compile(rf"{WORD}+(?:['’]{WORD}+)*")
# Where a written-together name changes case: getUserById, HTTPServer.
_HUMP = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"\d{1,3}(?:[,’'\u202f]\d{3})+(?:\.\d+)?")
_MEASURE = re.compile(r"(\d+)([^\W\d_]{2,})")
_VERSION = re.compile(r"v\d+(?:\.\d+)+", re.IGNORECASE)
# These part what may itself be an identifier: the file name in a path, the host in a URL.
_SEGMENT = re.compile(r"(?:[^/\\:@#,+~>]|(?<!-)>)+")
_HYPHENS = frozenset("-‐‑")
_LOOSE = frozenset({"/", "\\", ":"})
"""One of these alone only sets words side by side, unless there is a digit among them."""
_LISTS = frozenset(",+~#")
_LONGEST = 200
"""Longer terms are cut: nobody types them, and Tantivy refuses terms of 64 KiB."""


def compound(written: str) -> Iterator[Relative]:
    """Yield the terms of a token: the whole where it means something, then its parts."""
    if _NUMBER.fullmatch(written):
        yield re.sub(r"[^\d.]", "", fold(written)), 0, len(written), Kind.WORD
        return
    pieces = list(_PIECE.finditer(written))
    if len(pieces) == 1 and pieces[0].group() == written:
        yield from _single(written)
        return
    whole = _whole(written, pieces)
    if whole:
        yield whole[0][:_LONGEST], 0, len(written), whole[1]
        if _VERSION.fullmatch(written):
            yield fold(written[1:]), 1, len(written), Kind.IDENTIFIER
    segments = list(_SEGMENT.finditer(written))
    if len(segments) > 1:
        for segment in segments:
            yield from _shift(compound(segment.group()), segment.start())
        return
    yield from _parts(pieces, drop_short=whole is not None)


def _single(written: str) -> Iterator[Relative]:
    """Yield a word without joints: apostrophes inside, digits among letters, or several humps."""
    end = len(written)
    folded = fold(written).replace("’", "'")
    if "'" in folded:
        yield from _apostrophe(written, folded)
        return
    humps = [0, *(hump.start() for hump in _HUMP.finditer(written)), end]
    mixed = any(c.isdigit() for c in folded) and any(c.isalpha() for c in folded)
    yield stem(folded)[:_LONGEST], 0, end, Kind.IDENTIFIER if mixed or len(humps) > 3 else Kind.WORD
    if measure := _MEASURE.fullmatch(written):
        for group in (1, 2):
            yield stem(fold(measure[group])), measure.start(group), measure.end(group), Kind.PART
    elif len(humps) > 2:
        for start, stop in pairwise(humps):
            if stop - start > 1:
                yield stem(fold(written[start:stop])), start, stop, Kind.PART


def _apostrophe(written: str, folded: str) -> Iterator[Relative]:
    """Yield a word with an apostrophe: a possessive, a contraction (``dont``) or an elision (``l'eau``)."""
    end = len(written)
    if folded.endswith("'s"):
        yield stem(folded[:-2].replace("'", ""))[:_LONGEST], 0, end, Kind.WORD
        return
    yield stem(folded.replace("'", ""))[:_LONGEST], 0, end, Kind.WORD
    start = max(written.find("'"), written.find("’")) + 1
    if 2 <= start <= 3 and end - start > 2:
        yield stem(fold(written[start:])), start, end, Kind.PART


def _whole(written: str, pieces: list[re.Match[str]]) -> tuple[str, Kind] | None:
    """Return the token as one term, or None where only its parts mean something (``and/or``, ``10-20``)."""
    texts = [piece.group() for piece in pieces]
    joints = _PIECE.sub("", written)
    folded = fold(written)
    digits = [text.isdigit() for text in texts]
    if all(digits):
        dotted = joints == "."
        return (folded, Kind.WORD if dotted else Kind.IDENTIFIER) if dotted or len(joints) > 1 else None
    if joints.strip(".") == "" and len(texts) > 1 and all(len(text) == 1 for text in texts):
        return "".join(fold(text) for text in texts), Kind.WORD
    mixed = any(c.isdigit() for c in folded)
    if set(joints) <= _HYPHENS:
        joined = "".join(fold(text) for text in texts)
        return stem(joined), Kind.IDENTIFIER if mixed else Kind.WORD
    loose = joints in _LOOSE or (set(joints) <= _LISTS and not written.endswith(("++", "#")))
    if loose and not (mixed and joints in _LOOSE):
        return None
    return folded.removesuffix("()").lstrip("."), Kind.IDENTIFIER


def _parts(pieces: list[re.Match[str]], *, drop_short: bool) -> Iterator[Relative]:
    """Yield the pieces as words; beside a whole, single letters and digits of up to two places say nothing."""
    numeric = all(piece.group().isdigit() for piece in pieces)
    for piece in pieces:
        text = piece.group()
        if drop_short and (len(text) == 1 or (numeric and len(text) == 2)):
            continue
        for found, start, end, kind in _single(text):
            yield found, piece.start() + start, piece.start() + end, kind if kind is Kind.IDENTIFIER else Kind.PART


def _shift(found: Iterator[Relative], offset: int) -> Iterator[Relative]:
    """Move terms of a segment to its place; plain words become parts."""
    for text, start, end, kind in found:
        yield text, offset + start, offset + end, kind if kind is Kind.IDENTIFIER else Kind.PART
