"""Whoever asks has a sign at once and an answer, or a plain reason, in time; also behind another question."""

import asyncio
import pathlib
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.manner import Streaming
from bots.settings import load_settings
from bots.turn.claims.claim import Outcome
from bots.turn.options import turn_options
from bots.words.sentences import word
from tests.bots.turn.flows import (
    MANNERS,
    final,
    flowing,
    outcome,
    virtual_now,
)
from tests.bots.turn.paces import NEVER, SIGN, Pace, paced, watched
from tests.fakes.platform import asked
from tests.fakes.virtual import run
from tests.soak import scaled

LONG = Pace(silent=2.0, speaking=90.0)


@pytest.mark.parametrize("streaming", MANNERS)
def test_a_question_behind_another_has_a_sign_a_reason_and_one_message_in_the_end(streaming: str) -> None:
    async def talk() -> None:
        async with flowing(model=paced(LONG, Pace(silent=30.0)), streaming=streaming) as flow:
            flow.platform.status_has_words = True
            seen = watched(flow)
            await flow.turns.receive(asked("Why 0?", message="q0"))
            await asyncio.sleep(3)
            began = asyncio.get_running_loop().time()
            await flow.turns.receive(asked("Why 1?", message="q1", asker="U2"))
            await asyncio.sleep(SIGN)
            assert ("q1", word("waiting")) in flow.server.statuses
            await asyncio.sleep(40 - SIGN)
            if streaming == "none":
                # The first one showed no words, so it ended in time itself.
                assert word("too_slow") in flow.texts("q0")[0]
            (reason,) = flow.texts("q1")
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            assert word("began_late" if streaming == "none" else "waits") in reason
            assert claim.reference in reason
            assert seen.whole["q1"] - began <= 40
            await flow.idle()
            assert flow.texts("q1") == [final("Why 1?")], "thirty seconds after the first one ended"
            assert len({one.id for one in flow.server.standing("q1")}) == 1
            assert flow.model.questions == ["Why 0?", "Why 1?"]
            assert await outcome(flow, "q1") is Outcome.ANSWERED

    run(talk())


def test_how_many_come_before_is_told() -> None:
    async def talk() -> None:
        async with flowing(model=paced(LONG)) as flow:
            for number in range(4):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await asyncio.sleep(40)
            told = [flow.texts(f"q{number}")[0] for number in range(1, 4)]
            assert told[0].startswith(word("waits"))
            assert told[1].startswith(word("waits_behind", count=2))
            assert told[2].startswith(word("waits_behind", count=3))

    run(talk())


def test_a_turn_that_began_late_goes_on_with_a_budget_of_its_own() -> None:
    async def talk() -> None:
        async with flowing(model=paced(Pace(speaking=25.0), Pace(silent=30.0), Pace(silent=NEVER))) as flow:
            seen = watched(flow)
            began = asyncio.get_running_loop().time()
            for number in range(3):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await asyncio.sleep(40)
            assert flow.texts("q1")[0].startswith(word("began_late"))
            assert seen.whole["q1"] - began <= 40
            await asyncio.sleep(20)
            assert flow.texts("q1") == [final("Why 1?")]
            await flow.idle()
            assert flow.texts("q2")[0].startswith(word("too_slow"))
            assert asyncio.get_running_loop().time() - began < 26 + 31 + 40

    run(talk())


@pytest.mark.parametrize("gap", [1.5, 0.1])
def test_further_messages_share_the_first_ones_budget(gap: float) -> None:
    async def talk() -> None:
        async with flowing(model=paced(Pace(silent=NEVER))) as flow:
            began = asyncio.get_running_loop().time()
            for number in range(20):
                await flow.turns.receive(asked("And?", message=f"q{number}", sent_at=virtual_now()))
                await asyncio.sleep(gap)
            await asyncio.sleep(began + 40 - asyncio.get_running_loop().time())
            assert flow.turns.running() == 0
            (reason,) = flow.texts("q0")
            assert reason.startswith(word("too_slow"))

    run(talk())


def test_an_edit_long_after_the_question_has_time_of_its_own() -> None:
    async def talk() -> None:
        async with flowing(model=paced(Pace(silent=NEVER), Pace(silent=25.0))) as flow:
            question = asked("Why 0?", sent_at=virtual_now())
            await flow.turns.receive(question)
            await asyncio.sleep(30)
            edited = replace(question, text="Why 1?", edited_at=question.sent_at + timedelta(seconds=30))
            await flow.turns.receive(edited)
            await asyncio.sleep(10)
            (reason,) = flow.texts("q1")
            assert reason.startswith(word("began_late"))
            await flow.idle()
            assert flow.texts("q1") == [final("Why 1?")]

    run(talk())


def test_an_edited_question_that_waits_is_told_so_where_its_answer_stood() -> None:
    async def talk() -> None:
        async with flowing(model=paced(Pace(), LONG, Pace()), longest=60) as flow:
            question = asked("Why 0?", message="q0", sent_at=virtual_now())
            await flow.turns.receive(question)
            await flow.idle()
            before = {one.id for one in flow.server.standing("q0")}
            assert len(before) > 1
            await flow.turns.receive(asked("Why 1?", message="q1", asker="U2"))
            edited = replace(question, text="Why 2?", edited_at=question.sent_at + timedelta(seconds=5))
            await flow.turns.receive(edited)
            await asyncio.sleep(40)
            (reason,) = flow.server.standing("q0")
            assert reason.text.startswith(word("waits"))
            assert reason.id in before
            await flow.idle()
            assert "".join(flow.texts("q0")) == final("Why 2?")
            assert reason.id in {one.id for one in flow.server.standing("q0")}

    run(talk())


def test_a_question_withdrawn_while_it_waits_leaves_nothing() -> None:
    async def talk() -> None:
        async with flowing(model=paced(LONG)) as flow:
            for number in range(3):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await flow.turns.deleted(asked("").conversation, "q1")
            await asyncio.sleep(40)
            assert flow.texts("q1") == []
            await flow.turns.deleted(asked("").conversation, "q2")
            await flow.idle()
            assert flow.texts("q2") == []
            assert flow.model.questions == ["Why 0?"]

    run(talk())


@pytest.mark.parametrize("fault", ["unreachable", "dropped", "limited", "gone", "hangs"])
@pytest.mark.parametrize("finds_sent", [True, False])
def test_a_reason_that_does_not_go_at_once_goes_later_and_leaves_one_message(fault: str, finds_sent: bool) -> None:
    async def talk() -> None:
        faults = [fault]

        def once(name: str, _: int) -> str:
            return faults.pop() if name == "send" and faults else ""

        async with flowing(model=paced(LONG), finds_sent=finds_sent) as flow:
            flow.server.fault = once
            for number in range(2):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await asyncio.sleep(62 if fault == "hangs" else 40)
            assert not faults
            assert flow.texts("q1")[-1].startswith(word("waits"))
            await flow.idle()
            # Who can't look for what was sent repeats it rather than lose it.
            once_more = fault == "dropped" and not finds_sent
            assert len(flow.texts("q1")) == 1 + once_more
            assert flow.texts("q1")[-1] == final("Why 1?")

    run(talk())


@pytest.mark.parametrize("after", [0.0, 20.0, 38.0])
def test_handed_over_while_it_waits_it_is_answered_once_in_that_message(tmp_path: pathlib.Path, after: float) -> None:
    async def talk() -> None:
        where = tmp_path / "claims.sqlite"
        async with flowing(where, model=paced(LONG)) as one:
            for number in range(2):
                await one.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await asyncio.sleep(after)
            reasons = {stands.id for stands in one.server.standing("q1")}
            assert len(reasons) == (after > 35)
        async with flowing(where, model=paced(Pace(), Pace(silent=2.0)), server=one.server) as other:
            await other.turns.connected()
            await other.idle()
            assert other.texts("q1") == [final("Why 1?")]
            assert reasons <= {stands.id for stands in other.server.standing("q1")}
            assert other.model.questions == ["Why 0?", "Why 1?"]

    run(talk())


@pytest.mark.parametrize("patience", [4.0, 10.0, 40.0])
def test_the_setting_is_what_somebody_waits(tmp_path: pathlib.Path, patience: float) -> None:
    (tmp_path / "citebot.toml").write_text(
        f'[turns]\npatience = {patience}\n[knowledge_bases.handbook]\nreaders = ["*"]\n'
        '[[sources]]\nname = "handbook"\ntype = "files"\npath = "."\nknowledge_base = "handbook"\n',
        "utf-8",
    )
    options = turn_options(load_settings(tmp_path / "citebot.toml"))

    async def talk() -> None:
        async with flowing(options=options, model=paced(Pace(silent=0.7 * patience), Pace(silent=NEVER))) as flow:
            for number in range(2):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", channel=f"C{number}"))
            await asyncio.sleep(patience / 2)
            assert flow.texts("q0") == flow.texts("q1") == []
            await asyncio.sleep(patience / 2)
            assert flow.texts("q0") == [final("Why 0?")]
            assert flow.texts("q1")[0].startswith(word("too_slow"))

    run(talk())


PACES = st.builds(
    Pace,
    silent=st.sampled_from((0.1, 3.0, 20.0, 33.0, 38.0, NEVER)),
    speaking=st.sampled_from((0.1, 5.0, 50.0)),
)


@settings(max_examples=scaled(25))
@given(
    paces=st.lists(PACES, min_size=1, max_size=5),
    steps=st.lists(
        st.tuples(
            st.sampled_from((0.0, 0.5, 1.9, 5.0, 21.0, 39.0)),
            st.sampled_from(("C1", "C1", "C2")),
            st.sampled_from(("U1", "U2")),
        ),
        min_size=1,
        max_size=7,
    ),
    streaming=st.sampled_from(("edit", "stream", "draft", "none")),
    latency=st.sampled_from((0.0, 0.2)),
)
def test_whoever_asks_sees_a_sign_at_once_and_an_answer_or_a_reason_in_time(
    paces: list[Pace], steps: list[tuple[float, str, str]], streaming: Streaming, latency: float
) -> None:
    async def talk() -> None:
        async with flowing(model=paced(*paces), streaming=streaming) as flow:
            flow.server.latency = latency
            seen, came = watched(flow), dict[str, float]()
            for number, (after, channel, asker) in enumerate(steps):
                await asyncio.sleep(after)
                came[f"q{number}"] = asyncio.get_running_loop().time()
                await flow.turns.receive(
                    asked(f"Why {number}?", message=f"q{number}", channel=channel, asker=asker, sent_at=virtual_now())
                )
            await flow.idle()
            for message, began in came.items():
                (claim,) = await flow.claims.by_message(
                    asked("").conversation, message
                ) or await flow.claims.by_message(asked("", channel="C2").conversation, message)
                first = claim.incoming.message
                assert seen.signs[first] - came[first] <= SIGN
                shown = min(seen.words.get(first, NEVER), seen.whole[first])
                assert shown - came[first] <= 40, "joined messages have the first one's answer"
                assert came[first] <= began
                assert len(flow.texts(first)) == 1

    run(talk())
