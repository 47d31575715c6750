"""What was said before: recalled into the same conversation and for the same audience, or by its name."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from bots.access import Audience, readable
from bots.app.options import homes, link_hosts
from bots.app.parts import Parts
from bots.counting import DocumentCount
from bots.requests import Ask, Recall, Recalled
from bots.settings import Settings
from ragcore.context import HISTORY_SHARE, default_budget
from ragcore.history import RECALLED_TOKENS
from ragcore.links import allowed_urls
from ragcore.on_web import is_web
from ragcore.stores.rows import Document, is_open
from ragcore.types import Answer, Message


def audience_key(settings: Settings, audience: Audience, private_to: str) -> str:
    """Return a name for those to whom something is said; empty for the operator.

    What only one person sees is named by that person, and by those of their readers that any knowledge base names:
    joining some other channel is no reason to forget what was said.
    """
    if audience is None:
        return ""
    named = {reader for base in settings.all_knowledge_bases.values() for reader in base.readers}
    kept = sorted(audience & named if private_to else audience)
    return hashlib.sha256(json.dumps([private_to, kept]).encode()).hexdigest()


async def recall_history(settings: Settings, parts: Parts, request: Ask, bases: Sequence[str]) -> tuple[Message, ...]:
    """Return what was said in the conversation, bounded so that a long one leaves the documents their room.

    What may repeat a document that the question is not answered from, in these knowledge bases, is left out.
    """
    if request.conversation is None or request.of_its_own:
        return ()
    tokens, model = RECALLED_TOKENS, parts.chat_model
    if model is not None:
        room = default_budget(model.context_window) - model.max_tokens
        tokens = min(RECALLED_TOKENS, max(0, int(room * HISTORY_SHARE)))
    key = audience_key(settings, request.audience, request.private_to)

    async def open_to(documents: Collection[str]) -> frozenset[str]:
        return await open_of(settings, parts, documents, bases, request.audience)

    return await parts.history.recall(
        request.conversation,
        tokens=tokens,
        audience=key,
        but=request.reference,
        open_to=None if request.audience is None else open_to,
    )


async def remember(settings: Settings, parts: Parts, request: Ask, answer: Answer, history: Sequence[Message]) -> None:
    """Write the turn down, where it belongs to a conversation; ``history`` is what was recalled into it."""
    if request.conversation is None:
        return
    await parts.history.append(
        request.conversation,
        answer,
        author=request.author,
        typed_by=request.typed_by,
        audience=audience_key(settings, request.audience, request.private_to),
        reference=request.reference,
        rests_on=frozenset[str]().union(*(message.rests_on for message in history)),
    )


async def recall_one(settings: Settings, parts: Parts, request: Recall) -> Recalled | None:
    """Return a turn by its name, with those citations that the audience may read now; None when it is gone."""
    turn = await parts.history.by_reference(request.reference)
    if turn is None:
        return None
    bases = readable({name: base.readers for name, base in settings.all_knowledge_bases.items()}, request.audience)
    bases = tuple(name for name in bases if not request.knowledge_bases or name in request.knowledge_bases)
    cited = {citation.document_id for citation in turn.citations}
    rests_on = cited | (turn.rests_on or frozenset())
    open_to = await open_of(settings, parts, rests_on, bases, request.audience)
    used = await parts.library.registry.live_chunks((*(one.chunk_id for one in turn.citations), *request.chunks))
    chunks = {name: chunk for name, chunk in used.items() if chunk.document_id in open_to}
    return Recalled(
        question=turn.question,
        answer=turn.answer,
        citations=tuple(
            # A chunk that was replaced meanwhile was of another time than its document is now.
            replace(one, updated_at=chunks[one.chunk_id].updated_at) if one.chunk_id in chunks else one
            for one in turn.citations
            if one.document_id in open_to
        ),
        # Of what an older version wrote nobody knows what it rests on.
        withheld=len(rests_on - open_to) + (turn.rests_on is None),
        allowed_urls=allowed_urls(chunks.values(), link_hosts(settings)),
        given=await _given(parts, [one for one in turn.given if one[0] in open_to]),
    )


async def _given(parts: Parts, counts: Sequence[tuple[str, int]]) -> tuple[DocumentCount, ...]:
    """Return the counts with the documents' names of today; a page of the web, which nobody keeps, has none."""
    known = await parts.library.registry.documents([name for name, _ in counts])
    unknown = Document(id="", knowledge_base="", source="")
    named = ((known.get(name, unknown), name, count) for name, count in counts)
    return tuple(
        DocumentCount(document_id=name, title=document.title, url=document.url, chunks=count)
        for document, name, count in named
    )


async def open_of(
    settings: Settings, parts: Parts, documents: Collection[str], bases: Collection[str], audience: Audience
) -> frozenset[str]:
    """Return those of the documents that stand in one of these knowledge bases now, and are open to the audience.

    What was found on the web is open to everybody.
    """
    home = homes(settings)
    web = frozenset(filter(is_web, documents))
    return web | frozenset(
        one.id
        for one in (await parts.library.registry.documents(tuple(set(documents) - web))).values()
        if not one.deleted
        and one.knowledge_base in bases
        and home.get(one.source, one.knowledge_base) == one.knowledge_base
        and is_open(one.readers, audience)
    )
