"""The terminal as a platform: an answer as it is written, and the conversation ``citebot chat``."""

import asyncio
import contextlib
import signal
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Generator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from bots.ages import with_ages
from bots.counting import counted
from bots.keyboard import keys_unseen
from bots.rendering.clean import clean_line
from bots.rendering.parse import parse_answer, parse_partial
from bots.rendering.passages import passage_lines
from bots.rendering.terminal import Indented, document_terminal, source_lines
from bots.requests import Ask, Event, Forget, ListSources, SourceState
from bots.service import Backend
from bots.words.sentences import age
from ragcore.errors import CitebotError
from ragcore.phrases import LANGUAGES, phrase
from ragcore.research import Outcome, Progress, StepKind
from ragcore.types import Answer, ConversationKey, Delta, Status

T = TypeVar("T")

PROMPT = "› "
_HELP = (
    ("", "Ask in your own words. [1] points to the numbered sources below an answer."),
    ("  /sources   ", "the passages behind the last answer, and what is indexed"),
    ("  /reset     ", "forget this conversation and begin a new one"),
    ("  /help      ", "this list"),
    ("  /quit      ", "leave (so do Ctrl-C and Ctrl-D at the prompt)"),
    ("", "Ctrl-C while an answer is written stops the answer."),
)
_STAGES = {
    "rewrite": "Reading the question",
    "search": "Searching",
    "write": "Writing",
    "cite": "Checking the sources",
    "plan": "Planning",
    "research": "Searching",
    "judge": "Judging what was found",
}
_LEAVING = frozenset({"quit", "exit", "q"})
_BARE = frozenset({"help", "reset", "sources"})
_FRAMES_PER_SECOND = 8
# Said once a conversation, whatever language it was said in.
_NO_MODEL = frozenset(phrase("no_model", language) for language in LANGUAGES)


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

    Where the console is no terminal only the finished answer is shown, and the steps of a research on stderr. Cancelled
    half way, what was written stays.

    Args:
        events: The stream of an ``Ask``.
        console: Where to show it.
        hidden_notes: Notes that need not be said again.
    """
    answer: Answer | None = None
    writing = _Writing()
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
                    steps.print(_step(event), soft_wrap=not console.is_terminal)
                if isinstance(event, Answer):
                    answer = event
    except asyncio.CancelledError:
        if writing.text.strip():
            console.print(document_terminal(parse_partial(writing.text)))
        raise
    if answer is not None:
        document = with_ages(parse_answer(answer), "en")
        kept = tuple(note for note in document.notes if note not in hidden_notes)
        console.print(document_terminal(replace(document, notes=kept)))
    return answer


def _step(step: Progress) -> Text:
    """Return a step that has ended as a line: what was done for what, and what came of it."""
    told = [_STAGES.get(step.stage, step.stage)]
    if step.detail:
        told.append(f": {clean_line(step.detail)}")
    match step.outcome:
        case Outcome.FAILED:
            told.append(f" (failed: {step.reason})")
        case Outcome.NOTHING:
            told.append(" (nothing found)")
        case _ if step.stage == StepKind.PLAN:
            told.append(f" ({counted(step.found, 'question')})")
        case _ if step.stage == StepKind.SEARCH:
            told.append(f" ({counted(step.found, 'passage')})")
        case _:
            pass
    return Text("".join(told), "dim")


class LoopThread:
    """An event loop in a thread of its own, so that the main thread may wait for a person at the prompt.

    The socket goes on being served meanwhile, and Ctrl-C reaches whoever waits in the main thread.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="citebot-loop", daemon=True)

    def _serve(self) -> None:
        # Ctrl-C is for the main thread alone, and so it is for every thread begun from here.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._loop.run_forever()

    def __enter__(self) -> "LoopThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the coroutine returns; Ctrl-C cancels it, waits until it has cleaned up, and is raised."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._cancel(future)
            raise

    def _cancel(self, future: "Future[T]") -> None:
        ended = threading.Event()

        async def wait_for_others() -> None:
            # The cancelled task needs some turns of the loop to restore the terminal.
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            await asyncio.wait(others, timeout=2) if others else None
            ended.set()

        future.cancel()
        asyncio.run_coroutine_threadsafe(wait_for_others(), self._loop)
        ended.wait(3)

    async def _end(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


class Chat:
    """One conversation in the terminal."""

    def __init__(
        self,
        backend: Backend,
        loop: LoopThread,
        console: Console,
        *,
        knowledge_bases: tuple[str, ...] = (),
        web: bool = False,
        ask_line: Callable[[], str] | None = None,
    ) -> None:
        """Begin; ``ask_line`` returns the next line and raises EOFError at the end, by default a prompt.

        ``web``: whether the web is searched beside the documents.
        """
        self._backend = backend
        self._loop = loop
        self._console = console
        self._knowledge_bases = knowledge_bases
        self._web = web
        self._ask_line = ask_line or _prompt
        self._conversation = _new_conversation()
        self._said: frozenset[str] = frozenset()
        self._last: Answer | None = None

    def talk(self) -> None:
        """Ask and answer until whoever sits there leaves."""
        self._greet()
        while True:
            try:
                line = self._ask_line().strip()
            except (EOFError, KeyboardInterrupt):
                self._console.print()
                return
            if line.removeprefix("/").casefold() in _LEAVING:
                return
            if line:
                self._take(line)

    def answer_lines(self, lines: Sequence[str]) -> int:
        """Answer each line as one conversation, without a prompt; return 1 when a question failed."""
        failed = 0
        for line in lines:
            self._console.print(Text(f"{PROMPT}{clean_line(line)}", style="bold"))
            self._console.print()
            failed |= not self._take(line)
        return int(failed)

    def _greet(self) -> None:
        states = self._loop.run(self._gather_states())
        self._console.print(welcome(states))
        self._console.print()

    def _take(self, line: str) -> bool:
        if line.casefold() in _BARE:  # as on the chat platforms; asked of the documents it would find nothing
            line = f"/{line.casefold()}"
        if line.startswith("/"):
            return self._command(line)
        try:
            return self._answer(line)
        except KeyboardInterrupt:
            self._console.print(Text("(stopped)", style="dim"))
            self._console.print()
            return True
        except CitebotError as error:
            self._console.print(Text(f"{error.user_message} {clean_line(str(error))}", style="red"))
            self._console.print()
            return False

    def _answer(self, line: str) -> bool:
        request = Ask(
            question=line, knowledge_bases=self._knowledge_bases, conversation=self._conversation, web=self._web
        )
        answer = self._loop.run(show_answer(self._backend.run(request), self._console, hidden_notes=self._said))
        self._console.print()
        if answer is not None:
            if not _NO_MODEL.isdisjoint(answer.notes):
                self._said = _NO_MODEL
            self._last = answer
        return answer is not None

    def _command(self, line: str) -> bool:
        match line.split(maxsplit=1)[0]:
            case "/help" | "/?":
                for name, meaning in _HELP:
                    self._console.print(Indented(Text(meaning), name, " " * len(name)))
            case "/reset":
                self._loop.run(self._drain(Forget(conversation=self._conversation)))
                self._conversation, self._last = _new_conversation(), None
                self._said = frozenset()
                self._console.print(Text("Forgotten; this is a new conversation.", style="dim"))
            case "/sources":
                self._show_sources()
            case unknown:
                self._console.print(Text(f"There is no {clean_line(unknown)}; /help lists what there is.", style="dim"))
        self._console.print()
        return True

    def _show_sources(self) -> None:
        if self._last and self._last.citations:
            document = with_ages(parse_answer(self._last), "en")
            quotes = {citation.number: citation.quote for citation in self._last.citations}
            for source in document.sources:
                self._console.print(source_lines((source,)))
                self._console.print(Indented(Text(_passage(quotes[source.number]), style="dim"), "    ", "    "))
            self._console.print()
        for state in self._loop.run(self._gather_states()):
            self._console.print(Text(state_line(state)))

    async def _gather_states(self) -> list[SourceState]:
        return [event async for event in self._backend.run(ListSources()) if isinstance(event, SourceState)]

    async def _drain(self, request: Forget) -> None:
        async for _ in self._backend.run(request):
            pass


def _passage(quote: str) -> str:
    """Return a quote on one line, without its markup."""
    return clean_line(" ".join(passage_lines(quote)))


def welcome(states: Sequence[SourceState]) -> Text:
    """Return the first lines of a conversation: what is indexed, or what to do when nothing is."""
    documents = sum(state.documents for state in states)
    if not states:
        hint = "No source is set up yet. Run `citebot init`, name a folder in citebot.toml, then run `citebot sync`."
        return Text(hint, style="yellow")
    if not documents:
        names = ", ".join(clean_line(state.name) for state in states)
        return Text(
            f"Nothing is indexed yet ({names}). Run `citebot sync`, here or in another terminal.", style="yellow"
        )
    bases = ", ".join(dict.fromkeys(clean_line(state.knowledge_base) for state in states))
    return Text(f"{counted(documents, 'document')} in {bases}. Ask something; /help lists the commands.", style="dim")


def state_line(state: SourceState) -> str:
    """Return one source in one line."""
    ago = age((datetime.now(UTC) - state.last_success).total_seconds()) if state.last_success else ""
    when = f"{ago} ago" if ago else "never"
    line = f"{state.name}: {counted(state.documents, 'document')}, {counted(state.chunks, 'chunk')}, last synced {when}"
    return clean_line(line + (f"; last error: {state.last_error}" if state.last_error else ""))


def _new_conversation() -> ConversationKey:
    return ConversationKey(platform="terminal", thread=uuid.uuid4().hex)


def _prompt() -> str:
    with contextlib.suppress(ImportError):
        # Its import alone gives input() line editing and a history.
        import readline

        if "libedit" not in (readline.__doc__ or ""):
            # What is pasted is one question, however many lines it has.
            readline.parse_and_bind("set enable-bracketed-paste on")
    return input(PROMPT)


@contextlib.contextmanager
def chatting(
    open_backend: Callable[[], contextlib.AbstractAsyncContextManager[Backend]],
) -> Generator[tuple[Backend, LoopThread]]:
    """Hold a backend open in a loop of its own while a conversation lasts."""
    with LoopThread() as loop:
        stack = contextlib.AsyncExitStack()
        try:
            yield loop.run(stack.enter_async_context(open_backend())), loop
        finally:
            loop.run(stack.aclose())


def input_lines() -> list[str]:
    """Return the questions on stdin, one a line."""
    return [line.strip() for line in sys.stdin.read().splitlines() if line.strip()]
