"""A knowledge base gets a summary tree over its documents: found like chunks, cited by its leaves, cheap to keep true."""

import pathlib
import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from ragcore.answer import Answerer
from ragcore.citations.cite import cite
from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.overview import ON_THE_WAY, OverviewStep
from ragcore.enrich.passing import enrich, estimate
from ragcore.errors import ConfigError
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import ingest, remove
from ragcore.library import Library
from ragcore.reports import EnrichReport
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.stores.rows import is_open
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Chunk, Question, SourceDocument
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_across import READERS, overviews, texts
from tests.ragcore.enrich.test_growing import asker_of, handbook
from tests.ragcore.retrieval.test_closed_documents import fill_closed
from tests.ragcore.retrieval.test_retriever import WordEmbedder
from tests.soak import scaled

FOREST = EnrichOptions(raptor=True, overview=True)
HANDBOOK = pathlib.Path(__file__).parents[3] / "examples" / "documents"


def say(rules: str, material: str) -> str:
    """Say of which matters it is, as a dutiful model would."""
    numbers = sorted({int(number) for number in re.findall(r"[Mm]atter (\d+)", material)})
    return f"Matter {numbers[0]} and matter {numbers[-1]} cost euros."


async def run(library: Library, model: SayingModel, options: EnrichOptions = FOREST) -> EnrichReport:
    *_, report = [event async for event in enrich(library, "kb", options, asker_of(library, model))]
    assert isinstance(report, EnrichReport)
    return report


def over_documents(model: SayingModel) -> list[str]:
    """Return what the model was shown of several documents."""
    return [material for rules, material in model.asked if "several documents together" in rules]


async def test_every_document_stands_below_one_summary(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, texts(range(20)) | {"long": handbook(12)})
        about = await estimate(library, "kb", FOREST, asker_of(library, model))
        assert not model.asked
        trees = await run(library, model, EnrichOptions(raptor=True))
        before = await estimate(library, "kb", FOREST, asker_of(library, model))
        report = await run(library, model)
        ((_, summaries),) = (await overviews(library)).items()
        assert abs(about.usage.calls - trees.usage.calls - report.usage.calls) <= 2
        assert report.summaries == len(summaries) == len(over_documents(model))
        assert before.usage.calls == report.usage.calls
        documents = {f"s:{number:02}" for number in range(20)} | {"s:long"}
        assert {leaf.document_id for leaf in summaries[-1].rests_on} == documents, "the last one is of all"
        assert not any("Matter 11 costs 11 euros a month" in one for one in over_documents(model)), "only its summary"
        again = await run(library, model)
        assert (again.summaries, again.usage.calls, again.cached) == (0, 0, 0)


@pytest.mark.soak
async def test_a_change_asks_for_its_way_up_alone(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, texts(range(120)))
        every = (await run(library, model)).usage.calls
        assert 20 <= every <= 45
        await fill(library, {"07": "Matter 7 costs 7 euros and 7 cents."})
        changed = await run(library, model)
        assert 1 <= changed.usage.calls <= 12
        assert changed.usage.calls + changed.cached == changed.summaries
        await remove(library, ["s:11"])
        foreseen = await estimate(library, "kb", FOREST, asker_of(library, model))
        removed = await run(library, model)
        assert foreseen.usage.calls >= removed.usage.calls > 0
        ((_, summaries),) = (await overviews(library)).items()
        assert not any(leaf.document_id == "s:11" for one in summaries for leaf in one.rests_on)


@pytest.mark.soak
async def test_what_cannot_be_summarised_is_tried_again_and_then_done_without(tmp_path: pathlib.Path) -> None:
    def mute(rules: str, material: str) -> str:
        return "" if "Matter 3 " in material else say(rules, material)

    model = SayingModel(mute)
    async with opened(tmp_path) as library:
        await fill(library, texts(range(30)))
        for _ in range(1, MOST_ATTEMPTS):
            report = await run(library, model)
            assert "over 30 documents" in report.failed[0].reason
            ((_, summaries),) = (await overviews(library)).items()
            assert summaries
        assert not (await run(library, model)).failed
        ((_, summaries),) = (await overviews(library)).items()
        assert {leaf.document_id for leaf in summaries[-1].rests_on} < {f"s:{number:02}" for number in range(30)}
        model.context_window = 400
        await fill(library, {"new": "Matter 99 costs 9 euros."})
        assert "context_window" in (await run(library, model)).failed[0].reason
        await run(library, model, EnrichOptions(raptor=True))
        assert not await overviews(library)


def retriever(library: Library) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=RetrievalOptions(similarity_threshold=0.0),
        homes={"s": "kb"},
    )


OPEN = "The kitchens closed in Lisbon and in Porto for a refit."
SECRET = "The mergers planned are with Brightwater and with Northlake."
ASKED = Question(text="Which kitchens closed and which mergers planned?", knowledge_bases=("kb",))


async def found(library: Library, **asked: object) -> dict[str, list[str]]:
    """Return the texts of the overviews that a search gives, and the documents of their leaves."""
    chunks = (await retriever(library).retrieve(replace(ASKED, **asked))).chunks  # type: ignore[arg-type]
    for one in chunks:
        assert [leaf.chunk.id for leaf in one.leaves] == [leaf.chunk_id for leaf in one.chunk.rests_on]
    return {one.chunk.text: [leaf.chunk.document_id for leaf in one.leaves] for one in chunks if one.chunk.rests_on}


async def test_a_search_finds_what_its_asker_may_read_of_all_and_answers_cite_the_documents(
    tmp_path: pathlib.Path,
) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"lisbon": "The kitchen in Lisbon closed.", "porto": "The kitchen in Porto closed."})
        secret = {"a": "A merger with Brightwater is planned.", "b": "A merger with Northlake is planned."}
        await fill_closed(library, secret, READERS)
        await run(library, SayingModel(lambda rules, material: SECRET if "merger" in material else OPEN))
        everyone, named = frozenset({"*"}), frozenset({"*", *READERS})
        assert await found(library, readers=everyone) == {OPEN: ["s:lisbon", "s:porto"]}
        assert set(await found(library, readers=named)) == set(await found(library)) == {OPEN, SECRET}
        narrowed = parse_filter("title != nothing")
        assert await found(library, filters={"kb": (narrowed,)}) == {}, "a filter chooses among documents"
        assert await found(library, document_ids=("s:lisbon",)) == {}

        said = "The kitchen in Lisbon closed [ID:0][ID:1][ID:2]."
        answerer = Answerer(
            retriever=retriever(library),
            embedder=None,
            tokenizer=offline_tokenizer(),
            chat_model=SayingModel(lambda rules, material: said),
        )
        (answer,) = [
            event async for event in answerer.answer(replace(ASKED, readers=everyone)) if isinstance(event, Answer)
        ]
        assert any(one.chunk.rests_on for one in answer.chunks)
        assert "s:lisbon" in {one.document_id for one in answer.citations} <= {"s:lisbon", "s:porto"}

        # One of the mergers is closed to the reader from now on: what was written of both isn't shown any more.
        await fill_closed(library, {"b": secret["b"]}, frozenset({"slack:T1/@U2"}))
        assert set(await found(library, readers=named)) == {OPEN}
        await remove(library, ["s:porto"])
        assert await found(library) == {}


SETS = (None, frozenset({"slack:T1/@U1"}), frozenset({"slack:T1/@U1", "slack:T1/@U2"}), frozenset[str]())
AUDIENCES = (None, *(frozenset({"*", f"slack:T1/@U{number}"}) for number in (1, 2, 3)))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
async def test_whatever_changes_no_reader_is_shown_a_word_of_what_is_closed_to_them(
    tmp_path: pathlib.Path, seed: int
) -> None:
    """Each document has a code, each overview those of its documents, and a model of who may read what is compared."""
    draw, readers, shown = random.Random(seed), dict[int, frozenset[str] | None](), 0

    def with_codes(rules: str, material: str) -> str:
        return f"The codes are {' and '.join(sorted(set(re.findall('code[0-9]+', material))))}."

    async with opened(tmp_path, WordEmbedder()) as library:
        for step in range(scaled(8)):
            for number in draw.sample(range(9), 9 if not step else 2):
                if step and draw.random() < 0.3:
                    await remove(library, [f"s:{number}"])
                    readers.pop(number, None)
                else:
                    readers[number] = draw.choice(SETS)
                    text = f"What is kept under the sign code{number} is version {step} of it."
                    await fill_closed(library, {str(number): text}, readers[number])
            if draw.random() < 0.6:
                await run(library, SayingModel(with_codes))
            for audience in AUDIENCES:
                asked = Question(text="What are the codes?", knowledge_bases=("kb",), readers=audience)
                for one in (await retriever(library).retrieve(asked)).chunks:
                    codes = {int(code) for code in re.findall(r"code(\d+)", one.chunk.text)}
                    assert all(number in readers and is_open(readers[number], audience) for number in codes)
                    assert len({readers[number] for number in codes}) == 1, "who reads one of them reads all"
                    shown += bool(one.chunk.rests_on)
    assert shown


async def test_a_real_folder(tmp_path: pathlib.Path) -> None:
    async def documents() -> AsyncIterator[SourceDocument]:
        for path in sorted(HANDBOOK.rglob("*.md")):
            yield SourceDocument(id=f"s:{path.name}", source="s", content=path.read_bytes(), name=path.name)

    def first_sentences(rules: str, material: str) -> str:
        lines = [line for line in material.splitlines() if len(line.split()) > 5 or "。" in line]
        return " ".join(re.split(r"(?<=[.。]) ?", line)[0] for line in lines)[: len(material) // 2]

    async with opened(tmp_path) as library:
        async for _ in ingest(library, "kb", documents()):
            pass
        report = await run(library, SayingModel(first_sentences))
        ((_, summaries),) = (await overviews(library)).items()
        assert not report.failed
        count = (await library.registry.counts_by_source())["s"].documents
        assert count > 3
        for one in summaries:
            leaves: list[Chunk] = list(
                (await library.registry.live_chunks([at.chunk_id for at in one.rests_on])).values()
            )
            cited = await cite(one.text, [one], leaves=[leaves])
            assert cited.citations
            for citation in cited.citations:
                (leaf,) = [leaf for leaf in leaves if leaf.id == citation.chunk_id]
                assert citation.quote in leaf.text


async def test_how_many_calls_documents_bring_that_are_to_come(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        step = OverviewStep(library)
        assert [len(step.calls_coming(count, count)) for count in (0, 1, 1_000)] == [0, ON_THE_WAY, 250 + ON_THE_WAY]


def test_it_needs_the_trees_of_the_documents() -> None:
    with pytest.raises(ConfigError, match="raptor"):
        EnrichOptions(overview=True)
