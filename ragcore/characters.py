"""Where a text may be cut without cutting what a reader sees as one character (Unicode's grapheme clusters, UAX 29).

A family emoji, a flag, a letter with its marks, a Korean syllable in parts and a line break of two are one character.
Each function looks at the characters around the place alone, so that a cut in a megabyte costs no more than in a line.
"""

import unicodedata

import regex

_CLUSTER = regex.compile(r"\X")
_JOINS = frozenset({"Mn", "Mc", "Me", "Cf", "Sk", "Lm"})
"""Categories that may stand within a character: marks, joiners and tags, skin tones, half-width voicing marks."""


def is_edge(text: str, index: int) -> bool:
    """Return whether a visible character ends at the index; the ends of the text are edges."""
    return edge_before(text, index) == min(max(index, 0), len(text))


def edge_before(text: str, index: int) -> int:
    """Return the last edge at or before the index."""
    if index <= 0 or index >= len(text):
        return min(max(index, 0), len(text))
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii() and after != "\n":
        return index
    back = 1
    while True:
        start = _start(text, max(0, index - back))
        # One character more than asked for: whether something ends at the index depends on what follows it.
        ends = [match.end() for match in _CLUSTER.finditer(text, start, index + 1)]
        found = [end for end in ends if end <= index]
        if found or start == 0:
            return max(found, default=0)
        back = 2 * (index - start) + 1


def edge_after(text: str, index: int) -> int:
    """Return the first edge at or after the index."""
    before = edge_before(text, index)
    if before >= min(index, len(text)):
        return before
    cluster = _CLUSTER.match(text, before)
    return cluster.end() if cluster else len(text)


def _start(text: str, index: int) -> int:
    """Return a place at or before the index from which clusters can be read: their ends are those of the whole text.

    That holds from any character that doesn't join what stands before it, in the middle of a cluster or not; in a run
    of flags only after an even number of halves.
    """
    while index > 0 and unicodedata.category(text[index]) in _JOINS:
        index -= 1
    run = index
    while run > 0 and _is_flag_half(text[index]) and _is_flag_half(text[run - 1]):
        run -= 1
    return index - (index - run) % 2


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
