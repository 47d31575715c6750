"""Of things that belong together a report is written, once; it lives, is read and goes with the chunks that it rests on."""

import json
import pathlib
import random
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ragcore.answer import Answerer
from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.coming import Coming
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import estimate
from ragcore.errors import ConfigError
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.library.upkeep import sweep
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.by_graph import GraphRetriever
from ragcore.retrieval.retriever import Retrieved
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.health import IndexState
from ragcore.stores.overviews import COMMUNITIES, Overviews
from ragcore.stores.rows import is_open
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Chunk, Question, ScoredChunk
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.fakes.running import ROOT
from tests.ragcore.enrich.test_growing import asker_of
from tests.ragcore.graph.telling import read_out, told
from tests.ragcore.retrieval.test_closed_documents import fill_closed, fill_told
from tests.ragcore.retrieval.test_retriever import WordEmbedder
from tests.soak import FIXED, scaled

BOTH = EnrichOptions(graph=True, graph_communities=True)
IS_ASKED_TO_REPORT = "You write a short report"
TEXTS = {
    "company": "# Company\n\nAnn Lee founded Brightwater.",
    "harbour": "# Harbour\n\nBrightwater owns Pier Nine.",
    "owner": "# Owner\n\nAnn Lee owns Pier Nine.",
    "town": "# Town\n\nBob Kay governs Port Elm.",
    "river": "# River\n\nPort Elm borders Oak Brook.",
    "brook": "# Brook\n\nBob Kay owns Oak Brook.",
    "weather": "# Weather\n\nIt rains in autumn, as everybody knows.",
}
READERS = frozenset({"slack:T1/@U1"})


def say(rules: str, material: str) -> str:
    """Report in one sentence, with the words of all that it is shown."""
    if not rules.startswith(IS_ASKED_TO_REPORT):
        return read_out(rules, material)
    words = dict.fromkeys(re.findall(r"\w+", material))
    return f"A report about {' '.join(words)}."


async def reports(library: Library) -> dict[str, Chunk]:
    """Return the reports of a library by the names over them."""
    standing = await Overviews(library.database).standing("kb")
    chunks = await library.registry.chunks_of(list(standing))
    return {chunk.heading_path[0]: chunk for chunk in chunks}


async def test_each_community_has_a_report_which_is_asked_for_anew_when_its_chunks_change(
    tmp_path: pathlib.Path,
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        report = await told(library, say, BOTH)
        assert (report.usage.calls, report.summaries, report.failed, report.error) == (7 + 2, 2, (), "")
        found = await reports(library)
        assert set(found) == {"Ann Lee, Brightwater, Pier Nine", "Bob Kay, Oak Brook, Port Elm"}
        water = found["Ann Lee, Brightwater, Pier Nine"]
        assert {leaf.document_id for leaf in water.rests_on} == {"s:company", "s:harbour", "s:owner"}
        assert water.text.startswith("A report about Ann Lee")
        again = await told(library, say, BOTH)
        assert (again.usage.calls, again.cached, again.summaries) == (0, 0, 0)
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        # A change asks anew about what it touches alone.
        await fill(library, {"brook": "# Brook\n\nBob Kay supplies Oak Brook."})
        fresh = await told(library, say, BOTH)
        assert fresh.usage.calls == 1 + 1, "the chunk, and the community in which it tells something"
        after = await reports(library)
        assert after["Ann Lee, Brightwater, Pier Nine"].text == water.text
        assert [heading for heading, one in after.items() if "supplies" in one.text] == ["Bob Kay, Port Elm, Oak Brook"]
        await fill(library, {"weather": "# Weather\n\nIt snows."})
        assert (await told(library, say, BOTH)).usage.calls == 1, "the chunk alone"
        await fill(library, {"wood": "# Wood\n\nAsh Grove borders Elder Hill."})
        assert (await told(library, say, BOTH)).usage.calls == 1, "two things alone are no community"


async def test_it_goes_with_a_chunk_and_with_the_switch_and_comes_back_for_nothing(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library, say, BOTH)
        (water,) = [one for one in (await reports(library)).values() if "Brightwater" in one.text]
        await library.staging.tombstone(["s:owner"])
        assert await library.registry.readable_chunks([water.id], ["kb"]) == {}, "before anything is made anew"
        await sweep(library)
        await told(library, say, BOTH)
        assert set(await reports(library)) == {"Bob Kay, Oak Brook, Port Elm"}
        await told(library, say, EnrichOptions(graph=True))
        assert await reports(library) == {}
        back = await told(library, say, BOTH)
        assert (back.usage.calls, len(await reports(library))) == (0, 1)


@pytest.mark.soak
@pytest.mark.parametrize("reply", ["", "I'm sorry, but I can't help with that."])
async def test_rubbish_leaves_a_community_without_a_report_and_is_asked_a_few_times(
    tmp_path: pathlib.Path, reply: str
) -> None:
    def failing(rules: str, material: str) -> str:
        return reply if rules.startswith(IS_ASKED_TO_REPORT) and "Oak" in material else say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for attempt in range(1, MOST_ATTEMPTS + 1):
            report = await told(library, failing, BOTH)
            assert len(report.failed) == (attempt < MOST_ATTEMPTS)
            assert set(await reports(library)) == {"Ann Lee, Brightwater, Pier Nine"}
        assert (await told(library, failing, BOTH)).usage.calls == 0


@pytest.mark.soak
async def test_while_it_is_not_settled_what_names_mean_the_reports_are_due(tmp_path: pathlib.Path) -> None:
    replies = iter(["They are.", '{"same": [1]}'])

    def wavering(rules: str, material: str) -> str:
        return next(replies) if rules.startswith("You look through") else say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, TEXTS | {"pier": "# Pier\n\nBright Water supplies Ash Grove. Ash Grove borders Pier Nine."})
        first = await told(library, wavering, BOTH)
        assert len(first.failed) == 2, "the pair, and the reports"
        assert not any("Ash Grove" in heading for heading in await reports(library)) or len(await reports(library)) == 2
        second = await told(library, wavering, BOTH)
        assert second.failed == ()
        assert second.usage.calls == 1 + 1, "the pair, and the report of what it joins"
        assert (await told(library, wavering, BOTH)).usage.calls == 0


@pytest.mark.soak
async def test_the_cost_is_told_before(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library)
        foreseen = await estimate(library, "kb", BOTH, asker_of(library, SayingModel(say)))
        made = await told(library, say, BOTH)
        assert made.usage.calls == 2
        assert foreseen.usage.calls >= 2
        coming = Coming(library, BOTH, asker_of(library, SayingModel(say)))
        coming.add_unread(60)
        nothing = await estimate(library, "kb", BOTH, asker_of(library, SayingModel(say)), coming=coming)
        assert nothing.usage.calls >= 60 + 10


def test_without_the_graph_there_are_no_communities() -> None:
    with pytest.raises(ConfigError, match="graph_communities needs graph"):
        EnrichOptions(graph_communities=True)


class Found:
    """A search that found just this."""

    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = tuple(ScoredChunk(chunk=chunk, score=0.4) for chunk in chunks)

    async def retrieve(self, question: Question) -> Retrieved:
        return Retrieved(chunks=self.chunks)


def retriever(library: Library, *found: Chunk) -> GraphRetriever:
    return GraphRetriever(
        Found(*found),
        registry=library.registry,
        values=DocumentValues(library.database),
        tokenizer=offline_tokenizer(),
        homes={"s": "kb"},
    )


async def prompted(library: Library, text: str, readers: frozenset[str] | None = None) -> Sequence[ScoredChunk]:
    """Return what the graph adds to a chunk that has nothing to do with it."""
    (weather,) = await library.registry.chunks_of(["s:weather"])
    question = Question(text=text, knowledge_bases=("kb",), readers=readers)
    found = (await retriever(library, weather).retrieve(question)).chunks
    return found[1:]


async def test_the_report_of_what_a_question_names_is_read_and_its_chunks_are_cited(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        await told(library, say, BOTH)
        added = await prompted(library, "What has Bob Kay to do with Port Elm?")
        (report,) = [one for one in added if one.chunk.rests_on]
        assert report.chunk.heading_path == ("Bob Kay, Oak Brook, Port Elm",)
        assert {leaf.chunk.document_id for leaf in report.leaves} == {"s:town", "s:river", "s:brook"}
        assert all(leaf.chunk.text in "".join(TEXTS.values()) for leaf in report.leaves)
        assert not [one for one in await prompted(library, "Does it rain?") if one.chunk.rests_on]
        nothing = await retriever(library).retrieve(Question(text="Bob Kay?", knowledge_bases=("kb",)))
        assert nothing.chunks == (), "an abstention stays one"
        only = Question(text="Bob Kay?", knowledge_bases=("kb",), document_ids=("s:town",))
        (town,) = await library.registry.chunks_of(["s:town"])
        narrowed = (await retriever(library, town).retrieve(only)).chunks
        assert {one.chunk.document_id for one in narrowed} == {"s:town"}
        # An answer from it cites chunks, and without a model quotes them.
        (weather,) = await library.registry.chunks_of(["s:weather"])
        search = Retriever(
            registry=library.registry,
            vectors=library.vectors,
            keywords=library.keywords,
            embedder=library.embedder,
            options=RetrievalOptions(similarity_threshold=0.1),
        )
        near = await search.retrieve(Question(text="a report about Oak Brook and Bob Kay", knowledge_bases=("kb",)))
        (report,) = [one for one in near.chunks if one.chunk.rests_on]
        assert {leaf.chunk.document_id for leaf in report.leaves} == {"s:town", "s:river", "s:brook"}
        searching = retriever(library, weather)
        asked = Question(text="What has Bob Kay to do with Port Elm?", knowledge_bases=("kb",))
        added = (await searching.retrieve(asked)).chunks
        (place,) = [at for at, one in enumerate(added) if one.chunk.rests_on]
        claim = f"Port Elm borders Oak Brook [ID:{place}]. It costs nine million euros [ID:{place}]."
        parts = {"retriever": searching, "embedder": None, "tokenizer": offline_tokenizer()}
        answerer = Answerer(**parts, chat_model=SayingModel(lambda rules, material: claim))  # type: ignore[arg-type]
        *_, answer = [event async for event in answerer.answer(asked)]
        assert isinstance(answer, Answer)
        (cited,) = answer.citations
        assert (cited.document_id, cited.quote) == ("s:river", "Port Elm borders Oak Brook.")
        assert cited.chunk_id in {chunk.id for chunk in await library.registry.chunks_of(["s:river"])}
        *_, quoted = [event async for event in Answerer(**parts).answer(asked)]  # type: ignore[arg-type]
        assert isinstance(quoted, Answer)
        assert "A report about" not in quoted.raw_text
        assert all(not one.chunk.is_summary for one in quoted.chunks)


@pytest.mark.soak
async def test_a_closed_chunk_shapes_no_report_that_others_see(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        closed = {"river", "brook"}
        await fill(library, {name: text for name, text in TEXTS.items() if name not in closed})
        await fill_closed(library, {name: TEXTS[name] for name in closed}, READERS)
        await fill_closed(library, {"third": "# T\n\nOak Brook supplies Kay Hill. Bob Kay owns Kay Hill."}, READERS)
        await told(library, say, BOTH)
        for readers in (frozenset({"*"}), frozenset[str]()):
            for name in ("Bob Kay", "Port Elm", "Oak Brook", "Kay Hill"):
                added = await prompted(library, f"What of {name}?", readers)
                assert not any("Oak" in one.chunk.text for one in added)
                assert not any(one.chunk.rests_on for one in added)
        (report,) = [one for one in await prompted(library, "What of Oak Brook?", READERS) if one.chunk.rests_on]
        assert {leaf.chunk.document_id for leaf in report.leaves} == {"s:brook", "s:river", "s:third"}


WORDS = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon")
AUDIENCES = (frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"}))


async def test_nobody_is_shown_anything_of_what_is_closed_to_them(tmp_path: pathlib.Path) -> None:
    """For random documents and readers: what is added has words of open documents alone, and is what these give."""
    draw = random.Random(3 if FIXED else None)
    seen = 0
    for world in range(scaled(1)):
        told_to: dict[str, tuple[str, frozenset[str] | None]] = {
            "weather": (TEXTS["weather"], None),
        }
        for number in range(20):
            one, other = draw.sample(WORDS, 2)
            verb = draw.choice(["founded", "owns", "governs", "supplies", "borders"])
            text = f"# Tag{number}\n\n{one} {verb} {other}."
            told_to[f"d{number}"] = (text, draw.choice([None, None, *AUDIENCES]))
        async with opened(tmp_path / f"{world}", WordEmbedder()) as library:
            await fill_told(library, told_to)
            await told(library, say, BOTH)
            for readers in (AUDIENCES[0], frozenset({"*"})):
                open_tags = {
                    name.replace("d", "Tag")
                    for name, (_, told_readers) in told_to.items()
                    if is_open(told_readers, readers)
                }
                for word in WORDS:
                    for one in await prompted(library, f"What of {word}?", readers):
                        texts = [one.chunk, *(leaf.chunk for leaf in one.leaves)]
                        shown = " ".join(" ".join((chunk.text, *chunk.heading_path)) for chunk in texts)
                        assert set(re.findall(r"Tag\d+", shown)) <= open_tags
                        seen += bool(one.chunk.rests_on)
            everything = {chunk.text for chunk in (await reports(library)).values() if not chunk.reader_set}
        async with opened(tmp_path / f"{world}-open", WordEmbedder()) as alone:
            await fill_told(alone, {name: one for name, one in told_to.items() if one[1] is None})
            await told(alone, say, BOTH)
            assert {chunk.text for chunk in (await reports(alone)).values()} == everything
    assert seen


async def test_real_pages_are_reported_on_together(tmp_path: pathlib.Path) -> None:
    """The examples: names that stand with each other in lines of several pages."""
    pages = {page.stem: page.read_bytes() for page in sorted((ROOT / "examples" / "documents").rglob("*.md"))}
    assert len(pages) > 2
    names = sorted({name for text in pages.values() for name in re.findall(r"\b[A-Z][a-z]{3,}\b", text.decode())})

    def reading(rules: str, material: str) -> str:
        if not rules.startswith("You read out"):
            return say(rules, material)
        found = [name for name in names if re.search(rf"\b{name}\b", material)][:12]
        relations = [
            {"source": held[0], "target": other, "description": line[:200]}
            for line in material.splitlines()
            if (held := [name for name in found if name in line])
            for other in held[1:]
        ]
        entities = [{"name": name, "description": f"{name} of the text"} for name in found]
        return json.dumps({"entities": entities, "relations": relations})

    async with opened(tmp_path) as library:
        await fill(library, pages)
        report = await told(library, reading, BOTH)
        assert (report.failed, report.error) == ((), "")
        found = await reports(library)
        assert found
        leaves = {leaf.chunk_id for one in found.values() for leaf in one.rests_on}
        chunks = await library.registry.live_chunks(sorted(leaves))
        assert set(chunks) == leaves
        for heading, one in found.items():
            held = [chunks[leaf.chunk_id] for leaf in one.rests_on]
            told_in = " ".join(" ".join((chunk.title, *chunk.heading_path, chunk.text)) for chunk in held)
            assert all(name in told_in for name in heading.split(", "))
            assert len({leaf.chunk_id for leaf in one.rests_on}) > 1
        name = next(iter(found)).split(", ")[0]
        page = await library.registry.chunks_of([f"s:{next(iter(pages))}"])
        asked = Question(text=f"What of {name}?", knowledge_bases=("kb",))
        added = (await retriever(library, replace(page[0], id=f"{page[0].id}0")).retrieve(asked)).chunks
        assert any(one.chunk.rests_on and name in one.chunk.heading_path[0] for one in added)
        assert (await Overviews(library.database).standing("kb")).popitem()[1].source == f":{COMMUNITIES}"
