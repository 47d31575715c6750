"""What a model makes of a question before its search: what it adds, what it costs, and what it does to the search.

    python -m benchmarks.refining --base-url URL [--model NAME] [--part wordings|search|languages] [--questions N] [--seconds S]

``URL`` is that of an OpenAI-compatible endpoint, up to and with its version, and may stand in ``$BENCH_LLM_URL``
instead. Calls are waited for ``--seconds`` (30), and how many of them came within the product's own limit is told.

*wordings*: canard-dev, as ``benchmarks.followups``: how many follow-ups get a wording that can be used, how many of the
words that a person added it adds too, how much of what it adds the person added too, each beside what goes along without
a model; and how many of the person's stand-alone questions ask the model nothing. *search*: nDCG@10 and recall@10 on
inscit, for the last turn alone, without a model, and with it; half 0 (by the hash of the ids) is what rules were made
on. *languages*: questions of our own in six languages to documents in English and Chinese: how often the right document
comes first, searched by the question alone and with its translation.
"""

import argparse
import asyncio
import hashlib
import json
import os
import pathlib
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.followups import BENCH, content
from benchmarks.retrieval import half_of, indexed, mean, workspace
from ragcore.evaluate.judged import JudgedQuery, read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, documents_of, ndcg, percentile, recall, retriever_over
from ragcore.ingest import ingest
from ragcore.library import Library
from ragcore.models.llm import ChatModel
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.refine.followups import followup
from ragcore.refine.refining import ALL, Languages, RefineOptions, Refiner
from ragcore.retrieval import RetrievalOptions
from ragcore.stores.languages import HeldLanguages
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message, Question, SourceDocument, Usage

OWN_LIMIT = RefineOptions().seconds
WINDOW, REPLY = 4_096, 256
"""Tokens that prompt and answer may take together, and an answer alone."""
DEEP = RetrievalOptions(top_k=200, top_n=400, similarity_threshold=0.0)


class NoLanguages:
    """Documents in the language of every question."""

    async def of(self, knowledge_bases: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return none."""
        return {}


@dataclass(slots=True)
class Asking:
    """A refiner over a model, and what it took."""

    model: ChatModel
    seconds: float
    languages: Languages = field(default_factory=NoLanguages)
    options: RefineOptions = field(default_factory=RefineOptions)
    took: list[float] = field(default_factory=list)
    usage: Usage = Usage()

    async def refined(self, question: Question) -> Question:
        """Return the question as it would be searched."""
        refiner = Refiner(
            model=self.model,
            tokenizer=offline_tokenizer(),
            languages=self.languages,
            options=replace(self.options, seconds=self.seconds),
        )
        began = time.perf_counter()
        found = await refiner.refine(question)
        if found.usage.calls:
            self.took.append(time.perf_counter() - began)
            self.usage += found.usage
        return found.question

    def cost(self, questions: int) -> str:
        """Return calls a question, tokens a call, and the seconds of a call."""
        calls = max(1, self.usage.calls)
        within = mean([float(one <= OWN_LIMIT) for one in self.took])
        return (
            f"{self.usage.calls / max(1, questions):.2f} | {self.usage.prompt_tokens / calls:.0f}, "
            f"{self.usage.completion_tokens / calls:.0f} | {percentile(self.took, 0.5):.2f}, "
            f"{percentile(self.took, 0.95):.2f} | {within:.2f}"
        )


COST = "calls a question | tokens in, out | seconds p50, p95 | within the limit"


async def wordings(model: ChatModel, questions: int, seconds: float) -> None:
    """Print a row for each half of canard-dev."""
    path = BENCH / "canard-dev" / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: hashlib.md5(row["qid"].encode(), usedforsecurity=False).digest())
    head = "half | follow-ups | reworded | words added: without, with | ours among theirs | rewrites left alone"
    print(f"| {head} | {COST} |\n|" + " --- |" * 10, flush=True)
    for half in (0, 1):
        own = [row for row in rows if half_of(row["qid"]) == half][:questions]
        asking = Asking(model, seconds)
        reworded = alone = wanted = without = given = added = 0
        for row in own:
            history = tuple(Message(role=turn["role"], text=turn["content"]) for turn in row["history"])
            question = Question(text=row["query"], knowledge_bases=(KNOWLEDGE_BASE,), history=history)
            found = await asking.refined(question)
            alone += not await _asks(asking, replace(question, text=row["rewrite"]))
            asked = content(row["query"])
            missing = content(row["rewrite"]) - asked
            plain = followup(row["query"], history)
            carried = content(*plain.names, plain.before) if plain else set()
            # Where no wording came, what goes along without a model does.
            mine = (content(found.asked) if found.wordings else carried) - asked
            reworded += bool(found.wordings)
            wanted += len(missing)
            without += len(missing & carried)
            given += len(missing & mine)
            added += len(mine)
        cells = [
            str(half), str(len(own)), f"{reworded / len(own):.2f}", f"{without / wanted:.2f}, {given / wanted:.2f}",
            f"{given / max(1, added):.2f}", f"{alone / len(own):.2f}", asking.cost(len(own)),
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


async def _asks(asking: Asking, question: Question) -> bool:
    """Tell whether a question would ask the model."""
    refiner = Refiner(model=asking.model, tokenizer=offline_tokenizer(), languages=asking.languages)
    return bool(await refiner.steps(question))


async def search(model: ChatModel, questions: int, seconds: float) -> None:
    """Print what the ways to take the conversation along do on inscit; ``benchmarks.retrieval`` makes its index."""
    queries = sorted(read_queries(BENCH / "inscit"), key=lambda one: hashlib.md5(one.id.encode()).digest())[:questions]
    if not workspace("inscit").is_dir():
        print("skipped: `python -m benchmarks.retrieval inscit` makes the index first")
        return
    library = await indexed("inscit")
    print(f"| way | nDCG@10 | half 0 | half 1 | recall@10 | {COST} |\n|" + " --- |" * 9, flush=True)
    try:
        retriever = retriever_over(library, DEEP)
        for way in ("last turn alone", "without a model", "with the model"):
            asking = Asking(model, seconds)
            told: dict[str, list[str]] = {}
            for query in queries:
                question = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,), history=query.history)
                if way == "last turn alone":
                    question = replace(question, history=())
                elif way == "with the model":
                    question = await asking.refined(question)
                told[query.id] = [one.id for one in documents_of((await retriever.retrieve(question)).chunks)]
            print(f"| {way} | {_measured(queries, told)} | {asking.cost(len(queries))} |", flush=True)
    finally:
        await library.close()


def _measured(queries: Sequence[JudgedQuery], told: dict[str, list[str]]) -> str:
    gained = {query.id: ndcg(told[query.id], query.grades) for query in queries}
    halves = [mean([value for key, value in gained.items() if half_of(key) == half]) for half in (0, 1)]
    recalled = mean([recall(told[query.id], query.grades) for query in queries])
    return f"{mean(list(gained.values())):.3f} | {halves[0]:.3f} | {halves[1]:.3f} | {recalled:.3f}"


DOCUMENTS = {
    "leave-en": "Full-time employees receive 25 days of paid leave a year. Up to 5 days carry over until 31 March.",
    "badge-en": "Whoever loses the access card reports it to the front desk within a day. A new card costs 12 euros.",
    "travel-en": "Train journeys under six hours are booked in second class. Hotels are reimbursed up to 140 euros.",
    "backup-en": "The database is backed up every night at two. Backups are kept for 90 days in another city.",
    "device-en": "Charge the scanner between 5 and 40 degrees. When its light blinks red, the sensor must be replaced.",
    "canteen-en": "The canteen serves lunch from noon until two. Whoever needs food without gluten tells the kitchen.",
    "parking-zh": "员工停车位位于地下二层，需在行政部登记车牌号。访客停车每小时收费六元，周末免费。",
    "training-zh": "新员工入职第一周必须参加安全培训，考试不及格者可以补考一次，培训费用由公司承担。",
    "overtime-zh": "加班须由部门经理事先批准，工作日加班按一点五倍工资支付，法定节假日按三倍支付。",
    "printer-zh": "打印机卡纸时请先关闭电源，打开后盖取出纸张。更换墨盒请联系设备管理员李雷。",
    "insurance-zh": "公司为每位员工购买补充医疗保险，门诊费用报销百分之八十，家属可以自费参加。",
    "relocation-zh": "调往外地工作的员工可以领取搬家补贴，凭发票报销运输费用，最高一万元。",
}
ASKED = """
leave-en|Wie viele Urlaubstage verfallen Ende März?
leave-en|没休完的年假可以保留到什么时候？
leave-en|¿Cuántos días de vacaciones pagadas tengo al año?
badge-en|Que faire si je perds ma carte d'accès ?
badge-en|门禁卡丢了要多少钱补办？
travel-en|In welcher Klasse darf ich mit dem Zug fahren?
travel-en|酒店费用最多报销多少？
backup-en|Combien de temps les sauvegardes sont-elles conservées ?
backup-en|数据库什么时候备份？
device-en|¿Qué hago cuando el escáner parpadea en rojo?
device-en|Bei welcher Temperatur lädt man das Gerät?
canteen-en|Где можно пообедать и во сколько?
canteen-en|食堂有没有无麸质的饭菜？
parking-zh|How much do visitors pay for a parking space?
parking-zh|Wo melde ich das Kennzeichen meines Autos an?
training-zh|What happens to new staff who fail the safety exam?
training-zh|Qui paie la formation des nouveaux employés ?
overtime-zh|How much is paid for overtime on a public holiday?
overtime-zh|Кто должен заранее одобрить сверхурочную работу?
printer-zh|What do I do first when paper is stuck in the printer?
printer-zh|¿Quién cambia el cartucho de tinta?
insurance-zh|Can my family join the company's health insurance?
insurance-zh|Welcher Anteil der Arztkosten wird erstattet?
relocation-zh|Is there an allowance for moving to another city?
relocation-zh|Jusqu'à combien les frais de déménagement sont-ils remboursés ?
"""


async def languages(model: ChatModel, questions: int, seconds: float) -> None:
    """Print how often the right document is found, and comes first, without a translation and with it."""
    rows = [line.split("|") for line in ASKED.strip().splitlines()][:questions]
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=MiniLMEmbedder())
        try:
            async for _ in ingest(library, KNOWLEDGE_BASE, _documents()):
                pass
            retriever = retriever_over(library, RetrievalOptions())
            print(f"| searched by | found | first | {COST} |\n|" + " --- |" * 7, flush=True)
            for way in ("the question", "its translations too"):
                held, options = HeldLanguages(library.database), RefineOptions(languages=(ALL,))
                asking = Asking(model, seconds, languages=held, options=options)
                found = first = 0
                for name, text in rows:
                    question = Question(text=text, knowledge_bases=(KNOWLEDGE_BASE,))
                    if way != "the question":
                        question = await asking.refined(question)
                    told = [one.id for one in documents_of((await retriever.retrieve(question)).chunks)]
                    found += name in told
                    first += told[:1] == [name]
                cells = f"{found / len(rows):.2f} | {first / len(rows):.2f} | {asking.cost(len(rows))}"
                print(f"| {way} | {cells} |", flush=True)
        finally:
            await library.close()


async def _documents() -> AsyncIterator[SourceDocument]:
    for name, text in DOCUMENTS.items():
        yield SourceDocument(
            id=f"{KNOWLEDGE_BASE}:{name}", source=KNOWLEDGE_BASE, content=text.encode(), name=f"{name}.txt"
        )


PARTS = {"wordings": wordings, "search": search, "languages": languages}


async def _run(arguments: argparse.Namespace) -> None:
    model = OpenAIChatModel(
        base_url=arguments.base_url,
        model=arguments.model,
        api_key=os.environ.get("OPENAI_API_KEY", ""),
        context_window=WINDOW,
        options=ChatOptions(temperature=0.0, max_tokens=REPLY),
        limits=ChatLimits(first_token=arguments.seconds, total=arguments.seconds),
    )
    try:
        for part in arguments.part or PARTS:
            if part != "languages" and not BENCH.is_dir():
                print("skipped: the public data sets are not beside this checkout (../shared/bench)")
                continue
            print(f"\n{part}:\n", flush=True)
            await PARTS[part](model, arguments.questions, arguments.seconds)
    finally:
        await model.close()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", default=os.environ.get("BENCH_LLM_URL", ""), help="default: $BENCH_LLM_URL")
    parser.add_argument("--model", default="default")
    parser.add_argument("--part", action="append", choices=[*PARTS])
    parser.add_argument("--questions", type=int, default=60, help="of each half, or in all")
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    if not arguments.base_url:
        print("skipped: name the endpoint of a model by --base-url or $BENCH_LLM_URL")
        return
    asyncio.run(_run(arguments))


if __name__ == "__main__":
    main()
