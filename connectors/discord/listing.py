"""Which threads a server has."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime

from connectors.base import Failure, Origin
from connectors.discord.api import Api, NoAccess
from connectors.discord.payloads import TEXT, Channel
from connectors.discord.server import Place, Server
from ragcore.errors import SourceGone


async def threads_of(
    api: Api, server: Server, found: dict[int, Channel], origin: Origin, since: datetime
) -> AsyncGenerator[Failure | None, None]:
    """Find all threads of a server that the bot may see, active and archived.

    The active ones are asked for before and after the archived: what moves from one list to the other meanwhile, in
    either direction, is in one of the three.

    Args:
        api: The API.
        server: The server.
        found: Gets the threads by id, as they were told last.
        origin: The source.
        since: Threads that were archived earlier may be left out.

    Yields:
        A failure for each channel whose archive can't be listed, and None now and then, as a sign of life.
    """
    found |= {one.id: one for one in await api.active_threads(server.id)}
    for place in server.places.values():
        for kind in _kinds(place):
            try:
                async with aclosing(api.archived_threads(place.channel.id, kind, since)) as pages:
                    async for page in pages:
                        found |= {one.id: one for one in page}
                        yield None
            except SourceGone:  # deleted since it was listed
                continue
            except NoAccess as error:
                # Which of the documents are its threads nobody can tell: none counts as deleted.
                yield Failure(
                    id=origin.document_id(f"{place.channel.id}/threads"),
                    reason=f"the {kind} archived threads of #{place.channel.name} can't be listed",
                    mend=error.mend,
                    covers=origin.document_id(""),
                )
    found |= {one.id: one for one in await api.active_threads(server.id)}


def _kinds(place: Place) -> tuple[str, ...]:
    """Return the kinds of archived threads that a channel can have, as far as the bot may see them."""
    if place.channel.type != TEXT:
        return ("public",)
    return ("public", "private" if place.manages_threads else "joined")
