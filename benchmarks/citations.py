"""How well answers are cited: precision, recall and F1 on the judged sets, and what the check removes.

    python -m benchmarks.citations

Insertion is measured without a model: the answers are bare, and what is put in is scored. The check is measured by
giving each answer its gold markers (what it removes is an error) and then markers of passages that are not gold (what
it removes is right). The weights of ``ragcore/citations/scoring.py`` were fitted on the half of hagrid-cite whose
case ids have an even first byte of SHA-256, and the thresholds chosen on the same halves of all three sets; "unseen"
is the other half.
"""

import asyncio
import hashlib
import pathlib
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from ragcore.citations import CitationPolicy, attribute, cite, markers
from ragcore.citations.attribution import marker_place
from ragcore.citations.sentences import split_sentences
from ragcore.evaluate.citations import CitationCase, CitationScores, attribute_cases, evaluate_citations, read_cases
from ragcore.models.embeddings import Embedder
from ragcore.models.minilm import MiniLMEmbedder

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"
# The measured peers: RAGFlow's insert_citations, and citing the one chunk with most term overlap; F1, and the share of
# unsupported sentences cited.
PEERS = {
    "hagrid-cite": ("0.687 (P 0.920 R 0.548), 0.22", "0.759, 0.87", "0.80, <= 0.20"),
    "inscit-cite": ("0.819", "0.843", "0.86"),
    "dureader-cite-zh": ("0.543", "0.625", "0.70"),
}
CHINESE = {"dureader-cite-zh"}


def unseen(case: CitationCase) -> bool:
    """Return whether nothing was fitted or chosen on this case."""
    return hashlib.sha256(case.id.encode()).digest()[0] % 2 == 1


def row(name: str, scores: CitationScores) -> str:
    parts = [f"P {scores.precision:.3f}  R {scores.recall:.3f}  F1 {scores.f1:.3f}"]
    if scores.unsupported_cited is not None and scores.wrong_cited is not None:
        parts.append(
            f"unsupported cited {scores.unsupported_cited:.3f} (by a passage judged wrong {scores.wrong_cited:.3f})"
        )
    return f"{name:28}" + "  ".join(parts)


async def insertion(name: str, cases: Sequence[CitationCase]) -> None:
    cited = await attribute_cases(cases)
    changed = sum(markers.strip(text) != case.answer for case, text in zip(cases, cited, strict=True))
    half = [index for index, case in enumerate(cases) if unseen(case)]
    print(row(f"{name} (all)", evaluate_citations(cases, cited)))
    print(row(f"{name} (unseen)", evaluate_citations([cases[i] for i in half], [cited[i] for i in half])))
    ragflow, simple, aim = PEERS[name]
    print(f"{'':28}RAGFlow {ragflow} | most overlap {simple} | aim {aim}")
    print(f"{'':28}answers whose own text changed: {changed} of {len(cases)}")


def marked(case: CitationCase, passages: Sequence[frozenset[str]]) -> str:
    """Write markers at the end of each labelled sentence, or of each sentence; ``passages`` in the same order."""
    ids = {chunk.document_id: index for index, chunk in enumerate(case.passages)}
    text, shift = case.answer, 0
    for place, named in zip(places(case), passages, strict=True):
        written = "".join(markers.marker(ids[one]) for one in sorted(named) if one in ids)
        spaced = markers.spaced(text, place + shift, written) if written else ""
        text = text[: place + shift] + spaced + text[place + shift :]
        shift += len(spaced)
    return text


def places(case: CitationCase) -> list[int]:
    if case.sentences:
        return [sentence.end for sentence in sorted(case.sentences, key=lambda one: one.start)]
    return [marker_place(case.answer, one) for one in split_sentences(case.answer) if one.citable]


def right_and_wrong(case: CitationCase) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """Return, per place, the gold passages, and as many that are neither gold nor counted as also right."""
    every = [chunk.document_id for chunk in case.passages]
    if case.sentences:
        ordered = sorted(case.sentences, key=lambda one: one.start)
        others = [frozenset([one for one in every if one not in s.gold][: max(1, len(s.gold))]) for s in ordered]
        return [s.gold for s in ordered], [s.wrong or other for s, other in zip(ordered, others, strict=True)]
    gold = [case.gold] * len(places(case))
    other = frozenset([one for one in every if one not in case.gold | case.also][: len(case.gold)])
    return gold, [other] * len(gold)


async def removed(cases: Sequence[CitationCase], embedder: Embedder | None, *, right: bool) -> float:
    """Return the share of markers that the check removes.

    By sentence each marker counts; by answer, where nobody said which sentence rests on which passage, every sentence
    carries all gold markers, and a passage counts as removed when its last marker goes.
    """
    policy = CitationPolicy(insert_at=0.999999999)
    given = gone = 0
    for case in cases:
        text = marked(case, right_and_wrong(case)[0 if right else 1])
        kept = (await cite(text, case.passages, embedder, policy=policy)).text
        if case.sentences:
            before, after = len(markers.find(text)), len(markers.find(kept))
        else:
            before = len({one.id for one in markers.find(text)})
            after = len({one.id for one in markers.find(kept)})
        given += before
        gone += before - after
    return gone / given if given else 0.0


async def checking(name: str, cases: Sequence[CitationCase], embedder: Embedder) -> None:
    half = [case for case in cases if unseen(case)]
    for label, asked in (("with MiniLM", embedder), ("terms alone", None)):
        shares = [await removed(some, asked, right=right) for right in (True, False) for some in (cases, half)]
        print(
            f"{name:18}{label:14}right markers removed {shares[0]:.3f} (unseen {shares[1]:.3f}), "
            f"wrong markers removed {shares[2]:.3f} (unseen {shares[3]:.3f})"
        )


async def speed(cases: Sequence[CitationCase], embedder: Embedder) -> None:
    """Cite answers of ten sentences over eight chunks, half of them with a marker that must be looked at closely."""
    long = [case for case in cases if len(case.passages) == 8]
    takes: dict[str, list[float]] = {"bare": [], "every sentence cited": []}
    for start in range(0, min(len(long), 60), 3):
        group = long[start : start + 3]
        answer = " ".join(case.answer for case in group)
        ends = [one.body_end for one in split_sentences(answer)][:10]
        answer = answer[: ends[-1]]
        case = replace(group[0], answer=answer, sentences=(), gold=frozenset({group[0].passages[0].document_id}))
        texts = {"bare": answer, "every sentence cited": marked(case, [case.gold] * len(places(case)))}
        for kind, text in texts.items():
            began = time.perf_counter()
            await cite(text, case.passages, embedder)
            takes[kind].append(1000 * (time.perf_counter() - began))
    for kind, taken in takes.items():
        print(
            f"cite, 10 sentences, 8 chunks, {kind}: median {statistics.median(taken):.0f} ms, max {max(taken):.0f} ms"
        )


async def measure() -> None:
    embedder = MiniLMEmbedder()
    sets = {name: read_cases((BENCH / name / "cases.jsonl").read_text("utf-8").splitlines()) for name in PEERS}
    await attribute(sets["hagrid-cite"][0].answer, sets["hagrid-cite"][0].passages)
    for name, cases in sets.items():
        await insertion(name, cases)
    for name, cases in sets.items():
        await checking(name, cases, embedder)
    await speed(sets["hagrid-cite"], embedder)


def main() -> int:
    if not BENCH.is_dir():
        print("the public data sets are not beside this checkout (../shared/bench)", file=sys.stderr)
        return 1
    asyncio.run(measure())
    return 0


if __name__ == "__main__":
    sys.exit(main())
