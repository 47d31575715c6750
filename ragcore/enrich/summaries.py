"""What a model writes where a summary was asked for, made into one; and which texts a summary rests on. Pure."""

import re
from collections.abc import Sequence

from ragcore.citations.evidence import Claim, Source, Weights, content_terms, weigh
from ragcore.citations.sentences import split_sentences
from ragcore.errors import ModelBadOutput
from ragcore.json_replies import value_of
from ragcore.stores.rows import storable
from ragcore.types import Chunk

LONGEST = 1_600
"""Characters. Twice what was asked for; what a model writes beyond that repeats itself, or wasn't asked for."""
FEWEST_WORDS = 3
OWN_SHARE = 0.3
"""A summary has this share of its words from what it summarises: a refusal has hardly one, nor have the rules given
back or a summary in another language."""
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_LABEL = re.compile(r"^\W*(?:[^\n:]{0,60}\bsummary\b[^\n:]{0,60}|摘要|总结|概要)\W{0,3}[:：]\W*", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\n{3,}")


def summary_of(reply: str, material: str) -> str:
    """Return the summary in a reply, without what stands around it; of one that is too long as many sentences as fit.

    Raises:
        ModelBadOutput: It is empty, no shorter than the material, or not about it.
    """
    text = _FENCE.sub("", storable(reply[: 10 * LONGEST])).strip()
    text = _of_json(text) if text.startswith(("{", "[")) else text
    text = _LABEL.sub("", text).strip().strip('"“”`').strip()
    text = _BREAKS.sub("\n\n", _SPACES.sub(" ", text))
    if len(text) >= len(material):
        raise ModelBadOutput("it is no shorter than what it summarises", raw=reply)
    text = _cut(text)
    words, said = _words(text), _words(material)
    if len(words & said) < max(FEWEST_WORDS, OWN_SHARE * len(words)):
        raise ModelBadOutput("it is not about what it summarises", raw=reply)
    return text


def _of_json(text: str) -> str:
    """Return the longest string of a JSON value; the text itself where it holds none."""
    try:
        value = value_of(text)
    except ModelBadOutput:  # brackets without end
        return ""
    held = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return max((one for one in held if isinstance(one, str)), key=len, default=text)


def _cut(text: str) -> str:
    """Return the text as far as its sentences go that end within the limit; one sentence alone is cut in itself."""
    if len(text) <= LONGEST:
        return text
    whole = [sentence.body_end for sentence in split_sentences(text[: 2 * LONGEST]) if sentence.body_end <= LONGEST]
    return text[: whole[-1]] if whole else text[:LONGEST].rstrip()


def _words(text: str) -> set[str]:
    return {term.text for term in content_terms(text)}


def resting_on(summary: str, chunks: Sequence[Chunk], most: int) -> list[int]:
    """Return which of the chunks a summary rests on, at most so many, as their places in order.

    The best one for each of its sentences first, then the second best, and so on: what a citation of the summary may
    link to. Where there are few, all of them.
    """
    if len(chunks) <= most:
        return list(range(len(chunks)))
    sources = [Source(chunk) for chunk in chunks]
    weights = Weights(sources)
    claims = [Claim(summary[one.body : one.body_end]) for one in split_sentences(summary) if one.citable]
    ranked: list[list[int]] = []
    for claim in claims or [Claim(summary)]:
        evidence = weigh(claim, sources, weights)
        ranked.append(sorted(range(len(chunks)), key=lambda at: (-evidence[at].passage, -evidence[at].cover, at)))
    kept: dict[int, None] = {}
    for turn in zip(*ranked, strict=True):
        for at in turn:
            if len(kept) == most:
                return sorted(kept)
            kept.setdefault(at)
    return sorted(kept)
