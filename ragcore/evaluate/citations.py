"""Citation metrics: which passages an answer cites, against those that people judged to support it."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.citations import markers
from ragcore.citations.cite import attribute
from ragcore.citations.scoring import CitationPolicy
from ragcore.errors import ConfigError
from ragcore.types import Chunk

NEAR = 2
"""A marker may follow its sentence within this many characters, spaces aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSentence:
    """``answer[start:end]`` with the passages that support it, and those judged not to; no ``gold``: unsupported."""

    start: int
    end: int
    gold: frozenset[str]
    wrong: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationCase:
    """A bare answer and its passages. Judged sentence by sentence, or as a whole by ``gold``.

    Passages in ``also`` count neither as right nor as wrong.
    """

    id: str
    answer: str
    passages: tuple[Chunk, ...]
    sentences: tuple[JudgedSentence, ...] = ()
    gold: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationScores:
    """Micro-averaged over (sentence, passage) pairs, or over the passages cited anywhere in an answer.

    ``unsupported_cited`` is the share of sentences without gold that got a citation, ``wrong_cited`` of those that got
    one which was judged wrong; None where nothing was judged by sentence.
    """

    precision: float
    recall: float
    f1: float
    unsupported_cited: float | None
    wrong_cited: float | None


def read_cases(lines: Iterable[str]) -> list[CitationCase]:
    """Read ``cases.jsonl``: one object a line with case_id, answer, passages, and sentences or gold.

    Raises:
        ConfigError: A line is no such object; names the line.
    """
    cases = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            cases.append(_case(json.loads(line)))
        except json.JSONDecodeError as error:
            raise ConfigError(f"line {number} is no citation case: it isn't JSON") from error
        except KeyError as error:
            raise ConfigError(f"line {number} is no citation case: it lacks {error.args[0]}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigError(f"line {number} is no citation case: {error}") from error
    return cases


def _case(read: dict[str, object]) -> CitationCase:
    passages = _objects(read["passages"])
    return CitationCase(
        id=str(read["case_id"]),
        answer=str(read["answer"]),
        passages=tuple(
            Chunk(
                id=str(passage["pid"]),
                document_id=str(passage["pid"]),
                knowledge_base="",
                ordinal=index,
                text=str(passage["text"]),
                title=str(passage.get("title", "")),
                token_count=0,
            )
            for index, passage in enumerate(passages)
        ),
        sentences=tuple(
            JudgedSentence(
                start=int(str(sentence["start"])),
                end=int(str(sentence["end"])),
                gold=_names(sentence["gold"]),
                wrong=_names(sentence.get("wrong", [])),
            )
            for sentence in _objects(read.get("sentences", []))
        ),
        gold=_names(read.get("gold", [])),
        also=_names(read.get("also", [])),
    )


def _objects(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise TypeError("a list of objects is expected")
    return value


def _names(value: object) -> frozenset[str]:
    if not isinstance(value, list):
        raise TypeError("a list of passage ids is expected")
    return frozenset(str(one) for one in value)


async def attribute_cases(cases: Sequence[CitationCase], policy: CitationPolicy | None = None) -> list[str]:
    """Return each case's bare answer with the markers that we put into it; no model is asked."""
    chosen = policy or CitationPolicy()
    return [await attribute(case.answer, case.passages, policy=chosen) for case in cases]


def evaluate_citations(cases: Sequence[CitationCase], cited: Sequence[str]) -> CitationScores:
    """Score the cited answers of the cases, in the same order; pure.

    Raises:
        ValueError: There are more or fewer answers than cases.
    """
    right = wrong = missed = unsupported = unsupported_cited = wrong_cited = 0
    for case, answer in zip(cases, cited, strict=True):
        if not case.sentences:
            all_cited = frozenset(passage for _, passage in _uses(answer, case))
            right += len(all_cited & case.gold)
            wrong += len(all_cited - case.gold - case.also)
            missed += len(case.gold - all_cited)
            continue
        for sentence, passages in zip(case.sentences, cited_by_sentence(answer, case), strict=True):
            if sentence.gold:
                right += len(passages & sentence.gold)
                wrong += len(passages - sentence.gold)
                missed += len(sentence.gold - passages)
            else:
                unsupported += 1
                unsupported_cited += bool(passages)
                wrong_cited += bool(passages & sentence.wrong)
    precision, recall = _share(right, right + wrong), _share(right, right + missed)
    return CitationScores(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if right else 0.0,
        unsupported_cited=unsupported_cited / unsupported if unsupported else None,
        wrong_cited=wrong_cited / unsupported if unsupported else None,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _uses(answer: str, case: CitationCase) -> list[tuple[int, str]]:
    """Return where each marker stands in the answer without markers, and the passage that it names."""
    found = markers.find(answer)
    removed, gone = [0], []
    for start, end in markers.cuts(answer, found):
        gone.append(start)
        removed.append(removed[-1] + end - start)
    uses = []
    for one in found:
        cut = bisect_right(gone, one.start) - 1
        passage = case.passages[one.id].document_id if one.id < len(case.passages) else f"no passage {one.id}"
        uses.append((gone[cut] - removed[cut], passage))
    return uses


def cited_by_sentence(answer: str, case: CitationCase) -> list[set[str]]:
    """Return the passages cited by each labelled sentence: a marker belongs to the one it ends, or follows closely."""
    cited: list[set[str]] = [set() for _ in case.sentences]
    for offset, passage in _uses(answer, case):
        ended = [index for index, sentence in enumerate(case.sentences) if _ends(offset, sentence, case.answer)]
        followed = [index for index, sentence in enumerate(case.sentences) if _follows(offset, sentence, case.answer)]
        for index in (ended or followed)[-1:]:
            cited[index].add(passage)
    return cited


def _ends(offset: int, sentence: JudgedSentence, answer: str) -> bool:
    """Whether a marker stands inside the sentence with nothing but punctuation behind it."""
    inside = sentence.start < offset <= sentence.end
    return inside and not any(character.isalnum() for character in answer[offset : sentence.end])


def _follows(offset: int, sentence: JudgedSentence, answer: str) -> bool:
    return offset > sentence.end and len("".join(answer[sentence.end : offset].split())) <= NEAR
