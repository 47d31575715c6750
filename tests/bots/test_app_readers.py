"""The operations answer each reader from what they may read, and remember by conversation."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bots.access import audience_of
from bots.app.remembering import audience_key
from bots.counting import by_document
from bots.requests import (
    Ask,
    Forget,
    Forgotten,
    Found,
    ListFeedback,
    ListSources,
    Recall,
    Recalled,
    Search,
    SourceState,
    Sync,
    Unanswered,
)
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from connectors.base import Change
from connectors.files.connector import FilesConnector
from ragcore.errors import ConfigError
from ragcore.library import DATABASE
from ragcore.stores.database import Database
from ragcore.types import Answer, ConversationKey, SourceDocument
from tests.bots.handbook import answered, opened, told
from tests.bots.turn.helpers import HERE, message


async def test_readers_are_answered_from_what_they_may_read(home: pathlib.Path) -> None:
    question = "When does the merger with Brightwater close?"
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        assert (await answered(operations, Ask(question=question))).citations[0].document_id == "secret:merger.txt"
        member = await answered(operations, Ask(question=question, audience=audience_of("slack:T1/@U1")))
        assert not [scored for scored in member.chunks if scored.chunk.document_id.startswith("secret:")]
        outside = Ask(question=question, audience=audience_of("slack:T2"), may_mend=True)
        stranger = await answered(operations, outside)
        assert stranger.chunks == ()
        assert stranger.abstained
        assert 'under [knowledge_bases.handbook]: readers = ["slack:T1", "slack:T2"]' in stranger.notes[-1]
        assert not (await answered(operations, replace(outside, may_mend=False))).notes
        leave = Ask(question="How many unused leave days may be carried over?", audience=audience_of("slack:T1"))
        assert (await answered(operations, leave)).chunks
        assert (await answered(operations, replace(leave, knowledge_bases=("secret",)))).chunks == ()
        with pytest.raises(ConfigError, match="no knowledge base"):
            await told(operations, Ask(question=question, knowledge_bases=("nonsense",)))


async def test_searches_and_sources_keep_to_the_audience(home: pathlib.Path) -> None:
    member, stranger = audience_of("slack:T1/@U1"), audience_of("slack:T2")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for audience, bases in ((None, {"handbook", "secret"}), (member, {"handbook"}), (stranger, set())):
            (found,) = await told(operations, Search(query="merger leave Brightwater days", audience=audience))
            assert isinstance(found, Found)
            assert {scored.chunk.knowledge_base for scored in found.chunks} == bases
            states = await told(operations, ListSources(audience=audience))
            assert {state.knowledge_base for state in states if isinstance(state, SourceState)} == bases


async def test_a_conversation_is_remembered_and_forgotten(home: pathlib.Path) -> None:
    here = ConversationKey(platform="terminal", thread="1")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for question in ("How many leave days may be carried over?", "And sickness?"):
            await answered(operations, Ask(question=question, conversation=here))
        await answered(operations, Ask(question="Not remembered?"))
        assert await told(operations, Forget(conversation=here)) == [Forgotten(turns=2)]
        assert await told(operations, Forget(conversation=here)) == [Forgotten(turns=0)]


async def test_a_question_left_unanswered_is_listed_until_it_is_forgotten(home: pathlib.Path) -> None:
    async with opened(home) as (operations, settings):
        database = await Database.open(settings.data_dir / DATABASE)
        claims = Claims(database)
        claim = await claims.claim(message("a", text="How many?"))
        assert claim is not None
        await claims.finish(claim, Outcome.ABSTAINED)
        await database.close()
        (unanswered,) = await told(operations, ListFeedback())
        assert isinstance(unanswered, Unanswered)
        assert (unanswered.question, unanswered.outcome) == ("How many?", "abstained")
        await told(operations, Forget(conversation=HERE, reference=claim.reference))
        assert await told(operations, ListFeedback()) == [unanswered]
        await told(operations, Forget(conversation=HERE))
        assert await told(operations, ListFeedback()) == []


async def test_a_turn_is_told_again_to_those_who_may_read_it(home: pathlib.Path) -> None:
    here = ConversationKey(platform="slack", workspace="T1", channel="C1")
    member, stranger = audience_of("slack:T1/@U1"), audience_of("slack:T2")
    question = "How many unused leave days may be carried over?"
    ask = Ask(question=question, conversation=here, reference="0123abcd", audience=member, private_to="U1")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        events = await told(operations, ask)
        answer = events[-1]
        assert isinstance(answer, Answer)
        again = Recall(reference="0123abcd", audience=member, chunks=tuple(one.chunk.id for one in answer.chunks))
        (recalled,) = await told(operations, again)
        whole = Recalled(
            question=question,
            answer=answer.raw_text,
            citations=answer.citations,
            allowed_urls=answer.allowed_urls,
            given=by_document(answer.chunks),
        )
        assert sum(one.chunks for one in whole.given) == len(answer.chunks)
        assert recalled == whole
        assert all(citation.updated_at for citation in recalled.citations)
        assert recalled.allowed_urls
        (recalled,) = await told(operations, replace(again, audience=stranger))
        assert recalled == replace(whole, citations=(), withheld=1, allowed_urls=frozenset(), given=())
        (recalled,) = await told(operations, replace(again, knowledge_bases=("secret",)))
        assert recalled == replace(whole, citations=(), withheld=1, allowed_urls=frozenset(), given=())
        assert await told(operations, Recall(reference="ffffffff")) == []
        assert await told(operations, Forget(conversation=here, reference="0123abcd")) == [Forgotten(turns=1)]


async def test_a_document_is_open_to_those_whom_its_source_names_alone(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = FilesConnector.changes

    async def changes(self: FilesConnector, *given: Any) -> AsyncIterator[Change]:
        async for change in real(self, *given):
            is_leave = isinstance(change, SourceDocument) and change.id == "handbook:leave.md"
            yield replace(change, readers=frozenset({"slack:T1/@U1"})) if is_leave else change  # type: ignore[type-var]

    monkeypatch.setattr(FilesConnector, "changes", changes)
    here = ConversationKey(platform="slack", workspace="T1", channel="C1")
    question = "How many unused leave days may be carried over?"
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for person, reads in (("slack:T1/@U1", True), ("slack:T1/@U2", False)):
            audience = audience_of(person)
            answer = await answered(operations, Ask(question=question, audience=audience))
            (found,) = await told(operations, Search(query=question, audience=audience))
            assert isinstance(found, Found)
            for chunks in (answer.chunks, found.chunks):
                assert ("handbook:leave.md" in {one.chunk.document_id for one in chunks}) == reads
            (source,) = await told(operations, ListSources(audience=audience))
            assert isinstance(source, SourceState)
            assert source.documents == 1 + reads, "nor does a count tell of it"
            named = Search(query=question, audience=audience, document_ids=("handbook:leave.md",))
            if reads:
                (found,) = await told(operations, named)
                assert isinstance(found, Found)
                assert {one.chunk.document_id for one in found.chunks} == {"handbook:leave.md"}
            unknown = ["handbook:nowhere.md", "secret:merger.txt", *(["handbook:leave.md"] if not reads else [])]
            for name in unknown:
                with pytest.raises(ConfigError, match=f"there is no document '{name}'"):
                    await told(operations, replace(named, document_ids=(name,)))
        ask = Ask(question=question, conversation=here, reference="0123abcd", audience=audience_of("slack:T1/@U1"))
        await answered(operations, ask)
        for person, withheld in (("slack:T1/@U1", 0), ("slack:T1/@U2", 1)):
            (recalled,) = await told(operations, Recall(reference="0123abcd", audience=audience_of(person)))
            assert isinstance(recalled, Recalled)
            assert (recalled.withheld, not recalled.citations) == (withheld, bool(withheld))


async def test_what_one_person_alone_was_told_is_named_apart_from_what_the_same_readers_heard(
    home: pathlib.Path,
) -> None:
    async with opened(home) as (_, settings):
        readers = frozenset({"slack:T1"})
        keys = {audience_key(settings, readers, who) for who in ("", "slack:T1/@U1", "slack:T1/@U2")}
        assert len(keys | {audience_key(settings, None, "")}) == 4
        assert audience_key(settings, readers | {"slack:T1/C7"}, "slack:T1/@U1") in keys
        assert audience_key(settings, readers | {"slack:T1/C7"}, "") not in keys
