"""Shorten a text by its middle, to a number of tokens that may be exact."""

from collections.abc import Iterator

from ragcore.characters import is_edge
from ragcore.tokens import Tokenizer

GAP = "\n…\n"
MOST_SHARES = 64
"""How many ways to share the tokens between head and tail are tried."""


def cut_middle(text: str, least: int, limit: int, tokenizer: Tokenizer) -> str:
    """Return head and tail of the text, ``least`` to ``limit`` tokens together, in the best form that there is.

    Best is a gap between them beside ``least`` tokens of the text; then no gap; then a gap that makes up for the
    tokens that whole characters leave unused; last a cut between the code points of one visible character.

    Args:
        text: Over the limit.
        least: Fewest tokens of the result, at most ``limit``.
        limit: Most tokens of the result.
        tokenizer: Counts and cuts.
    """
    closest, most = "", -1
    for visible in (True, False):
        ends = _Ends(text, visible, tokenizer)
        for gap, floor in ((GAP, least + tokenizer.count(GAP)), ("", least), (GAP.strip(), least), (GAP, least)):
            for cut in ends.cuts(gap, limit) if floor <= limit else ():
                count = tokenizer.count(cut)
                if floor <= count <= limit:
                    return cut
                if most < count <= limit:
                    closest, most = cut, count
    return closest


class _Ends:
    """The heads and tails of a text by their limit, each cut once."""

    def __init__(self, text: str, visible: bool, tokenizer: Tokenizer) -> None:
        self._text = text
        self._visible = visible
        self._tokenizer = tokenizer
        self._heads: dict[int, str | None] = {}
        self._tails: dict[int, str | None] = {}

    def cuts(self, gap: str, limit: int) -> Iterator[str]:
        """Yield head, gap and tail in about ``limit`` tokens, first with as much of the one as of the other."""
        size = limit - self._tokenizer.count(gap)
        seen: set[tuple[int, int]] = set()
        for share in _from_the_middle(size):
            head = self._head(share)
            if head is None:
                continue
            rest = size - self._tokenizer.count(head)
            # Joined, the two may count a little more or less than apart.
            for room in range(rest + 2, max(0, rest - 4), -1):
                tail = self._tail(room)
                if tail is not None and (len(head), len(tail)) not in seen:
                    seen.add((len(head), len(tail)))
                    yield head + gap + tail

    def _head(self, limit: int) -> str | None:
        """Return the head, None where it would end within a visible character."""
        if limit not in self._heads:
            head = self._tokenizer.head(self._text, limit, visible=self._visible)
            whole = not self._visible or is_edge(self._text, len(head))
            self._heads[limit] = head if whole else None
        return self._heads[limit]

    def _tail(self, limit: int) -> str | None:
        if limit not in self._tails:
            tail = self._tokenizer.tail(self._text, limit, visible=self._visible)
            whole = not self._visible or is_edge(self._text, len(self._text) - len(tail))
            self._tails[limit] = tail if whole else None
        return self._tails[limit]


def _from_the_middle(size: int) -> Iterator[int]:
    """Yield at most ``MOST_SHARES`` shares of the size, from its half outwards: 0, 1, -1, 2, -2 steps from it."""
    middle, step = (size + 1) // 2, max(1, size // MOST_SHARES)
    for number in range(min(size, MOST_SHARES)):
        yield middle + (number + 1) // 2 * (step if number % 2 else -step)
