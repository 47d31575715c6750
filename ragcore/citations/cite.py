"""The whole way of an answer's citations: repair, verify, insert, number, quote."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragcore.citations import markers
from ragcore.citations.attribution import Judge, Statement, breaks_off, insert, verify
from ragcore.citations.evidence import Claim, Source
from ragcore.citations.quotes import best_quote, joint_quote, stretch
from ragcore.citations.resting import Cited, numbered_anew, resolved
from ragcore.citations.scoring import CitationPolicy
from ragcore.errors import CitebotError
from ragcore.links import deep_link
from ragcore.links import place as place_in_words
from ragcore.models.embeddings import Embedder
from ragcore.types import Chunk, Citation, Support

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedText:
    """An answer with its markers checked; ``citations`` are numbered in the order in which the text first uses them.

    ``beside`` are the chunks that it cites though they did not stand in the prompt, since summaries of them did: with n
    chunks in the prompt, ``[ID:n]`` is the first of these.
    """

    text: str
    support: Support
    citations: tuple[Citation, ...]
    beside: tuple[Chunk, ...] = ()


async def cite(
    raw: str,
    chunks: Sequence[Chunk],
    embedder: Embedder | None = None,
    *,
    question: str = "",
    unfinished: bool = False,
    leaves: Sequence[Sequence[Chunk]] = (),
    policy: CitationPolicy = CitationPolicy(),  # noqa: B008  (frozen)
    link: Callable[[Chunk, str], str] = deep_link,
    place: Callable[[Chunk, str], str] = place_in_words,
) -> CitedText:
    """Repair the markers of an answer, drop those that do not hold, and attribute the sentences left bare.

    Args:
        raw: What the model wrote; ``[ID:n]`` is ``chunks[n]``.
        chunks: The chunks of the prompt, in prompt order.
        embedder: Asked only whether a cited sentence with few words of its chunk is a paraphrase of it; without it, or
            when it fails, terms decide.
        question: What was asked: it tells the language of an answer too short to show it.
        unfinished: Whether it broke off: half a sentence at its end is neither attributed nor judged.
        leaves: By the index of a chunk what it rests on, if it is a summary: that is cited in its place. May be empty
            where none is.
        policy: The thresholds.
        link: The address of a chunk and the passage quoted from it.
        place: Where a chunk and the passage quoted from it stand, in words.

    Returns:
        The text, in which nothing but markers differs from ``raw``, and what it cites.
    """
    sources = Cited.of(chunks, leaves)
    judge = await asyncio.to_thread(_judge, sources.chunks, policy, question)
    text = await asyncio.to_thread(markers.repair, raw, len(chunks))
    text = await asyncio.to_thread(resolved, text, judge, sources.leaves)
    # A marker that the end cut off stood behind its whole sentence.
    unfinished = unfinished and markers.without_cut_off(raw) == raw
    await _look_closer(judge, text, embedder)
    cited = await asyncio.to_thread(_cited, text, judge, link, place, unfinished)
    return _renumbered(cited, sources.chunks, len(chunks))


async def attribute(
    answer: str,
    chunks: Sequence[Chunk],
    *,
    policy: CitationPolicy = CitationPolicy(),  # noqa: B008  (frozen)
) -> str:
    """Return an answer without markers with those that its chunks bear out; nothing is repaired or removed."""
    judge = await asyncio.to_thread(_judge, chunks, policy)
    return await asyncio.to_thread(insert, answer, judge)


def _judge(chunks: Sequence[Chunk], policy: CitationPolicy, question: str = "") -> Judge:
    return Judge([Source(chunk) for chunk in chunks], policy, question)


async def _look_closer(judge: Judge, text: str, embedder: Embedder | None) -> None:
    """Have the embedder compare what terms alone would drop; without it they decide.

    Measured on hagrid-cite: with terms at hand, similarity tells a bare sentence's source no better.
    """
    if embedder is None:
        return
    asked = await asyncio.to_thread(judge.open_questions, text)
    texts = list(dict.fromkeys(one for question in asked for one in (question.claim, *question.passages)))
    if not texts:
        return
    try:
        vectors = await embedder.embed(texts)
    except CitebotError as error:
        logger.warning("citations are checked by terms alone: %s", error)
        return
    row = {one: index for index, one in enumerate(texts)}
    judge.similarities = {
        (question.claim, question.chunk): float(
            np.max(vectors[[row[passage] for passage in question.passages]] @ vectors[row[question.claim]])
        )
        for question in asked
    }


def _cited(
    repaired: str,
    judge: Judge,
    link: Callable[[Chunk, str], str],
    place: Callable[[Chunk, str], str],
    unfinished: bool,
) -> CitedText:
    text = insert(verify(repaired, judge), judge, unfinished=unfinished)
    statements = judge.read(text)
    citations = tuple(
        _citation(number, chunk, statements, judge, link, place)
        for number, chunk in enumerate(dict.fromkeys(found.id for found in markers.find(text)), start=1)
    )
    judged = statements[:-1] if unfinished and statements and breaks_off(text, statements[-1]) else statements
    return CitedText(text=text, support=_support(judged, judge, cited=bool(citations)), citations=citations)


def _renumbered(cited: CitedText, chunks: Sequence[Chunk], shown: int) -> CitedText:
    """Return the text with the chunks that it cites beside those of the prompt numbered on from these."""
    beside = sorted({citation.id for citation in cited.citations if citation.id >= shown})
    if not beside:
        return cited
    numbers = {old: shown + place for place, old in enumerate(beside)}
    return replace(
        cited,
        text=numbered_anew(cited.text, numbers),
        citations=tuple(replace(one, id=numbers.get(one.id, one.id)) for one in cited.citations),
        beside=tuple(chunks[old] for old in beside),
    )


def _citation(
    number: int,
    index: int,
    statements: Sequence[Statement],
    judge: Judge,
    link: Callable[[Chunk, str], str],
    place: Callable[[Chunk, str], str],
) -> Citation:
    source = judge.sources[index]
    citing = [one.claim for one in statements if any(marker.id == index for marker in one.cited)]
    quotes = [best_quote(claim, source, judge.weights) for claim in citing or [Claim("")]]
    chunk = source.chunk
    return Citation(
        number=number,
        id=index,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.title,
        # The first of the sentences that cite it: there the reader meets the number, and follows the link.
        url=link(chunk, quotes[0]),
        location=place(chunk, stretch(chunk.text, quotes)),
        quote=joint_quote(chunk.text, quotes),
        updated_at=chunk.updated_at,
    )


def _support(statements: Sequence[Statement], judge: Judge, *, cited: bool) -> Support:
    if cited:
        return Support.CITED
    unsupported = any(judge.judged_unsupported(statement.claim) for statement in statements)
    return Support.UNSUPPORTED if unsupported else Support.EXEMPT
