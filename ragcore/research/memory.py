"""What was found, put in order and cut to what a prompt takes; chunks of many findings under one numbering. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from ragcore.citations import markers
from ragcore.citations.resting import numbered_anew
from ragcore.extractive.words import content
from ragcore.research.queries import shown
from ragcore.research.values import Finding
from ragcore.tokens import Tokenizer
from ragcore.types import ScoredChunk


def all_chunks(findings: Sequence[Finding]) -> tuple[ScoredChunk, ...]:
    """Return every chunk that was read once: first what is cited, then of each search in turn its best.

    Each text stands once, whatever chunks it was found as.
    """
    columns = [
        [*(one for one, is_cited in kept if is_cited), *(one for one, is_cited in kept if not is_cited)]
        for kept in map(_told_apart, findings)
    ]
    cited = [sum(is_cited for _, is_cited in _told_apart(finding)) for finding in findings]
    first = _in_turn([column[:count] for column, count in zip(columns, cited, strict=True)])
    rest = _in_turn([column[count:] for column, count in zip(columns, cited, strict=True)])
    found: dict[tuple[str, str], ScoredChunk] = {}
    seen: set[str] = set()
    for scored in (*first, *rest):
        place = (scored.chunk.document_id, scored.chunk.text)
        if scored.chunk.id not in seen:
            seen.add(scored.chunk.id)
            found.setdefault(place, scored)
    return tuple(found.values())


def ranked(question: str, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings that say something, that with most of the question's words first."""
    asked = frozenset(content(question))

    def worth(finding: Finding) -> tuple[int, int]:
        return len(asked & frozenset(content(markers.strip(finding.text)))), len(markers.find(finding.text))

    return tuple(sorted((one for one in findings if one.text), key=worth, reverse=True))


def written(
    findings: Sequence[Finding], numbers: Mapping[str, int], budget: int, tokenizer: Tokenizer, *, least: int = 1
) -> str:
    """Return the findings as a prompt shows them, their markers numbered anew, in at most so many tokens.

    Where not all fits, of each finding in turn one more sentence stands there, the first finding's first: so of the
    last ones the least is left. A sentence that cites a chunk which has no number is left out, and so is one that
    another finding has already.

    Args:
        findings: The best first.
        numbers: The number of a chunk in the prompt, by its id.
        budget: In tokens.
        tokenizer: Counts them.
        least: Sentences of each that are put in before a second round goes over them.
    """
    lines = [renumbered(finding, numbers) for finding in findings]
    kept: list[list[str]] = [[] for _ in findings]
    seen: set[str] = set()
    turns = [(at, line) for at, of in enumerate(lines) for line in of[:least]]
    later = zip_longest(*([(at, line) for line in of[least:]] for at, of in enumerate(lines)))
    turns += [turn for row in later for turn in row if turn is not None]
    for at, line in turns:
        plain = markers.strip(line).casefold()
        head = "" if kept[at] else f"{_head(findings[at])}\n"
        cost = tokenizer.count(f"{head}{line}\n\n") + 1
        if plain in seen or cost > budget:
            continue
        seen.add(plain)
        kept[at].append(line)
        budget -= cost
    return "\n\n".join("\n".join((_head(finding), *of)) for finding, of in zip(findings, kept, strict=True) if of)


def _head(finding: Finding) -> str:
    return f"» {shown(finding.question)}"


def renumbered(finding: Finding, numbers: Mapping[str, int]) -> list[str]:
    """Return the sentences of a finding with other numbers, without those that cite a chunk which has none."""
    known = {at: numbers[scored.chunk.id] for at, scored in enumerate(finding.chunks) if scored.chunk.id in numbers}
    return [
        numbered_anew(line, known)
        for line in finding.text.splitlines()
        if all(marker.id in known for marker in markers.find(line))
    ]


def numbering(chunks: Sequence[ScoredChunk]) -> dict[str, int]:
    """Return the number of each chunk by its id."""
    return {scored.chunk.id: number for number, scored in enumerate(chunks)}


def readable(finding: Finding, chunks: Mapping[str, ScoredChunk]) -> Finding:
    """Return a finding with what may still be read alone: sentences that cite anything else are gone."""
    kept = [chunks[one.chunk.id] for one in finding.chunks if one.chunk.id in chunks]
    return replace(finding, text="\n".join(renumbered(finding, numbering(kept))), chunks=tuple(kept))


def _told_apart(finding: Finding) -> list[tuple[ScoredChunk, bool]]:
    cited = {marker.id for marker in markers.find(finding.text)}
    return [(scored, at in cited) for at, scored in enumerate(finding.chunks)]


def _in_turn(columns: Sequence[Sequence[ScoredChunk]]) -> list[ScoredChunk]:
    return [one for row in zip_longest(*columns) for one in row if one is not None]
