"""Whether what was chosen answers the question at all: a passage may name the thing and not say what is asked of it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.extractive.expectation import Expectation
from ragcore.extractive.form import circumstance, is_how_to, roles, takes_anything
from ragcore.extractive.likeness import Floats
from ragcore.extractive.matter import Matter
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.statements import Statement, statements
from ragcore.extractive.words import LIGHTEST, TIMES, content, holds_code

TOLD = 0.3
"""How far a row or what stands above it must hold one of the words that are asked of the thing."""


def support(
    question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions
) -> tuple[float, float | None]:
    """Return which share of what is asked one of the chosen statements holds, 0..1, and the best cosine of the units.

    What is asked are the telling words but for names that title or headings bear: of "What does the OX-12 weigh?" it is
    "weigh". Where anything about a thing will do, its name counts as well. The share is 1 when there are no such words;
    the cosine is None where the embedder can't compare.
    """
    felt = matter.felt[chosen]
    cosine = None if np.isnan(felt).all() else float(np.nanmax(felt))
    said = statements(matter, chosen)
    return max(_supported(question, matter, one, options, by_words=cosine is None) for one in said), cosine


def _supported(question: str, matter: Matter, said: Statement, options: ExtractOptions, *, by_words: bool) -> float:
    """Return which share of what is asked a statement holds, 0..1."""
    own, above = said.held, np.floor(said.above)
    anything = takes_anything(question)
    asked = [
        (anything or not word.names or (own[j] < TOLD and above[j] < TOLD)) and word.weight >= LIGHTEST
        for j, word in enumerate(matter.words)
    ]
    share = _share(np.maximum(own, options.around * above), matter.weights, np.array(asked, dtype=bool))
    expectation = Expectation(question)
    if not any(asked) and expectation.waits:
        share = expectation.met(said.text)
    # What title and headings say already is what the passage is about; the sentence must say something else of it.
    rest = np.array(asked, dtype=bool) & (above < 1.0)
    return min(share, _share(own, matter.weights, rest)) if by_words else share


def row_tells(matter: Matter, i: int) -> bool:
    """Whether a table's row holds more of what is asked than the name of the thing: "When was the warehouse built?".

    And whether it is of the thing at all: what of the question its columns don't say must stand in its cells.
    """
    row = matter.units[i].row
    if row is None or not row.name:
        return True
    name = content(f"{row.name_column} {row.name}")
    telling = [j for j, word in enumerate(matter.words) if word.weight >= LIGHTEST]
    asked = [j for j in telling if not matter.words[j].names and matter.words[j].term not in name]
    best = np.maximum(matter.held[i], matter.around[i])
    columns = content(" ".join((row.name_column, *(column for column, _ in row.cells))))
    which = [j for j in telling if matter.words[j].term not in columns and matter.around[i][j] < TOLD]
    of_it = not which or bool(matter.held[i][which].max() >= TOLD)
    return of_it and (not asked or bool(best[asked].max() >= TOLD))


def has_another_code(matter: Matter, i: int) -> bool:
    """Whether a row is called by a code, and the question has a code that stands neither in it nor above it.

    The row of E-104 is no answer to "what does E-999 of the TW-200 mean?", however well the rest fits.
    """
    row = matter.units[i].row
    codes = [j for j, word in enumerate(matter.words) if word.is_code]
    if row is None or not codes or not holds_code(row.name):
        return False
    own, best = matter.held[i][codes], np.maximum(matter.held[i], matter.around[i])[codes]
    return bool(best.min() < TOLD and own.max() < TOLD)


def _names_another(matter: Matter, chosen: Sequence[int]) -> bool:
    """Whether the question names things, none of which the units or what stands above them name."""
    named = np.array([word.names for word in matter.words], dtype=bool)
    best = np.maximum(matter.held[chosen], matter.around[chosen]).max(axis=0)
    return bool(named.any()) and bool(best[named].max() < TOLD)


def _in_its_place(question: str, matter: Matter, chosen: Sequence[int]) -> bool:
    """Whether a unit has another name in the place of one that the question has: "in London", asked of "in Paris"."""
    asked = roles(question)
    said = [roles(matter.units[i].text) for i in chosen]
    return any(role in of_unit and not names & of_unit[role] for role, names in asked.items() for of_unit in said)


def _are_the_steps(question: str, matter: Matter, chosen: Sequence[int]) -> bool:
    """Whether the question is how to do a thing, and a numbered list under a heading that names it was chosen."""
    if not (is_how_to(question) and matter.units[chosen[0]].ordered):
        return False
    telling = np.array([word.weight >= LIGHTEST for word in matter.words], dtype=bool)
    return bool((matter.around[chosen[0]][telling] >= 1.0).any())


def _uncounted(matter: Matter, chosen: Sequence[int]) -> bool:
    """Whether the units don't speak of what the question counts or measures."""
    return bool(matter.counted[chosen].max() < TOLD)


def _leaves_amount_open(question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions) -> bool:
    """Whether a question waits for an amount, and no statement with one tells of what, and in which circumstance."""
    expectation = Expectation(question)
    if not expectation.waits_for_amount:
        return False
    by_words = bool(np.isnan(matter.felt[chosen]).all())
    when = content(circumstance(question))
    clause = [j for j, word in enumerate(matter.words) if word.term in when and word.term not in TIMES]
    return not any(
        expectation.holds_amount(one.text)
        and (not clause or one.best[clause].max() >= TOLD)
        and _supported(question, matter, one, options, by_words=by_words) >= options.enough_of_amount
        for one in statements(matter, chosen)
    )


def _share(held: Floats, weight: Floats, counted: NDArray[np.bool_]) -> float:
    total = float(weight[counted].sum())
    return float(held[counted] @ weight[counted]) / total if total > 0.0 else 1.0


def answers(question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions, *, sure: bool) -> bool:
    """Whether the chosen units say enough of what is asked to be shown as an answer.

    The sum of the three signs tells passages that hold the answer from such as don't better than each alone. What it
    must reach was chosen on half 0 of the questions of benchmarks.answers. ``sure`` says that the passages passed the
    relevance gate; where there are only words, more of them are asked for without.
    """
    if not chosen:
        return False
    share, cosine = support(question, matter, chosen, options)
    if _leaves_amount_open(question, matter, chosen, options):
        return False
    if cosine is not None and _uncounted(matter, chosen):
        return False
    if cosine is not None and _names_another(matter, chosen):
        far = cosine < options.enough_meaning
        if far or _in_its_place(question, matter, chosen):
            return False
    relevance = float(matter.relevance[chosen].max())
    if cosine is None:
        enough = max(options.enough_words, options.enough_words_here - 0.5 * relevance)
        return share >= (enough if sure else max(enough, options.enough_words_unsure))
    steps = options.expected if _are_the_steps(question, matter, chosen) else 0.0
    return share + cosine + relevance + steps >= options.enough
