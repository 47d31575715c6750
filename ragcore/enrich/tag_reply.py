"""What models write where tags with scores were asked for, made into such. Pure.

Asked for one JSON object, they put it into a fence or behind a sentence, break it off, nest it, or write a list of
objects. Tags that are not in the set, and scores outside 1 to 10, are dropped.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import MOST_READ, mended
from ragcore.tagging.scores import HIGHEST, LOWEST, TagScores

_MOST_NESTED = 40
"""Brackets that are open together at most; more are no answer, and would take the reader's stack."""
_TELLING = 40
"""Characters of a line from which on a reply that has it too is taken for the rules, given back."""
_NAMES, _SCORES = ("tag", "name", "label"), ("score", "relevance", "value")


def tags_of_reply(reply: str, tags: Mapping[str, str], most: int, rules: str = "") -> TagScores:
    """Return the tags of a reply with their scores, the best first, at most so many; none where it says so: ``{}``.

    Args:
        reply: What a model wrote.
        tags: Those of the set, by ``str.casefold`` of each.
        most: How many tags at most.
        rules: What it was asked with: the examples in it are no answer.

    Raises:
        ModelBadOutput: There is neither a tag of the set with a score in it, nor the word that there is none.
    """
    if any(len(line) >= _TELLING and line in reply for line in rules.splitlines()):
        raise ModelBadOutput("it repeats what it was asked", raw=reply)
    for value in _values(reply[:MOST_READ]):
        found: dict[str, int] = {}
        for name, told in _pairs(value):
            tag, score = tags.get(" ".join(name.split()).casefold()), _score(told)
            if tag is not None and score is not None:
                found[tag] = max(found.get(tag, 0), score)
        if found or value == {}:
            return tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most])
    raise ModelBadOutput("there is no tag of the set in it with a score of 1 to 10", raw=reply)


def _values(text: str) -> Iterator[object]:
    """Yield what the first object and the first list of a text hold, whichever begins first; broken ones mended."""
    for begin in sorted(place for sign in "{[" if (place := text.find(sign)) >= 0):
        written = text[begin:]
        try:
            yield json.JSONDecoder().raw_decode(written)[0]
        except (ValueError, RecursionError):
            if _depth(written) <= _MOST_NESTED:
                with contextlib.suppress(ModelBadOutput):
                    yield from filter(None, [mended(written)])


def _depth(text: str) -> int:
    """Return how many brackets are open together, at most, wherever they stand."""
    deepest = depth = 0
    for sign in text:
        depth = max(0, depth + (sign in "[{") - (sign in "]}"))
        deepest = max(deepest, depth)
    return deepest


def _pairs(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield names with what is said of each: members of an object, or objects that have one of each."""
    if depth > 3:
        return
    if isinstance(value, list):
        for item in value:
            yield from _pairs(item, depth + 1)
    elif isinstance(value, dict):
        members = {str(name): held for name, held in value.items()}
        name = next((members[key] for key in _NAMES if isinstance(members.get(key), str)), None)
        score = next((members[key] for key in _SCORES if key in members), None)
        if isinstance(name, str) and score is not None:
            yield name, score
            return
        for key, held in members.items():
            if isinstance(held, dict | list):
                yield from _pairs(held, depth + 1)
            else:
                yield key, held


def _score(told: object) -> int | None:
    """Return a score of 1 to 10, rounded to a whole number; None for what is none."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return None
    try:
        number = float(told)
    except (ValueError, OverflowError):
        return None
    return round(number) if math.isfinite(number) and LOWEST <= number <= HIGHEST else None
