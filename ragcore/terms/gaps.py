"""Chinese abbreviates by leaving characters out: 年假 stands for 年休假, 北大 for 北京大学.

A pair whose characters stand with one other between them is therefore known by a term of its own, which is looked up
only where nobody writes the pair itself.
"""

import re

from ragcore.terms.scripts import HAN

_HAN_RUN = re.compile(f"[{HAN}]{{3,}}")
_JOINT = "…"


def gaps(text: str) -> list[str]:
    """Return, for each three Chinese characters in a row, the term for the first and the last of them."""
    return [
        gap_of(first + last)
        for run in _HAN_RUN.findall(text)
        for first, last in zip(run, run[2:], strict=False)
        if first != last
    ]


def gap_of(pair: str) -> str:
    """Return the term under which a pair of characters is known when one stands between them."""
    return f"{pair[0]}{_JOINT}{pair[-1]}"


def may_be_abbreviated(pair: str) -> bool:
    """Whether a pair is of two Chinese characters, so that it may stand for a longer word."""
    return len(pair) == 2 and _HAN_RUN.fullmatch(pair + pair) is not None


def spelt_out(pair: str, text: str) -> list[tuple[int, int]]:
    """Return the places where a text has one Chinese character between the two of a pair: start, exclusive end."""
    return [place.span() for place in re.finditer(f"{pair[0]}[{HAN}]{pair[-1]}", text)]
