"""What people replied where the documents did not know: listed, and removed from what can be found."""

from bots.requests import DropReply, ListPeople, PersonReply
from bots.settings.model.people import source_of
from bots.turn.people.ledger import Ledger
from bots.turn.people.values import Reply
from ragcore.errors import ConfigError
from ragcore.ingest import remove
from ragcore.library import Library


async def of_people(library: Library, request: ListPeople | DropReply) -> list[PersonReply]:
    """Return all replies, newest first, or the one that was let be no document any longer."""
    if isinstance(request, DropReply):
        return [await _dropped(library, request.reply)]
    return [_told(reply) for reply in await Ledger(library.database).all_replies()]


async def _dropped(library: Library, identity: str) -> PersonReply:
    """Let a reply be no document any longer, by the operator's word, and take it out of the index.

    What its owners see of it changes while `citebot run` is up.

    Raises:
        ConfigError: there is no such reply.
    """
    ledger = Ledger(library.database)
    if await ledger.keep(identity, "operator", kept=False) is None:
        raise ConfigError(f"there is no reply {identity!r}; `citebot people` lists them")
    reply = await ledger.reply_of(identity)
    assert reply is not None
    told = _told(reply)
    await remove(library, [told.document_id])
    return told


def _told(reply: Reply) -> PersonReply:
    return PersonReply(
        id=reply.id,
        reference=reply.reference,
        knowledge_base=reply.knowledge_base,
        question=reply.title,
        text=reply.text,
        author=reply.author,
        said_at=reply.edited_at or reply.said_at,
        document_id=f"{source_of(reply.knowledge_base)}:{reply.id}",
        is_kept=reply.is_kept,
    )
