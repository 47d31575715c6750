"""The words of a chunk that support a sentence best, as they stand there."""

import re
from collections.abc import Sequence

from ragcore.citations.evidence import Claim, Source, Weights, content_terms

MAX_QUOTE = 300
"""Characters: enough for two sentences, short enough for a reader to take in."""
_WORD_END = re.compile(r"(?<=\w)(?!\w)|(?<=[\u2e80-\u9fff])")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def best_quote(claim: Claim, source: Source, weights: Weights) -> str:
    """Return the sentence or two of the chunk that say most of what the claim says; part of ``chunk.text``.

    Without anything in common it is how the chunk begins. At most ``MAX_QUOTE`` characters.
    """
    text = source.chunk.text
    if not source.passages:
        return text.strip()[:MAX_QUOTE]
    worth = {word: weights.of(word) for word in claim.words}
    values = [sum(worth.get(term, 0.0) for term in set(passage.sequence)) for passage in source.passages]
    best = max(range(len(values)), key=values.__getitem__)
    start, end = source.passages[best].start, source.passages[best].end
    if values[best] <= 0:
        first = _first_new(source)
        start, end = source.passages[first].start, source.passages[first].end
    elif wider := _with_neighbour(source, best, worth):
        start, end = wider
    if end - start > MAX_QUOTE:
        start, end = _densest(text, start, end, worth, source)
    return text[start:end]


def stretch(text: str, quotes: Sequence[str]) -> str:
    """Return the part of the text from the first of the quotes, which stand in it, to the last."""
    starts = [text.find(quote) for quote in quotes]
    return text[min(starts) : max(start + len(quote) for start, quote in zip(starts, quotes, strict=True))]


def joint_quote(text: str, quotes: Sequence[str]) -> str:
    """Return the part of the text that holds the first of the quotes and as many others as keep it to ``MAX_QUOTE``."""
    held = list(quotes[:1])
    for quote in quotes[1:]:
        if len(stretch(text, [*held, quote])) <= MAX_QUOTE:
            held.append(quote)
    return stretch(text, held)


def _first_new(source: Source) -> int:
    """Return the first passage that is not a repetition of the chunk before."""
    new = (index for index, passage in enumerate(source.passages) if passage.start >= source.chunk.overlap)
    return next(new, 0)


def _with_neighbour(source: Source, best: int, worth: dict[str, float]) -> tuple[int, int] | None:
    """Return the best sentence with the one beside it that adds most, if it adds a quarter of the claim and fits."""
    held = set(source.passages[best].sequence)
    options = []
    for other in (best - 1, best + 1):
        if not 0 <= other < len(source.passages):
            continue
        low, high = sorted((best, other))
        start, end = source.passages[low].start, source.passages[high].end
        added = sum(worth.get(term, 0.0) for term in set(source.passages[other].sequence) - held)
        if end - start <= MAX_QUOTE and not _BLANK_LINE.search(source.chunk.text, start, end):
            options.append((added, -low, start, end))
    if not options:
        return None
    added, _, start, end = max(options)
    return (start, end) if added >= sum(worth.values()) / 4 else None


def _densest(text: str, start: int, end: int, worth: dict[str, float], source: Source) -> tuple[int, int]:
    """Cut a long sentence to the stretch that holds most of the claim, at the ends of words."""
    hits = [
        (start + term.start, start + term.end, worth[term.text])
        for term in content_terms(text[start:end])
        if term.text in worth
    ]
    begin = start
    if hits:
        held = [(sum(w for s, e, w in hits if first <= s and e <= first + MAX_QUOTE), -first) for first, _, _ in hits]
        begin = -max(held)[1]
    begin = max(start, min(begin, end - MAX_QUOTE))
    if begin > start and text[begin - 1].isalnum() and not _WORD_END.match(text, begin):
        begin = next((found.end() for found in re.finditer(r"\s", text[begin:end])), 0) + begin
    stop = min(end, begin + MAX_QUOTE)
    ends = [found.start() for found in _WORD_END.finditer(text, begin + 1, stop + 1)] if stop < end else []
    ends = [one for one in ends if one <= stop]
    return begin, ends[-1] if ends else stop
