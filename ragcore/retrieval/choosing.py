"""Which sections of tables of contents fit a question: by the scores of a model, or by the words of their titles.

Pure. The scores are RAGFlow's: 5, 3, 1, 0 and -1.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import list_of, says_none, whole_number
from ragcore.stores.outlines import Outline
from ragcore.terms import Kind, is_stop_word, terms

SCORES = frozenset({5, 3, 1, 0, -1})
FITS = 3
"""The least score of a section that is quoted."""
ALIKE = 0.3
"""The least likeness of a section that is quoted, where words alone choose: one word of four or five."""
ABOVE = 0.5
"""What a word counts that only a title above the section's own has."""
WIDEST = 120
"""Characters of a title that are shown."""


def lines(outlines: Sequence[Outline], places: Sequence[tuple[int, int]]) -> str:
    """Return entries, each as (outline, entry), a line each under its number from 0, set in by its level."""
    shown = (outlines[outline].entries[entry] for outline, entry in places)
    return "\n".join(
        f"[{number}] {'  ' * (entry.level - 1)}{' '.join(entry.title.split())[:WIDEST]}"
        for number, entry in enumerate(shown)
    )


def chosen_of(reply: str, count: int) -> list[int]:
    """Return the numbers, below ``count``, of the sections that a reply says fit, the best first.

    What names no section, or gives a score that there is not, is dropped.

    Raises:
        ModelBadOutput: It holds no list, or a list in which nothing can be used.
    """
    said = list_of(reply, "sections", waited_for=True)
    scores: dict[int, int] = {}
    for one in said:
        section, score = (
            (whole_number(one.get(key)) for key in ("section", "score")) if isinstance(one, Mapping) else (None, None)
        )
        if section is not None and score in SCORES and 0 <= section < count:
            scores.setdefault(section, score)
    if not scores and not says_none(reply, said):
        raise ModelBadOutput("it names no section", raw=reply)
    return sorted((one for one, score in scores.items() if score >= FITS), key=lambda one: (-scores[one], one))


def likeness(question: str, outlines: Sequence[Outline]) -> dict[tuple[int, int], float]:
    """Return by (outline, entry) how alike the words of a title are to the question's: their cosine, 0..1.

    Rare words count more, and a word that only a title above it has counts ``ABOVE``. Sections without any of the
    words are left out.
    """
    asked = _words(question)
    titles = {
        (number, at): (_words(entry.title), entry.level)
        for number, outline in enumerate(outlines)
        for at, entry in enumerate(outline.entries)
    }
    seen = Counter(word for words, _ in titles.values() for word in words)

    def weight(word: str) -> float:
        return math.log(1 + len(titles) / (seen[word] or 1))

    length = math.sqrt(sum(weight(word) ** 2 for word in asked))
    found: dict[tuple[int, int], float] = {}
    path: list[tuple[int, frozenset[str]]] = []
    for place, (words, level) in titles.items():
        path = [] if place[1] == 0 else [one for one in path if one[0] < level]
        if words & asked:
            above = frozenset[str]().union(*(held for _, held in path)) - words
            told = {word: weight(word) for word in words} | {word: ABOVE * weight(word) for word in above}
            common = sum(told[word] * weight(word) for word in asked & told.keys())
            found[place] = common / (length * math.sqrt(sum(value**2 for value in told.values())))
        path.append((level, words))
    return found


def _words(text: str) -> frozenset[str]:
    """Return the terms of a text that say what it is about."""
    found = [term for term in terms(text) if not is_stop_word(term)]
    return frozenset(term.text for term in found if term.kind is not Kind.CHARACTER)
