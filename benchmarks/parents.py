"""Search small, quote large: what parents add to what is quoted, and whether links still lead to the right place.

    python -m benchmarks.parents [SET ...] [--tokens N ...] [--questions N]

For chunks of 96, 128 and 160 tokens, alone and in parents of 512: *quoted*, the share of the gold stretches (of the
gold pages in financebench-dev) that stand in the chunks given out for a question, behind the gate and at the default
depth; *in 4,000*, the share that stands in the best of them that fit 4,000 characters; *tokens* of all that is given
out; and of answers without a model, where citations are checked as in every answer: *links*, the share of citations
whose link, to a range of lines or to a page, leads to one that holds gold, *lines*, how many lines a link marks, and
*answered*, the share of questions with a citation. Indexes are those of ``benchmarks.steps``.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from benchmarks._judged_sets import BENCH, URL, JudgedSet, read_set
from benchmarks.steps import CACHE, LONG, QUESTIONS, Setup, indexed, remembered
from ragcore.answer import Answerer
from ragcore.chunking import ChunkOptions
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, retriever_over
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Citation, Question, ScoredChunk

ROOM = 4_000
PLACED = ("chunking-dev", "financebench-dev")
"""Sets that tell where in a document an answer stands."""
_LINES = re.compile(r"#L(\d+)(?:-L(\d+))?$")
_PAGE = re.compile(r"#page=(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a citation leads: the document, and from which line or page to which."""

    document: str
    first: int
    last: int

    @classmethod
    def of(cls, citation: Citation) -> "Link":
        """Read it from the address; one to the whole document leads to its line 0."""
        found = _LINES.search(citation.url) or _PAGE.search(citation.url)
        numbers = [int(number) for number in found.groups() if number] if found else [0]
        document = unquote(citation.url.partition("#")[0].removeprefix(URL))
        return cls(document=document, first=numbers[0], last=numbers[-1])


def gold_places(data: JudgedSet) -> dict[str, Link]:
    """Return where each gold stretch or page stands, by its id: lines counted from 1, or the page."""
    texts = {one.id.partition(":")[2]: one.content.decode() for one in data.documents if one.media_type == "text/plain"}
    found: dict[str, Link] = {}
    for place in {place for query in data.questions for place in query.grades}:
        if "#" in place:
            document, _, page = place.rpartition("#")
            found[place] = Link(document=document, first=int(page), last=int(page))
        else:
            document, _, span = place.rpartition(":")
            start, end = (int(number) for number in span.split("-"))
            text = texts[document]
            first = text.count("\n", 0, start) + 1
            found[place] = Link(document=document, first=first, last=first + text.count("\n", start, end))
    return found


def that_fit(chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return the best chunks that 4,000 characters hold whole."""
    left, kept = ROOM, []
    for scored in chunks:
        if len(scored.chunk.text) <= left:
            left -= len(scored.chunk.text)
            kept.append(scored)
    return kept


async def line_of(data: JudgedSet, options: ChunkOptions) -> str:
    """Ask every question and return the line of the table."""
    gold, tokenizer = gold_places(data), offline_tokenizer()
    quoted, held, tokens, right, marked, answered = [], [], [], [], [], []
    async with indexed(data, Setup(chunk=options), cache=CACHE, embedder=remembered()) as (library, _):
        retriever = retriever_over(library, Setup().retrieval)
        answerer = Answerer(retriever=retriever, embedder=library.embedder, tokenizer=tokenizer)
        for query in data.questions:
            question = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,))
            chunks = (await retriever.retrieve(question)).chunks
            for shares, read in ((quoted, chunks), (held, that_fit(chunks))):
                found = {one for scored in read for one in data.held(scored.chunk)}
                shares.append(len(found & set(query.grades)) / len(query.grades))
            tokens.append(sum(tokenizer.count(scored.chunk.text) for scored in chunks))
            answer = [event async for event in answerer.answer(question)][-1]
            assert isinstance(answer, Answer)
            links = [Link.of(citation) for citation in answer.citations]
            answered.append(float(bool(links)))
            marked += [link.last - link.first + 1 for link in links]
            right += [any(_meet(link, gold[place]) for place in query.grades) for link in links]
    means = [mean(quoted), mean(held), mean(right), mean(answered)]
    size = f"{options.chunk_tokens}" + (f" in {options.parent_tokens}" if options.parent_tokens else "")
    cells = [data.name, size, *(f"{value:.3f}" for value in means), f"{mean(marked):.1f}", f"{mean(tokens):.0f}"]
    return f"| {' | '.join(cells)} |"


def _meet(link: Link, gold: Link) -> bool:
    return link.document == gold.document and link.first <= gold.last and gold.first <= link.last


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *PLACED], default=[])
    parser.add_argument("--tokens", type=int, nargs="+", default=[96, 128, 160], help="of a chunk")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each set; 0: all")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    print(
        "| set | chunk tokens | quoted | in 4,000 | links | answered | lines | tokens |\n|" + " --- |" * 8, flush=True
    )
    for name in arguments.sets or PLACED:
        data = read_set(name, documents=LONG.get(name, (0, 0))[0], questions=arguments.questions)
        for size in arguments.tokens:
            for parent in (0, 512):
                options = ChunkOptions(chunk_tokens=size, parent_tokens=parent)
                print(asyncio.run(line_of(data, options)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
