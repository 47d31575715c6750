"""Questions behind sentences that tell how somebody came to them: what is found of them, searched for in four ways.

    python -m benchmarks.context_before [SET ...] [--questions N]

After `python -m benchmarks.retrieval SET`, whose indexes it reads. Before each question of a set that has no history
stand one or more sentences of our own, about trips, colleagues and slides. Told are, for the question alone, for the
whole message, for what it asks, and for both, as the product searches: nDCG@10, the share of questions of which a right
document was found, and of which nothing was.
"""

import argparse
import asyncio
import sys
from dataclasses import dataclass, field, replace

from benchmarks.answers import native, retriever_of
from benchmarks.retrieval import BENCH, indexed, mean, workspace
from ragcore.evaluate.judged import JudgedQuery, read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, ndcg
from ragcore.refine.apart import with_asking
from ragcore.types import Question, ScoredChunk

SETS = ("inscit", "multihop-dev")
TOLD = (
    "My team travels to the trade fair next month and we have to book rooms soon, and the agency wants an answer today "
    "because the prices rise every week.",
    "Hi all, I hope you are well. I am new here and still finding my way around, so sorry if this was asked before.",
    "Yesterday I sat together with two colleagues from another office and we could not agree at all. One of them was "
    "sure, the other one said the opposite.",
    "I have tried to find it in the folder that Maria sent around in spring, but the link was dead and the search there "
    "gave me three hundred results.",
    "Our customer called again this morning and was rather angry, since nobody had written back for a week.",
    "Good morning! Before the meeting at ten I need to put one line on a slide.",
)


@dataclass
class Row:
    """What was found of the questions, one way."""

    name: str
    gains: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)

    def take(self, query: JudgedQuery, chunks: tuple[ScoredChunk, ...]) -> None:
        """Count one question."""
        found = list(dict.fromkeys(native(one.chunk.document_id) for one in chunks))
        self.gains.append(ndcg(found, query.grades))
        self.right.append(float(any(query.grades.get(one, 0) > 0 for one in found)))
        self.nothing.append(float(not found))

    def __str__(self) -> str:
        return f"| {self.name} | {mean(self.gains):.3f} | {mean(self.right):.3f} | {mean(self.nothing):.3f} |"


def ways(query: JudgedQuery, told: str) -> dict[str, Question]:
    """Return the question in each way."""
    asked = query.text if query.text.rstrip().endswith(("?", "？")) else f"{query.text}?"
    plain = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,))
    whole = replace(plain, text=f"{told} {asked}")
    both = with_asking(whole)
    return {"the question alone": plain, "the whole message": whole, "what it asks": _first(both), "**both**": both}


def _first(question: Question) -> Question:
    return replace(question, text=question.asked, wordings=())


async def measure(name: str, count: int) -> None:
    """Print the table of a set."""
    queries = [query for query in read_queries(BENCH / name) if not query.history][:count]
    rows: dict[str, Row] = {}
    library = await indexed(name)
    try:
        retriever = retriever_of(library)
        for number, query in enumerate(queries):
            for way, question in ways(query, TOLD[number % len(TOLD)]).items():
                rows.setdefault(way, Row(way)).take(query, (await retriever.retrieve(question)).chunks)
    finally:
        await library.close()
    print(f"\n{name}, {len(queries)} questions\n\n| searched for | nDCG@10 | a right one | nothing |\n|" + " --- |" * 4)
    print(*rows.values(), sep="\n", flush=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    for name in arguments.sets or SETS:
        if not workspace(name).is_dir():
            print(f"skipped: `python -m benchmarks.retrieval {name}` makes the index first")
            continue
        asyncio.run(measure(name, arguments.questions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
