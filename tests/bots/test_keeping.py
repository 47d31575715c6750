"""Answers that are kept: only to the same question, by the same readers, of the same documents as they are now."""

import asyncio
import contextlib
import pathlib
import tempfile
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.app.keeping import Keeping, basis_of, is_kept, key_of, templates_of
from bots.platform import Vote
from bots.requests import Ask, Explained, Forget, Sync
from bots.settings import load_settings
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.feedback import Feedback
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import ingest
from ragcore.prompts import OWN
from ragcore.stores.answer_cache import AnswerCache, drop_said
from ragcore.stores.database import Database
from ragcore.trace import Recorder
from ragcore.types import (
    Answer,
    AnswerEvent,
    ConversationKey,
    Delta,
    Message,
    Question,
    ScoredChunk,
    SourceDocument,
    Support,
    Usage,
)
from tests.bots.handbook import LEAVE, SETTINGS, answered, opened, told
from tests.fakes.libraries import opened as opened_library
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.platform import asked
from tests.soak import scaled

DAY = date(2026, 11, 23)
CHANNEL = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
READERS = frozenset({"slack:T1", "*"})
QUESTION = Question(text="How many days?", knowledge_bases=("a", "b"), readers=READERS)

VARIED: list[Callable[[Question], Question]] = [
    lambda q: replace(q, text="How many days??"),
    lambda q: replace(q, knowledge_bases=("a",)),
    lambda q: replace(q, knowledge_bases=("a", "b", "c")),
    lambda q: replace(q, readers=READERS | {"slack:T1/@U1"}),
    lambda q: replace(q, readers=frozenset({"*"})),
    lambda q: replace(q, readers=frozenset()),
    lambda q: replace(q, readers=None),
    lambda q: replace(q, document_ids=("s:a",)),
    lambda q: replace(q, filters={"a": (parse_filter("year = 2024"),)}),
    lambda q: replace(q, filters={"b": (parse_filter("year = 2024"),)}),
    lambda q: replace(q, filters={"a": (parse_filter("year = 2025"),)}),
    lambda q: replace(q, history=(Message(role="user", text="And Ann?"),)),
    lambda q: replace(q, history=(Message(role="assistant", text="And Ann?"),)),
    lambda q: replace(q, history=(Message(role="user", text="And Ann?", author="Ben"),)),
    lambda q: replace(q, history=(Message(role="user", text="And Ann?", sent_at=datetime(2026, 1, 1, tzinfo=UTC)),)),
    lambda q: replace(q, history=(Message(role="user", text="And"), Message(role="user", text="Ann?"))),
    lambda q: replace(q, beside="a screenshot"),
    lambda q: replace(q, wordings=("How many days of leave?",)),
    lambda q: replace(q, keywords=("leave",)),
]


def test_whatever_an_answer_depends_on_makes_another_key() -> None:
    revisions = {"a": 1, "b": 2}
    keys = [
        key_of(QUESTION, revisions, basis="x", day=DAY),
        *(key_of(vary(QUESTION), revisions, basis="x", day=DAY) for vary in VARIED),
        key_of(QUESTION, {"a": 2, "b": 2}, basis="x", day=DAY),
        key_of(QUESTION, {"a": 2, "b": 1}, basis="x", day=DAY),
        key_of(QUESTION, revisions, basis="y", day=DAY),
        key_of(QUESTION, revisions, basis="x", day=DAY + timedelta(days=1)),
    ]
    assert len(set(keys)) == len(keys)
    again = replace(QUESTION, readers=frozenset(sorted(READERS, reverse=True)))
    assert key_of(again, {"b": 2, "a": 1}, basis="x", day=DAY) == keys[0]


def test_a_changed_setting_or_template_is_another_basis(tmp_path: pathlib.Path, no_settings: None) -> None:
    file, folder = tmp_path / "citebot.toml", tmp_path / "prompts"
    folder.mkdir()
    prompt = tmp_path / "own.j2"
    prompt.write_text("{# inputs: quote -#}\nBe short.")
    before = templates_of(OWN, folder, [prompt], quote=True)
    prompt.write_text("{# inputs: quote -#}\nBe long.")
    changed = templates_of(OWN, folder, [prompt], quote=True)
    (folder / "rewrite.j2").write_text("{# inputs: none -#}\nPut it otherwise.")
    assert len({before, changed, templates_of(OWN, folder, [prompt], quote=True)}) == 3
    llm = '[llm]\nbase_url = "http://x/v1"\nmodel = "m"\n'
    bases = set[str]()
    for text in (
        llm,
        llm + "temperature = 0.5\n",
        llm + "[llm.tasks.answer]\nmax_tokens = 9\n",
        llm + "[answer]\ntop_n = 3\n",
        llm + "[answer]\nquote = false\n",
        llm + '[answer]\nlanguage = "de"\n',
        llm + '[rerank]\nprovider = "llm"\n',
        llm + '[knowledge_bases.a]\nreaders = ["*"]\n',
    ):
        file.write_text(text)
        bases.add(basis_of(load_settings(file)))
    assert len(bases) == 8
    file.write_text(llm + "[turns]\npatience = 50\n")
    assert basis_of(load_settings(file)) in bases, "what changes no answer is no other basis"


def test_what_is_not_sure_or_not_of_the_documents_alone_is_not_kept() -> None:
    good = Answer(question="?", raw_text="That [ID:0].", support=Support.CITED, usage=Usage(calls=1))
    assert is_kept(good, QUESTION)
    assert not is_kept(replace(good, notes=("It was cut.",)), QUESTION)
    assert not is_kept(replace(good, usage=Usage()), QUESTION)
    for support in set(Support) - {Support.CITED}:
        assert not is_kept(replace(good, support=support), QUESTION)


class Clock:
    """Tells a time that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


KEYS = st.sampled_from(["k1", "k2", "k3"])
SAID = st.sampled_from(["Five days.", "Six\0 days.", "七天"])
STEPS = st.one_of(
    st.tuples(st.just("keep"), KEYS, SAID),
    st.tuples(st.just("drop"), KEYS),
    st.tuples(st.just("vote"), SAID),
    st.tuples(st.just("wait"), st.sampled_from([-60.0, 20.0, 61.0])),
    st.tuples(st.just("expire")),
)


@settings(max_examples=scaled(6))
@given(steps=st.lists(STEPS, max_size=12))
def test_kept_answers_are_those_of_a_plain_table(steps: list[tuple[Any, ...]]) -> None:
    asyncio.run(_like_a_table(steps))


async def _like_a_table(steps: list[tuple[Any, ...]]) -> None:
    clock, model = Clock(), dict[str, tuple[str, datetime]]()
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(pathlib.Path(folder) / "a.sqlite")
        try:
            # Two processes on one database.
            stores = [AnswerCache(database, seconds=60, now=clock) for _ in range(2)]
            for number, step in enumerate(steps):
                kept = stores[number % 2]
                match step:
                    case ("keep", key, said):
                        await kept.keep(key, said, f"answer {said.encode()!r}")
                        model[key] = (said, clock.now)
                    case ("drop", key):
                        await kept.drop(key)
                        model.pop(key, None)
                    case ("vote", said):
                        await database.write(lambda connection, said=said: drop_said(connection, said))
                        model = {key: row for key, row in model.items() if row[0] != said}
                    case ("wait", seconds):
                        clock.now += timedelta(seconds=seconds)
                    case ("expire",):
                        await kept.expire()
                for key in ("k1", "k2", "k3"):
                    known = model.get(key)
                    fresh = known and timedelta() <= clock.now - known[1] < timedelta(seconds=60)
                    found = await stores[0].find(key)
                    if fresh and known:
                        assert found in (f"answer {known[0].encode()!r}", None)
                    else:
                        assert found is None
        finally:
            await database.close()


class Writer:
    """Answers from all that may be read, and remembers for whom."""

    def __init__(self, library: Any) -> None:
        self.library, self.calls = library, 0

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        self.calls += 1
        registry = self.library.registry
        ids = sorted(await registry.ids())
        live = await registry.readable_chunks(ids, question.knowledge_bases, readers=question.readers)
        chunks = tuple(ScoredChunk(chunk=chunk, score=0.5) for chunk in live.values())
        text = f"{sorted(question.readers or ())} {sorted(chunk.text for chunk in live.values())}"
        yield Delta(text=text)
        yield Answer(question=question.text, raw_text=text, support=Support.CITED, chunks=chunks, usage=Usage(calls=1))


PEOPLE = st.sampled_from([frozenset({"slack:T1/@a"}), frozenset({"slack:T1/@b"}), frozenset({"slack:T1/@a", "*"})])
BASES = st.sampled_from([("x",), ("y",), ("x", "y")])
DOCUMENTS = st.tuples(
    st.sampled_from(["x", "y"]),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["Five days.", "Six days."]),
    st.sampled_from([None, frozenset({"slack:T1/@a"}), frozenset({"slack:T1/@b"})]),
)
MOVES = st.one_of(st.tuples(PEOPLE, BASES), DOCUMENTS)


@settings(max_examples=scaled(2))
@given(moves=st.lists(MOVES, min_size=6, max_size=14))
def test_nothing_is_told_to_readers_or_of_documents_that_it_was_not_written_for(moves: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_told_rightly(pathlib.Path(folder), moves))


async def _told_rightly(folder: pathlib.Path, moves: list[tuple[Any, ...]]) -> None:
    file = folder / "citebot.toml"
    file.write_text('[llm]\nbase_url = "http://x/v1"\nmodel = "m"\n[knowledge_bases.x]\n[knowledge_bases.y]\n')
    async with opened_library(folder / "data") as library:
        parts: Any = SimpleNamespace(library=library, prompts=OWN, chat_model=object())
        # Two processes of one database; each move is made by the next one.
        both = [Keeping(load_settings(file), parts) for _ in range(2)]
        writer: Any = Writer(library)
        for number, move in enumerate(moves):
            if len(move) == 2:
                question = Question(text="What?", knowledge_bases=move[1], readers=move[0])
                fresh = [event async for event in Writer(library).answer(question)][-1]
                for keeping in (both[number % 2], both[1 - number % 2]):
                    before = writer.calls
                    recorder = Recorder()
                    events = keeping.answered(
                        partial(writer.answer, question), question, Ask(question="What?"), recorder
                    )
                    shown = [event async for event in events][-1]
                    assert isinstance(shown, Answer)
                    assert isinstance(fresh, Answer)
                    assert replace(shown, usage=fresh.usage, timings_ms={}, allowed_urls=frozenset()) == replace(
                        fresh, allowed_urls=frozenset()
                    )
                    assert recorder.kept is (writer.calls == before)
                assert writer.calls == before, "the second is told what was kept for the first"
                continue
            base, name, text, readers = move

            async def changed(
                base: str = base, name: str = name, text: str = text, readers: frozenset[str] | None = readers
            ) -> AsyncGenerator[SourceDocument]:
                yield SourceDocument(
                    id=f"{base}:{name}", source=base, content=text.encode(), name="a.md", readers=readers
                )

            async for _ in ingest(library, base, changed()):
                pass


@pytest.mark.soak
@pytest.mark.parametrize("off", [False, True])
async def test_the_same_question_is_answered_once_until_a_document_changes(home: pathlib.Path, off: bool) -> None:
    async with OpenAIServer(default=Reply(text="They lapse on 31 March [ID:0].")) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        (home / "citebot.toml").write_text(SETTINGS + llm + f"[answer]\ncache_seconds = {0 if off else 3600}\n")
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            calls = 0

            async def ask(reference: str, *, kept: bool, question: str = "When do unused leave days lapse?") -> Answer:
                nonlocal calls
                calls += not kept or off
                thread = replace(CHANNEL, thread=reference)
                request = Ask(question=question, conversation=thread, reference=reference, audience=READERS, why=True)
                events = await told(operations, request)
                assert len([one for one in server.requests if "messages" in one.body]) == calls
                (explained,) = [event for event in events if isinstance(event, Explained)]
                assert explained.trace.kept is (kept and not off)
                assert len(explained.trace.calls) == (0 if kept and not off else 1)
                answer = events[-1]
                assert isinstance(answer, Answer)
                assert answer.support is Support.CITED
                return answer

            first = await ask("aaaa0001", kept=False)
            again = await ask("aaaa0002", kept=True)
            assert replace(again, usage=first.usage, timings_ms=first.timings_ms) == first
            assert again.usage.calls == (1 if off else 0)
            if off:
                return
            other = Ask(question=first.question, audience=frozenset({"slack:T1"}))
            await answered(operations, other)
            calls += 1
            assert len(server.requests) >= calls
            # Somebody finds it bad.
            claims = Claims(operations.database)
            claim = await claims.claim(asked("When do unused leave days lapse?"))
            assert claim is not None
            await claims.finish(claim, Outcome.ANSWERED, answer=again)
            feedback = Feedback(operations.database)
            await feedback.vote(Vote(reference=claim.reference, voter="U1", side="up"))
            await ask("aaaa0003", kept=True)
            await feedback.vote(Vote(reference=claim.reference, voter="U1", side="down"))
            await ask("aaaa0004", kept=False)
            await ask("aaaa0005", kept=True)
            # What is forgotten isn't told again.
            await told(operations, Forget(conversation=replace(CHANNEL, thread="aaaa0005")))
            await ask("aaaa0006", kept=False)
            # A failure is not kept: the same is asked again.
            server.queue(Reply(text="They lapse on", finish="length"))
            calls += 1
            cut = Ask(question="When do leave days lapse?", audience=READERS)
            assert (await answered(operations, cut)).notes
            await ask("aaaa0007", kept=False, question="When do leave days lapse?")
            (home / "handbook" / "leave.md").write_text(LEAVE + "\nAsk early.\n")
            await told(operations, Sync())
            await ask("aaaa0008", kept=False)


async def test_a_follow_up_is_kept_with_its_conversation_and_files_are_answered_anew(tmp_path: pathlib.Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        (tmp_path / "citebot.toml").unlink()
    (tmp_path / "citebot.toml").write_text('[llm]\nbase_url = "http://x/v1"\nmodel = "m"\n[knowledge_bases.x]\n')
    async with opened_library(tmp_path / "data") as library:
        parts: Any = SimpleNamespace(library=library, prompts=OWN, chat_model=object())
        keeping = Keeping(load_settings(tmp_path / "citebot.toml"), parts)
        writer: Any = Writer(library)

        async def ask(question: Question, request: Ask, recorder: Recorder) -> None:
            async for _ in keeping.answered(partial(writer.answer, question), question, request, recorder):
                pass

        alone = Question(text="And Ann?", knowledge_bases=("x",), readers=READERS)
        after = replace(alone, history=(Message(role="user", text="When did Ben join?"),))
        later = replace(alone, history=(Message(role="user", text="When did Cy join?"),))
        plain = Ask(question="And Ann?")
        for number, question in enumerate((alone, after, later), 1):
            await ask(question, plain, Recorder())
            await ask(question, plain, Recorder())
            assert writer.calls == number
        beside = replace(plain, attached=(Message(role="user", text="a file"),))
        await ask(replace(alone, beside="a file"), beside, Recorder())
        await ask(replace(alone, beside="a file"), beside, Recorder())
        assert writer.calls == 5
        failed = Recorder()
        failed.degraded("the reranker failed")
        strange = replace(alone, text="And Di?")
        await ask(strange, plain, failed)
        await ask(strange, plain, Recorder())
        assert writer.calls == 7, "what did not go well is not kept"
