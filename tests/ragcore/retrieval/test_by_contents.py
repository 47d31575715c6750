"""Sections that a table of contents points to come into the prompt: of documents that were found, and of those only."""

import asyncio
import json
import pathlib
import re
import time
from collections.abc import Callable
from dataclasses import replace

from ragcore.chunking import ChunkOptions
from ragcore.contents import Entry
from ragcore.enrich.asking import Asker
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.errors import ModelError, ModelRefused, ModelUnreachable
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import IngestOptions
from ragcore.library import Library
from ragcore.prompts import OWN
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.by_contents import LEG, OF_SECTION, SECTIONS, ContentsRetriever, _best
from ragcore.retrieval.retriever import Retrieved
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.model_results import ModelResults
from ragcore.stores.outlines import Outlines
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, Leaf, Question, ScoredChunk
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_closed_documents import fill_closed
from tests.ragcore.retrieval.test_retriever import WordEmbedder

SMALL = IngestOptions(chunk=ChunkOptions(chunk_tokens=24))
PARTS = {
    "Vacation": "Thirty days are granted each year.",
    "Lapse": "Whatever is unused vanishes on the last of March.",
    "Illness": "A certificate is due from the fourth day.",
    "Canteen": "Soup is served from noon.",
}
HANDBOOK = "# Handbook\n\n" + "\n\n".join(f"## {title}\n\n{text}" for title, text in PARTS.items())
OTHER = "# Harbour\n\n## Lapse of tickets\n\nBoats wait.\n\n## Illness at sea\n\nThe captain decides."
ASKED = Question(text="How many days of vacation are granted each year?", knowledge_bases=("kb",))


def choosing(*titles: str, score: int = 5) -> Callable[[str, str], str]:
    """Return a model that chooses the sections with these titles."""

    def say(rules: str, material: str) -> str:
        shown = {title: int(n) for n, title in re.findall(r"^\[(\d+)\] *(.+)$", rules, re.MULTILINE)}
        return json.dumps([{"section": shown[title], "score": score} for title in titles if title in shown])

    return say


def searching(library: Library, top_n: int = 1) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=RetrievalOptions(top_n=top_n, similarity_threshold=0.05),
    )


def by_contents(
    library: Library, model: SayingModel | None, *, inner: object = None, seconds: float = 5.0
) -> ContentsRetriever:
    return ContentsRetriever(
        inner or searching(library),  # type: ignore[arg-type]
        registry=library.registry,
        values=DocumentValues(library.database),
        model=model,
        prompts=OWN,
        tokenizer=offline_tokenizer(),
        seconds=seconds,
    )


def told(found: Retrieved) -> list[str]:
    return [scored.chunk.text.splitlines()[-1] for scored in found.chunks]


async def test_the_model_chooses_and_the_sections_follow_what_passed(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK, "other": OTHER}, SMALL)
        alone = await searching(library).retrieve(ASKED)
        assert told(alone) == [PARTS["Vacation"]]
        model = SayingModel(choosing("Lapse", "Vacation"))
        found = await by_contents(library, model).retrieve(ASKED)
        assert found.chunks[0] == alone.chunks[0]
        assert told(found) == [PARTS["Vacation"], PARTS["Lapse"]]
        assert (found.chunks[1].ranks, found.chunks[1].score) == ({LEG: 1}, alone.chunks[0].score)
        assert found.chunks[1].chunk.heading_path == ("Lapse",)
        assert (found.usage.calls, found.usage.prompt_tokens) == (1, 100)
        ((rules, material),) = model.asked
        assert material == ASKED.text
        assert "Illness" in rules
        assert "sea" not in rules, "the other document did not pass the gate"
        assert "Vacation" not in rules, "all of it is there already"


async def test_without_a_model_the_words_of_titles_choose(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, SMALL)
        asked = replace(ASKED, text="When does vacation granted each year lapse?")
        found = await by_contents(library, None).retrieve(asked)
        assert told(found) == [PARTS["Vacation"], PARTS["Lapse"]]
        assert found.usage.calls == 0
        assert told(await by_contents(library, None).retrieve(ASKED)) == [PARTS["Vacation"]]
        german = replace(ASKED, text="Wann verfällt der Urlaub?", wordings=("Wann verfällt der Urlaub?", asked.text))
        assert told(await by_contents(library, None).retrieve(german)) == told(found), "by its translation"


async def test_a_model_that_fails_adds_nothing(tmp_path: pathlib.Path) -> None:
    replies: list[str | ModelError] = ["", "I'm sorry.", "[", '[{"section": 99, "score": 5}]']
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, SMALL)
        alone = await searching(library).retrieve(ASKED)
        for reply in [*replies, ModelRefused("no"), ModelUnreachable("away")]:

            def say(rules: str, material: str, reply: str | ModelError = reply) -> str:
                if isinstance(reply, ModelError):
                    raise reply
                return reply

            model = SayingModel(say)
            found = await by_contents(library, model).retrieve(ASKED)
            assert replace(found, usage=alone.usage) == alone
            assert (len(model.asked), found.usage.calls) == (1, 1), "a call that came to nothing is counted"


async def test_a_late_model_adds_nothing_and_the_answer_is_not_late(tmp_path: pathlib.Path) -> None:
    class Late(SayingModel):
        async def complete(self, messages, *, task):  # type: ignore[no-untyped-def]
            await asyncio.sleep(60.0)

    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, SMALL)
        before = time.monotonic()
        found = await by_contents(library, Late(choosing("Lapse")), seconds=0.2).retrieve(ASKED)
        assert told(found) == [PARTS["Vacation"]]
        assert found.usage.calls == 1
        assert found.usage.prompt_tokens > 20, "it has read its prompt"
        assert time.monotonic() - before < 30.0


async def test_nothing_found_asks_nothing(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, SMALL)
        model = SayingModel(choosing("Lapse"))
        found = await by_contents(library, model).retrieve(replace(ASKED, text="Kubernetes ingress?"))
        assert found.chunks == ()
        assert not model.asked


async def test_no_more_is_added_than_allowed(tmp_path: pathlib.Path) -> None:
    parts = {
        f"Part {n}": "\n\n".join(f"Matter {n}.{m} weighs {m} kilos and some more." for m in range(9)) for n in range(9)
    }
    text = f"{HANDBOOK}\n\n" + "\n\n".join(f"## {title}\n\n{body}" for title, body in parts.items())
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": text}, SMALL)
        found = await by_contents(library, SayingModel(choosing(*parts))).retrieve(ASKED)
        added = [one.chunk for one in found.chunks if LEG in one.ranks]
        assert len(added) == SECTIONS * OF_SECTION
        assert [chunk.heading_path[-1] for chunk in added] == [f"Part {n}" for n in range(3) for _ in range(3)]
        assert [chunk.ordinal for chunk in added] == sorted(chunk.ordinal for chunk in added)


async def test_what_a_reader_may_not_read_any_more_is_not_added(tmp_path: pathlib.Path) -> None:
    """The search is a fake that still gives out what was closed, or moved, in the meantime."""
    board = frozenset({"slack:T1/@U1"})

    class Stale:
        def __init__(self, chunks: tuple[ScoredChunk, ...]) -> None:
            self.chunks = chunks

        async def retrieve(self, question: Question) -> Retrieved:
            return Retrieved(chunks=self.chunks)

    async with opened(tmp_path, WordEmbedder()) as library:
        await fill_closed(library, {"handbook": HANDBOOK}, board)
        mine = replace(ASKED, readers=board)
        passed = (await searching(library).retrieve(mine)).chunks
        stale = by_contents(library, SayingModel(choosing("Lapse")), inner=Stale(passed))
        assert [LEG in one.ranks for one in (await stale.retrieve(mine)).chunks][1:]
        for other in (replace(ASKED, readers=frozenset({"*"})), replace(mine, knowledge_bases=("another",))):
            assert (await stale.retrieve(other)).chunks == passed
        await fill_closed(library, {"handbook": HANDBOOK.replace("Thirty", "Forty")}, board)
        assert (await stale.retrieve(mine)).chunks == passed, "another version is live"


async def test_rows_that_a_filter_leaves_out_are_not_added(tmp_path: pathlib.Path) -> None:
    table = "| room | floor | view |\n| --- | --- | --- |\n| small room | 1 | harbour |\n| large room | 2 | street |"
    text = f"{HANDBOOK}\n\n## Rooms\n\n{table}"
    by_rows = IngestOptions(chunk=replace(SMALL.chunk, method="table", chunk_tokens=16))
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": text}, by_rows)
        asked = replace(ASKED, text="Which small room has a view of the harbour?")
        model = SayingModel(choosing("Rooms", "Lapse"))
        every = await by_contents(library, model).retrieve(asked)
        assert any("street" in one.chunk.text for one in every.chunks if LEG in one.ranks)
        filtered = replace(asked, filters={"kb": (parse_filter("floor = 1"),)})
        found = await by_contents(library, model).retrieve(filtered)
        assert any("harbour" in one.chunk.text for one in found.chunks)
        assert not any("street" in one.chunk.text for one in found.chunks)


async def test_summaries_stand_in_no_section(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, SMALL)
        summing = Asker(
            model=SayingModel(lambda rules, material: " ".join(PARTS.values())),
            identity="m",
            results=ModelResults(library.database),
            prompts=OWN,
            tokenizer=offline_tokenizer(),
        )
        assert [event async for event in enrich(library, "kb", EnrichOptions(raptor=True), summing)]
        chunks = await library.registry.chunks_of(["s:handbook"])
        own = [chunk for chunk in chunks if not chunk.leaves]
        assert len(own) < len(chunks)
        (outline,) = await Outlines(library.database).of([chunks[0].id.rpartition("-")[0]])
        assert outline.chunks == len(own) == len(PARTS)


async def test_sections_that_a_model_named_are_used_like_headings(tmp_path: pathlib.Path) -> None:
    text = "\n\n".join(
        f"{title}: {body} It is so for everybody in the house, as was agreed upon." for title, body in PARTS.items()
    )

    def name(rules: str, material: str) -> str:
        pieces = re.split(r"(?:^|\n\n)\[(\d+)\]\n", material)[1:]
        numbered = list(zip(map(int, pieces[::2]), pieces[1::2], strict=True))
        return json.dumps(
            [{"piece": n, "level": 1, "title": title} for title in PARTS for n, body in numbered if f"{title}:" in body]
        )

    async with opened(tmp_path, WordEmbedder()) as library:
        filler = "\n\n".join(f"Nothing much is said in line {n} of this." for n in range(3))
        await fill(library, {"handbook": f"{text}\n\n{filler}"}, SMALL)
        naming = Asker(
            model=SayingModel(name),
            identity="m",
            results=ModelResults(library.database),
            prompts=OWN,
            tokenizer=offline_tokenizer(),
        )
        before = by_contents(library, SayingModel(choosing("Lapse")))
        assert len((await before.retrieve(ASKED)).chunks) == 1
        assert [event async for event in enrich(library, "kb", EnrichOptions(contents=True), naming)]
        found = await by_contents(library, SayingModel(choosing("Lapse"))).retrieve(ASKED)
        assert PARTS["Lapse"] in found.chunks[1].chunk.text
        (outline,) = await Outlines(library.database).of([found.chunks[0].chunk.id.rpartition("-")[0]])
        assert {"Vacation", "Lapse"} <= {entry.title for entry in outline.entries} <= set(PARTS)
        assert all(isinstance(entry, Entry) and entry.level == 1 for entry in outline.entries)


def test_an_overview_takes_no_document_the_place_of_its_contents() -> None:
    below = Leaf(chunk_id="b-0", document_id="s:b")
    chunks = [
        Chunk(
            id=f"{name}-0", document_id=f"s:{name}", knowledge_base="kb", ordinal=0, text="T", title="T", token_count=1
        )
        for name in "abc"
    ]
    scored = [ScoredChunk(chunk=replace(chunks[0], rests_on=(below,)), score=0.9)]
    scored += [ScoredChunk(chunk=chunk, score=0.5) for chunk in chunks[1:]]
    assert _best(scored) == ["b", "c"]
