"""Steps over a whole knowledge base: one overview for those of the same readers, made once, kept true, and taken away."""

import asyncio
import pathlib
from collections.abc import AsyncGenerator, Collection, Sequence

import pytest

from ragcore.enrich import across, passing
from ragcore.enrich.across import Overview, Spanning
from ragcore.enrich.asking import MOST_ATTEMPTS, Asker, Call
from ragcore.enrich.coming import Coming
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich, estimate
from ragcore.errors import ModelBadOutput, ModelUnreachable
from ragcore.ingest import remove
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.prompts import Prompts
from ragcore.reports import EnrichReport
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.health import IndexState
from ragcore.stores.overviews import Overviews, Readership
from ragcore.stores.rows import StoredChunk
from ragcore.types import Chunk, Leaf
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_growing import asker_of
from tests.ragcore.retrieval.test_closed_documents import fill_closed

READERS = frozenset({"slack:T1/@U1"})
OPTIONS = EnrichOptions()


class Pairs:
    """A step that has the documents of a readership summed up two by two, in the order of their ids."""

    kind, template, fewest = "pairs", "summary", 2

    def __init__(self, library: Library, words: int = 20, alien: Leaf | None = None) -> None:
        self._library = library
        self._words = words
        self._alien = alien

    def told(self, prompts: Prompts) -> Sequence[str]:
        return (prompts.render(self.template, words=self._words),)

    async def calls(self, readership: Readership, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        for pair in await self._pairs(readership):
            yield self._call(pair), 10

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        return [(100, 10)] * (documents // 2)

    async def apply(self, readership: Readership, asker: Asker) -> Overview:
        made, lacking = [], ""
        for pair in await self._pairs(readership):
            leaves = [Leaf(chunk_id=one.chunk.id, document_id=one.chunk.document_id) for one in pair]
            try:
                said = await asker.ask(self._call(pair), read)
            except ModelBadOutput as error:
                lacking = str(error)
                continue
            if said:
                made.append(Spanning(text=said, leaves=(*leaves, *([self._alien] if self._alien else []))))
        return Overview(summaries=tuple(made), lacking=lacking)

    async def _pairs(self, readership: Readership) -> list[list[StoredChunk]]:
        stored = Enrichment(self._library.database)
        firsts = [(await stored.chunks(name, first=0, limit=1))[0] for name in readership.generations.values()]
        return [firsts[at : at + 2] for at in range(0, len(firsts), 2)]

    def _call(self, pair: Sequence[StoredChunk]) -> Call:
        return Call(
            template=self.template, inputs={"words": self._words}, text=" ".join(one.chunk.text for one in pair)
        )


def read(reply: str) -> str:
    if not reply:
        raise ModelBadOutput("it says nothing", raw=reply)
    return reply


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[type[Pairs]]:
    """Switch the step on; emptied, it is off."""
    wanted = [Pairs]
    monkeypatch.setattr(passing, "across_steps_of", lambda options, library: tuple(one(library) for one in wanted))
    return wanted


def say(rules: str, material: str) -> str:
    return f"In short: {material}"


def texts(numbers: Collection[int]) -> dict[str, str]:
    return {f"{number:02}": f"Matter {number} costs {number} euros." for number in numbers}


async def run(library: Library, model: SayingModel | None) -> EnrichReport:
    *_, report = [event async for event in enrich(library, "kb", OPTIONS, asker_of(library, model) if model else None)]
    assert isinstance(report, EnrichReport)
    assert {health.state for health in await check(library)} == {IndexState.WELL}
    return report


async def overviews(library: Library) -> dict[frozenset[str] | None, list[Chunk]]:
    """Return the summaries of each overview by its readers."""
    standing = await Overviews(library.database).standing("kb")
    found = {one.readers: await library.registry.chunks_of([one.id]) for one in standing.values()}
    assert len(found) == len(standing)
    return found


async def test_each_readership_has_its_own_and_nothing_of_another(
    tmp_path: pathlib.Path, steps: list[type[Pairs]]
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, texts(range(4)))
        await fill_closed(library, texts(range(10, 14)), READERS)
        await fill_closed(library, texts([20]), frozenset())
        model = SayingModel(say)
        coming = Coming(library, OPTIONS, asker_of(library, model))
        for _ in range(4):
            coming.add_unread(1)
        before = await estimate(library, "kb", OPTIONS, asker_of(library, model), coming=coming)
        report = await run(library, model)
        assert (report.summaries, report.usage.calls, before.usage.calls) == (4, 4, 4 + 2)
        found = await overviews(library)
        assert set(found) == {None, READERS}, "one document alone has none"
        for readers, first in ((None, 0), (READERS, 10)):
            assert [chunk.text for chunk in found[readers]] == [
                f"In short: Matter {at} costs {at} euros. Matter {at + 1} costs {at + 1} euros."
                for at in (first, first + 2)
            ]
            assert [leaf.document_id for leaf in found[readers][0].rests_on] == [f"s:{first:02}", f"s:{first + 1:02}"]
        everyone, named = frozenset({"*"}), frozenset({"*", *READERS})
        ids = [chunk.id for some in found.values() for chunk in some]
        for audience, seen in ((None, 4), (named, 4), (everyone, 2)):
            assert len(await library.registry.readable_chunks(ids, ["kb"], readers=audience)) == seen


async def test_nothing_is_asked_twice_and_a_change_asks_for_what_it_touches(
    tmp_path: pathlib.Path, steps: list[type[Pairs]]
) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, texts(range(6)))
        await run(library, model)
        again = await run(library, model)
        assert (again.summaries, again.usage.calls, again.cached) == (0, 0, 0), "not even looked at"
        (before,) = (await overviews(library)).values()
        ids = [chunk.id for chunk in before]
        await fill(library, {"02": "Matter 2 is free."})
        assert list(await library.registry.readable_chunks(ids, ["kb"])) == [ids[0], ids[2]], "not shown any more"
        changed = await run(library, model)
        assert (changed.summaries, changed.usage.calls, changed.cached) == (3, 1, 2)
        (after,) = (await overviews(library)).values()
        assert after[1].text == "In short: Matter 2 is free. Matter 3 costs 3 euros."
        assert len(await library.registry.readable_chunks([chunk.id for chunk in after], ["kb"])) == 3
        assert await library.keywords.count() == 6 + 3


@pytest.mark.soak
async def test_it_goes_with_its_documents_and_with_its_switch(tmp_path: pathlib.Path, steps: list[type[Pairs]]) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, texts(range(2)))
        await fill_closed(library, texts(range(10, 12)), READERS)
        await run(library, model)
        await remove(library, ["s:11"])
        await run(library, model)
        assert set(await overviews(library)) == {None}
        steps.clear()
        await run(library, model)
        assert not await overviews(library)
        assert await library.keywords.count() == 3
        steps.append(Pairs)
        back = await run(library, model)
        assert (back.summaries, back.usage.calls) == (1, 0)


@pytest.mark.soak
async def test_what_fails_leaves_the_rest_and_is_tried_again(tmp_path: pathlib.Path, steps: list[type[Pairs]]) -> None:
    model = SayingModel(lambda rules, material: "" if "Matter 0 " in material else say(rules, material))
    async with opened(tmp_path) as library:
        await fill(library, texts(range(4)))
        for _ in range(1, MOST_ATTEMPTS):
            report = await run(library, model)
            assert [(one.document_id, one.chunks) for one in report.failed] == [("kb", 0)]
            assert "over 4 documents" in report.failed[0].reason
            (standing,) = (await overviews(library)).values()
            assert [chunk.text[:18] for chunk in standing] == ["In short: Matter 2"]
        assert not (await run(library, model)).failed
        assert (await run(library, model)).cached == 0

        def away(rules: str, material: str) -> str:
            raise ModelUnreachable("away")

        await fill(library, {"02": "Matter 2 is free."})
        assert (await run(library, SayingModel(away))).error == "away"
        assert len(await overviews(library)) == 1


@pytest.mark.soak
async def test_broken_off_it_asks_only_for_the_rest(tmp_path: pathlib.Path, steps: list[type[Pairs]]) -> None:
    model = SayingModel(say)

    def stopping(rules: str, material: str) -> str:
        if len(model.asked) == 3:
            raise asyncio.CancelledError
        return say(rules, material)

    model.say = stopping
    async with opened(tmp_path) as library:
        await fill(library, texts(range(8)))
        with pytest.raises(asyncio.CancelledError):
            await run(library, model)
    async with opened(tmp_path) as library:
        report = await run(library, SayingModel(say))
        assert (report.summaries, report.usage.calls, report.cached) == (4, 2, 2)


async def test_what_rests_on_another_readership_does_not_go_live(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, texts(range(2)))
        await fill_closed(library, texts([9]), READERS)
        (closed,) = await library.registry.chunks_of(["s:09"])
        alien = Leaf(chunk_id=closed.id, document_id="s:09")
        monkeypatch.setattr(passing, "across_steps_of", lambda *_: (Pairs(library, alien=alien),))
        report = await run(library, SayingModel(say))
        assert "changed meanwhile" in report.failed[0].reason
        assert await overviews(library) == {None: []}


def test_a_summary_that_could_not_be_cited_is_refused() -> None:
    leaf = Leaf(chunk_id="g-0", document_id="s:a")
    for leaves in ((), (leaf,) * (across.MOST_LEAVES + 1)):
        with pytest.raises(ValueError, match="can be cited"):
            Spanning(text="All.", leaves=leaves)
