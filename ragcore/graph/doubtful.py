"""Which names the rules leave apart though they may mean the same thing: what is worth asking somebody. Pure.

Three signs: one letter of difference, the first letters of the other's words, and the other's words but for some. Names
that differ in a number or a single letter (GPT-3 and GPT-4, Annex A and Annex B) are told apart by just that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ragcore.stores.rows import digest
from ragcore.terms import is_stop_word
from ragcore.terms.scripts import UNSPACED

MOST_NAMES = 20_000
"""Names that are compared, those that most chunks tell first. So many take about a second."""
MOST_PAIRS = 240
"""Pairs of what chunks of the same readers name, those with the clearest sign first: about forty calls."""
MOST_OF_ONE = 4
"""Pairs that one name is in. What looks like more of them is a general word, such as "Bank"."""
TOGETHER = 12
"""Pairs that are asked about together at most; about half as many on an average."""
_RARE = 8
"""Names that have a word in common at most, for it to say something of what they mean."""
_LONG = 5
"""Letters of a name in which one of them may be a slip of the pen."""
_LONGEST = 60
"""Letters of a name that is looked at for one: a longer one is known by its words."""
_ALIKE = 0.6
"""Share of the words of two names that they have in common."""
_SPELT, _INITIALS, _WORDS = 0, 1, 2

_ONE_UNSPACED = re.compile(rf"[{UNSPACED}]")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pair:
    """The keys of two names, in their order."""

    key: str
    other: str


def pairs_of(
    told: Mapping[str, int], related: AbstractSet[Pair] = frozenset(), *, most: int = MOST_PAIRS
) -> list[Pair]:
    """Return which names may mean the same thing, at most so many pairs: the clearest first.

    Args:
        told: The keys of names, and how many chunks tell each.
        related: Pairs of which it is known.
        most: How many are wanted.
    """
    keys = sorted(told, key=lambda key: (-told[key], key))[:MOST_NAMES]
    signs: dict[Pair, int] = {}
    for sign, found in ((_SPELT, _spelt(keys)), (_INITIALS, _initials(keys)), (_WORDS, _alike(keys))):
        for one, other in found:
            pair = pair_of(one, other)
            if pair not in related and _tells_apart(one) == _tells_apart(other):
                signs.setdefault(pair, sign)
    taken: dict[str, int] = {}
    chosen: list[Pair] = []
    for pair in sorted(signs, key=lambda pair: (signs[pair], -min(told[pair.key], told[pair.other]), pair)):
        if len(chosen) == most:
            break
        if max(taken.get(pair.key, 0), taken.get(pair.other, 0)) < MOST_OF_ONE:
            chosen.append(pair)
            for key in (pair.key, pair.other):
                taken[key] = taken.get(key, 0) + 1
    return chosen


def pair_of(one: str, other: str) -> Pair:
    """Return two keys as a pair."""
    return Pair(key=min(one, other), other=max(one, other))


def batches(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Return pairs as they are asked about: each once, and where one comes or goes the other batches stay.

    A batch ends with a pair whose digest says so, and so does not depend on how many stand before it.
    """
    found: list[list[Pair]] = []
    ends = True
    for pair in sorted(set(pairs)):
        if ends:
            found.append([])
        found[-1].append(pair)
        ends = len(found[-1]) == TOGETHER or int(digest(pair.key, pair.other)[:8], 16) % (TOGETHER // 2) == 0
    return found


def _tells_apart(key: str) -> Sequence[str]:
    """Return the numbers and single letters of a name: what has others of them is something else."""
    return sorted(
        word
        for word in key.split()
        if any(map(str.isdigit, word)) or (len(word) == 1 and not _ONE_UNSPACED.fullmatch(word))
    )


def _spelt(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names of which one letter is another, is lacking, or has changed places; and those spaced otherwise."""
    # Two such texts have a form in common in which each lacks a letter at most.
    having: dict[str, list[str]] = {}
    for key in keys:
        text = key.replace(" ", "")
        if _LONG <= len(text) <= _LONGEST and not _ONE_UNSPACED.search(text):
            for form in {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}:
                having.setdefault(form, []).append(key)
    for some in having.values():
        yield from _each_two(some)


def _initials(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and what the first letters of their words spell, or in Chinese some of their characters."""
    longer: dict[str, list[str]] = {}
    known = frozenset(keys)
    for key in keys:
        words = key.split()
        if len(words) > 1 and not _ONE_UNSPACED.search(key):
            telling = "".join(word[0] for word in words if not is_stop_word(word))
            for short in {"".join(word[0] for word in words), telling} & known:
                longer.setdefault(short, []).append(key)
    for short, spelt in longer.items():
        if len(short) > 1 and len(spelt) <= MOST_OF_ONE:
            yield from ((short, long) for long in spelt)
    by_first: dict[str, list[list[str]]] = {}
    for key in keys:
        if all(map(_ONE_UNSPACED.fullmatch, key.split())):
            by_first.setdefault(key[0], []).append(key.split())
    for some_keys in by_first.values():
        if len(some_keys) <= 4 * _RARE:
            for one in some_keys:
                for other in some_keys:
                    if 1 < len(one) < len(other) <= 4 * len(one) and _skips(one, other):
                        yield " ".join(one), " ".join(other)


def _skips(short: Sequence[str], long: Sequence[str]) -> bool:
    """Return whether one has some characters of the other in their order, but not just its beginning."""
    rest = iter(long)
    return list(long[: len(short)]) != list(short) and all(character in rest for character in short)


def _alike(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names that have most of their words in common, or one all of the other's, and one that few names have."""
    having: dict[str, list[str]] = {}
    words = {key: frozenset(word for word in key.split() if not is_stop_word(word)) for key in keys}
    for key in keys:
        if not _ONE_UNSPACED.search(key):
            for word in words[key]:
                having.setdefault(word, []).append(key)
    for some in having.values():
        for one, other in _each_two(some):
            shared = words[one] & words[other]
            if shared in (words[one], words[other]) or len(shared) >= _ALIKE * len(words[one] | words[other]):
                yield one, other


def _each_two(some: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(some) <= _RARE:
        yield from ((one, other) for at, one in enumerate(some) for other in some[at + 1 :])
