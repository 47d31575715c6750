"""Contradictions between sources: those that plain words show, and what an answer doesn't tell with both links."""

from collections.abc import Mapping, Sequence

from ragcore.answer.writing import Draft
from ragcore.citations import markers
from ragcore.citations.attribution import marker_place
from ragcore.citations.contrary import Said, contradict
from ragcore.citations.sentences import split_sentences
from ragcore.extractive.rows import row_of
from ragcore.extractive.words import content
from ragcore.research.findings import claims_of
from ragcore.research.memory import numbering
from ragcore.research.sentences import sentence
from ragcore.research.values import Claim, Contradiction, Finding
from ragcore.types import Chunk, ScoredChunk

MOST_CONTRADICTIONS = 3


def contradictions_in(findings: Sequence[Finding]) -> tuple[Contradiction, ...]:
    """Return pairs of what was found and what another document says that was read for it, where words contradict.

    They are compared as a cited sentence is with its source; what stands under titles or headings that tell two things
    apart, "Office in Lyon" and "Office in Paris", is about each of them.
    At most ``MOST_CONTRADICTIONS``, one for two chunks.
    """
    found: dict[frozenset[str], Contradiction] = {}
    sentences: dict[str, list[Said]] = {}
    for finding in findings:
        chunks = {scored.chunk.id: scored.chunk for scored in finding.chunks}
        sentences |= {key: _sentences(chunk.text) for key, chunk in chunks.items() if key not in sentences}
        read = [(said, key) for key in chunks for said in sentences[key]]
        for claim in claims_of(finding):
            said = Said(claim.text)
            for other, chunk_id in read:
                pair = frozenset((claim.chunk_id, chunk_id))
                if pair in found or not contradict(said, other) or _apart(chunks[claim.chunk_id], chunks[chunk_id]):
                    continue
                found[pair] = Contradiction(one=claim, other=Claim(text=other.text, chunk_id=chunk_id))
                if len(found) == MOST_CONTRADICTIONS:
                    return tuple(found.values())
    return tuple(found.values())


def _apart(one: Chunk, other: Chunk) -> bool:
    """Whether two chunks are of one document, or about two things of a kind: their headings share words, not names."""
    words, others = (
        {word for line in (chunk.title, *chunk.heading_path) for word in content(line) if not word.isdigit()}
        for chunk in (one, other)
    )
    return one.document_id == other.document_id or bool(words & others and words - others and others - words)


def _sentences(text: str) -> list[Said]:
    found = (text[one.body : one.body_end] for one in split_sentences(text) if one.citable)
    return [Said(" ".join(markers.strip(one).split())) for one in found]


class Contradicting:
    """Sets the contradictions that a text does not tell with both links at its end."""

    def __init__(self, contradictions: Sequence[Contradiction], language: str) -> None:
        """Keep the contradictions."""
        self._contradictions = contradictions
        self._language = language

    def __call__(self, draft: Draft) -> str:
        """Return what stands at the end of a draft, "" where there is nothing to add."""
        numbers = numbering(draft.chunks)
        text = markers.repair(draft.text, len(draft.chunks))
        paragraphs = [_cited_in(one) for one in text.split("\n\n")]
        lacking = []
        for one in self._contradictions:
            both = {one.one.chunk_id, one.other.chunk_id} <= numbers.keys()
            if both and not any(_tells(cited, one, numbers) for cited in paragraphs):
                lacking.append(listed_both(one, draft.chunks))
        return "\n\n".join((sentence("contradiction", self._language), *lacking)) if lacking else ""


def _cited_in(paragraph: str) -> list[tuple[frozenset[int], frozenset[str]]]:
    """Return of each sentence that cites anything the numbers of what it cites, and its words."""
    said = [paragraph[one.body : one.body_end] for one in split_sentences(paragraph)]
    cited = ((frozenset(marker.id for marker in markers.find(one)), one) for one in said)
    return [(numbers, frozenset(content(markers.strip(one)))) for numbers, one in cited if numbers]


def _tells(
    cited: Sequence[tuple[frozenset[int], frozenset[str]]], one: Contradiction, numbers: Mapping[str, int]
) -> bool:
    """Tell whether sentences say both sides of a contradiction, each with its own link.

    The words that tell the sides apart must stand there, numbers before others; where a side has none ("is allowed",
    "is not allowed"), it is another sentence that says nearly the same.
    """
    words = [frozenset(content(claim.text)) for claim in (one.one, one.other)]
    apart = [words[0] - words[1], words[1] - words[0]]
    figures = [frozenset(word for word in own if any(map(str.isdigit, word))) for own in apart]
    marks = figures if all(figures) else apart
    needed = marks if all(marks) else words
    says = [
        {at for at, (ids, said) in enumerate(cited) if numbers[claim.chunk_id] in ids and _holds(said, of)}
        for claim, of in zip((one.one, one.other), needed, strict=True)
    ]
    return all(says) and (all(marks) or len(says[0] | says[1]) > 1)


def _holds(said: frozenset[str], needed: frozenset[str]) -> bool:
    """Tell whether words hold what is needed: every number, and half of all, since other words may stand for them."""
    figures = {word for word in needed if any(map(str.isdigit, word))}
    return figures <= said and 2 * len(said & needed) >= len(needed)


def listed_both(one: Contradiction, chunks: Sequence[ScoredChunk]) -> str:
    """Return both statements with their markers, "" where one of their chunks does not stand in the prompt."""
    numbers = numbering(chunks)
    claims = (one.one, one.other)
    if any(claim.chunk_id not in numbers for claim in claims):
        return ""
    places = [(claim, numbers[claim.chunk_id]) for claim in claims]
    return "\n".join(f"- {_marked(_said(claim.text, chunks[number].chunk), number)}" for claim, number in places)


def _said(text: str, chunk: Chunk) -> str:
    """Return a statement as it is quoted: a row of a table as a sentence."""
    row = row_of(text, chunk.text)
    return row.said() if row is not None and row.cells else text


def _marked(text: str, number: int) -> str:
    """Return a sentence with its marker where it belongs: before the stop."""
    place = marker_place(text, split_sentences(text)[-1])
    return f"{text[:place]}{markers.spaced(text, place, markers.marker(number))}{text[place:]}"
