"""Whether a line repeats what was said before, word for word, however its lines were broken."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|\w+|[^\w\s]")
_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_GRAM = 3
_MOST_PLACES = 8
"""Places of three words in a row that are looked at; where none of the first goes on so, a repetition is not seen."""
MOST_WORDS = 500_000
"""Of one thread; about 3 MB of text, 100 MB of memory. What is quoted of later ones is taken for new, and stays."""


def words_of(text: str) -> list[str]:
    """Return words, signs and single Chinese, Japanese and Korean characters, without the marks of quoted lines."""
    return _WORD.findall(_MARKS.sub("", text))


class Said:
    """What was said before in a thread."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._words: list[str | None] = []
        self._places: dict[tuple[str | None, ...], list[int]] = {}
        self._goes_on = 0
        """Where the last repetition ended: the next line mostly goes on there."""

    def add(self, text: str) -> None:
        """Take up the text of another mail."""
        start = len(self._words)
        words = words_of(text)
        if start + len(words) > MOST_WORDS:
            return
        self._words += [*words, None]
        for size in range(1, _GRAM + 1):
            for at in range(start, start + len(words) - size + 1):
                # Of one or two words alone only whole lines are looked up, and what follows on: mostly the first place.
                places = self._places.setdefault(tuple(self._words[at : at + size]), [])
                if len(places) < (_MOST_PLACES if size == _GRAM else 1):
                    places.append(at)

    def holds(self, line: str) -> bool:
        """Tell whether the words of a line stand so in what was said, one after the other; a line without any does."""
        words: Sequence[str] = words_of(line)
        if not words:
            return True
        places = self._places.get(tuple(words[:_GRAM]), ())
        for at in (self._goes_on, *places):
            if self._words[at : at + len(words)] == words:
                self._goes_on = at + len(words)
                return True
        return False
