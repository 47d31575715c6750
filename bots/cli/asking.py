"""``ask``, ``chat`` and ``search``."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from bots.access import audience_of
from bots.cli.forms import answer_form, chunk_forms, trace_form
from bots.cli.output import opening, print_json, results, say
from bots.cli.picturing import Passage, draw, picture_folder, write_pictures
from bots.cli.reach import reach, read_settings
from bots.console import Chat, chatting, input_lines
from bots.counting import shares
from bots.rendering.clean import clean, clean_line
from bots.rendering.passages import word_spans
from bots.rendering.terminal import Indented, document_terminal, terminal_url
from bots.requests import Ask, Explained, Found, ListSources, Search, SourceState
from bots.service import Gateway
from bots.settings import Settings, normal_reader
from bots.showing import show_answer, without_why
from bots.terminal_research import terminal_reference
from bots.why import why_document
from ragcore.errors import ConfigError
from ragcore.filter_grammar import parse_filter
from ragcore.links import chunk_at, deep_link, place
from ragcore.types import Answer, Chunk, ScoredChunk

_MATCHED = "bold reverse"


async def run_ask(
    config: Path | None, request: Ask, *, reader: str = "", as_json: bool, pictures: Path | None = None
) -> int:
    """Answer one question, as this reader would be answered; 0 also when nothing is found: that is an answer.

    With ``pictures`` what is cited is written there as pictures.
    """
    settings = read_settings(config)
    folder = picture_folder(pictures)
    check_names(settings, request.knowledge_bases)
    _check_text(request.question, "QUESTION")
    _check_filter(request.filter)
    # What is narrowed to certain documents is not the web's; a channel's own filter narrows its documents alone.
    web = settings.searches_web(_reader(reader) if reader else "") and not request.filter
    request = replace(request, web=web)
    if reader:
        request = replace(request, audience=audience_of(_reader(reader)), may_mend=True)
    if request.research:
        request = replace(request, reference=terminal_reference(request))
    async with reach(settings, command="ask") as gateway:
        explained: list[Explained] = []
        events = without_why(gateway.run(request), explained)
        if as_json:
            answer: Answer | None = [one async for one in events if isinstance(one, Answer)][-1]
        else:
            answer = await show_answer(events, results())
        cited = _cited(answer) if answer else []
        drawn = await draw(gateway, cited, request.audience) if folder is not None else []
    if as_json and answer:
        print_json(answer_form(answer) | ({"why": trace_form(explained[0].trace)} if explained else {}))
    elif explained:
        results().print(document_terminal(why_document(explained[0].trace)))
    if folder is not None:
        write_pictures(drawn, cited, folder)
    return 0 if answer else 1


def _cited(answer: Answer) -> list[Passage]:
    return [
        (one.number, chunk_at(answer.chunks[one.id].chunk, one.quote), one.title)
        for one in answer.citations
        if one.id < len(answer.chunks)
    ]


def run_chat(config: Path | None, knowledge_bases: tuple[str, ...]) -> int:
    """Talk on a terminal, or answer the lines of the input."""
    settings = read_settings(config)
    check_names(settings, knowledge_bases)
    console = results()
    with ExitStack() as stack:
        with opening():
            opened = chatting(lambda: reach(settings, command="chat", serving=True))
            backend, loop = stack.enter_context(opened)
        chat = Chat(backend, loop, console, knowledge_bases=knowledge_bases, web=settings.searches_web())
        if sys.stdin.isatty():
            chat.talk()
            return 0
        return chat.answer_lines(input_lines())


async def run_search(config: Path | None, request: Search, *, as_json: bool, pictures: Path | None = None) -> int:
    """Show the best passages; with ``pictures`` they are written there as pictures."""
    settings = read_settings(config)
    folder = picture_folder(pictures)
    check_names(settings, request.knowledge_bases)
    _check_text(request.query, "QUERY")
    _check_filter(request.filter)
    async with reach(settings, command="search") as gateway:
        found = [event async for event in gateway.run(request) if isinstance(event, Found)][-1]
        empty = not found.chunks and not await _indexed(gateway)
        ranked = [(rank, one.chunk.id, one.chunk.title) for rank, one in enumerate(found.chunks, 1)]
        drawn = await draw(gateway, ranked) if folder is not None else []
    if as_json:
        print_json(chunk_forms(found.chunks))
    elif found.chunks:
        from bots.app.options import retrieval_options  # heavy, and there only when there is something to show

        show_chunks(found.chunks, results(), gate=retrieval_options(settings).similarity_threshold)
    else:
        say("Nothing is indexed yet: `citebot sync` reads the sources." if empty else "Nothing fits.")
    if folder is not None:
        write_pictures(drawn, ranked, folder)
    for note in found.notes:
        say(note)
    return 0


async def _indexed(gateway: Gateway) -> int:
    """Return how many documents there are to find anything in."""
    return sum([event.documents async for event in gateway.run(ListSources()) if isinstance(event, SourceState)])


def check_names(settings: Settings, knowledge_bases: Sequence[str]) -> None:
    """Refuse a knowledge base that is not in the settings, as wrong use."""
    for name in knowledge_bases:
        if name not in settings.all_knowledge_bases:
            known = ", ".join(settings.all_knowledge_bases) or "none"
            raise typer.BadParameter(f"there is no knowledge base {name!r} (there is: {known})", param_hint="--kb")


def _check_text(text: str, argument: str) -> None:
    if not text.strip():
        raise typer.BadParameter("it is empty", param_hint=argument)


def _check_filter(text: str) -> None:
    if not text.strip():
        return
    try:
        parse_filter(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint="--filter") from error


def _reader(text: str) -> str:
    try:
        return normal_reader(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--as") from error


def show_chunks(chunks: Sequence[ScoredChunk], console: Console, *, gate: float = 0.0) -> None:
    """Print ranked passages: title, place and score, the text with the matched words marked, and where else it stands.

    What has a score below the ``gate`` of answers is marked as such. At the end stands how many of them each document
    gave.
    """
    for rank, scored in enumerate(chunks, 1):
        chunk = scored.chunk
        reranked = " reranked" if "rerank" in scored.ranks else ""
        below = " below the gate" if scored.score < gate else ""
        told = Text(f"  {scored.score:.2f}{below}{reranked}  {clean_line(chunk.document_id)}", "dim")
        console.print(Text(f"{rank}. ", style="blue") + _linked(chunk, "bold") + told)
        body = marked(clean(chunk.text).strip().expandtabs(4), scored.matched, plain=not console.is_terminal)
        console.print(Indented(body, "   ", "   "))
        for copy in scored.copies:
            same = (
                Text("The same in: ", "dim") + _linked(copy, "dim") + Text(f"  {clean_line(copy.document_id)}", "dim")
            )
            console.print(Indented(same, "   ", "   "))
        console.print()
    console.print(Text(shares(chunks), "dim"))


def _linked(chunk: Chunk, style: str) -> Text:
    """Return title and place of a chunk, as a link where it has an address."""
    url = deep_link(chunk)
    label = ", ".join(part for part in (clean_line(chunk.title), clean_line(place(chunk))) if part)
    return Text(label or clean_line(chunk.document_id), f"{style} link {terminal_url(url)}" if url else style)


def marked(text: str, matched: Sequence[str], *, plain: bool) -> Text:
    """Return the text with the matched words marked: by style, or by ``**`` where there is none."""
    spans = word_spans(text, matched)
    if plain:
        for start, end in reversed(spans):
            text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
        return Text(text)
    shown = Text(text)
    for span in spans:
        shown.stylize(_MATCHED, *span)
    return shown
