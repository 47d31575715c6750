"""An answer in the terminal: as it is written, with the steps of a research, and as it stands at the end."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Collection
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from bots.ages import with_ages
from bots.counting import counted, shares
from bots.keyboard import keys_unseen
from bots.rendering.clean import clean_line
from bots.rendering.parse import parse_answer, parse_partial
from bots.rendering.terminal import document_terminal
from bots.requests import Event, Explained
from ragcore.research import Outcome, Progress, StepKind
from ragcore.types import Answer, Delta, Status

_STAGES = {
    "rewrite": "Reading the question",
    "search": "Searching",
    "write": "Writing",
    "cite": "Checking the sources",
    "plan": "Planning",
    "research": "Searching",
    "judge": "Judging what was found",
}
_FRAMES_PER_SECOND = 8


class _Tail:
    """The last lines of a renderable that fit: what has scrolled off is shown once the answer is whole."""

    def __init__(self, inside: RenderableType) -> None:
        self._inside = inside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inside, options.update(height=None), pad=False)
        for line in lines[-max(1, console.height - 2) :]:
            yield from line
            yield Segment.line()


class _Writing:
    """What is known of an answer while it is written."""

    def __init__(self) -> None:
        self.text = ""
        self._spinner = Spinner("dots", text="Searching …", style="blue")

    def take(self, event: Event) -> None:
        if isinstance(event, Delta):
            self.text += event.text
        elif isinstance(event, Status):
            self._spinner.update(text=f"{_STAGES.get(event.stage, clean_line(event.stage))} …")

    def frame(self) -> RenderableType:
        # Parsed once a frame, however fast the words come.
        return _Tail(document_terminal(parse_partial(self.text))) if self.text.strip() else self._spinner


async def show_answer(
    events: AsyncIterator[Event], console: Console, *, hidden_notes: Collection[str] = ()
) -> Answer | None:
    """Show an answer as it is written and, in its place, the finished one; return it.

    Below it stands how many passages of each document it was written from. Where the console is no terminal only the
    finished answer is shown, and the steps of a research on stderr. Cancelled half way, what was written stays.

    Args:
        events: The stream of an ``Ask``.
        console: Where to show it.
        hidden_notes: Notes that need not be said again.
    """
    answer: Answer | None = None
    writing, told = _Writing(), False
    steps = console if console.is_terminal else Console(stderr=True)
    # A log line on the same terminal goes above the frames rather than into them; elsewhere it stays what it is.
    live = Live(
        console=console,
        get_renderable=writing.frame,
        refresh_per_second=_FRAMES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=sys.stderr.isatty(),
        vertical_overflow="crop",
    )
    try:
        with keys_unseen(), live if console.is_terminal else contextlib.nullcontext():
            async for event in events:
                writing.take(event)
                if isinstance(event, Progress) and event.outcome is not Outcome.BEGUN:
                    told = True
                    steps.print(step_text(event), soft_wrap=not console.is_terminal)
                if isinstance(event, Answer):
                    answer = event
    except asyncio.CancelledError:
        if writing.text.strip():
            console.print(document_terminal(parse_partial(writing.text)))
        raise
    if told:
        steps.print()
    if answer is not None:
        document = with_ages(parse_answer(answer), "en")
        kept = tuple(note for note in document.notes if note not in hidden_notes)
        console.print(document_terminal(replace(document, notes=kept)))
        if answer.chunks:
            console.print(Text(f"Read: {shares(answer.chunks)}", "dim"))
    return answer


async def without_why(events: AsyncIterator[Event], explained: list[Explained]) -> AsyncIterator[Event]:
    """Yield the events of an answer; what explains it is put aside until it has been shown."""
    async for event in events:
        if isinstance(event, Explained):
            explained.append(event)
        else:
            yield event


def step_text(step: Progress) -> Text:
    """Return a step that has ended as a line: what was done for what, and what came of it."""
    told = [_STAGES.get(step.stage, step.stage)]
    if step.detail:
        told.append(f": {clean_line(step.detail)}")
    came = list[str]()
    match step.outcome:
        case Outcome.FAILED:
            came.append(f"failed: {step.reason}")
        case Outcome.NOTHING:
            came.append("nothing found")
        case _ if step.stage == StepKind.PLAN:
            came.append(counted(step.found, "question"))
        case _ if step.stage == StepKind.SEARCH:
            came.append(counted(step.found, "passage"))
        case _:
            pass
    if step.outcome is not Outcome.FAILED and step.reason:
        came.append(f"without the model: {step.reason}")
    return Text("".join((*told, f" ({'; '.join(came)})" if came else "")), "dim")
