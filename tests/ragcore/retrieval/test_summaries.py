"""A summary is found and read by a model; what is cited and quoted are the chunks that it rests on."""

import pathlib
import threading
from dataclasses import replace
from typing import Any

import pytest

from ragcore.answer import Answerer
from ragcore.citations.cite import cite
from ragcore.enrich.asking import Asker
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.library import Library
from ragcore.links import allowed_urls, deep_link
from ragcore.prompts import Prompts
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval import retriever as module
from ragcore.retrieval.matching import matched_words
from ragcore.retrieval.query import SearchQuery
from ragcore.retrieval.summaries import leaves_of, opened, with_leaves
from ragcore.stores.model_results import ModelResults
from ragcore.stores.registry import Registry
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Chunk, Question, ScoredChunk, Support
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill
from tests.fakes.libraries import opened as opened_library
from tests.ragcore.retrieval.test_closed_documents import fill_closed
from tests.ragcore.retrieval.test_retriever import WordEmbedder

HANDBOOK = """\
# Leave

Parental leave lasts 14 weeks and is paid in full.

# Sickness

A doctor's note is due on the fourth day, at the HR portal.

# Hotels

A hotel may cost 120 euros a night, breakfast not included.

# Trains

Trains are booked in second class by the travel desk.
"""
SUMMARY = (
    "The working conditions overview: parental leave of 14 weeks, a doctor's note, and 120 euros a night for a hotel."
)
ASKED = Question(text="Give me the working conditions overview", knowledge_bases=("kb",))
READERS = frozenset({"slack:T1/@U1"})


async def summarise(library: Library) -> None:
    asker = Asker(
        model=SayingModel(lambda rules, material: SUMMARY),
        identity="saying",
        results=ModelResults(library.database),
        prompts=Prompts(),
        tokenizer=offline_tokenizer(),
    )
    async for _ in enrich(library, "kb", EnrichOptions(raptor=True), asker):
        pass


def retriever(library: Library, registry: Registry | None = None) -> Retriever:
    return Retriever(
        registry=registry or library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=RetrievalOptions(top_n=1, similarity_threshold=0.1),
    )


async def answered(library: Library, said: str | None, question: Question = ASKED) -> Answer:
    answerer = Answerer(
        retriever=retriever(library),
        embedder=None,
        tokenizer=offline_tokenizer(),
        chat_model=None if said is None else SayingModel(lambda rules, material: said),
    )
    *_, answer = [event async for event in answerer.answer(question)]
    assert isinstance(answer, Answer)
    return answer


async def test_an_answer_from_a_summary_links_to_the_chunks_it_rests_on(tmp_path: pathlib.Path) -> None:
    said = (
        "Parental leave lasts 14 weeks [ID:0]. A hotel may cost 120 euros a night [ID:0]. "
        "A doctor's note is due on the fourth day. The canteen serves soup on Mondays [ID:0]."
    )
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK})
        await summarise(library)
        (found,) = (await retriever(library).retrieve(ASKED)).chunks
        assert found.chunk.text == SUMMARY
        assert [leaf.chunk.ordinal for leaf in found.leaves] == [0, 1, 2, 3]
        answer = await answered(library, said)
    assert answer.support is Support.CITED
    assert answer.raw_text == (
        "Parental leave lasts 14 weeks [ID:1]. A hotel may cost 120 euros a night [ID:3]. "
        "A doctor's note is due on the fourth day [ID:2]. The canteen serves soup on Mondays."
    )
    assert [citation.location for citation in answer.citations] == ["line 3", "Hotels", "Sickness"]
    assert [citation.chunk_id[-2:] for citation in answer.citations] == ["-0", "-2", "-1"]
    for citation in answer.citations:
        assert citation.quote in HANDBOOK
        assert answer.chunks[citation.id].chunk.id == citation.chunk_id
        assert citation.quote in answer.chunks[citation.id].chunk.text
    assert answer.chunks[0].chunk.text == SUMMARY, "what the model read is told"


async def test_what_no_leaf_supports_is_not_cited(tmp_path: pathlib.Path) -> None:
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK})
        await summarise(library)
        answer = await answered(library, "The working conditions overview is favourable everywhere [ID:0].")
    assert answer.support is Support.UNSUPPORTED
    assert not answer.citations
    assert "[ID:" not in answer.raw_text


async def test_without_a_model_the_leaves_are_quoted_and_never_the_summary(tmp_path: pathlib.Path) -> None:
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK})
        await summarise(library)
        question = replace(ASKED, text="working conditions overview: how many weeks does parental leave last?")
        answer = await answered(library, None, question)
    assert "Parental leave lasts 14 weeks" in answer.raw_text
    assert "overview" not in answer.raw_text
    assert not any(scored.chunk.leaves for scored in answer.chunks)
    assert answer.citations[0].quote in HANDBOOK


async def test_a_summary_is_open_to_those_who_may_read_its_document(tmp_path: pathlib.Path) -> None:
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill_closed(library, {"handbook": HANDBOOK}, READERS)
        await summarise(library)
        search = retriever(library)
        assert (await search.retrieve(replace(ASKED, readers=READERS))).chunks[0].leaves
        assert not (await search.retrieve(replace(ASKED, readers=frozenset({"*", "slack:T1"})))).chunks
        strict = [one for one in await library.registry.chunks_of(["s:handbook"]) if one.leaves]
        ids = leaves_of(strict)
        assert len(await library.registry.readable_chunks(ids, ["kb"], readers=READERS)) == 4
        assert not await library.registry.readable_chunks(ids, ["kb"], readers=frozenset({"*"}))


class Switching(Registry):
    """A registry under which the document is replaced between the search and the reading of what belongs to it."""

    def __init__(self, library: Library, switches: int) -> None:
        super().__init__(library.database)
        self._library = library
        self._left = switches
        self.reads = 0

    async def readable_chunks(self, *args: Any, **said: Any) -> dict[str, Chunk]:
        self.reads += 1
        if self._left:
            self._left -= 1
            await fill(self._library, {"handbook": f"{HANDBOOK}\nChange {self._left}.\n"})
            await summarise(self._library)
        return await super().readable_chunks(*args, **said)


@pytest.mark.parametrize(("switches", "reads", "found"), [(0, 1, 1), (1, 2, 1), (2, 2, 0)])
async def test_a_document_replaced_before_its_leaves_are_read_is_searched_again(
    switches: int, reads: int, found: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUOTE_ATTEMPTS", 2)
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK})
        await summarise(library)
        registry = Switching(library, switches)
        chunks = (await retriever(library, registry).retrieve(ASKED)).chunks
        assert [(one.chunk.text, len(one.leaves)) for one in chunks] == [(SUMMARY, 4)] * found
        assert registry.reads == reads


async def test_the_words_of_leaves_are_looked_for_in_a_thread(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_library(tmp_path, WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK})
        await summarise(library)
        threads = []

        def watched(query: SearchQuery, text: str) -> tuple[str, ...]:
            threads.append(threading.current_thread())
            return matched_words(query, text)

        monkeypatch.setattr(module, "matched_words", watched)
        (found,) = (await retriever(library).retrieve(ASKED)).chunks
    assert len(threads) == len(found.leaves)
    assert threading.main_thread() not in threads


def chunk(ordinal: int, text: str, *leaves: int) -> Chunk:
    return Chunk(
        id=f"g-{ordinal}", document_id="s:a", knowledge_base="kb", ordinal=ordinal, text=text, title="Handbook",
        token_count=9, url="https://wiki.example/a", leaves=leaves,
    )  # fmt: skip


LEAVES = [chunk(0, "Parental leave lasts 14 weeks."), chunk(1, "Trains are booked in second class.")]
ABOVE = chunk(2, "Leave lasts 14 weeks, trains are second class. See https://evil.example/x", 0, 1)


def scored(one: Chunk, *matched: str, score: float = 0.5) -> ScoredChunk:
    return ScoredChunk(chunk=one, score=score, matched=matched)


def test_a_summary_without_all_its_leaves_is_left_out() -> None:
    other = scored(chunk(5, "Other."))
    assert with_leaves([scored(ABOVE), other], {"g-0": LEAVES[0]}, {}) == (other,)
    whole = with_leaves([scored(ABOVE), other], {one.id: one for one in LEAVES}, {"g-1": ("Trains",)})
    assert [leaf.chunk for leaf in whole[0].leaves] == LEAVES
    assert whole[0].leaves[1].matched == ("Trains",)


def test_leaves_take_the_place_of_summaries_and_each_chunk_stands_once() -> None:
    summary = replace(scored(ABOVE), leaves=(scored(LEAVES[0]), scored(LEAVES[1], "Trains")))
    first = scored(LEAVES[0], score=0.9)
    assert [one.chunk for one in opened([first, summary])] == LEAVES
    assert [one.chunk for one in opened([summary])] == LEAVES
    assert [one.chunk for one in opened([summary], 1)] == [LEAVES[1]]
    assert opened([first]) == (first,)


async def test_a_leaf_that_stood_in_the_prompt_keeps_its_number() -> None:
    cited = await cite(
        "Parental leave lasts 14 weeks [ID:1]. Trains are booked in second class [ID:1].",
        [LEAVES[1], ABOVE],
        leaves=[(), LEAVES],
    )
    assert cited.text == "Parental leave lasts 14 weeks [ID:2]. Trains are booked in second class [ID:0]."
    assert cited.beside == (LEAVES[0],)
    assert [citation.id for citation in cited.citations] == [2, 0]


@pytest.mark.parametrize("said", ["第一句话 [ID:0]。", "`[ID:0]` is code.", "# Heading [ID:0]\n\nWords.", "[ID:0]", ""])
async def test_a_marker_of_a_summary_never_stays(said: str) -> None:
    cited = await cite(said, [ABOVE], leaves=[LEAVES])
    assert all(citation.chunk_id != ABOVE.id for citation in cited.citations)


async def test_chinese_sentences_find_their_leaf_though_the_embedder_knows_no_chinese() -> None:
    leaves = [chunk(0, "年假为15天，须提前两周申请。"), chunk(1, "病假第四天起须提交医生证明。")]
    above = chunk(2, "员工有年假15天，病假第四天起须交证明。", 0, 1)
    cited = await cite("病假第四天起须提交医生证明 [ID:0]。", [above], leaves=[leaves])
    assert [citation.chunk_id for citation in cited.citations] == ["g-1"]


def test_an_address_that_a_model_wrote_into_a_summary_is_no_link() -> None:
    assert allowed_urls([ABOVE], frozenset({"evil.example"})) == {"https://wiki.example/a"}
    assert deep_link(ABOVE) == "https://wiki.example/a"
