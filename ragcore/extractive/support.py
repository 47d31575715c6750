"""Whether what was chosen answers the question at all: a passage may name the thing and not say what is asked of it."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.extractive.likeness import Floats
from ragcore.extractive.matter import Matter
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.words import content

_LIGHTEST = 0.5
"""Words that weigh less for themselves, such as "tell" or "happen", are not what is asked."""


_TOLD = 0.3
"""How far a row or what stands above it must hold one of the words that are asked of the thing."""
_ANYTHING = re.compile(
    r"^\W*(?:what|who) (?:is|are|was|were)\W+(?:the |an? )?[\w.-]+\W*$|\bmeans?\b|\bmeaning of\b|\babout\b"
    r"|\bwhat (?:do|should|can|must|shall) (?:i|we|you|one) do\b|\bwhat (?:now|to do|next)\b"
    r"|怎么办|什么意思|是什么[？?]?$|含义",
    re.IGNORECASE,
)
"""A question of this form asks for whatever there is about the thing that it names."""


def support(
    question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions
) -> tuple[float, float | None]:
    """Return which share of what is asked the chosen units hold, 0..1, and their best cosine with the question.

    What is asked are the telling words that name nothing: of "What does the OX-12 weigh?" it is "weigh". Where
    anything about a thing will do, its name counts as well. The share is 1 when there are no such words; the cosine is
    None where the embedder can't compare.
    """
    own, above = matter.held[chosen].max(axis=0), matter.around[chosen].max(axis=0)
    anything = bool(_ANYTHING.search(question))
    asked = [(anything or not word.names) and word.weight >= _LIGHTEST for word in matter.words]
    share = _share(np.maximum(own, options.around * above), matter.weights, np.array(asked, dtype=bool))
    # What title and headings say already is what the passage is about; the sentence must say something else of it.
    rest = np.array(asked, dtype=bool) & (above < 1.0)
    felt = matter.felt[chosen]
    if np.isnan(felt).all():
        share = min(share, _share(own, matter.weights, rest))
    return share, None if np.isnan(felt).all() else float(np.nanmax(felt))


def _row_tells(matter: Matter, i: int) -> bool:
    """Whether a table's row holds more of what is asked than the name of the thing: "When was the warehouse built?"."""
    row = matter.units[i].row
    if row is None or not row.name:
        return True
    name = content(f"{row.name_column} {row.name}")
    asked = [
        j
        for j, word in enumerate(matter.words)
        if not word.names and word.weight >= _LIGHTEST and word.term not in name
    ]
    best = np.maximum(matter.held[i], matter.around[i])
    return not asked or bool(best[asked].max() >= _TOLD)


def _names_another(matter: Matter, chosen: Sequence[int]) -> bool:
    """Whether the question names things, none of which the units or what stands above them name."""
    named = np.array([word.names for word in matter.words], dtype=bool)
    best = np.maximum(matter.held[chosen], matter.around[chosen]).max(axis=0)
    return bool(named.any()) and bool(best[named].max() < _TOLD)


def _share(held: Floats, weight: Floats, counted: NDArray[np.bool_]) -> float:
    total = float(weight[counted].sum())
    return float(held[counted] @ weight[counted]) / total if total > 0.0 else 1.0


def answers(question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions, *, sure: bool) -> bool:
    """Whether the chosen units say enough of what is asked to be shown as an answer.

    Measured on two public sets, with the passages that hold the answer and without them: the sum of the three signs
    tells the two apart better than each alone, and loses 3 in a hundred right answers. ``sure`` says that the passages
    passed the relevance gate; where there are only words, more of them are asked for without.
    """
    if not (_ANYTHING.search(question) or _row_tells(matter, chosen[0])):
        return False
    share, cosine = support(question, matter, chosen, options)
    if cosine is not None and cosine < options.enough_meaning and _names_another(matter, chosen):
        return False
    if cosine is None:
        return share >= (options.enough_words if sure else options.enough_words_unsure)
    return share + cosine + float(matter.relevance[chosen].max()) >= options.enough
