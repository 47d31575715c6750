"""Takes what was sent to an endpoint out of the error that it answers with."""

import re
from collections import defaultdict
from collections.abc import Iterable

TELLING = 8
"""Bytes of a line from which on it may tell what somebody asked; shorter ones are words that an error needs."""
SEARCHED = 4_000
"""Characters of an error that are read: a few hundred are shown, and a whole prompt may be repeated in it."""
RUN = 24
"""Bytes from which on a part of a line may tell it: an endpoint may quote its beginning, or any words out of it."""
HIDDEN = "[…]"

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([\s\S]))")
_DEPTH = 6
"""How often escapes may stand within escapes: JSON in a message in JSON in what Python shows of it are three."""


def without_words(text: str, words: Iterable[str]) -> str:
    """Return an error's text, or its beginning, without any line of the words that were sent, or a longer part of one.

    However often they were written within quotes, as JSON and Python do it. Where there is nothing of them, the text
    stays as it is.
    """
    found = plain = _plain(text[:SEARCHED])
    lines = {_plain(line) for told in words for line in told.splitlines()}
    # Whole lines first, and the longest first: they may hold the others.
    for line in sorted(lines, key=len, reverse=True):
        if len(line.encode(errors="replace")) >= TELLING:
            found = found.replace(line, HIDDEN)
    found = _without_runs(_bytes(found), _bytes("\n".join(lines)))
    if found == plain:
        return text
    found = re.sub(rf"{re.escape(HIDDEN)}(?:\s*{re.escape(HIDDEN)})+", HIDDEN, found)
    # What was cut off may have taken the end of a line along.
    return found if len(text) <= SEARCHED else found[: found.rindex(HIDDEN) + len(HIDDEN)]


def _without_runs(said: bytes, sent: bytes) -> str:
    """Return what was said without each run of at least ``RUN`` bytes that was sent too, as text in UTF-8."""
    seed = RUN // 2
    # Only each twelfth place of what was sent is looked at: wherever a run begins, one of them is within it.
    places: dict[bytes, list[int]] = defaultdict(list)
    for at in range(len(said) - seed + 1):
        places[said[at : at + seed]].append(at)
    hidden = bytearray(len(said))
    for at in range(0, len(sent) - seed + 1, seed):
        if (found := places.pop(sent[at : at + seed], None)) is None:
            continue
        for place in found:
            if all(hidden[place : place + seed]):
                continue
            start, end = _run(said, place, sent, at)
            if end - start >= RUN:
                hidden[start:end] = b"\x01" * (end - start)
            else:
                places[said[place : place + seed]].append(place)
    shown = [
        HIDDEN if part[0][0] else said[part.start() : part.end()].decode(errors="surrogatepass")
        for part in re.finditer(rb"\x01+|\x00+", hidden)
    ]
    return "".join(shown)


def _run(said: bytes, place: int, sent: bytes, at: int) -> tuple[int, int]:
    """Return from where to where what was said is what was sent, around a place in each; in whole characters."""
    start = end = place
    apart = at - place
    while start > 0 and start + apart > 0 and said[start - 1] == sent[start + apart - 1]:
        start -= 1
    while end < len(said) and end + apart < len(sent) and said[end] == sent[end + apart]:
        end += 1
    while start < end and _is_within(said, start):
        start += 1
    while start < end and _is_within(said, end):
        end -= 1
    return start, end


def _is_within(said: bytes, place: int) -> bool:
    """Return whether a place is within a character, not before or behind one."""
    return place < len(said) and said[place] & 0xC0 == 0x80


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


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
