"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer.

What came by a command's address can neither be looked for nor changed. So what may have been taken just before the kill
is not sent again: its asker is told so, and has it shown by a press if it doesn't stand.
"""

import itertools
import pathlib
from dataclasses import dataclass, replace

import pytest

from bots.platform import View
from bots.rendering.slack import render_slack
from tests.bots.slack.whole import read_alone
from tests.bots.turn.flows import answer_to, document_of, words_for
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended, started
from tests.fakes.waiting import until
from tests.servers.slack import SlackServer, slack_server
from tests.servers.slack.blocks import text_of

CHANNEL = "C1"
LONG = "how many? " + " ".join(f"detail{number}".ljust(500, "x") for number in range(9))
"""Of few words, and of an answer in two messages: the scripted model writes it three times, word by word."""
READING = {"auth.test", "apps.connections.open", "conversations.history", "conversations.info", "conversations.replies"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to ask, and the calls by which the answer comes; ``pause`` is the model's."""

    calls: tuple[tuple[str, int], ...]
    question: str = "how many?"
    by_command: bool = False
    stream_seconds: float = 300.0
    pause: float = 0.9

    def ask(self, server: SlackServer) -> None:
        if self.by_command:
            server.command(CHANNEL, "/ask", self.question)
        else:
            server.say(CHANNEL, f"<@{server.user}> {self.question}")

    def expected(self) -> list[str]:
        """Return what is to be read in the end, message by message."""
        answer = answer_to(self.question, words_for(self.question))
        return [text_of(part.blocks) for part in render_slack(View(document=document_of(answer), reference=""))]

    async def standing(self, server: SlackServer) -> list[str]:
        """Return what is to be read now; a stream that was not ended is never whole."""
        if self.by_command:
            return await read_alone(server)
        said = server.answers(CHANNEL)
        return [text_of(one["blocks"]) if "streaming" not in one else f"{one['text']} …" for one in said]


WAYS = {
    "mention": Way(
        calls=(
            ("assistant.threads.setStatus", 1),
            ("agents.sessions.setStatus", 1),
            ("chat.startStream", 1),
            ("chat.appendStream", 1),
            ("chat.stopStream", 1),
            ("chat.update", 1),
        )
    ),
    "long": Way(question=LONG, pause=0.3, calls=(("chat.stopStream", 1), ("chat.update", 1), ("chat.postMessage", 1))),
    "dead stream": Way(stream_seconds=0.5, pause=1.5, calls=(("chat.update", 1), ("chat.update", 2))),
    "command": Way(by_command=True, pause=0.2, calls=(("users.info", 1), ("response_url", 1))),
    "long command": Way(by_command=True, question=LONG, pause=0.2, calls=(("response_url", 1),)),
}
COVERED = {method for way in WAYS.values() for method, _ in way.calls}
QUICK = {
    ("mention", "chat.stopStream", "after"),
    ("long", "chat.postMessage", "after"),
    ("command", "response_url", "after"),
}
CASES = [
    pytest.param(name, method, count, when, marks=() if (name, method, when) in QUICK else pytest.mark.soak)
    for name, way in WAYS.items()
    for (method, count), when in itertools.product(way.calls, ("before", "after"))
]

forked = forking("slack")


@pytest.mark.parametrize(("name", "method", "count", "when"), CASES)
async def test_killed_at_a_call(
    forked: Workers, tmp_path: pathlib.Path, name: str, method: str, count: int, when: str
) -> None:
    way = WAYS[name]
    async with slack_server() as server:
        server.channel(CHANNEL).members.add("U1")
        server.stream_seconds = way.stream_seconds
        life = Life(environment=server.environment, folder=str(tmp_path), pause=way.pause)
        killer = server.watch = Killer(when=when, method=method, count=count)
        killer.pid = pid = await begun(forked, server, life)
        way.ask(server)
        await until(lambda: not killer.pid)
        await forked.kill(pid)
        pid = await begun(forked, server, replace(life, pause=0.1))
        await until(lambda: has_ended(life))
        try:
            assert await way.standing(server) == way.expected()
        finally:
            await forked.kill(pid)
        called = {method for _, method, _ in server.calls} - READING
        assert called <= COVERED, "each call has its own case"


async def begun(forked: Workers, server: SlackServer, life: Life) -> int:
    """Start a bot, and return its process id once both its sockets listen."""
    return await started(forked, life, lambda: server.opened, times=2)
