"""A filter that a model draws from the question: what it is shown, what comes of its reply, and of its failures."""

import asyncio
import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest

from ragcore.errors import ModelUnreachable
from ragcore.filter_grammar import parse_filter
from ragcore.filters import KnownField
from ragcore.library import Library
from ragcore.models.llm import ChatModel
from ragcore.retrieval import Retrieved
from ragcore.retrieval.drawn_filter import FilteringRetriever
from ragcore.stores.document_values import DocumentValues
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message, Question, Usage
from tests.fakes.libraries import opened
from tests.ragcore.retrieval.test_filtered_search import index, made_document, retriever
from tests.ragcore.retrieval.test_retriever import WordEmbedder

SPENT = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
ASKED = Question(text="What of the merger in 2024?", knowledge_bases=("kb",))
CLOSED = frozenset({"slack:T1/@U1"})


@dataclass
class Drawing:
    """A chat model that replies with one text, or fails, after a while."""

    reply: str | Exception = ""
    seconds: float = 0.0
    context_window: int = 8192
    max_tokens: int = 500
    name: str = "fake"
    prompts: list[Sequence[Message]] = field(default_factory=list)

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        assert task == "filter"
        self.prompts.append(messages)
        await asyncio.sleep(self.seconds)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply, SPENT

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> object:
        raise AssertionError("nothing is streamed")


def condition(name: str, operator: str, value: object) -> str:
    return json.dumps({"conditions": [{"field": name, "operator": operator, "value": value}]})


async def _filled(library: Library) -> None:
    await index(
        library,
        [
            made_document("old", "The merger was planned.", metadata={"year": "2023", "status": "open"}),
            made_document("new", "The merger was closed.", metadata={"year": "2024", "status": "open"}),
            made_document("board", "The merger costs.", metadata={"year": "1999", "secret": "nine"}, readers=CLOSED),
            made_document("none", "The merger of old."),
        ],
    )


async def _retrieved(
    library: Library,
    model: Drawing,
    question: Question = ASKED,
    *fields: str,
    homes: Mapping[str, str] = MappingProxyType({}),
    values: DocumentValues | None = None,
) -> Retrieved:
    return await filtering(library, model, *fields, homes=homes, values=values).retrieve(question)


def filtering(
    library: Library,
    model: Drawing,
    *fields: str,
    homes: Mapping[str, str] = MappingProxyType({}),
    values: DocumentValues | None = None,
) -> FilteringRetriever:
    """Return what draws filters for the knowledge base."""
    plain = retriever(library, homes=homes)
    chat: ChatModel = model  # type: ignore[assignment]
    return FilteringRetriever(
        plain,
        registry=library.registry,
        values=values or plain.values,
        model=chat,
        tokenizer=offline_tokenizer(),
        fields={"kb": fields},
        seconds=0.2 if model.seconds or values else 90,
        homes=homes,
    )


def names(found: Retrieved) -> set[str]:
    return {scored.chunk.document_id.removeprefix("s:") for scored in found.chunks}


async def test_what_the_question_asks_for_is_what_is_searched(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        model = Drawing(condition("year", ">=", 2024))
        found = await _retrieved(library, model)
        assert (names(found), found.notes, found.usage) == ({"new"}, (), SPENT)
        system, asked = model.prompts[0]
        assert '- "year" (number): "1999", "2023", "2024"' in system.text
        assert '- "status" (text): "open"' in system.text
        assert '"title"' not in system.text
        assert asked.text == ASKED.text
        narrowed = replace(ASKED, filters={"kb": (parse_filter("status empty"),)})
        both = await _retrieved(library, Drawing(condition("year", ">", 1990)), narrowed)
        assert names(both) == {"board"}, "the question's own filter and the drawn one intersect"


async def test_a_drawn_filter_that_matches_nothing_is_dropped_and_said(tmp_path: pathlib.Path) -> None:
    everyone = replace(ASKED, readers=frozenset({"*"}))
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        found = await _retrieved(library, Drawing(condition("year", "=", 2031)))
        assert (names(found), found.notes, found.usage) == ({"old", "new", "board", "none"}, ("filter_dropped",), SPENT)
        closed = Drawing(condition("year", "=", 1999))
        found = await _retrieved(library, closed, everyone)
        assert (names(found), found.notes) == ({"old", "new", "none"}, ("filter_dropped",)), "as if it were not there"
        assert "1999" not in closed.prompts[0][0].text
        assert "secret" not in closed.prompts[0][0].text
        unknown = await _retrieved(library, Drawing(condition("secret", "=", "nine")), everyone)
        assert (names(unknown), unknown.notes) == ({"old", "new", "none"}, ()), "a field that it was not shown"
        manual = replace(ASKED, filters={"kb": (parse_filter("year = 1066"),)})
        nothing = await _retrieved(library, Drawing(condition("year", "=", 2024)), manual)
        assert (names(nothing), nothing.notes) == (set(), ("filter_without_match",)), "a manual one stays"


@pytest.mark.parametrize(
    "model",
    [
        Drawing(ModelUnreachable("gone")),
        Drawing(condition("year", "=", 2024), seconds=30),
        Drawing(condition("year", "=", 2024), context_window=60),
        Drawing("I'd rather not."),
        Drawing(""),
    ],
    ids=["fails", "late", "small", "prose", "empty"],
)
async def test_without_a_filter_the_search_goes_on(model: Drawing, tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        before = asyncio.get_running_loop().time()
        found = await _retrieved(library, model)
        assert asyncio.get_running_loop().time() - before < 25
        assert (names(found), found.notes) == ({"old", "new", "board", "none"}, ())
        assert found.usage.calls == len(model.prompts) == (model.context_window > 60), "each call is told"


async def test_only_named_fields_may_be_used(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        model = Drawing(condition("year", "=", 2024))
        assert names(await _retrieved(library, model, ASKED, "Status", "nowhere")) == {"old", "new", "board", "none"}
        assert '"year"' not in model.prompts[0][0].text
        assert '- "status" (text): "open"' in model.prompts[0][0].text
        silent = Drawing(condition("year", "=", 2024))
        await _retrieved(library, silent, ASKED, "nowhere")
        assert silent.prompts == [], "there is nothing to choose from"


async def test_a_knowledge_base_without_the_field_is_searched_whole(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        await index(library, [made_document("more", "A merger of others.", source="t", id="t:more")], base="other")
        chat: ChatModel = Drawing(condition("year", "=", 2024))  # type: ignore[assignment]
        plain = retriever(library)
        search = FilteringRetriever(
            plain,
            registry=library.registry,
            values=plain.values,
            model=chat,
            tokenizer=offline_tokenizer(),
            fields={"kb": (), "other": ()},
            seconds=90,
        )
        question = replace(ASKED, knowledge_bases=("kb", "other"))
        assert {one.chunk.document_id for one in (await search.retrieve(question)).chunks} == {"s:new", "t:more"}


async def test_the_model_is_shown_nothing_of_a_source_that_moved_to_another_knowledge_base(
    tmp_path: pathlib.Path,
) -> None:
    moved = {"s": "kb", "Board": "private", "t": "private"}
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        more = made_document(
            "x", "The merger of x.", source="Board", id="Board:x", metadata={"year": "2031", "pin": "1"}
        )
        await index(library, [more])
        open_to_all = Drawing(condition("year", "=", 2031))
        assert names(await _retrieved(library, open_to_all)) == {"Board:x"}
        assert "2031" in open_to_all.prompts[0][0].text
        model = Drawing(condition("year", "=", 2031))
        found = await _retrieved(library, model, homes=moved)
        assert (names(found), found.notes) == ({"old", "new", "board", "none"}, ("filter_dropped",))
        assert "2031" not in model.prompts[0][0].text
        assert '"pin"' not in model.prompts[0][0].text
        manual = replace(ASKED, filters={"kb": (parse_filter("year = 2031"),)})
        nothing = await _retrieved(library, Drawing(), manual, homes=moved)
        assert (names(nothing), nothing.notes) == (set(), ("filter_without_match",))


async def test_the_model_is_shown_only_what_the_question_may_look_at(tmp_path: pathlib.Path) -> None:
    final = replace(ASKED, filters={"kb": (parse_filter("status = final"),)})
    async with opened(tmp_path, WordEmbedder()) as library:
        await index(
            library,
            [
                made_document("a", "The merger, done.", metadata={"status": "final", "year": "2024"}),
                made_document("b", "The merger, drafted.", metadata={"status": "draft", "price": "77"}),
                made_document("c", "The merger, done twice.", metadata={"status": "final", "year": "2025"}),
            ],
        )
        model = Drawing(condition("year", "=", 2024))
        assert names(await _retrieved(library, model, final)) == {"a"}
        told = model.prompts[0][0].text
        assert '- "status" (text): "final"' in told
        assert '- "year" (number): "2024", "2025"' in told
        assert '"draft"' not in told
        assert '"price"' not in told
        one = Drawing(condition("year", "=", 2024))
        found = await _retrieved(library, one, replace(final, document_ids=("s:c",)))
        assert (names(found), found.notes) == ({"c"}, ("filter_dropped",))
        assert '- "year" (number): "2025"' in one.prompts[0][0].text
        named = Drawing(condition("price", ">", 1))
        assert names(await _retrieved(library, named, replace(ASKED, document_ids=("s:b",)), "price", "year")) == {"b"}
        assert '- "price" (number): "77"' in named.prompts[0][0].text
        assert '"year"' not in named.prompts[0][0].text


class _Slow(DocumentValues):
    """Values that take long to read."""

    async def fields(self, *_: object, **__: object) -> list[KnownField]:  # type: ignore[override]
        await asyncio.sleep(30)
        return []


async def test_a_look_at_what_is_known_that_is_late_holds_up_nothing(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        model = Drawing(condition("year", "=", 2024))
        before = asyncio.get_running_loop().time()
        found = await _retrieved(library, model, values=_Slow(library.database))
        assert asyncio.get_running_loop().time() - before < 25
        assert (names(found), found.notes, model.prompts) == ({"old", "new", "board", "none"}, (), [])


async def test_a_filter_that_is_drawn_ahead_is_searched_by_without_another_call(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await _filled(library)
        model = Drawing(condition("year", ">=", 2024))
        searcher, spent = await filtering(library, model).ahead(ASKED, 60)
        worded = replace(ASKED, wordings=("What is known of the merger in 2024?",))
        for _ in range(2):
            found = await searcher.retrieve(worded)
            assert (names(found), found.usage) == ({"new"}, Usage())
        assert (len(model.prompts), spent) == (1, SPENT)
        await filtering(library, model).retrieve(worded)
        assert model.prompts[1][1].text == worded.asked, "what is drawn later is drawn from the wording"
        searcher, spent = await filtering(library, model).ahead(ASKED, 0)
        assert (names(await searcher.retrieve(ASKED)), spent) == ({"old", "new", "board", "none"}, Usage())
        assert len(model.prompts) == 2, "no time is left"
        assert (await filtering(library, model).ahead(replace(ASKED, text="👍"), 60))[1] == Usage()
        assert len(model.prompts) == 2, "an emoji asks for no filter"
