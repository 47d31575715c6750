"""Commands: as slash commands, or as the whole text of a message that addresses the bot."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bots.platform import ASKING, CommandName, Incoming, Reach
from bots.rendering.clean import clean, clean_line, clean_url
from bots.rendering.parse import parse_markdown
from bots.rendering.passages import snippet, strong, word_spans
from bots.rendering.tree import Block, Code, Document, Inline, ItemList, Link, ListItem, Paragraph, Quote, Styled, Text
from bots.requests import Event, Found, ListSources, Search, SourceState
from bots.service import Backend
from bots.turn.beside import beside
from bots.turn.gist.asked import wanted_of
from bots.words.gist import gist_word
from bots.words.sentences import Word, age, word
from ragcore.links import deep_link, place
from ragcore.reports import Fault
from ragcore.types import ScoredChunk

SEARCH_LIMIT = 5
SNIPPET = 300
"""Characters of a passage in a list of search results."""
_WORDS: dict[str, CommandName] = {
    "reset": "reset", "forget": "reset", "重置": "reset", "zurücksetzen": "reset",
    "sources": "sources", "来源": "sources", "quellen": "sources",
    "sync": "sync", "同步": "sync", "abgleichen": "sync",
    "help": "help", "帮助": "help", "hilfe": "help",
}  # fmt: skip
_FAULTS: dict[Fault, Word] = {
    Fault.NONE: "fault_documents",
    Fault.AUTH: "fault_auth",
    Fault.RATE_LIMITED: "fault_rate_limited",
    Fault.GONE: "fault_gone",
    Fault.UNREACHABLE: "fault_unreachable",
    Fault.BAD_REPLY: "fault_bad_reply",
}
# With their strokes: "sync my calendar" and "why" may be questions.
_SYNC = re.compile(r"/sync\s+(?P<names>\S.*)", re.IGNORECASE)
_WHY = re.compile(r"/why(?:\s+(?P<reference>[0-9a-f]{8}))?", re.IGNORECASE)
_RESEARCH = re.compile(
    # With a colon or its stroke: "research funding" may be a question, and "研究" a word of one.
    r"(?:/?(?:research|recherche|recherchiere|深度研究|研究)\s*[:：]|/(?:research|recherche|研究)(?!\S))(?P<question>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SEARCH = re.compile(r"/?(?:search|搜索|suche)(?:\s+|(?<=索)\s*)(?P<query>\S.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done; ``query`` is what to look for or to summarise, the sources to sync, the answer to explain."""

    name: CommandName
    query: str = ""

    @property
    def lists(self) -> bool:
        """Return whether it tells what an audience may read: the sources, or what a search finds."""
        return self.name == "sources" or (self.name == "search" and bool(self.query))


def command_of(incoming: Incoming, text: str) -> Command | None:  # noqa: PLR0911 (one return a kind)
    """Return the command that a message is, None for a question.

    In a channel where the bot answers what is not addressed to it, words are only words.
    """
    if incoming.command is not None:
        return None if incoming.command in ASKING else Command(incoming.command, text.strip())
    if incoming.reach is Reach.CHANNEL:
        return None
    # As the command does it where nothing stands behind it.
    stripped = "help" if to_research(text) == "" else text.strip()
    if name := _WORDS.get(stripped.strip("/ .!。！").casefold()):
        return Command(name)
    if named := _SYNC.fullmatch(stripped):
        return Command("sync", named["names"])
    if why := _WHY.fullmatch(stripped):
        return Command("why", why["reference"] or "")
    if wanted_of(stripped, incoming.sent_at) is not None:
        return Command("summarise", stripped)
    found = _SEARCH.fullmatch(stripped)
    return Command("search", found["query"].strip()) if found else None


def stands_alone(incoming: Incoming) -> bool:
    """Return whether a question is one of its own: asked by command, and no reply to an answer."""
    return incoming.command == "ask" and not incoming.goes_on


def research_of(incoming: Incoming, text: str) -> str:
    """Return the question that a message asks to be researched, as words; empty where it doesn't."""
    return "" if incoming.command is not None or incoming.reach is Reach.CHANNEL else to_research(text) or ""


def to_research(text: str) -> str | None:
    """Return the question behind ``research:`` or ``/research``, perhaps an empty one; None where neither stands."""
    found = _RESEARCH.fullmatch(text.strip())
    return found["question"].strip() if found else None


def help_document(language: str, *, researches: bool = False, summaries: bool = False) -> Document:
    """Return what the bot does, and how to ask it."""
    told = word("help", language)
    more = [word("help_research", language)] if researches else []
    more += [gist_word("help", language)] if summaries else []
    first, _, rest = told.partition("\n\n- ")
    return parse_markdown("\n".join([f"{first}\n", *more, f"- {rest}"]))


async def listed(
    backend: Backend,
    command: Command,
    audience: frozenset[str] | None,
    knowledge_bases: Sequence[str],
    language: str,
    *,
    only: str,
) -> Document:
    """Return what a command that ``lists`` finds in these knowledge bases for this audience now.

    ``only`` is the filter of the channel, which narrows a search; "" for none.
    """
    if command.name == "sources":
        return await sources_document(backend, audience, knowledge_bases, language)
    bases = tuple(knowledge_bases)
    request = Search(query=command.query, knowledge_bases=bases, filter=only, limit=SEARCH_LIMIT, audience=audience)
    return await search_document(backend, request, language)


async def sources_document(
    backend: Backend, audience: frozenset[str] | None, knowledge_bases: Sequence[str], language: str
) -> Document:
    """Return the sources of these knowledge bases whose documents this audience may read."""
    told = [event async for event in backend.run(ListSources(audience=audience)) if isinstance(event, SourceState)]
    states = [state for state in told if state.knowledge_base in knowledge_bases]
    if not states:
        return sentence(word("no_documents", language))
    now = datetime.now(UTC)
    items = [_source_item(state, now, language) for state in states]
    return Document(blocks=(*sentence(word("sources_head", language)).blocks, ItemList(items=tuple(items))))


def _source_item(state: SourceState, now: datetime, language: str) -> ListItem:
    documents = word("document" if state.documents == 1 else "documents", language, count=state.documents)
    documents = word("with_chunks", language, documents=documents, count=state.chunks)
    told = word("never_read", language, documents=documents)
    if state.last_success is not None:
        seconds = max(0.0, (now - state.last_success).total_seconds())
        told = word("read_ago", language, documents=documents, age=age(seconds, language))
    if state.is_paused:
        told += word("pauses", language)
    elif state.next_run is not None:
        told += word("read_again", language, age=age(max(0.0, (state.next_run - now).total_seconds()), language))
    if state.last_error:
        told += word("last_fault", language, why=word(_FAULTS.get(state.fault, "fault_other"), language))
    name = Styled(style="strong", children=(Text(text=clean_line(state.name)),))
    return ListItem(blocks=(Paragraph(children=(name, Text(text=told))),))


async def search_document(backend: Backend, request: Search, language: str) -> Document:
    """Return the passages that fit best, each with its place."""
    found: AsyncIterator[Event] = backend.run(request)
    chunks = [scored async for event in found if isinstance(event, Found) for scored in event.chunks]
    if not chunks:
        return sentence(word("search_empty", language))
    items = await beside("".join(scored.chunk.text for scored in chunks), lambda: tuple(map(_result, chunks)))
    return Document(blocks=(ItemList(items=items, start=1, tight=False),))


def _result(scored: ScoredChunk) -> ListItem:
    chunk = scored.chunk
    label = ", ".join(part for part in (clean_line(chunk.title), clean_line(place(chunk))) if part)
    label = label or clean_line(chunk.document_id)
    url = clean_url(deep_link(chunk))
    head: Inline = Text(text=label)
    if url and not url.startswith("file:"):
        head = Link(url=url, children=(head,))
    said = snippet(chunk.text, scored.matched, SNIPPET, label=label)
    words = strong(said, word_spans(said, scored.matched))
    return ListItem(blocks=(Paragraph(children=(head,)), Quote(blocks=(Paragraph(children=words),))))


def sentence(*sentences: str, code: str = "") -> Document:
    """Return plain sentences as one paragraph, a line of settings behind them as code."""
    children: list[Inline] = [Text(text=clean_line(" ".join(one for one in sentences if one)))]
    blocks: list[Block] = [Paragraph(children=tuple(children))]
    if code:
        blocks.append(Paragraph(children=(Code(text=clean_line(clean(code))),)))
    return Document(blocks=tuple(blocks))


def advised(document: Document, advice: str) -> Document:
    """Return the document with one more sentence at the end of its text."""
    *before, last = document.blocks or (Paragraph(children=()),)
    if not isinstance(last, Paragraph):
        return replace(document, blocks=(*document.blocks, *sentence(advice).blocks))
    return replace(
        document, blocks=(*before, Paragraph(children=(*last.children, Text(text=f" {clean_line(advice)}"))))
    )
