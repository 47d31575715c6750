"""A document's summary tree goes live beside its chunks, is asked for once, and is taken away or renewed."""

import asyncio
import pathlib
import re
from collections.abc import AsyncIterator, Mapping

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.citations.cite import cite
from ragcore.enrich.asking import MOST_ATTEMPTS, Asker
from ragcore.enrich.coming import Coming
from ragcore.enrich.growing import MOST_LEAVES, TreeStep
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich, estimate
from ragcore.errors import ModelUnreachable
from ragcore.ingest import IngestOptions, ingest
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.prompts import Prompts
from ragcore.reports import EnrichReport
from ragcore.stores.health import IndexState
from ragcore.stores.model_results import ModelResults
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, SourceDocument
from tests.conftest import BENCH
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened

TREE = EnrichOptions(raptor=True)


def handbook(parts: int, changed: Mapping[int, str] | None = None) -> str:
    """Return a document of so many sections, a chunk each."""
    said = {number: f"Matter {number} costs {number} euros a month." for number in range(parts)} | dict(changed or {})
    return "\n\n".join(f"# Part {number}\n\n{text}" for number, text in said.items())


def say(rules: str, material: str) -> str:
    """Summarise as a dutiful model would: the numbers of the first and last matter that it was shown."""
    if "summarise" not in rules:
        return "Matter, euros"
    numbers = re.findall(r"[Mm]atter (\d+)", material)
    return f"Matter {numbers[0]} and matter {numbers[-1]} cost euros a month."


async def run(
    library: Library, model: SayingModel, options: EnrichOptions = TREE, identity: str = "saying"
) -> EnrichReport:
    asker = asker_of(library, model, identity)
    *_, report = [event async for event in enrich(library, "kb", options, asker)]
    assert isinstance(report, EnrichReport)
    assert {health.state for health in await check(library)} == {IndexState.WELL}
    return report


def asker_of(library: Library, model: SayingModel, identity: str = "saying") -> Asker:
    return Asker(
        model=model,
        identity=identity,
        results=ModelResults(library.database),
        prompts=Prompts(),
        tokenizer=offline_tokenizer(),
    )


async def chunks(library: Library, name: str = "a") -> tuple[list[Chunk], list[Chunk]]:
    """Return the chunks of a document, and its summaries."""
    every = await library.registry.chunks_of([f"s:{name}"])
    document = await library.registry.document(f"s:{name}")
    assert document is not None
    assert document.chunk_count == len(every)
    assert [chunk.ordinal for chunk in every] == list(range(len(every)))
    return [one for one in every if not one.leaves], [one for one in every if one.leaves]


async def test_a_tree_stands_behind_the_chunks_and_ends_in_one_summary(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(45), "short": handbook(2)})
        before, _ = await chunks(library)
        model = SayingModel(say)
        report = await run(library, model)
        own, summaries = await chunks(library)
        assert [one.text for one in own] == [one.text for one in before]
        assert report.usage.calls == len(summaries) == len(model.asked)
        first_level = [one for one in summaries if set(one.leaves) <= set(range(45)) and len(one.leaves) <= 10]
        assert sorted(leaf for one in first_level for leaf in one.leaves) == list(range(45))
        assert len(summaries) > len(first_level)
        assert all(len(one.leaves) <= MOST_LEAVES for one in summaries)
        assert {0, 44} <= set(summaries[-1].leaves), "the last one is of all, and rests on what it names"
        assert all(one.reader_set == own[0].reader_set and one.title == own[0].title for one in summaries)
        assert await library.keywords.count() == 47 + len(summaries)
        assert (await chunks(library, "short"))[1] == [], "two chunks say it all"


async def test_a_model_reads_the_pieces_with_their_headings_and_as_nothing_but_material(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(4)})
        model = SayingModel(say)
        await run(library, model)
        ((rules, material),) = model.asked
        assert "never an instruction" in rules
        assert [line for line in material.splitlines() if line][-2:] == ["# Part 3", "Matter 3 costs 3 euros a month."]


async def test_nothing_is_asked_twice_and_a_change_asks_for_its_branch(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(90)})
        calls = (await run(library, model)).usage.calls
        assert (await run(library, model)).documents == 0
        await fill(library, {"a": handbook(90, {45: "Matter 45 costs nothing any more."})})
        assert (await chunks(library))[1] == []
        changed = await run(library, model)
        assert changed.usage.calls + changed.cached >= calls - 3
        assert changed.usage.calls <= calls // 2
        assert changed.cached > 0


@pytest.mark.soak
async def test_another_step_leaves_the_tree_and_the_tree_goes_with_its_switch(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(16)})
        await run(library, model)
        own, tree = await chunks(library)
        both = await run(library, model, EnrichOptions(raptor=True, auto_keywords=2))
        assert both.usage.calls == len(own), "summaries are no input of other steps"
        after = await chunks(library)
        assert [(one.text, one.leaves, one.keywords) for one in after[1]] == [
            (one.text, one.leaves, ()) for one in tree
        ]
        assert all(one.keywords for one in after[0])
        without = await run(library, model, EnrichOptions(auto_keywords=2))
        assert (without.usage.calls, (await chunks(library))[1]) == (0, [])
        nothing = [event async for event in enrich(library, "kb", EnrichOptions(), None)]
        assert isinstance(nothing[-1], EnrichReport)
        assert not any(one.keywords for one in (await chunks(library))[0])
        back = await run(library, model)
        assert (back.usage.calls, back.cached, len((await chunks(library))[1])) == (0, len(tree), len(tree))


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't.", "x" * 50_000])
@pytest.mark.soak
async def test_what_is_no_summary_leaves_the_document_searchable_and_is_asked_a_few_times(
    tmp_path: pathlib.Path, reply: str
) -> None:
    model = SayingModel(lambda rules, material: reply if "Matter 0 " in material else say(rules, material))
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(16)})
        for _ in range(1, MOST_ATTEMPTS):
            report = await run(library, model)
            assert [one.document_id for one in report.failed] == ["s:a"]
            assert report.failed[0].reason.startswith("raptor: ")
            assert [len(part) for part in await chunks(library)] == [16, 0]
        last = await run(library, model)
        assert (last.documents, last.failed) == (1, ())
        _, summaries = await chunks(library)
        assert summaries
        assert all(0 not in one.leaves for one in summaries), "what could not be summarised is in none above it"
        assert (await run(library, model)).documents == 0


async def test_what_was_there_stays_where_a_new_model_fails(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(16)})
        await run(library, SayingModel(say))
        _, before = await chunks(library)
        report = await run(library, SayingModel(lambda rules, material: ""), identity="another")
        assert len(report.failed) == 1
        assert (await chunks(library))[1] == before


@pytest.mark.soak
async def test_broken_off_anywhere_it_goes_on_and_asks_nothing_twice(tmp_path: pathlib.Path) -> None:
    answers: set[str] = set()
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(40)})
        for stop_after, error in ((1, asyncio.CancelledError()), (4, ModelUnreachable("away"))):
            model = SayingModel(say)

            def stopping(
                rules: str,
                material: str,
                model: SayingModel = model,
                stop_after: int = stop_after,
                error: BaseException = error,
            ) -> str:
                if len(model.asked) > stop_after:
                    raise error
                assert material not in answers
                answers.add(material)
                return say(rules, material)

            model.say = stopping
            if isinstance(error, ModelUnreachable):
                assert (await run(library, model)).error == "away"
            else:
                with pytest.raises(asyncio.CancelledError):
                    await run(library, model)
    async with opened(tmp_path) as library:
        last = SayingModel(say)
        report = await run(library, last)
        assert not report.failed
        assert not answers & {material for _, material in last.asked}
        assert len(answers) + len(last.asked) == len((await chunks(library))[1])


async def test_a_window_without_room_fails_by_name(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    model.context_window = 400
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(5)})
        report = await run(library, model)
        assert "context_window" in report.failed[0].reason
        assert (await estimate(library, "kb", TREE, asker_of(library, model))).usage.calls == 0
        assert not model.asked


async def test_the_cost_is_told_before(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"a": handbook(45), "short": handbook(2)})
        model = SayingModel(say)
        before = await estimate(library, "kb", TREE, asker_of(library, model))
        assert not model.asked
        after = await run(library, model)
        assert abs(before.usage.calls - after.usage.calls) <= 2
        assert before.usage.prompt_tokens > 200 * before.usage.calls
        coming = Coming(library, TREE, asker_of(library, model))
        for count in (60, 2):
            coming.add_unread(count)
        coming_too = await estimate(library, "kb", TREE, asker_of(library, model), coming=coming)
        assert coming_too.usage.calls == len(TreeStep(library).calls_coming(1, 60))


async def test_how_many_summaries_are_to_come(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        step = TreeStep(library)
        for documents, chunks_in_all, calls in ((0, 0, 0), (5, 10, 0), (1, 6, 1), (2, 120, 25), (10, 40, 10)):
            assert len(step.calls_coming(documents, chunks_in_all)) == calls


async def test_a_real_document(tmp_path: pathlib.Path) -> None:
    path = BENCH / "documents" / "markitdown-test_blog.html"
    if not path.exists():
        pytest.skip("the public documents are not here: ../shared/bench/documents")

    async def blog() -> AsyncIterator[SourceDocument]:
        yield SourceDocument(id="s:a", source="s", content=path.read_bytes(), name=path.name)

    def first_sentences(rules: str, material: str) -> str:
        lines = (piece.splitlines()[-1].strip("# ") for piece in material.split("\n\n")[1:])
        return " ".join(line.split(". ")[0].rstrip(".") + "." for line in lines)

    async with opened(tmp_path) as library:
        async for _ in ingest(library, "kb", blog(), IngestOptions(chunk=ChunkOptions(chunk_tokens=64))):
            pass
        report = await run(library, SayingModel(first_sentences))
        own, summaries = await chunks(library)
    assert len(own) > 15
    assert not report.failed
    assert {leaf for one in summaries for leaf in one.leaves} == set(range(len(own)))
    for summary in summaries:
        leaves = [own[ordinal] for ordinal in summary.leaves]
        cited = await cite(summary.text, [summary], leaves=[leaves])
        assert cited.citations
        for citation in cited.citations:
            (leaf,) = [one for one in leaves if one.id == citation.chunk_id]
            assert citation.quote in leaf.text
