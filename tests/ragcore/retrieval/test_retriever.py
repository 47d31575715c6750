import asyncio
import pathlib
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.errors import ConfigError, IndexDamaged, ModelUnreachable, StoreError
from ragcore.library import Library
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.retriever import SIDE_BY_SIDE
from ragcore.stores.indexes import Hit, KeywordIndex, VectorIndex
from ragcore.terms import terms
from ragcore.types import Question
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill, opened

TEXTS = {
    "leave": "# Annual leave\n\nEmployees have thirty days of paid vacation each year.",
    "vpn": "# Network\n\nWhen the tunnel breaks, the client shows ERR_CONN_104. Restart it and sign in.",
    "codes": "# Codes\n\nThe client shows an error code when a connection fails. Connection errors are common.",
    "cafe": "# Canteen\n\nLunch is served from noon. The menu changes each week.",
    "zh": "# 休假\n\n员工每年享有十天带薪年假，需要提前两周申请。",
    "zh2": "# 报销\n\n出差回来以后，请在一个月内提交报销单。",
}


class WordEmbedder(HashEmbedder):
    """Texts that share words are near each other: the sum of the words' own vectors."""

    def __init__(self) -> None:
        super().__init__(name="words", dimension=64)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.of(text) for text in texts])

    def of(self, text: str) -> NDArray[np.float32]:
        total = np.sum([self.vector(term.text) for term in terms(text)] or [self.vector("")], axis=0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


class MisledEmbedder(WordEmbedder):
    """Takes whatever is about leave, in either language, for nearly the same."""

    def of(self, text: str) -> NDArray[np.float32]:
        leave = "leave" in text or "假" in text
        total = super().of(text) + (2 * self.vector("leave") if leave else 0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


class BrokenEmbedder(WordEmbedder):
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnreachable("no connection")


class Broken:
    """An index that is being rebuilt, whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        async def fail(*args: object, **more: object) -> object:
            raise IndexDamaged("being rebuilt")

        return fail


def retriever(
    library: Library,
    *,
    options: RetrievalOptions | None = None,
    vectors: VectorIndex | None = None,
    keywords: KeywordIndex | None = None,
    embedder: HashEmbedder | None = None,
    known_languages: frozenset[str] | None = frozenset({"en"}),
) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=vectors or library.vectors,
        keywords=keywords or library.keywords,
        embedder=embedder or library.embedder,
        options=options,
        known_languages=known_languages,
    )


async def ids(searcher: Retriever, text: str, *, documents: tuple[str, ...] = ()) -> list[str]:
    question = Question(text=text, knowledge_bases=("kb",), document_ids=documents)
    return [scored.chunk.document_id for scored in (await searcher.retrieve(question)).chunks]


class CountingEmbedder(WordEmbedder):
    """Counts how many ask it at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = self.most = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asking += 1
        self.most = max(self.most, self.asking)
        await asyncio.sleep(0.01)
        self.asking -= 1
        return await super().embed(texts)


async def test_many_questions_at_once_are_searched_some_at_a_time(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, CountingEmbedder()) as library:
        await fill(library, TEXTS)
        embedder = CountingEmbedder()
        search = retriever(library, embedder=embedder)
        asked = ["How many vacation days a year?"] * (3 * SIDE_BY_SIDE)
        found = await asyncio.gather(*(ids(search, question) for question in asked))
        assert {one[0] for one in found} == {"s:leave"}
        assert embedder.most == SIDE_BY_SIDE


async def test_the_way_from_question_to_chunks(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        found = await search.retrieve(Question(text="How many vacation days a year?", knowledge_bases=("kb",)))
        best = found.chunks[0]
        assert best.chunk.document_id == "s:leave"
        assert {"vacation", "days", "year"} <= set(best.matched)
        assert best.ranks == {"dense": 1, "keyword": 1}
        assert [scored.score for scored in found.chunks] == sorted((s.score for s in found.chunks), reverse=True)
        assert all(0 <= scored.score <= 1 for scored in found.chunks)
        assert (found.notes, found.without_vectors, found.without_keywords) == ((), False, False)
        assert (await ids(search, "年假有几天"))[0] == "s:zh"
        assert (await ids(search, "年假"))[0] == "s:zh"


async def test_an_exact_identifier_finds_its_document_first(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        for question in ("ERR_CONN_104", "What does the error code err_conn_104 of the client mean? Connection error?"):
            assert (await ids(search, question))[0] == "s:vpn"


async def test_an_identifier_that_stands_nearly_everywhere_lifts_little(tmp_path: pathlib.Path) -> None:
    about = {f"note{i}": f"# TW-200\n\nThe TW-200 has part {i}." for i in range(12)}
    warranty = {"warranty": "# Warranty\n\nMeters of the TW series carry a warranty of 36 months from delivery."}
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {**about, **warranty})
        assert (await ids(retriever(library), "What is the warranty of a TW-200?"))[0] == "s:warranty"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("有給休暇の申請はいつまでですか", ["s:ja"]),
        ("休暇は誰に申請しますか？", ["s:ja"]),
        ("유급휴가는 며칠입니까?", ["s:ko"]),
        ("휴가 신청은 누구에게 합니까?", ["s:ko"]),
        ("会社の住所はどこですか", []),
        ("회사 주식은 얼마입니까?", []),
    ],
)
async def test_japanese_and_korean_questions_are_judged_by_what_they_name(
    tmp_path: pathlib.Path, question: str, wanted: list[str]
) -> None:
    guest = {
        "ja": "# 休暇規程\n\n従業員は年間二十日の有給休暇を取得できます。申請は二週間前までに上長へ提出します。",
        "ko": "# 휴가 규정\n\n직원은 연간 십오일의 유급휴가를 사용할 수 있습니다. 신청은 이주 전에 팀장에게 합니다.",
    }
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {**TEXTS, **guest})
        search = retriever(library, embedder=BrokenEmbedder())
        assert await ids(search, question) == wanted


async def test_an_exact_name_finds_its_document_first(tmp_path: pathlib.Path) -> None:
    texts = {
        "notes": "# Release v2.3.1\n\nThe clock keeps its date.",
        "older": "# Release v2.3.0\n\nThe clock keeps its date. So it did in 2.3 and in 1.",
        "clock_guide": "# Clocks\n\nHow to set one.",
        "other_guide": "# Guide\n\nA guide to every clock, as md and as pdf.",
    }
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {**TEXTS, **texts})
        search = retriever(library)
        for question in ("v2.3.1", "What is new in v2.3.1?", "v2.3.1里的时钟"):
            assert (await ids(search, question))[0] == "s:notes"
        for question in ("clock_guide", "Where is the file clock_guide?"):
            assert (await ids(search, question))[0] == "s:clock_guide"


async def test_what_is_in_no_document_is_not_found(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        for question in ("Who painted the Mona Lisa?", "黄河有多长", "ERR_DISK_7", "?", "   "):
            assert await ids(search, question) == []


async def test_near_is_not_relevant_where_the_embedder_cannot_read(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, MisledEmbedder()) as library:
        await fill(library, {name: text for name, text in TEXTS.items() if name.startswith("zh")})
        asked = Question(text="sick leave", knowledge_bases=("kb",))
        assert (await retriever(library).retrieve(asked)).chunks == ()
        (found,) = (await retriever(library, known_languages=None).retrieve(asked)).chunks
        assert found.chunk.document_id == "s:zh"
        with pytest.raises(StoreError):
            await retriever(library, vectors=Broken(), keywords=Broken()).retrieve(asked)  # type: ignore[arg-type]
        alone = retriever(library, keywords=Broken())  # type: ignore[arg-type]
        assert (await alone.retrieve(asked)).chunks == ()


async def test_documents_narrow_the_search(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library, options=RetrievalOptions(similarity_threshold=0.0))
        assert set(await ids(search, "client error", documents=("s:codes", "s:cafe"))) == {"s:codes", "s:cafe"}
        assert await ids(search, "client error", documents=("s:none",)) == []


async def test_a_knowledge_base_that_is_not_asked_says_nothing(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        assert (await search.retrieve(Question(text="vacation", knowledge_bases=()))).chunks == ()
        assert (await search.retrieve(Question(text="vacation", knowledge_bases=("other",)))).chunks == ()
        both = await search.retrieve(Question(text="vacation days", knowledge_bases=("other", "kb")))
        assert both.chunks[0].chunk.document_id == "s:leave"


async def test_each_leg_answers_alone_and_says_so(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        asked = Question(text="paid vacation days each year", knowledge_bases=("kb",))
        broken = Broken()
        for search in (
            retriever(library, vectors=broken),  # type: ignore[arg-type]
            retriever(library, embedder=BrokenEmbedder()),
        ):
            found = await search.retrieve(asked)
            assert found.chunks[0].chunk.document_id == "s:leave"
            assert (found.without_vectors, found.without_keywords) == (True, False)
            assert found.notes == ("index_rebuilding",)
        found = await retriever(library, keywords=broken).retrieve(asked)  # type: ignore[arg-type]
        assert found.chunks[0].chunk.document_id == "s:leave"
        assert (found.without_vectors, found.without_keywords) == (False, True)
        with pytest.raises(StoreError):
            await retriever(library, vectors=broken, keywords=broken).retrieve(asked)  # type: ignore[arg-type]


async def test_what_is_no_longer_live_is_dropped(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)

        class Stale:
            async def query(self, *args: object, **more: object) -> list[Hit]:
                return [Hit(chunk_id="gone-0", score=0.99)]

        search = retriever(library, vectors=Stale())
        assert set(await ids(search, "vacation days")) == {"s:leave"}


async def test_options_bound_and_gate(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        everything = retriever(library, options=RetrievalOptions(similarity_threshold=0.0, top_n=4))
        assert len(await ids(everything, "client")) == 4
        assert await ids(retriever(library, options=RetrievalOptions(similarity_threshold=1.0)), "client") == []
        for wrong in ({"top_k": 0}, {"top_n": 0}, {"similarity_threshold": 1.5}, {"vector_similarity_weight": -0.1}):
            with pytest.raises(ConfigError):
                RetrievalOptions(**wrong)  # type: ignore[arg-type]


async def test_other_options_leave_the_first_as_they_were(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        search = retriever(library)
        one = search.with_options(RetrievalOptions(top_n=1))
        assert await ids(one, "client shows") == (await ids(search, "client error"))[:1]
        assert len(await ids(search, "client shows")) > 1


async def test_synonyms_find_what_other_words_say(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "synonyms.txt"
    table.write_text("vacation, furlough\n年假, 事假\n", encoding="utf-8")
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        await fill(library, TEXTS)
        for question, wanted in (("furlough", "s:leave"), ("事假", "s:zh")):
            assert await ids(retriever(library), question) == []
            assert (await ids(retriever(library, options=RetrievalOptions(synonyms=table)), question))[0] == wanted
        missing = retriever(library, options=RetrievalOptions(synonyms=tmp_path / "none.txt"))
        with pytest.raises(ConfigError):
            await missing.retrieve(Question(text="x", knowledge_bases=("kb",)))


async def test_what_came_near_to_the_gate_is_given_out_apart(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, TEXTS)
        question = Question(text="When is lunch served?", knowledge_bases=("kb",))
        usual = await retriever(library).retrieve(question)
        assert usual.chunks
        best = usual.chunks[0].score
        strict = RetrievalOptions(similarity_threshold=min(1.0, best * 1.5))
        found = await retriever(library, options=strict).retrieve(question)
        assert not found.chunks
        assert found.near[0].chunk.id == usual.chunks[0].chunk.id
        assert all(near.score < strict.similarity_threshold for near in found.near)
