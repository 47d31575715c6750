"""How much later the first words come with every step before the search: as they come, and as a ratio to no step at all.

    python -m benchmarks.first_words [--questions N] [--documents N] [--base-url URL] [--patience SECONDS]

Conversations of inscit are asked turn for turn, by the product's own operations over documents in a folder: with no
step that asks a model before the answer, with the settings as they come, and with every step on (the question's
wording, translations, keywords, a drawn filter, sections by the tables of contents, the model as a judge of the order,
the web). The model is an endpoint on loopback, which takes ``FIRST`` seconds to its first word and ``WORD`` for each,
or that of ``--base-url``. Told are, for questions that begin a conversation, those that go on with it and stand alone,
and those that lean on it: seconds to the first words, the ratio to no step, calls beside that of the answer, and the
share of questions without any; and the same with steps that come late. An answer is never taken from the cache.
``--patience`` is how long the steps before the search may take (3 s, as the settings come).
"""

import argparse
import asyncio
import hashlib
import json
import math
import pathlib
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from benchmarks.retrieval import BENCH
from bots.app import Operations, open_operations
from bots.requests import Ask, Sync
from bots.settings import load_settings
from ragcore.evaluate.judged import JudgedQuery, read_corpus, read_queries
from ragcore.evaluate.retrieval import percentile
from ragcore.refine.followups import stands_alone
from ragcore.types import Answer, Delta
from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.web_engines import EngineServer, found

FIRST, WORD = 0.5, 0.02
"""Seconds that the endpoint takes to the first word of a reply, and for each: as hosted models are."""
TOGETHER = 4
"""Documents that are the sections of one file: where there are none, no model is asked to choose some."""
WORDS = 4
"""How many of a passage the endpoint repeats: what comes after the first words is not measured."""
KINDS = ("begins", "goes on, stands alone", "leans on it")
TASKS = ("rewrite", "filter", "contents", "rerank", "answer")
OFF = "refine_multiturn = false\ncross_languages = []\n"
ON = "keyword = true\ntoc_enhance = true\n"
BASE = """
data_dir = ".citebot"
[llm]
model = "{model}"
base_url = "{base_url}"
{tasks}
[knowledge_bases.docs]
readers = ["*"]
{filter}
[[sources]]
name = "docs"
type = "files"
path = "documents"
[answer]
cache_seconds = 0
refine_seconds = {patience}
{answer}
{more}
"""
REPLIES = {
    "filter": json.dumps({"conditions": []}),
    "contents": json.dumps([{"section": 0, "score": 5}]),
    "rerank": "[1] > [0] > [2] > [3]",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Settings: with a step or without, and how slow the model is before the search."""

    name: str
    steps: str
    filter: bool = False
    rerank: bool = False
    web: bool = False
    late: float = 0.0

    def settings(self, endpoint: "Endpoint", engine: str) -> str:
        """Return the file."""
        web = f'[web]\nprovider = "searxng"\nbase_url = "{engine}"\neverywhere = true\n' if self.web else ""
        return BASE.format(
            model=endpoint.model,
            base_url=endpoint.base_url,
            tasks="" if endpoint.real else "\n".join(f'[llm.tasks.{task}]\nmodel = "{task}"' for task in TASKS),
            filter='metadata_filter = "auto"' if self.filter else "",
            patience=endpoint.patience,
            answer=self.steps,
            more=('[rerank]\nprovider = "llm"\n' if self.rerank else "") + web,
        )


WAYS = (
    Way(name="no step", steps=OFF),
    Way(name="as the settings come", steps=""),
    Way(name="every step", steps=ON, filter=True, rerank=True, web=True),
    Way(name="as they come, and late", steps="", late=60.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is."""

    model: str
    base_url: str
    real: bool
    patience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one question took: seconds to its first words, and calls beside that of the answer."""

    kind: str
    seconds: float
    calls: int


def reply_to(request: Request, late: float) -> Reply:
    """Reply as the task asks, which stands in the place of the model's name."""
    task = str(request.body["model"])
    last = request.texts[-1]
    if task == "rewrite":
        wanted = "keywords" if "JSON list" in request.texts[0] else "question"
        text = json.dumps(["cheese"] if wanted == "keywords" else {"question": last[-200:]})
    elif task in REPLIES:
        text = REPLIES[task]
    else:
        quoted = re.search(r"^ID: 0\n(?:.*\n)*?Content:\n(?:#.*\n|\s)*(.+)", "\n".join(request.texts), re.MULTILINE)
        text = f"{' '.join(quoted[1].split()[:WORDS])} [ID:0]." if quoted else "That is not in the documents."
    slow = late if task != "answer" else 0.0
    if request.body.get("stream"):
        return Reply(text=text, first_delay=FIRST + slow, delay=WORD)
    return Reply(text=text, first_delay=FIRST + slow + WORD * len(text.split()))


def sample(documents: int, questions: int) -> tuple[list[JudgedQuery], dict[str, str]]:
    """Return questions by the hash of their ids, and the documents that answer them with others, as files of Markdown."""
    every = sorted(read_queries(BENCH / "inscit"), key=lambda one: hashlib.md5(one.id.encode()).digest())
    asked = every[:questions]
    gold = {one for query in asked for one, grade in query.grades.items() if grade > 0}
    corpus = sorted(read_corpus(BENCH / "inscit"), key=lambda one: hashlib.md5(one.id.encode()).digest())
    kept = [one for one in corpus if one.id in gold] + [one for one in corpus if one.id not in gold]
    chosen = kept[: max(documents, len(gold))]
    return asked, {
        f"{first:04}.md": "\n\n".join(f"## {one.title}\n\n{one.text}" for one in chosen[first : first + TOGETHER])
        for first in range(0, len(chosen), TOGETHER)
    }


def kind_of(query: JudgedQuery) -> str:
    """Return how a question stands to its conversation, as the product tells it."""
    if not query.history:
        return KINDS[0]
    return KINDS[1] if stands_alone(query.text, query.history) else KINDS[2]


async def ask(operations: Operations, query: JudgedQuery) -> Asked:
    """Ask, and return what it took."""
    began, first = time.perf_counter(), math.nan
    request = Ask(question=query.text, thread=query.history, web=True)
    async with aclosing(operations.run(request)) as events:
        async for event in events:
            if isinstance(event, Delta) and event.text.strip() and math.isnan(first):
                first = time.perf_counter() - began
            elif isinstance(event, Answer):
                # What nothing was found for is told in one piece.
                first = time.perf_counter() - began if math.isnan(first) else first
                return Asked(kind=kind_of(query), seconds=first, calls=max(0, event.usage.calls - 1))
    raise AssertionError("every question ends in an answer")


def row(way: Way, kind: str, asked: Sequence[Asked], plain: Sequence[Asked]) -> str:
    """Return the line of a way and a kind of question."""
    seconds, before = [one.seconds for one in asked], [one.seconds for one in plain]
    cells = [
        way.name,
        kind,
        str(len(asked)),
        f"{percentile(seconds, 0.5):.2f} / {percentile(seconds, 0.95):.2f}",
        f"{percentile(seconds, 0.5) / percentile(before, 0.5):.2f}",
        f"{sum(one.calls for one in asked) / len(asked):.2f}",
        f"{sum(not one.calls for one in asked) / len(asked):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


async def measure(arguments: argparse.Namespace) -> None:
    """Print the table."""
    asked, documents = sample(arguments.documents, arguments.questions)
    late = 0.0
    async with OpenAIServer() as made, EngineServer(style="searxng") as engine:
        made.default = lambda request: reply_to(request, late)
        engine.pages = [found("Cheese", f"{engine.url}/page", "Cheese is made from milk.")]
        endpoint = Endpoint(
            model=arguments.model if arguments.base_url else "answer",
            base_url=arguments.base_url or made.base_url,
            real=bool(arguments.base_url),
            patience=arguments.patience,
        )
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            (home / "documents").mkdir()
            for name, text in documents.items():
                (home / "documents" / name).write_text(text, encoding="utf-8")
            print(f"{len(documents)} files, {len(asked)} questions\n")
            print(
                "| steps | question | questions | seconds to the first words, p50 / p95 | ratio | more calls | none |"
            )
            print("|" + " --- |" * 7, flush=True)
            plain: list[Asked] = []
            for way in WAYS:
                if way.late and endpoint.real:
                    continue
                late = way.late
                file = home / "citebot.toml"
                file.write_text(way.settings(endpoint, engine.url), encoding="utf-8")
                async with open_operations(load_settings(file)) as operations:
                    async for _ in operations.run(Sync()):
                        pass
                    await ask(operations, asked[0])  # what is loaded once is no part of an answer
                    took = [await ask(operations, query) for query in asked]
                plain = plain or took
                for kind in (*KINDS, "all"):
                    mine, before = ([one for one in each if kind in ("all", one.kind)] for each in (took, plain))
                    if mine:
                        print(row(way, kind, mine, before), flush=True)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="default")
    parser.add_argument("--patience", type=float, default=3.0, metavar="SECONDS")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    asyncio.run(measure(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
