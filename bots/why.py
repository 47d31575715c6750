"""How an answer came about, as a document: for ``ask --why`` and for the command ``why``. Pure.

It is written for whoever runs the bot, and in English alone, like the doctor's findings.
"""

from collections.abc import Iterator, Sequence

from bots.counting import counted
from bots.rendering.clean import clean, clean_line
from bots.rendering.plain import plain_pieces
from bots.rendering.tree import Block, Document, Fence, Heading, ItemList, ListItem, Paragraph, Text
from ragcore.trace import Call, Fate, Leg, Passage, Search, Step, Trace, WebPage, WebSearched, told_calls
from ragcore.types import Message

WHOLE = 1_000_000
"""Characters of one message of a prompt that are shown where there is room for all."""
IN_A_CHAT = 1_200
"""The same in a chat: a prompt of the default size would fill 20 messages there."""
MOST_IN_A_CHAT, MOST_ON_A_PAGE = 9_000, 1_500
"""Characters of all of it in a chat, and where a reply is one message (Discord's holds 2,000): the rest is left out."""
_MOST_DROPPED = 8
"""Passages below the gate that are listed in a chat; of the others the number is told."""

_FATES = {
    Fate.PASSED: "passed the gate",
    Fate.BELOW: "dropped: below the gate",
    Fate.COPY: "dropped: says the same as one that passed",
    Fate.BEYOND: "dropped: relevant, and behind as many better ones as are wanted",
    Fate.READ: "read",
    Fate.NO_ROOM: "dropped: no room in the prompt",
}


def why_document(trace: Trace) -> Document:
    """Return everything that was done for an answer."""
    return Document(blocks=tuple(_blocks(trace, WHOLE)))


def why_in_chat(trace: Trace, *, private: bool, short: bool) -> Document:
    """Return what a chat has room for.

    Args:
        trace: As far as whoever sees the reply may read it.
        private: Nobody else sees the reply: prompts are shown as well.
        short: The reply is one message.
    """
    room = MOST_ON_A_PAGE if short else MOST_IN_A_CHAT
    kept: list[Block] = []
    for block in _blocks(trace, IN_A_CHAT if private else 0):
        room -= len("".join(plain_pieces((block,))))
        if room < 0:
            kept.append(_said("… There is more than a message holds; `citebot ask --why` shows all."))
            break
        kept.append(block)
    return Document(blocks=tuple(kept))


def _blocks(trace: Trace, longest: int) -> Iterator[Block]:
    """Yield all that is told; of each message of a prompt at most ``longest`` characters, 0: none of them."""
    yield _heading("Why this answer")
    yield _list(_facts(trace))
    if trace.hidden:
        yield _said(
            f"{counted(trace.hidden, 'document')} that it rests on may not be read here: their passages are shown as "
            "hidden, and so is what a model was told of them."
        )
    if trace.read:
        yield _heading("Given to the writer")
        yield _list([_passage(one) for one in trace.read])
    most = 1_000 if longest == WHOLE else _MOST_DROPPED
    for number, search in enumerate(trace.searches, 1):
        yield _heading(f"Search {number}" if len(trace.searches) > 1 else "Search")
        yield from _search(search, frozenset(one.chunk_id for one in trace.read), most)
    for searched in trace.web:
        yield _heading("Search of the web")
        yield _list(_web(searched))
    if trace.steps:
        yield _heading("Time")
        yield _list([_step(step) for step in trace.steps])
    yield _heading(f"{counted(len(trace.calls), 'model call')}")
    if not trace.calls:
        yield _said("The answer was kept from an earlier one." if trace.kept else "No model was asked.")
    for number, call in enumerate(trace.calls, 1):
        yield from _call(number, call, longest)


def _facts(trace: Trace) -> Iterator[str]:
    yield f"asked: {_line(trace.question)}"
    yield f"when: {trace.asked_at.strftime('%Y-%m-%d %H:%M:%S UTC')}"
    yield f"knowledge bases: {_line(', '.join(trace.knowledge_bases)) or 'none'}"
    yield f"outcome: {trace.support}, after {_seconds(trace.took)}"
    if trace.kept:
        yield "kept: the same was asked before, of the same documents, and no model was asked again"
    tokens = sum(call.usage.prompt_tokens for call in trace.calls)
    written = sum(call.usage.completion_tokens for call in trace.calls)
    yield f"model: {counted(len(trace.calls), 'call')}, {tokens} tokens read, {written} written"
    for what in trace.degraded:
        yield f"went wrong: {_line(what)}"


def _step(step: Step) -> str:
    return f"{step.name}: {_seconds(step.took)}, from {_seconds(step.began)} on"


def _search(search: Search, read: frozenset[str], most: int) -> Iterator[Block]:
    facts = [f"for: {_line(search.text)}" if search.text else "for: hidden"]
    if search.beside:
        facts.append(f"words beside: {_line(', '.join(search.beside))}")
    if search.document_ids:
        facts.append(f"in documents: {_line(', '.join(search.document_ids))}")
    facts += [f"filter: {_line(one)}" for one in search.filters]
    facts += [_leg(leg) for leg in search.legs]
    facts.append(f"gate: {search.gate:.2f}{', relaxed: nothing passed the strict judgement' * search.relaxed}")
    if search.unread:
        facts.append(f"not live, or not open to the readers: {search.unread}")
    yield _list(facts)
    passed = [one for one in search.passages if one.fate is Fate.PASSED]
    dropped = [one for one in search.passages if one.fate is not Fate.PASSED]
    told = [_passage(one, beyond=bool(read) and one.chunk_id not in read) for one in passed]
    told += [_passage(one) for one in dropped[:most]]
    if len(dropped) > most:
        told.append(f"{len(dropped) - most} more were dropped")
    if told:
        yield _list(told)


def _web(search: WebSearched) -> Iterator[str]:
    yield f"for: {_line(search.query) if not search.hidden else 'hidden'}"
    yield f"asked: {_line(search.engine)}"
    if search.failure:
        yield f"failed: {_line(search.failure)}"
    yield from map(_page, search.pages)


def _page(page: WebPage) -> str:
    how = f"the engine's words for it: {_line(page.unread)}" if page.unread else "read"
    given = (
        f"{counted(page.given, 'passage')} given, the best at {page.score:.2f}"
        if page.given
        else "dropped: below the gate"
    )
    return f"{_line(page.title)} {_line(page.url)}: {how}; {given}"


def _leg(leg: Leg) -> str:
    def found(number: int | None) -> str:
        return "could not be asked" if number is None else str(number)

    return f"{_line(leg.knowledge_base)}: by meaning {found(leg.by_meaning)}, by words {found(leg.by_words)}"


def _passage(one: Passage, *, beyond: bool = False) -> str:
    fate = _FATES[one.fate]
    if beyond and not one.hidden:
        fate += ", and was not among the best in the end"
    if one.hidden:
        return f"(hidden) {fate}"
    legs = "".join(f", {leg} {rank}" for leg, rank in one.legs)
    title = f" {_line(one.title)}" if one.title else ""
    return f"{one.score:.2f}{title} [{_line(one.chunk_id)} of {_line(one.document_id)}]{legs}: {fate}"


def _call(number: int, call: Call, longest: int) -> Iterator[Block]:
    told = f"{number}. {call.task}: {_line(call.model)}, {_seconds(call.took)}"
    if call.first:
        told += f" (first piece after {_seconds(call.first)})"
    if call.usage.calls:
        told += f", {call.usage.prompt_tokens} tokens read, {call.usage.completion_tokens} written"
    if call.requests > 1:
        told += f", {call.requests} requests"
    if call.pictures:
        told += f", {counted(call.pictures, 'picture')}"
    if call.failure:
        told += f", failed: {call.failure}"
    yield _said(told)
    if call.hidden or not longest:
        yield _said("What it was told and what it wrote are hidden here.")
        return
    for message in call.messages:
        yield _said(f"{message.role}:")
        yield Fence(text=_cut(_words(message), longest))
    if call.reply:
        yield _said("reply:")
        yield Fence(text=_cut(clean(call.reply), longest))


def _words(message: Message) -> str:
    return clean("\n".join((message.text, told_calls(message.calls)))).strip("\n")


def _cut(text: str, longest: int) -> str:
    """Return the text, of a longer one its beginning and its end."""
    if len(text) <= longest:
        return text
    left = longest // 2
    return f"{text[:left]}\n[… {len(text) - 2 * left} characters …]\n{text[-left:]}"


def _heading(text: str) -> Heading:
    return Heading(level=3, children=(Text(text=clean_line(text)),))


def _said(text: str) -> Paragraph:
    return Paragraph(children=(Text(text=clean_line(text)),))


def _list(lines: Sequence[str] | Iterator[str]) -> ItemList:
    return ItemList(items=tuple(ListItem(blocks=(_said(line),)) for line in lines))


def _line(text: str) -> str:
    return clean_line(text)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.1f} s"
