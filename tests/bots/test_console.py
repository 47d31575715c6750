import asyncio
import io
import re
from collections.abc import AsyncIterator, Iterator

import pytest
from rich.console import Console

from bots.console import Chat, chatting, welcome
from bots.requests import Ask, Event, Explained, Forget, Request
from bots.showing import show_answer
from ragcore.research import Outcome, Progress
from ragcore.trace import Recorder
from ragcore.types import Answer, Delta, Support
from tests.fakes.operations import CUT, NO_MODEL, Scripted

SHOWN = "You may carry over five days. [1] They lapse in March. [2] 年假可以结转五天。[1]"


def paper(*, terminal: bool = False) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=100, height=20, force_terminal=terminal, highlight=False), out


def talk(scripted: Scripted, lines: list[str | type[BaseException]]) -> str:
    console, out = paper()
    typed = iter(lines)

    def ask_line() -> str:
        line = next(typed, EOFError)
        if isinstance(line, str):
            return line
        raise line

    with chatting(scripted.opened) as (backend, loop):
        Chat(backend, loop, console, ask_line=ask_line).talk()
    return out.getvalue()


def test_a_conversation_shows_answers_with_their_sources() -> None:
    scripted = Scripted()
    shown = talk(scripted, ["How many days?", "And then?"])
    assert shown.startswith("3 documents in handbook.")
    assert shown.count(SHOWN) == 2
    assert shown.count("[1] Leave, Carry-over  leave-2.md\n[2] Leave, Carry-over  leave-0.md\n") == 2
    # Said once a conversation.
    assert shown.count(NO_MODEL) == 1
    assert shown.count(CUT) == 2
    first, second = (request for request in scripted.asked if isinstance(request, Ask))
    assert first.conversation == second.conversation


def test_reset_forgets_and_begins_anew() -> None:
    scripted = Scripted()
    shown = talk(scripted, ["one", "/reset", "two", "/quit", "never asked"])
    first, second = (request for request in scripted.asked if isinstance(request, Ask))
    assert first.conversation != second.conversation
    assert Forget(conversation=first.conversation) in scripted.asked  # type: ignore[arg-type]
    assert shown.count(NO_MODEL) == 2


def test_commands() -> None:
    shown = talk(Scripted(), ["/help", "/nonsense", "/sources", "one", "/sources", KeyboardInterrupt])
    assert "/reset" in shown
    assert "There is no /nonsense" in shown
    assert len(re.findall(r"handbook: 3 documents, 7 chunks, last synced \d+ d ago", shown)) == 2
    assert "[2] Leave, Carry-over  leave-0.md\n    Days lapse in March." in shown


def test_a_question_is_researched() -> None:
    scripted = Scripted()
    shown = talk(scripted, ["/research Who founded it?", "/research", "Who?", "Research: And when?", "research:"])
    assert [(one.question, one.research) for one in scripted.asked if isinstance(one, Ask)] == [
        ("Who founded it?", True),
        ("Who?", False),
        ("And when?", True),
    ]
    assert len({one.conversation for one in scripted.asked if isinstance(one, Ask)}) == 1
    assert shown.count("/research QUESTION") == 2


class Explaining(Scripted):
    """Tells how an answer came about where that is asked for."""

    async def run(self, request: Request) -> AsyncIterator[Event]:
        async for event in super().run(request):
            if isinstance(request, Ask) and request.why and isinstance(event, Answer):
                yield Explained(reference="", trace=Recorder().trace(event))
            yield event


def test_why_tells_how_the_last_answer_came_about() -> None:
    shown = talk(Explaining(), ["/why", "one", "two", "/why", "/reset", "/why", "/help"])
    assert shown.count("There is no answer yet") == 2, "before the first one, and in a new conversation"
    assert shown.count("Why this answer") == 1
    assert "asked: two" in shown
    assert "asked: one" not in shown
    assert shown.index("asked: two") > shown.rindex(SHOWN)
    assert "/why  " in shown


def test_a_failure_is_a_sentence_and_the_conversation_goes_on() -> None:
    shown = talk(Scripted(failing=True), ["one", "/help"])
    assert "The language model cannot be reached right now. no connection to http://localhost:1" in shown
    assert "/reset" in shown


@pytest.mark.parametrize(("documents", "hint"), [(0, "citebot sync"), (-1, "citebot init"), (1, "1 document in")])
def test_the_first_lines_say_what_to_do(documents: int, hint: str) -> None:
    assert hint in talk(Scripted(documents=documents), [])


def test_lines_of_an_input_are_answered() -> None:
    console, out = paper()
    with chatting(Scripted().opened) as (backend, loop):
        assert Chat(backend, loop, console).answer_lines(["one", "二"]) == 0
    assert out.getvalue().startswith(f"› one\n\n{SHOWN}\n\n[1] Leave, Carry-over  leave-2.md\n")
    assert "› 二" in out.getvalue()
    assert re.search(r"^Read: \d+ passages? from \d+ documents?: .*leave-2\.md\s1", out.getvalue(), re.MULTILINE)
    with chatting(Scripted(failing=True).opened) as (backend, loop):
        assert Chat(backend, loop, console).answer_lines(["one"]) == 1


async def test_on_a_terminal_the_last_thing_shown_is_the_whole_answer() -> None:
    console, out = paper(terminal=True)
    await show_answer(Scripted(pause=0.05).run(Ask(question="?")), console)
    shown = re.sub(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    last = shown[shown.rindex("You may carry") :]
    assert last.startswith(SHOWN)
    assert NO_MODEL in last
    # No frame showed a marker, or half of one.
    assert "[ID" not in out.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
async def test_an_empty_line_stands_between_the_steps_and_the_answer(
    terminal: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    console, out = paper(terminal=terminal)

    async def researched() -> AsyncIterator[Event]:
        for outcome in (Outcome.BEGUN, Outcome.DONE):
            yield Progress(stage="judge", round=1, outcome=outcome)
        yield Answer(question="?", raw_text="In Leyton.", support=Support.EXEMPT)

    await show_answer(researched(), console)
    steps = out.getvalue() if terminal else capfd.readouterr().err + out.getvalue()
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", steps).splitlines()
    assert "Judging what was found" in lines
    assert lines[lines.index("In Leyton.") - 1] == ""


async def test_a_cancelled_answer_leaves_what_was_written() -> None:
    console, out = paper(terminal=True)

    async def forever() -> Iterator[Delta]:  # type: ignore[misc]
        yield Delta(text="The first words [ID:3]")
        await asyncio.sleep(3600)

    task = asyncio.create_task(show_answer(forever(), console))  # type: ignore[arg-type]
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert out.getvalue().rstrip().endswith("[1]\x1b[0m") or "The first words" in out.getvalue().splitlines()[-1]
    # The cursor is shown again.
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")


def test_welcome_is_safe_to_show() -> None:
    assert "\x1b" not in welcome([]).plain


def test_a_command_may_come_without_its_slash() -> None:
    scripted = Scripted()
    shown = talk(scripted, ["help", "Sources", "one", "reset", "sources of the river", "exit", "never asked"])
    assert "/reset" in shown
    assert "handbook: 3 documents" in shown
    assert "Forgotten" in shown
    asked = [request.question for request in scripted.asked if isinstance(request, Ask)]
    assert asked == ["one", "sources of the river"]
