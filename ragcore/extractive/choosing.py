"""Which units make the answer: the best, and only such others as add something that was asked. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcore.extractive.expectation import Expectation
from ragcore.extractive.extremes import Extremes
from ragcore.extractive.form import is_how_to, lists, selects, takes_anything
from ragcore.extractive.matter import Matter, follows
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.telling import TOLD, has_another_code, row_tells
from ragcore.extractive.words import content

_RESTRICTS = re.compile(
    r"^\W*(?:but|however|only|yet|still|nevertheless|instead|aber|jedoch|allerdings|mais|cependant|toutefois|pero"
    r"|sin embargo)\b"
    r"|\b(?:except(?:ions?|ed)?|unless|ausnahmen?|ausgenommen|sauf|exceptions?|excepto|salvo)\b|例外|除外|^\W*(?:但|不过|然而|除非)",
    re.IGNORECASE,
)
"""A sentence that takes back part of what the one before it said: whoever quotes that one must not leave it out."""
_AS_GOOD = 0.5
"""Rows must hold so much of the question before several of them are taken for answers as good as each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The indexes of units in reading order: best first, neighbours as they stand in the document.

    ``goes_on`` says that there are more rows of the list that was asked for.
    """

    units: Sequence[int] = ()
    goes_on: bool = False


def choose(question: str, matter: Matter, expectation: Expectation, options: ExtractOptions) -> Chosen:
    """Return the units that make the answer, none where none tells what is asked."""
    return _Choice(question, matter, expectation, options).made()


class _Choice:
    """The choice for one question."""

    def __init__(self, question: str, matter: Matter, expectation: Expectation, options: ExtractOptions) -> None:
        self._matter = matter
        self._units = matter.units
        self._expectation = expectation
        self._options = options
        self._question = question
        self._ranked = self._telling(question)
        self._chosen: list[int] = []

    def made(self) -> Chosen:
        """Take the best, what is as good, what adds to it, what is still waited for, and the steps that follow."""
        if not self._ranked:
            return Chosen()
        self._best = self._ranked[0]
        if lists(self._question) and (rows := self._rows_of_the_list()):
            return Chosen(units=rows[: self._options.sentences], goes_on=len(rows) > self._options.sentences)
        self._take(self._best)
        if not self._chosen:
            # All that it leans on is longer than an answer: by itself it says more than nothing.
            self._chosen = [self._best]
        for i in self._ranked[1:]:
            if self._as_good(i) or self._adds(i):
                self._take(i)
        for i in self._ranked[1:]:
            # A question may ask two things at once: "when, and why?"
            missing = self._expectation.missing([self._units[j].text for j in self._chosen])
            if missing.met(self._units[i].text) and self._goes_on(i):
                self._take(i)
        if is_how_to(self._question):
            self._take_steps()
        self._take_between()
        self._take_what_restricts()
        return Chosen(units=[i for run in self._runs() for i in run])

    def _telling(self, question: str) -> list[int]:
        """Return the units that may answer, best first: none where the best is a row that doesn't tell what is asked.

        Unless a sentence or another table comes near to it: the other rows of its table are of other things. Nor where
        an extreme or a comparison is asked for, and nothing that comes near to the best states it.
        """
        anything, extremes = takes_anything(question), Extremes(question)
        ranked = sorted(range(len(self._units)), key=lambda i: (-self._matter.scores[i], i))
        best = self._units[ranked[0]]
        tells = {
            i
            for i in ranked
            if (anything or row_tells(self._matter, i))
            and not has_another_code(self._matter, i)
            and extremes.stated(self._spoken(i))
        }
        if ranked[0] in tells:
            return [i for i in ranked if i in tells]
        least = self._options.as_good * self._matter.scores[ranked[0]]
        others = [i for i in ranked if i in tells and (extremes.asked or self._units[i].chunk != best.chunk)]
        return others if others and self._matter.scores[others[0]] >= least else []

    def _spoken(self, i: int) -> str:
        return " ".join(self._matter.spoken[j] for j in self._with_what_it_leans_on(i))

    def _take(self, i: int) -> None:
        """Choose a unit after those that it leans on, if there is room and it was not said already."""
        needed = [j for j in self._with_what_it_leans_on(i) if j not in self._chosen]
        # What it leans on may have been said as well, word for word, from another passage.
        said = any(self._repeats(i, j) or self._same(k, j) for j in self._chosen for k in needed)
        sentences = sum(self._units[j].sentences for j in (*self._chosen, *needed))
        if not said and i in needed and sentences <= self._options.sentences:
            self._chosen += needed

    def _near(self, i: int, share: float) -> bool:
        same = self._units[i].chunk == self._units[self._best].chunk
        return same and bool(self._matter.scores[i] >= share * self._matter.scores[self._best])

    def _as_good(self, i: int) -> bool:
        """Whether a unit answers as well as the best: a row of its table, or a sentence of its paragraph."""
        unit, best = self._units[i], self._units[self._best]
        if unit.row is None or best.row is None:
            return self._nearer_in_meaning(i)
        covered = np.maximum(self._matter.held, self._matter.around)
        enough = float(covered[self._best] @ self._matter.weights) >= _AS_GOOD
        alike = self._options.alike_selected if selects(self._question) else self._options.alike
        return enough and self._covers_the_same(i) and self._near(i, alike)

    def _covers_the_same(self, i: int) -> bool:
        """Whether a unit and what stands above it hold the same words of the question as the best."""
        covered = np.maximum(self._matter.held, self._matter.around)
        return bool(np.array_equal(covered[i] >= 0.5, covered[self._best] >= 0.5))

    def _rows_of_the_list(self) -> list[int]:
        """Return the rows of the best one's table that are of the list, in their order.

        Whether the kind stands in their heading or in their own words, they are all of it.
        """
        best, matter = self._units[self._best], self._matter
        if best.row is None:
            return []
        rows = (i for i in self._ranked if (row := self._units[i].row) and row.name_column == best.row.name_column)
        alike = [i for i in rows if matter.places[i] == matter.places[self._best] and self._covers_the_same(i)]
        return sorted(alike)

    def _nearer_in_meaning(self, i: int) -> bool:
        """Whether a sentence of the best one's paragraph means what is asked as nearly, in fewer of its words."""
        unit, best, felt = self._units[i], self._units[self._best], self._matter.felt
        prose = not (unit.items or unit.alone or best.items or best.alone)
        together = prose and unit.chunk == best.chunk and unit.paragraph == best.paragraph
        nearer = bool(felt[i] >= felt[self._best] - self._options.as_near)
        return together and nearer and not unit.leans and self._near(i, self._options.as_good)

    def _goes_on(self, i: int) -> bool:
        """Whether a good sentence stands beside a chosen one or speaks of the question itself; no other row does."""
        unit, matter = self._units[i], self._matter
        beside = any(follows(self._units[j], unit) or follows(unit, self._units[j]) for j in self._chosen)
        speaks = float(matter.held[i] @ matter.weights) >= self._options.adds
        of_others = unit.row is not None and self._units[self._best].row is not None
        return self._near(i, self._options.share_of_missing) and (beside or speaks) and not of_others

    def _adds(self, i: int) -> bool:
        """Whether a unit holds enough of what the chosen ones lack of the question."""
        options, matter = self._options, self._matter
        if (
            not self._near(i, options.share_of_best)
            and matter.scores[i] < options.share_elsewhere * matter.scores[self._best]
        ):
            return False
        if matter.counted[i] < TOLD:
            return False
        # What title and headings say isn't news either.
        lacking = 1.0 - np.maximum(matter.held[self._chosen], matter.around[self._chosen]).max(axis=0)
        return float(np.minimum(matter.held[i], lacking) @ matter.weights) >= options.adds

    def _take_steps(self) -> None:
        """Take the whole paragraph of the best, as far as there is room: an instruction is seldom one sentence."""
        steps = self._paragraph(self._best)
        place = steps.index(self._best) if steps else 0
        for run, share in (
            (reversed(steps[:place]), self._options.share_of_step_before),
            (steps[place + 1 :], self._options.share_of_step),
        ):
            for i in run:
                if not self._near(i, share):
                    break
                self._take(i)

    def _take_between(self) -> None:
        """Take a sentence that stands between two chosen ones, so that the quotation reads on."""
        for i in range(len(self._units)):
            before = any(follows(self._units[j], self._units[i]) for j in self._chosen)
            after = any(follows(self._units[i], self._units[j]) for j in self._chosen)
            if before and after and self._units[i].paragraph == self._units[self._best].paragraph:
                self._take(i)

    def _take_what_restricts(self) -> None:
        """Take the exception that stands right behind a chosen sentence."""
        for i, unit in enumerate(self._units):
            restricted = (j for j in self._chosen if follows(self._units[j], unit))
            if _RESTRICTS.search(unit.text) and any(unit.paragraph == self._units[j].paragraph for j in restricted):
                self._take(i)

    def _paragraph(self, i: int) -> list[int]:
        """Return the sentences of a sentence's paragraph, none for lists, rows and lines of code."""
        here = self._units[i]
        return [
            j
            for j, unit in enumerate(self._units)
            if unit.chunk == here.chunk
            and unit.paragraph == here.paragraph
            and not (unit.items or unit.alone or here.items or here.alone)
        ]

    def _with_what_it_leans_on(self, i: int) -> list[int]:
        """Return the unit's index after those of the units that it can't stand without, at most two back."""
        needed = [i]
        while len(needed) < 3 and self._units[needed[0]].leans:
            before = [j for j in range(needed[0]) if follows(self._units[j], self._units[needed[0]])]
            if not before or any(self._same(before[0], k) for k in needed):
                break
            needed.insert(0, before[0])
        return needed

    def _same(self, i: int, j: int) -> bool:
        return self._units[i].text == self._units[j].text and not self._units[i].items

    def _repeats(self, i: int, j: int) -> bool:
        unit, other = self._units[i], self._units[j]
        if self._same(i, j):
            return True
        if unit.row is not None and other.row is not None and unit.chunk == other.chunk:
            return False
        for a_list, one in ((unit, other), (other, unit)):
            if a_list.items and one.chunk == a_list.chunk and any(one.text in item for item in a_list.items):
                return True
        mine, theirs = set(content(unit.text)), set(content(other.text))
        return len(mine & theirs) >= self._options.repeated * max(1, min(len(mine), len(theirs)))

    def _runs(self) -> Sequence[Sequence[int]]:
        """Group what was chosen into runs of neighbours in the document's order, the runs in the order of choice."""
        runs: list[list[int]] = []
        for i in sorted(self._chosen):
            if runs and follows(self._units[runs[-1][-1]], self._units[i]):
                runs[-1].append(i)
            else:
                runs.append([i])
        return sorted(runs, key=lambda run: min(self._chosen.index(i) for i in run))
