"""What is asked next, as models write it: made into single lines, told apart, and cut to so many as may be. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ragcore.errors import ModelBadOutput
from ragcore.extractive.words import content
from ragcore.json_replies import says_none
from ragcore.research.replies import listed_in
from ragcore.research.values import Plan

LONGEST = 300
"""Characters. What is longer is no question to search for, but an explanation."""
MOST_READ = 64
"""Sub-questions that may be looked at. Of more it is only told how many there were, each once by its words."""
ALIKE = 0.8
"""From this share of common words on, of all that two have, they ask the same."""
SHOWN = 160
"""Characters of a question that a reader is shown."""

_ADDRESS = re.compile(r"\W*(?:www\.|[a-z][a-z0-9+.-]{0,30}:\S)", re.IGNORECASE)
_SIGNS = re.compile(r"[<>\[\]{}|`*_~\\@#]+")
_WORD = re.compile(r"\w+")
_TELLS_APART = re.compile(r"\d")


def plan_of(reply: str, most: int, asked: Sequence[str] = (), *, key: str = "questions") -> Plan:
    """Return the questions of a reply that are new, at most ``most``, and those that are left over.

    Args:
        reply: What a model wrote: a JSON list, or an object that holds one, best under ``key``.
        most: How many are looked at.
        asked: What was asked before: nothing of it is asked again, in nearly the same words neither.
        key: Where the list stands in an object.

    Raises:
        ModelBadOutput: It holds no list, or one of anything but questions.
    """
    said = listed_in(reply, key)
    questions = [line for line in map(_line, said) if line]
    if not questions and not says_none(reply, said):
        raise ModelBadOutput("there is no question in it", raw=reply)
    return planned(questions, most, asked)


def planned(questions: Sequence[str], most: int, asked: Sequence[str] = ()) -> Plan:
    """Return the first so many questions that ask something new, each once, and those that are left over."""
    told = distinct(questions[:MOST_READ], asked)
    return Plan(questions=told[:most], cut=(*told[most:], *left_over(questions[MOST_READ:], (*asked, *told))))


def distinct(questions: Iterable[str], asked: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the questions of which none asks the same as another, or as what was asked before."""
    seen = list(map(_asked, asked))
    kept: list[str] = []
    for question in questions:
        words = _asked(question)
        if not any(_alike(words, other) for other in seen):
            seen.append(words)
            kept.append(question)
    return tuple(kept)


def left_over(questions: Iterable[str], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the questions that ask nothing of this, each once by its words; takes a thousand of them in one go.

    ``distinct`` tells more of them to be the same, in a time that grows with the square of how many there are.
    """
    seen = list(map(_asked, asked))
    kept: dict[frozenset[str], str] = {}
    for question in questions:
        words = _asked(question)
        if words not in kept and not any(_alike(words, other) for other in seen):
            kept[words] = question
    return tuple(kept.values())


def same(one: str, other: str) -> bool:
    """Tell whether two questions ask the same, up to small words and word order."""
    return _alike(_asked(one), _asked(other))


def shown(question: str) -> str:
    """Return a question as a reader may see it: in one line, and with no address, mention or mark-up of its own."""
    words = (word for word in question[: 10 * SHOWN].split() if not (_ADDRESS.match(word) or "://" in word))
    line = " ".join(_SIGNS.sub(" ", " ".join(words)).split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1].rstrip()}…"


def _asked(question: str) -> frozenset[str]:
    """Return what a question says; of one that has nothing but small words, or none, these or its signs."""
    head = question[:LONGEST].casefold()
    return frozenset(content(question[:LONGEST])) or frozenset(_WORD.findall(head) or head.split())


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if any(map(_TELLS_APART.search, one ^ other)):
        return False  # 2023 and 2024, version 2 and version 3
    return len(one & other) >= ALIKE * len(one | other)


def _line(said: object) -> str:
    """Return a question in one line, "" for what is none."""
    if isinstance(said, Mapping):
        said = next((said[key] for key in ("question", "query", "search", "text") if key in said), "")
    if not isinstance(said, str):
        return ""
    line = " ".join(said.replace("\0", " ").split())
    return line if len(line) <= LONGEST and any(map(str.isalnum, line)) else ""
