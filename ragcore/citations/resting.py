"""What an answer rests on where a model read a summary: its sentences are cited from what was summarised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.citations import markers
from ragcore.citations.attribution import NEGLIGIBLE, Judge
from ragcore.citations.evidence import Claim
from ragcore.citations.scoring import own_odds
from ragcore.types import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """What an answer may cite: the chunks of the prompt, then the leaves of its summaries that are not among those.

    In the place of a summary stands an empty chunk, so that nothing is found in its words. ``leaves`` tells by its
    index those of what it rests on.
    """

    chunks: tuple[Chunk, ...]
    leaves: Mapping[int, tuple[int, ...]]

    @classmethod
    def of(cls, chunks: Sequence[Chunk], leaves: Sequence[Sequence[Chunk]]) -> "Cited":
        """Return what may be cited of chunks; ``leaves`` holds by index what each rests on, if it is a summary."""
        told = list(leaves) + [()] * (len(chunks) - len(leaves))
        every = [
            replace(chunk, text="", title="", heading_path=()) if held else chunk
            for chunk, held in zip(chunks, told, strict=True)
        ]
        places = {chunk.id: index for index, chunk in enumerate(chunks) if not told[index]}
        for held in told:
            for leaf in held:
                if leaf.id not in places:
                    places[leaf.id] = len(every)
                    every.append(leaf)
        found = {index: tuple(places[leaf.id] for leaf in held) for index, held in enumerate(told) if held}
        return cls(chunks=tuple(every), leaves=found)


def resolved(text: str, judge: Judge, leaves: Mapping[int, Sequence[int]]) -> str:
    """Return the text with each marker of a summary made into one of the leaf that supports its sentence best.

    A sentence to which no leaf is akin loses it; whether what is akin supports it is told later, as of any marker.
    """
    if not leaves:
        return text
    pieces: list[str] = []
    done = 0
    for statement in judge.read(text):
        for marker in statement.cited:
            best = _best(statement.claim, leaves.get(marker.id, ()), judge)
            if best is not None:
                pieces += (text[done : marker.start], markers.marker(best))
                done = marker.end
    changed = "".join((*pieces, text[done:]))
    return markers.remove(changed, [one for one in markers.find(changed) if one.id in leaves])


def numbered_anew(text: str, numbers: Mapping[int, int]) -> str:
    """Return the text with the ids of its markers replaced."""
    pieces: list[str] = []
    done = 0
    for marker in markers.find(text):
        pieces += (text[done : marker.start], markers.marker(numbers.get(marker.id, marker.id)))
        done = marker.end
    return "".join((*pieces, text[done:]))


def _best(claim: Claim, leaves: Sequence[int], judge: Judge) -> int | None:
    """Return the leaf that has most to say for a sentence, None where none has anything."""
    if not leaves:
        return None
    evidence = judge.evidence(claim)
    best = max(leaves, key=lambda leaf: (own_odds(evidence[leaf]), evidence[leaf].passage, -leaf))
    least = 0.0 if judge.can_judge(claim, best) else NEGLIGIBLE
    return best if evidence[best].cover > least else None
