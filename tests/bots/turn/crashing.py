"""A process that takes one turn and is killed on the way, as often as a test likes.

``python -m tests.bots.turn.crashing`` imports everything once and forks a worker for each line that it is given.
"""

import asyncio
import functools
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from bots.manner import Streaming
from bots.requests import Ask, Event
from bots.turn.claims import Claims
from bots.turn.replying.standing import Standing
from bots.turn.turns import utc_now
from ragcore.types import Delta
from tests.bots.turn.flows import OPTIONS, Model, answer_to, answering, flowing, words_for
from tests.fakes.platform import Server, asked

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIRST = "Who comes first?"
SECOND = "And for part-timers?"
RECORDED = ("claim", "merge", "begun", "intend", "done", "finish", "leave_out", "part")
"""What writes a turn's progress down; a worker can die before and after each of them, and around each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Receive one question in ``folder``; ``die_at`` counts the moments at which that can end, 0 lives on.

    With a ``patience`` another question comes before it, whose answer takes two seconds, and the moments count from
    when that is told. ``joined``: a second question comes right after it, each opens a conversation, and the one that
    ``deletes`` names is deleted in the end.
    """

    folder: str
    streaming: Streaming
    finds_sent: bool
    longest: int
    sent_at: str
    die_at: int = 0
    patience: float = 0.0
    joined: bool = False
    deletes: str = ""


async def at_length(request: Ask) -> AsyncIterator[Event]:
    """Answer in words that come at once, and go on for two seconds."""
    text = words_for(request.question)
    for piece in text.split(" "):
        yield Delta(text=f"{piece} ")
        await asyncio.sleep(2.0 / len(text.split(" ")))
    yield answer_to(request.question, text)


async def take(job: Job) -> list[str]:
    """Take up what there is, receive the question twice, and answer it; return the moments there were."""
    moments: list[str] = []
    count = itertools.count(1)
    place = Standing.place

    async def told(self: Standing[Any], part: Any) -> bool:
        nonlocal counts
        counts = True
        return await place(self, part)

    counts = not job.patience
    Standing.place = told  # type: ignore[method-assign]

    def moment(name: str) -> None:
        if not counts:
            return
        moments.append(name)
        if next(count) == job.die_at:
            pathlib.Path(job.folder, "died").write_text(name, "utf-8")
            os.kill(os.getpid(), signal.SIGKILL)

    for name in RECORDED:
        setattr(Claims, name, _watched(getattr(Claims, name), name, moment))
    folder = pathlib.Path(job.folder)
    # Two answers, one after the other, have moments enough without a change for each word.
    every = 0.05 if job.joined else 0.005
    manners: dict[str, Any] = {
        "streaming": job.streaming, "finds_sent": job.finds_sent, "longest": job.longest, "every": every, "mark": moment,
    }  # fmt: skip
    model = Model(
        lambda ask: at_length(ask) if ask.question == FIRST else answering(ask, pause=0.06 if job.joined else 0.03)
    )
    options = replace(OPTIONS, patience=job.patience or OPTIONS.patience)
    sent_at = datetime.fromisoformat(job.sent_at)
    server = Server(journal=folder / "journal")
    async with flowing(
        folder / "claims.sqlite", server=server, model=model, options=options, now=utc_now, **manners
    ) as flow:
        await flow.turns.connected()
        if job.patience:
            await flow.turns.receive(asked(FIRST, message="q0", asker="U2", sent_at=sent_at))
        questions = [asked("How many days?", sent_at=sent_at)]
        if job.joined:
            questions.append(asked(SECOND, message="q2", sent_at=sent_at))
            here = questions[0].conversation
            questions = [replace(one, conversation=replace(here, thread=one.message)) for one in questions]
        for question in questions * 2:
            await flow.turns.receive(question)
        await flow.idle()
        if job.deletes:
            await flow.turns.deleted(questions[0].conversation, job.deletes)
            await flow.idle()
    return moments


def _watched(
    method: Callable[..., Awaitable[Any]], name: str, moment: Callable[[str], None]
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def watched(*args: Any, **kwargs: Any) -> Any:
        moment(f"before {name}")
        result = await method(*args, **kwargs)
        moment(f"after {name}")
        return result

    return watched


@contextmanager
def workers() -> Iterator[Callable[[Job], list[str] | None]]:
    """Run the forking process; what it gives runs a job and returns its moments, None when it was killed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.bots.turn.crashing"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, told = process.stdin, process.stdout

        def work(job: Job) -> list[str] | None:
            given.write(json.dumps(asdict(job)) + "\n")
            given.flush()
            code, moments = json.loads(told.readline())
            assert code in {0, -signal.SIGKILL}, f"the worker ended with {code}"
            return moments if code == 0 else None

        yield work
        given.close()
        process.wait(10)


def main() -> None:
    """Fork a worker for each line, and answer with how it ended and which moments it had."""
    import sqlalchemy.ext.asyncio  # noqa: F401

    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as told:
                json.dump(asyncio.run(take(Job(**json.loads(line)))), told)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as told:
            said = told.read()
        _, status = os.waitpid(pid, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), json.loads(said or "[]")]), flush=True)


if __name__ == "__main__":
    main()
