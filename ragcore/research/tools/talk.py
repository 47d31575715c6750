"""What a model called by its endpoint's own function calling, and what that gave, as messages of one conversation."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragcore.context import message_tokens
from ragcore.errors import ModelBadOutput
from ragcore.research.asking import Asker
from ragcore.research.judging import FINDINGS_SHARE
from ragcore.research.memory import all_chunks, numbering, ranked, written
from ragcore.research.tools.calls import Tool, calls_of, offered
from ragcore.research.tools.native import Reading, Said, State, read_calls
from ragcore.research.tools.situation import Situation, documents_of, state_of
from ragcore.research.values import Finding, Plan
from ragcore.types import Message, Usage

TRIES = 2
"""How often a model is asked where nothing that it calls can be done; the second time it knows why."""
RESULT_PART = 8
"""Of the room for what was found a result takes at most one part of so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The calls that were chosen, ``plan`` None where the reply was of no use, and then why, in words for a reader.

    ``without_tools``: the endpoint takes no tools, or ignores them.
    """

    plan: Plan | None = None
    reason: str = ""
    usage: Usage = Usage()
    without_tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """What the model was asked, its replies with calls in order, and how many it was told may be made at once."""

    asked: str
    replies: tuple[tuple[Said, ...], ...]
    most: int
    tools: str

    @property
    def lines(self) -> frozenset[str]:
        """Return the lines of the calls that were made."""
        return frozenset(said.line for reply in self.replies for said in reply if said.line)


class Talk:
    """The calls of one research. What they gave is told from its findings; after a crash it begins anew."""

    def __init__(self, asker: Asker) -> None:
        """Ask the model through this."""
        self._asker = asker
        self._turns: list[_Turn] = []
        self._has_called = False

    async def next(self, at: Situation, most: int, tools: Sequence[Tool]) -> Chosen:
        """Let the model call; each call of it is answered the next time, one that cannot be made at once.

        Raises:
            ConfigError: A template of the operator's cannot be used.
        """
        history, material = await asyncio.to_thread(self._told, at)
        turn = _Turn(asked=self._opening(at), replies=(), most=most, tools=", ".join(tools))
        usage = Usage()
        for _ in range(TRIES):
            behind = await asyncio.to_thread(self._messages, turn, at, 0)
            reply = await self._asker.call(
                "next_step", material, offered(tools), history=history, behind=behind[1:], most=most, tools="",
                today=datetime.now(UTC).date().isoformat(),
            )  # fmt: skip
            usage += reply.usage
            if not reply.calls:
                plan = await asyncio.to_thread(_in_words, reply.text or "", most, tools, at.asked)
                ignored = plan is None and reply.text is not None and not self._has_called
                without = reply.without_tools or ignored
                return Chosen(plan=plan, reason=reply.reason, usage=usage, without_tools=without)
            self._has_called = True
            ids = [said.call.id for one in (*self._turns, turn) for replied in one.replies for said in replied]
            read: Reading = await asyncio.to_thread(
                read_calls, reply.calls, most, tools, at.asked, ids=ids, cut=reply.cut
            )
            turn = replace(turn, replies=(*turn.replies, read.said))
            if read.plan.questions:
                self._turns.append(turn)
                return Chosen(plan=read.plan, usage=usage)
        return Chosen(plan=Plan(questions=()), usage=usage)

    def _told(self, at: Situation) -> tuple[list[Message], str]:
        """Return the turns before, the last ones whole as far as there is room, and what is asked now. Blocks.

        What the turns do not tell of stands in what is asked.
        """
        assert self._asker.model is not None
        room = int(self._asker.model.context_window * FINDINGS_SHARE)
        most, history, lines = room // RESULT_PART, list[Message](), frozenset[str]()
        for turn in reversed(self._turns):
            messages = self._messages(turn, at, most)
            room -= sum(message_tokens(one, self._asker.tokenizer) for one in messages)
            if room < 0:
                room += sum(message_tokens(one, self._asker.tokenizer) for one in messages)
                break
            history[:0], lines = messages, lines | turn.lines
        rest = ranked(at.question.text, [one for one in at.findings if one.question not in lines])
        said = written(rest, numbering(all_chunks(at.findings)), room, self._asker.tokenizer)
        return history, state_of(replace(at, said=said), self._asker)

    def _opening(self, at: Situation) -> str:
        """Return what a turn began with, as it is told later."""
        return "\n".join(f"- {one}" for one in at.lacking) or self._asker.short(at.question.text)

    def _messages(self, turn: _Turn, at: Situation, budget: int) -> list[Message]:
        """Return a turn as messages; results of calls that were made are told in so many tokens each. Blocks."""
        found = {one.question: one for one in at.findings}
        numbers = numbering(all_chunks(at.findings)) if turn.lines else {}
        messages = [Message(role="user", text=turn.asked)]
        for reply in turn.replies:
            messages.append(Message(role="assistant", text="", calls=tuple(said.call for said in reply)))
            for said in reply:
                text = self._result(said, turn, found, numbers, budget)
                messages.append(Message(role="tool", text=text, answers=said.call.id))
        return messages

    def _result(
        self, said: Said, turn: _Turn, found: Mapping[str, Finding], numbers: Mapping[str, int], budget: int
    ) -> str:
        """Return what a model is told that a call gave, or why it was not made."""
        text, state = "", said.fault
        if state is None:
            finding = found.get(said.line)
            if finding is None:
                state = State.FAILED
            else:
                tokenizer = self._asker.tokenizer
                gave = written([finding], numbers, budget, tokenizer) if finding.text else ""
                text = gave or tokenizer.head("\n".join(documents_of([finding])), budget)
                state = State.FOUND if text else State.NOTHING
        return self._asker.prompts.render("tool_result", state=state, found=text, tools=turn.tools, most=turn.most)


def _in_words(reply: str, most: int, tools: Sequence[Tool], asked: Sequence[str]) -> Plan | None:
    """Return the calls that a model wrote as text, as some do all the same; None where there are none."""
    try:
        return calls_of(reply, most, tools, asked)
    except ModelBadOutput:
        return None
