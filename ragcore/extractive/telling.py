"""Whether a table's row is of what is asked at all: it may name the thing and not say what is asked of it. Pure."""

import numpy as np

from ragcore.extractive.matter import Matter
from ragcore.extractive.words import LIGHTEST, content, holds_code

TOLD = 0.3
"""How far a row or what stands above it must hold one of the words that are asked of the thing."""


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
