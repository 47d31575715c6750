"""Random lives of two processes on one database, against a model: each message claimed once, none lost."""

import asyncio
import pathlib
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import delete

from bots.platform import Incoming, Sent
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome, Send, State
from bots.turn.claims.record import without_words
from ragcore.errors import ClaimLost
from ragcore.stores.database import Database
from ragcore.stores.schema import claim_keys, claims, sends
from tests.bots.turn.helpers import HERE, THERE, MovedClock, message, place_of
from tests.soak import scaled

LEASE = 30.0
T = TypeVar("T")
PROCESS = st.integers(0, 1)
PICK = st.integers(0, 100)


@dataclass
class Known:
    """What the model knows of a claim."""

    incoming: Incoming
    owner: int
    """Which life of which process holds it."""
    attempts: int = 1
    until: float = 0.0
    state: State = State.RUNNING
    outcome: Outcome | None = None
    begun: Sent | None = None
    sends: dict[int, Send] = field(default_factory=dict)
    also: list[Incoming] = field(default_factory=list)


class TwoProcesses(RuleBasedStateMachine):
    """Both processes claim, work, die and take over; ``databases`` and ``runner`` are set by the test.

    No rule has a precondition: which of two processes wins a race is chance, and what is drawn must not hang on it.
    """

    databases: tuple[Database, Database]
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.clock = MovedClock()
        self.lives = 0
        self.owners = [0, 0]
        self.processes: list[Claims] = []
        for process in (0, 1):
            self.processes.append(self._born(process))
        self.hands: list[dict[str, Claim]] = [{}, {}]
        self.known: dict[str, Known] = {}
        self.keys: dict[str, int] = {}
        """Every key that was delivered, and of which message."""
        self.claimed: dict[int, str] = {}
        self.extras = 0
        self.do(self._emptied())

    async def _emptied(self) -> None:
        async with self.databases[0].begin() as connection:
            for table in (claim_keys, sends, claims):
                await connection.execute(delete(table))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def _born(self, process: int) -> Claims:
        self.lives += 1
        self.owners[process] = self.lives
        return Claims(self.databases[process], lease=LEASE, clock=self.clock)

    def _holds(self, process: int, claim: Claim) -> bool:
        known = self.known[claim.reference]
        same = (known.owner, known.attempts) == (self.owners[process], claim.attempts)
        return same and known.state is State.RUNNING

    def _pick(self, process: int, pick: int) -> Claim | None:
        # In the order in which they came: references are random, and a failure is to come again from the same draws.
        hand = [self.hands[process][reference] for reference in self.known if reference in self.hands[process]]
        return hand[pick % len(hand)] if hand else None

    def _write(self, process: int, claim: Claim, work: Coroutine[Any, Any, None]) -> bool:
        """Write; returns whether the model says that it was to succeed, which it then did."""
        if self._holds(process, claim):
            self.do(work)
            self.known[claim.reference].until = self.clock.seconds + LEASE
            return True
        with pytest.raises(ClaimLost):
            self.do(work)
        self.hands[process].pop(claim.reference, None)
        return False

    def _took(self, process: int, number: int, incoming: Incoming, claim: Claim | None) -> None:
        expected = not any(key in self.keys for key in incoming.keys)
        assert (claim is not None) == expected, "claimed once, and once only"
        self.keys |= dict.fromkeys(incoming.keys, number)
        if claim is not None:
            assert number not in self.claimed
            self.claimed[number] = claim.reference
            self.hands[process][claim.reference] = claim
            self.known[claim.reference] = Known(
                incoming=incoming, owner=self.owners[process], until=self.clock.seconds + LEASE
            )

    def _delivery(self, number: int, *, more: int, bare: bool) -> Incoming:
        """Return a delivery of a message: under its own key and new ones, or, ``bare``, under one heard before."""
        heard = [key for key, of in self.keys.items() if of == number]
        new = [f"event:{self.extras + n}" for n in range(more)]
        self.extras += more
        first = heard[-1] if bare and heard else f"message:{number}"
        return self._message(number, *new, first)

    def _message(self, number: int, *keys: str) -> Incoming:
        return message(*keys, text=f"text {number}", number=str(number), where=(HERE, THERE)[number % 2])

    @initialize(process=PROCESS, joined=st.booleans())
    def begin(self, process: int, joined: bool) -> None:
        for number in range(3):
            self.deliver((process, 0, 1)[number], number, 1, False)
        if joined:
            self.merge(process, 1, 0)

    @rule(process=PROCESS, pick=PICK)
    def redeliver(self, process: int, pick: int) -> None:
        """One key alone, of those heard first or since."""
        key = list(self.keys)[pick % len(self.keys)]
        number = self.keys[key]
        incoming = self._message(number, key)
        self._took(process, number, incoming, self.do(self.processes[process].claim(incoming)))

    @rule(process=PROCESS, number=st.integers(0, 4), more=st.integers(0, 2), bare=st.booleans())
    def deliver(self, process: int, number: int, more: int, bare: bool) -> None:
        incoming = self._delivery(number, more=more, bare=bare)
        self._took(process, number, incoming, self.do(self.processes[process].claim(incoming)))

    @rule(number=st.integers(2, 4), times=st.integers(2, 4))
    def deliver_at_once(self, number: int, times: int) -> None:
        arrivals = [(n % 2, self._delivery(number, more=1, bare=False)) for n in range(times)]

        async def race() -> list[Claim | None]:
            return await asyncio.gather(*(self.processes[process].claim(one) for process, one in arrivals))

        results = list(zip(arrivals, self.do(race()), strict=True))
        for (process, incoming), claim in sorted(results, key=lambda result: result[1] is None):
            self._took(process, number, incoming, claim)

    @rule(seconds=st.sampled_from([LEASE / 3, LEASE - 1, LEASE]))
    def time_passes(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @rule(process=PROCESS)
    def heartbeat(self, process: int) -> None:
        hand = self.hands[process]
        expected = {claim.reference for claim in hand.values() if self._holds(process, claim)}
        assert self.do(self.processes[process].heartbeat(list(hand.values()))) == expected
        for reference in expected:
            self.known[reference].until = self.clock.seconds + LEASE
        self.hands[process] = {reference: hand[reference] for reference in expected}

    @rule(process=PROCESS)
    def die(self, process: int) -> None:
        self.processes[process] = self._born(process)
        self.hands[process] = {}

    @rule(process=PROCESS, alone=st.booleans())
    def take_over(self, process: int, alone: bool) -> None:
        if alone and self.hands[1 - process]:
            self.die(1 - process)  # nobody is alone while another is at work
        taken = self.do(self.processes[process].abandoned(["slack"], alone=alone))
        owner, now = self.owners[process], self.clock.seconds
        expected = {
            reference
            for reference, known in self.known.items()
            if known.state is State.RUNNING and (known.until <= now or (alone and known.owner != owner))
        }
        assert {claim.reference for claim in taken} == expected
        for claim in taken:
            known = self.known[claim.reference]
            known.owner, known.attempts, known.until = owner, known.attempts + 1, now + LEASE
            self._same(claim)
            self.hands[process][claim.reference] = claim

    def _same(self, claim: Claim) -> None:
        known = self.known[claim.reference]
        assert (claim.incoming, claim.attempts, claim.state) == (known.incoming, known.attempts, known.state)
        assert (claim.begun, claim.outcome, claim.also) == (known.begun, known.outcome, tuple(known.also))
        assert claim.sends == tuple(known.sends[number] for number in sorted(known.sends))

    @rule(process=PROCESS, pick=PICK, number=st.integers(0, 1), step=st.sampled_from(["begun", "intend", "done"]))
    def work(self, process: int, pick: int, number: int, step: str) -> None:
        claim = self._pick(process, pick)
        if claim is None:
            return
        known, sent, one = self.known[claim.reference], Sent(channel="C", id=f"{pick}"), self.processes[process]
        if step == "begun" and self._write(process, claim, one.begun(claim, sent)):
            known.begun = sent
        elif step == "intend" and self._write(process, claim, one.intend(claim, number, f"k{pick}")):
            before = known.sends.get(number)
            known.sends[number] = Send(number=number, key=f"k{pick}", done=False, sent=before.sent if before else None)
        elif step == "done" and number in known.sends and self._write(process, claim, one.done(claim, number, sent)):
            known.sends[number] = Send(number=number, key=known.sends[number].key, done=True, sent=sent)

    @rule(process=PROCESS, pick=PICK, outcome=st.sampled_from([Outcome.ANSWERED, Outcome.FAILED]))
    def finish(self, process: int, pick: int, outcome: Outcome) -> None:
        claim = self._pick(process, pick)
        if claim is not None and self._write(process, claim, self.processes[process].finish(claim, outcome)):
            known = self.known[claim.reference]
            known.state, known.outcome = State.DONE, outcome
            del self.hands[process][claim.reference]

    @rule(process=PROCESS, pick=PICK)
    def release(self, process: int, pick: int) -> None:
        claim = self._pick(process, pick)
        if claim is None:
            return
        self.do(self.processes[process].release(claim))
        if self._holds(process, claim):
            self.known[claim.reference].until = 0.0
        del self.hands[process][claim.reference]

    @rule(process=PROCESS, pick=PICK, other=PICK)
    def merge(self, process: int, pick: int, other: int) -> None:
        hand = [self.hands[process][reference] for reference in self.known if reference in self.hands[process]]
        if len(hand) < 2:
            return
        claim = hand[pick % len(hand)]
        into = hand[(pick + 1 + other % (len(hand) - 1)) % len(hand)]
        if self.known[claim.reference].also:
            return
        if not self._holds(process, claim):
            with pytest.raises(ClaimLost):
                self.do(self.processes[process].merge(claim, into))
            return
        merged = self.do(self.processes[process].merge(claim, into))
        assert merged == self._holds(process, into)
        if merged:
            self.known[claim.reference].state = State.MERGED
            self._join(claim.reference, into.reference)
            del self.hands[process][claim.reference]

    def _join(self, reference: str, into: str) -> None:
        order = list(self.known)  # the order in which they came
        joined = {one: self.known[one].incoming for one in order}
        also = [*self.known[into].also, joined[reference]]
        self.known[into].also = sorted(also, key=lambda one: order.index(self._reference_of(one)))

    def _reference_of(self, incoming: Incoming) -> str:
        return self.claimed[int(incoming.message)]

    @rule(process=PROCESS, number=st.integers(0, 4))
    def leave_out(self, process: int, number: int) -> None:
        """Its asker deletes one of several messages that are answered together."""
        assert self.do(self.processes[process].leave_out(HERE, str(number))) is None
        for known in self.known.values():
            known.incoming = _left_out(known.incoming, number)
            known.also = [_left_out(one, number) for one in known.also]

    @rule(process=PROCESS, pick=PICK)
    def part(self, process: int, pick: int) -> None:
        """Its asker deletes the first of several messages: the others are a turn again, of this process."""
        answering = [reference for reference, known in self.known.items() if known.state is not State.MERGED]
        answering = [reference for reference in answering if self.known[reference].also] or answering
        reference = answering[pick % len(answering)]
        known = self.known[reference]
        line = self.do(self.processes[process].by_reference(reference))
        assert line is not None
        rest, before = known.also, (known.state, known.outcome)
        (ended,), left = self.do(self.processes[process].part([line], {one.message: one for one in rest}))
        assert (ended.state, ended.outcome) == before
        known.state, known.outcome, known.also = State.DONE, Outcome.WITHDRAWN, []
        known.incoming = without_words(known.incoming)
        assert len(left) == bool(rest)
        for claim in left:
            again = self.known[claim.reference]
            again.state, again.also = State.RUNNING, rest[1:]
            again.owner, again.until = self.owners[process], self.clock.seconds + LEASE
            self._same(claim)
            self.hands[process][claim.reference] = claim

    @rule(process=PROCESS, pick=PICK)
    def look(self, process: int, pick: int) -> None:
        if not self.known:
            return
        reference = list(self.known)[pick % len(self.known)]
        claim = self.do(self.processes[process].by_reference(reference))
        assert claim is not None
        self._same(claim)
        assert (claim.reference == reference) == (self.known[reference].state is not State.MERGED)

    @invariant()
    def none_is_held_twice(self) -> None:
        holders = [reference for p in (0, 1) for reference, claim in self.hands[p].items() if self._holds(p, claim)]
        assert len(holders) == len(set(holders))

    def teardown(self) -> None:
        """Whoever is left ends all that is open, after which every message that was ever delivered has an end."""
        self.clock.seconds += LEASE
        survivor = self.processes[0]
        for claim in self.do(survivor.abandoned(["slack"])):
            self.do(survivor.finish(claim, Outcome.ANSWERED))
        for number, reference in self.claimed.items():
            ended = self.do(survivor.by_reference(reference))
            assert ended is not None
            assert ended.state is State.DONE
            assert str(number) in {one.message for one in (ended.incoming, *ended.also)}
            assert self.do(survivor.claim(message(f"message:{number}"))) is None


def _left_out(incoming: Incoming, number: int) -> Incoming:
    return replace(incoming, text="") if incoming.message == str(number) else incoming


@pytest.mark.parametrize("where", ["sqlite", "postgresql"], indirect=True)
def test_whatever_happens_each_message_is_claimed_once(where: str | pathlib.Path) -> None:
    with asyncio.Runner() as runner:
        databases = tuple(runner.run(Database.open(where)) for _ in range(2))
        machine = type("Machine", (TwoProcesses,), {"runner": runner, "databases": databases})
        checked = settings(
            max_examples=scaled(12), stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        )
        try:
            run_state_machine_as_test(machine, settings=checked)
        finally:
            for database in databases:
                runner.run(database.close())


@pytest.fixture
def where(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str | pathlib.Path:
    return place_of(request, tmp_path)
