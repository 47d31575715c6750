"""What the knowledge graph says of a question's names comes into the prompt, resting on chunks that its reader may read."""

import asyncio
import pathlib
import shutil
from dataclasses import replace

import pytest

from ragcore.answer import Answerer
from ragcore.errors import StoreError
from ragcore.filter_grammar import parse_filter
from ragcore.library import Library
from ragcore.library.upkeep import sweep
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.by_graph import IN_FULL, LEG, LINES, TOKENS, GraphRetriever
from ragcore.retrieval.retriever import Retrieved, Retrieving
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.rows import generation_of
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Question, ScoredChunk, Support
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.graph.telling import told
from tests.ragcore.retrieval.test_closed_documents import fill_closed
from tests.ragcore.retrieval.test_retriever import WordEmbedder

TEXTS = {
    "harbour": "# Harbour\n\nBrightwater owns Pier Nine.",
    "company": "# Company\n\nAnn Lee founded Brightwater.",
    "fruit": "# Fruit\n\nBy contract the International Fruit Board (IFB) supplies Brightwater.",
    "board": "# Board\n\nCleo Day governs IFB.",
    "town": "# Town\n\nBob Kay governs Port Elm.",
    "map": "# Map\n\nPort Elm borders Pier Nine.",
    "weather": "# Weather\n\nIt rains in autumn.",
}
READERS = frozenset({"slack:T1/@U1"})


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a library of these texts whose graph was read out; it is copied, and never opened."""
    folder = tmp_path_factory.mktemp("once")

    async def make() -> None:
        async with opened(folder, WordEmbedder()) as library:
            await fill(library, TEXTS)
            await told(library)

    asyncio.run(make())
    return folder


@pytest.fixture
def indexed(once: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(once, tmp_path / "library"))


def asking(text: str) -> Question:
    return Question(text=text, knowledge_bases=("kb",))


def by_graph(
    library: Library, *, inner: Retrieving | None = None, threshold: float = 0.3, top_n: int = 1
) -> GraphRetriever:
    searching = Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=RetrievalOptions(top_n=top_n, similarity_threshold=threshold),
    )
    return GraphRetriever(
        inner or searching,
        registry=library.registry,
        values=DocumentValues(library.database),
        tokenizer=offline_tokenizer(),
        homes={"s": "kb"},
    )


class Given:
    """A search that found just this."""

    def __init__(self, *chunks: ScoredChunk) -> None:
        self.chunks = chunks

    async def retrieve(self, question: Question) -> Retrieved:
        return Retrieved(chunks=self.chunks)


NOTHING = Given()


def added(found: Retrieved) -> dict[str, str]:
    """Return what was added, by document: its lines, and after them the chunk in full."""
    parts: dict[str, str] = {}
    for one in found.chunks:
        if LEG in one.ranks:
            parts[one.chunk.document_id] = parts.get(one.chunk.document_id, "") + one.chunk.text + "\n"
    return parts


async def weather(library: Library, readers: frozenset[str] | None = None) -> ScoredChunk:
    """Return a chunk that has nothing to do with it, as the one that a search found."""
    (chunk,) = await library.registry.chunks_of(["s:weather"])
    return ScoredChunk(chunk=chunk, score=0.4)


async def test_relations_of_a_named_thing_follow_what_passed(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        passed = await weather(library)
        found = await by_graph(library, inner=Given(passed)).retrieve(asking("What of the BRIGHTWATERS?"))
        assert found.chunks[0] == passed
        assert set(added(found)) == {"s:harbour", "s:company", "s:fruit"}
        assert "- Ann Lee – Brightwater: Ann Lee founded Brightwater" in added(found)["s:company"]
        assert [one.ranks[LEG] for one in found.chunks[1:]] == list(range(1, len(found.chunks)))
        assert {one.score for one in found.chunks} == {0.4}
        blocks = [one for one in found.chunks if one.leaves]
        assert len(blocks) == 3
        for block in blocks:
            assert {leaf.chunk.document_id for leaf in block.leaves} == {block.chunk.document_id}
            assert {generation_of(leaf.chunk.id) for leaf in block.leaves} == {generation_of(block.chunk.id)}
            assert block.chunk.leaves == tuple(leaf.chunk.ordinal for leaf in block.leaves)
        full = [one.chunk for one in found.chunks[1:] if not one.leaves]
        assert [chunk.text for chunk in full] == [leaf.chunk.text for block in blocks for leaf in block.leaves]


async def test_what_lies_two_steps_away_comes_where_it_was_asked_for(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=Given(await weather(library)))
        far = added(await retriever.retrieve(asking("Which town borders what Brightwater owns?")))
        assert "Port Elm borders Pier Nine" in far["s:map"]
        assert "s:town" not in far, "that is three steps"
        assert "s:map" not in added(await retriever.retrieve(asking("Who founded Brightwater?")))


async def test_a_short_form_leads_to_what_is_told_of_the_long_one_and_back(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=Given(await weather(library)))
        for name in ("the International Fruit Boards", "IFB", "the I.F.B."):
            assert set(added(await retriever.retrieve(asking(f"What of {name}?")))) >= {"s:board", "s:fruit"}, name
        # Told of two things, it leads from neither to what is told of the other.
        await fill(library, {"other": "# Other\n\nAs said, the Inner Fire Brigade (IFB) governs Elm."})
        await told(library)
        assert "s:board" not in added(await retriever.retrieve(asking("What of the International Fruit Board?")))
        assert {"s:board", "s:other"} <= set(added(await retriever.retrieve(asking("What of the IFB?"))))


async def test_a_question_that_names_nothing_reads_nothing_and_adds_nothing(
    indexed: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        passed = await weather(library)
        retriever = by_graph(library, inner=Given(passed))

        async def none(*_: object, **__: object) -> None:
            raise AssertionError("nothing is to be read")

        monkeypatch.setattr(retriever._graphs, "around", none)
        monkeypatch.setattr(library.registry, "readable_chunks", none)
        for text in ("Does it rain in autumn?", "Who governs what?", "", "?", "Brightly water"):
            assert (await retriever.retrieve(asking(text))).chunks == (passed,)
        nowhere = replace(asking("Brightwater?"), knowledge_bases=())
        assert (await retriever.retrieve(nowhere)).chunks == (passed,)


async def test_nothing_is_added_to_an_abstention_but_what_was_asked_for(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=NOTHING)
        assert (await retriever.retrieve(asking("What is the tax number of Brightwater?"))).chunks == ()
        assert (await retriever.retrieve(asking("Does it rain?"))).chunks == ()
        found = await retriever.retrieve(asking("By whom was Brightwater founded?"))
        assert set(added(found)) == {"s:company"}
        both = await retriever.retrieve(asking("What has Cleo Day to do with the IFB?"))
        assert set(added(both)) == {"s:board"}
        worded = replace(asking("公司是谁创立的？"), wordings=("公司是谁创立的？", "By whom was Brightwater founded?"))
        again = await retriever.retrieve(worded)
        assert again.chunks == found.chunks, "names are those of the documents' language"
        twice = replace(worded, wordings=(worded.wordings[1], worded.wordings[1]))
        assert (await retriever.retrieve(twice)).chunks == found.chunks, "what two wordings name is told once"


async def test_what_was_found_already_is_not_told_again(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        (company,) = await library.registry.chunks_of(["s:company"])
        retriever = by_graph(library, inner=Given(ScoredChunk(chunk=company, score=0.5)))
        assert set(added(await retriever.retrieve(asking("Brightwater?")))) == {"s:harbour", "s:fruit"}
        assert set(added(await retriever.retrieve(asking("What of Ann Lee?")))) == set()


async def test_who_may_not_read_a_chunk_learns_nothing_of_what_it_tells(tmp_path: pathlib.Path) -> None:
    """Neither its lines, nor what lies behind it, nor that a name or a short form stands in it."""
    async with opened(tmp_path, WordEmbedder()) as library:
        open_texts = {name: text for name, text in TEXTS.items() if name not in ("fruit", "map")}
        closed_texts = {name: TEXTS[name] for name in ("fruit", "map")}
        await fill(library, open_texts)
        await fill_closed(library, closed_texts, READERS)
        await told(library)
        passed = Given(await weather(library))
        retriever = by_graph(library, inner=passed)
        others = frozenset({"slack:T1", "*"})
        questions = {
            "What of Brightwater?": {"s:harbour", "s:company"},
            "Which town borders what Brightwater owns?": {"s:harbour", "s:company"},
            "What of the International Fruit Board?": set(),
            "What of the IFB?": {"s:board"},
            "What of Port Elm?": {"s:town"},
        }
        for text, seen in questions.items():
            assert set(added(await retriever.retrieve(replace(asking(text), readers=others)))) == seen, text
            every = set(added(await retriever.retrieve(replace(asking(text), readers=READERS))))
            assert every == set(added(await retriever.retrieve(asking(text))))
            assert every > seen
        elsewhere = replace(asking("What of Brightwater?"), knowledge_bases=("other",))
        assert (await retriever.retrieve(elsewhere)).chunks == passed.chunks


async def test_a_name_that_only_a_closed_chunk_tells_hides_no_open_one(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"weather": TEXTS["weather"], "open": "# A\n\nAnn Lee founded Bright."})
        await fill_closed(library, {"closed": "# B\n\nBob Kay founded Bright Water."}, READERS)
        await told(library)
        retriever = by_graph(library, inner=Given(await weather(library)))
        asked = asking("Who founded Bright Water?")
        assert set(added(await retriever.retrieve(replace(asked, readers=frozenset({"*"}))))) == {"s:open"}
        assert set(added(await retriever.retrieve(asked))) == {"s:closed"}


async def test_filters_and_documents_are_met_on_the_way_too(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=Given(await weather(library)))
        asked = asking("Which town borders what Brightwater owns?")
        assert set(added(await retriever.retrieve(replace(asked, document_ids=("s:harbour", "s:map"))))) == {
            "s:harbour",
            "s:map",
        }
        assert set(added(await retriever.retrieve(replace(asked, document_ids=("s:map",))))) == set()
        filtered = replace(asked, filters={"kb": (parse_filter("name != harbour.md"),)})
        assert set(added(await retriever.retrieve(filtered))) == {"s:company", "s:fruit"}


async def test_only_what_is_live_counts(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=Given(await weather(library)))
        asked = asking("Who founded Brightwater?")
        await fill(library, {"company": TEXTS["company"].replace("Ann Lee", "Zoe Fox")})
        assert "s:company" not in added(await retriever.retrieve(asked))
        await told(library)
        assert "Zoe Fox founded" in added(await retriever.retrieve(asked))["s:company"]
        await library.staging.tombstone(["s:company"])
        assert "s:company" not in added(await retriever.retrieve(asked))
        await sweep(library)
        assert "s:company" not in added(await retriever.retrieve(asked))
        moved = GraphRetriever(
            Given(await weather(library)),
            registry=library.registry,
            values=DocumentValues(library.database),
            tokenizer=offline_tokenizer(),
            homes={"s": "another"},
        )
        assert added(await moved.retrieve(asked)) == {}


async def test_what_is_replaced_between_the_graph_and_the_look_up_is_not_given_out(
    indexed: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, inner=Given(await weather(library)))
        around = retriever._graphs.around

        async def then_replaced(*args: object) -> object:
            found = await around(*args)  # type: ignore[arg-type]
            await fill(library, {"company": TEXTS["company"].replace("Ann Lee", "Zoe Fox")})
            return found

        monkeypatch.setattr(retriever._graphs, "around", then_replaced)
        assert set(added(await retriever.retrieve(asking("Brightwater?")))) == {"s:harbour", "s:fruit"}


async def test_no_more_is_added_than_the_budget(tmp_path: pathlib.Path) -> None:
    filler = " ".join(f"word{number}" for number in range(90))
    text = "\n\n".join(f"# Part {n}\n\nBrightwater owns Pier Nr{n}. {filler} {n}" for n in range(LINES + 4))
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"piers": text, "weather": TEXTS["weather"]})
        await told(library)
        found = await by_graph(library, inner=Given(await weather(library))).retrieve(asking("Brightwater?"))
        extra = found.chunks[1:]
        blocks = [one for one in extra if one.leaves]
        assert sum(one.chunk.text.count("\n") + 1 for one in blocks) == LINES
        assert 0 < len(extra) - len(blocks) <= IN_FULL
        assert sum(one.chunk.token_count for one in extra) <= TOKENS


async def test_a_database_that_fails_costs_what_it_would_add_alone(
    indexed: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        passed = await weather(library)
        retriever = by_graph(library, inner=Given(passed))

        async def failing(*_: object) -> None:
            raise StoreError("the database failed")

        monkeypatch.setattr(retriever._graphs, "around", failing)
        assert (await retriever.retrieve(asking("Brightwater?"))).chunks == (passed,)


async def test_an_answer_cites_the_chunks_that_lines_rest_on(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        prompts: list[str] = []

        def say(rules: str, material: str) -> str:
            prompts.append(rules)
            return "Ann Lee founded Brightwater [ID:0]."

        answerer = Answerer(
            retriever=by_graph(library, inner=NOTHING),
            embedder=None,
            tokenizer=offline_tokenizer(),
            chat_model=SayingModel(say),
        )
        *_, answer = [event async for event in answerer.answer(asking("By whom was Brightwater founded?"))]
        assert isinstance(answer, Answer)
        assert answer.support is Support.CITED
        (company,) = await library.registry.chunks_of(["s:company"])
        assert [one.chunk_id for one in answer.citations] == [company.id]
        assert answer.chunks[answer.citations[0].id].chunk.text == company.text
        assert answer.citations[0].quote in company.text
        assert {one.chunk.document_id for one in answer.chunks} == {"s:company"}


async def test_without_a_model_the_chunks_themselves_are_quoted(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        answerer = Answerer(retriever=by_graph(library, inner=NOTHING), embedder=None, tokenizer=offline_tokenizer())
        *_, answer = [event async for event in answerer.answer(asking("By whom was Brightwater founded?"))]
        assert isinstance(answer, Answer)
        assert "Ann Lee founded Brightwater" in answer.raw_text
        assert "–" not in answer.raw_text
        assert all(not one.chunk.leaves for one in answer.chunks)


async def test_questions_at_once_are_each_their_own(indexed: pathlib.Path) -> None:
    async with opened(indexed, WordEmbedder()) as library:
        retriever = by_graph(library, threshold=0.05)
        questions = [asking(f"What of {name}?") for name in ("Brightwater", "Port Elm", "Cleo Day", "the weather")] * 4
        alone = [await retriever.retrieve(one) for one in questions]
        assert await asyncio.gather(*map(retriever.retrieve, questions)) == alone
