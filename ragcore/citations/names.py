"""Another name in the very place of a sentence that is otherwise the same, word for word. Pure.

Only names of two words or more, none of which the source has anywhere: one person may be named in part, by initials or
with a title, but not by wholly other words in the same frame and nowhere by these. English, where only names have
capitals.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from ragcore.terms import is_stop_word, terms

LEAST = 3
"""Words around the name that both sentences share."""
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_NAME = re.compile(r"[A-Z][^\W\d_]*[a-zß-ÿ](?:['’-][^\W\d_]+)*")
_NO_NAME = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october"
    r"|november|december",
    re.IGNORECASE,
)


def other_name(sentence: str, other: str, whole: str) -> bool:
    """Whether the other sentence has another name where this one has one, and the whole text none of its words.

    The sentence may end where the other goes on.
    """
    one, two = _WORD.findall(sentence), _WORD.findall(other)
    same = sum(1 for _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), zip(one, two, strict=False)))
    name, named = _name_at(one, same), _name_at(two, same)
    if not name or not named:
        return False
    behind = one[same + len(name) :]
    if [word.lower() for word in two[same + len(named) :][: len(behind)]] != [word.lower() for word in behind]:
        return False
    if same + len(behind) < LEAST:
        return False
    said = {word.lower() for word in _WORD.findall(whole)}
    return not any(word.lower() in said for word in name)


def _name_at(words: Sequence[str], start: int) -> Sequence[str]:
    """Return the name that begins with a word, none where fewer than two words have capitals or one is no name."""
    name = list(takewhile(_NAME.fullmatch, words[start:]))
    if len(name) < 2 or any(_NO_NAME.fullmatch(word) or _is_small(word) for word in name):
        return ()
    return name


def _is_small(word: str) -> bool:
    return any(is_stop_word(term) for term in terms(word))
