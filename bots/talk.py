"""What was said in a place, read back from its platform for whoever asks there."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Protocol

from ragcore.gist.values import Said

if TYPE_CHECKING:
    from bots.platform import Incoming

MOST_MESSAGES = 500
"""So many of the newest messages are read at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which messages are wanted: of the ``thread``, else of the channel, those from ``since`` until before ``until``.

    ``most`` of them at most, the newest. None: as far back as there are any, and until what asks for them.
    """

    thread: bool
    since: datetime | None = None
    until: datetime | None = None
    most: int = MOST_MESSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Messages of people and of other bots, oldest first, as they stand now; none of our own.

    ``whole``: none in the span was left out, threads of a channel aside, of which ``threads_left`` tells. ``hidden``:
    those that don't mention the bot show it no words. ``heard``: nothing can be read back here, and what was kept as it
    was heard stands for it, ``open_past``: even to who joined later. ``joined``: what was said before that is left out.
    """

    messages: tuple[Said, ...]
    whole: bool = True
    threads_left: bool = False
    hidden: bool = False
    heard: bool = False
    open_past: bool = False
    joined: bool = False


class Talking(Protocol):
    """What a platform tells of what was said; part of ``bots.platform.Platform``."""

    def in_thread(self, incoming: "Incoming") -> bool:
        """Return whether a message stands in a thread that others began, so that "this" means the thread. Pure."""
        ...

    async def zone(self, incoming: "Incoming") -> tzinfo:
        """Return the time zone of whoever asks, as far as it is known, else that of this machine. Never raises."""
        ...

    async def said(self, incoming: "Incoming", span: Span) -> Talk:
        """Return what was said, no messages where the platform lets bots read nothing back (``Talk.heard``).

        Only what the asker may read, who is where the message stands; raises PlatformRefused or MessageGone where they
        may not, or the bot may not.
        """
        ...

    def permalink(self, incoming: "Incoming", message: str) -> str:
        """Return the address of a message of the same place, "" where it has none. Pure."""
        ...


def local_zone() -> tzinfo:
    """Return the time zone of this machine."""
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None  # astimezone always sets one
    return zone
