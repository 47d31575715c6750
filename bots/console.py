"""The conversation ``citebot chat``: the terminal as a platform."""

import contextlib
import sys
import uuid
from collections.abc import Callable, Generator, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from bots.ages import with_ages
from bots.counting import counted
from bots.loop_thread import LoopThread
from bots.rendering.clean import clean_line
from bots.rendering.parse import parse_answer
from bots.rendering.passages import passage_lines
from bots.rendering.terminal import Indented, document_terminal, source_lines
from bots.requests import Ask, Explained, Forget, ListSources, SourceState
from bots.service import Backend
from bots.showing import show_answer, without_why
from bots.turn.commands import to_research
from bots.why import why_document
from bots.words.sentences import age
from ragcore.errors import CitebotError
from ragcore.phrases import LANGUAGES, phrase
from ragcore.types import Answer, ConversationKey

PROMPT = "› "
_HELP = (
    ("", "Ask in your own words. [1] points to the numbered sources below an answer."),
    ("  /research  ", "with a question: what one search can't answer, in several rounds"),
    ("  /sources   ", "the passages behind the last answer, and what is indexed"),
    ("  /why       ", "how the last answer came about: what was searched, read and told to a model"),
    ("  /reset     ", "forget this conversation and begin a new one"),
    ("  /help      ", "this list"),
    ("  /quit      ", "leave (so do Ctrl-C and Ctrl-D at the prompt)"),
    ("", "Ctrl-C while an answer is written stops the answer."),
)
_LEAVING = frozenset({"quit", "exit", "q"})
_BARE = frozenset({"help", "reset", "sources"})
# Said once a conversation, whatever language it was said in.
_TYPIST = "terminal"
"""Who types here, as the history names them: a conversation is one person's."""
_NO_MODEL = frozenset(phrase("no_model", language) for language in LANGUAGES)


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
        self._explained: Explained | None = None

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
        researched = to_research(line)
        if researched == "":
            line = "/research"
        if line.startswith("/") and not researched:
            return self._command(line)
        try:
            return self._answer(researched or line, research=bool(researched))
        except KeyboardInterrupt:
            self._console.print(Text("(stopped)", style="dim"))
            self._console.print()
            return True
        except CitebotError as error:
            self._console.print(Text(f"{error.user_message} {clean_line(str(error))}", style="red"))
            self._console.print()
            return False

    def _answer(self, line: str, *, research: bool = False) -> bool:
        request = Ask(
            question=line,
            knowledge_bases=self._knowledge_bases,
            conversation=self._conversation,
            typed_by=_TYPIST,
            web=self._web,
            research=research,
            why=True,
        )
        explained: list[Explained] = []
        events = without_why(self._backend.run(request), explained)
        answer = self._loop.run(show_answer(events, self._console, hidden_notes=self._said))
        self._console.print()
        if answer is not None:
            if not _NO_MODEL.isdisjoint(answer.notes):
                self._said = _NO_MODEL
            self._last, self._explained = answer, explained[-1] if explained else None
        return answer is not None

    def _command(self, line: str) -> bool:
        match line.split(maxsplit=1)[0]:
            case "/help" | "/?":
                for name, meaning in _HELP:
                    self._console.print(Indented(Text(meaning), name, " " * len(name)))
            case "/reset":
                self._loop.run(self._drain(Forget(conversation=self._conversation)))
                self._conversation, self._last, self._explained = _new_conversation(), None, None
                self._said = frozenset()
                self._console.print(Text("Forgotten; this is a new conversation.", style="dim"))
            case "/sources":
                self._show_sources()
            case "/why" if self._explained is not None:
                self._console.print(document_terminal(why_document(self._explained.trace)))
            case "/why":
                self._console.print(Text("There is no answer yet: ask something first.", style="dim"))
            case "/research":
                self._console.print(Text("Write the question behind it: /research QUESTION", style="dim"))
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
