"""How well answers are cited: precision, recall and F1 on the judged sets, and what the check removes.

    python -m benchmarks.citations [sweep]

``sweep`` prints what each threshold of insertion gives instead.

Insertion is measured without a model: the answers are bare, and what is put in is scored. The check is measured by
giving each answer its gold markers (what it removes is an error), and then markers of passages that are not gold (what
it removes is right). The weights of ``ragcore/citations/scoring.py`` were fitted on the cases of hagrid-cite whose id
has an even first byte of SHA-256, and the thresholds chosen on the same halves of all three sets; "unseen" is the rest.

A sentence without a source is measured twice. "sources taken away" gives each supported sentence the other passages
alone: whatever is cited then is cited wrongly, but for passages that say the same and were never judged.

hagrid-cite calls a sentence unsupported when the passages that its writer cited do not support it; whether another of
the eight does, nobody judged. So beside the share of those that got a citation stands the share that got one judged
wrong, and how many of those cited have nine tenths of their terms, by weight, in the passage.
"""

import asyncio
import hashlib
import pathlib
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from ragcore.citations import markers
from ragcore.citations.attribution import Judge, marker_place
from ragcore.citations.cite import attribute, cite
from ragcore.citations.evidence import Claim, Source
from ragcore.citations.scoring import CitationPolicy
from ragcore.citations.sentences import split_sentences
from ragcore.evaluate.citations import (
    CitationCase,
    CitationScores,
    attribute_cases,
    cited_by_sentence,
    evaluate_citations,
    read_cases,
)
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
SHIPPED = CitationPolicy()
NO_INSERTION = CitationPolicy(insert_at=0.999999999)


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
    if any(case.sentences for case in cases):
        count, whole = nearly_whole(cases, cited)
        print(f"{'':28}unsupported sentences cited: {count}, of them nearly whole in the passage: {whole}")
    else:
        other, none = other_page(cases, cited)
        print(f"{'':28}gold missed: {other} answers cite another page that the annotator used, {none} cite neither")
    ragflow, simple, aim = PEERS[name]
    print(f"{'':28}RAGFlow {ragflow} | most overlap {simple} | aim {aim}")
    print(f"{'':28}answers whose own text changed: {changed} of {len(cases)}")
    bare = [without_sources(case) for case in cases]
    uncited = await share_cited([case for case in bare if case.passages])
    rest = await share_cited([case for case in bare if case.passages and unseen(case)])
    print(f"{'':28}sources taken away: {uncited:.3f} of the sentences cited all the same (unseen {rest:.3f})")


def without_sources(case: CitationCase) -> CitationCase:
    """Return the case with no passage that was judged right for any of its sentences, and none when there was none."""
    right = case.gold | case.also | frozenset(one for sentence in case.sentences for one in sentence.gold)
    others = tuple(chunk for chunk in case.passages if chunk.document_id not in right)
    return replace(case, passages=others if len(others) < len(case.passages) else ())


async def share_cited(cases: Sequence[CitationCase], policy: CitationPolicy = SHIPPED) -> float:
    """Return the share of the sentences once supported, or of all where none was judged, that carry a citation."""
    cited = []
    for case, text in zip(cases, await attribute_cases(cases, policy), strict=True):
        if case.sentences:
            found = zip(case.sentences, cited_by_sentence(text, case), strict=True)
            cited += [bool(passages) for sentence, passages in found if sentence.gold]
        else:
            statements = Judge([Source(chunk) for chunk in case.passages], NO_INSERTION).read(text)
            cited += [bool(one.cited) for one in statements if one.claim.says_something]
    return sum(cited) / len(cited)


def other_page(cases: Sequence[CitationCase], cited: Sequence[str]) -> tuple[int, int]:
    """Count the answers that cite no gold page: those that cite one of ``also`` instead, and the rest."""
    missed = []
    for case, text in zip(cases, cited, strict=True):
        pages = {case.passages[one.id].document_id for one in markers.find(text)}
        if not pages & case.gold:
            missed.append(bool(pages & case.also))
    return sum(missed), len(missed) - sum(missed)


def nearly_whole(cases: Sequence[CitationCase], cited: Sequence[str]) -> tuple[int, int]:
    """Count the unsupported sentences that were cited, and those that the cited passage holds all but to a tenth."""
    count = whole = 0
    for case, text in zip(cases, cited, strict=True):
        judge = Judge([Source(chunk) for chunk in case.passages], NO_INSERTION)
        for sentence, passages in zip(case.sentences, cited_by_sentence(text, case), strict=True):
            if passages and not sentence.gold:
                evidence = judge.evidence(Claim(case.answer[sentence.start : sentence.end]))
                count += 1
                whole += any(
                    one.cover >= 0.9 and chunk.document_id in passages
                    for one, chunk in zip(evidence, case.passages, strict=True)
                )
    return count, whole


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


async def removed(case: CitationCase, embedder: Embedder | None, *, right: bool) -> tuple[int, int]:
    """Return how many markers were given to a case, and how many of them the check removed.

    By sentence each marker counts; by answer, where nobody said which sentence rests on which passage, every sentence
    carries all of them, and a passage counts as removed when its last marker goes.
    """
    text = marked(case, right_and_wrong(case)[0 if right else 1])
    kept = (await cite(text, case.passages, embedder, policy=NO_INSERTION)).text
    before, after = ([one.id for one in markers.find(some)] for some in (text, kept))
    if not case.sentences:
        before, after = list(set(before)), list(set(after))
    return len(before), len(before) - len(after)


def holds_half(case: CitationCase) -> bool:
    """Return whether each gold passage has half of the terms of some sentence: elsewhere the label is in doubt."""
    judge = Judge([Source(chunk) for chunk in case.passages], NO_INSERTION)
    evidence = [judge.evidence(statement.claim) for statement in judge.read(case.answer)]
    gold = [index for index, chunk in enumerate(case.passages) if chunk.document_id in case.gold]
    return all(any(one[index].cover >= 0.5 for one in evidence) for index in gold)


async def checking(name: str, cases: Sequence[CitationCase], embedder: Embedder) -> None:
    for label, asked in (("with MiniLM", embedder), ("terms alone", None)):
        parts = []
        for right in (True, False):
            counts = [await removed(case, asked, right=right) for case in cases]
            half = [count for count, case in zip(counts, cases, strict=True) if unseen(case)]
            every, rest = (
                sum(gone for _, gone in some) / max(1, sum(given for given, _ in some)) for some in (counts, half)
            )
            parts.append(f"{'right' if right else 'wrong'} markers removed {every:.3f} (unseen {rest:.3f})")
            if right and not cases[0].sentences:
                held = [count for count, case in zip(counts, cases, strict=True) if holds_half(case)]
                share = sum(gone for _, gone in held) / max(1, sum(given for given, _ in held))
                parts[-1] += f", {share:.3f} where gold holds half of a sentence ({len(held)} of {len(cases)} answers)"
        print(f"{name:18}{label:14}{', '.join(parts)}")


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


async def sweep() -> None:
    """Print F1, the share of unsupported sentences cited, and of sentences cited without their sources, by threshold."""
    sets = {name: read_cases((BENCH / name / "cases.jsonl").read_text("utf-8").splitlines()) for name in PEERS}
    for insert_at in (0.65, 0.8, 0.9, 0.95, 0.97):
        policy = CitationPolicy(insert_at=insert_at)
        parts = []
        for name, cases in sets.items():
            scores = evaluate_citations(cases, await attribute_cases(cases, policy))
            away = await share_cited([bare for bare in map(without_sources, cases) if bare.passages], policy)
            told = "" if scores.unsupported_cited is None else f" unsupported {scores.unsupported_cited:.3f}"
            parts.append(f"{name} F1 {scores.f1:.3f}{told} taken away {away:.3f}")
        print(f"{insert_at:.2f}  {', '.join(parts)}")


async def measure() -> None:
    embedder = MiniLMEmbedder()
    sets = {name: read_cases((BENCH / name / "cases.jsonl").read_text("utf-8").splitlines()) for name in PEERS}
    await attribute(sets["hagrid-cite"][0].answer, sets["hagrid-cite"][0].passages)
    for name, cases in sets.items():
        await insertion(name, cases)
    for name, cases in sets.items():
        await checking(name, cases, embedder)
    await speed(sets["hagrid-cite"], embedder)


def main() -> None:
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return
    asyncio.run(sweep() if sys.argv[1:] == ["sweep"] else measure())


if __name__ == "__main__":
    main()
