"""A source system in the hand of a test: what the conformance suite does to it, and what it says it cannot do."""

import abc
from collections.abc import Mapping
from typing import ClassVar

from connectors.base import Connector, Origin
from ragcore.types import SourceDocument

NAMES = ("a.md", "sub/b.md", "ünïcode 文档.md", "with # and ?.md", "x" * 100 + ".md")
"""The first documents of every world; a world whose system takes no such names maps them (``identity``)."""
MANY = 14
"""Documents of a world that is broken: more than two pages of it, and enough for the guard against short listings."""


class World(abc.ABC):
    """A source system with documents of given names, each with a text; names and texts are plain text.

    Subclass it for each type of source, against the most real system that runs here. Abstract are the things that every
    source can do. Every other method is an ability: implement it, or name it in ``cannot`` with the reason; the suite
    refuses a world that does neither, or both.

    A page of its listing, or of what changed, is at most five documents. Faults last until ``mend``.
    """

    cannot: ClassVar[Mapping[str, str]] = {}

    @abc.abstractmethod
    def connect(self, origin: Origin) -> Connector:
        """Return a fresh connector to this system."""

    @abc.abstractmethod
    async def add(self, name: str, text: str) -> None:
        """Make a document."""

    @abc.abstractmethod
    async def change(self, name: str, text: str) -> None:
        """Give a document another text."""

    @abc.abstractmethod
    async def delete(self, name: str) -> None:
        """Delete a document."""

    @abc.abstractmethod
    async def mend(self) -> None:
        """End every fault."""

    def identity(self, name: str) -> str:
        """Return the native id of a document."""
        return name

    def text_of(self, document: SourceDocument) -> str:
        """Return what a document that the connector yielded says: the text must stand in it."""
        return document.content.decode("utf-8")

    # Abilities.

    async def rename(self, old: str, new: str) -> None:
        """Give a document another name, and so another id; its text stays."""
        raise NotImplementedError

    async def late(self, name: str, text: str) -> None:
        """Make a document whose time is some minutes before the newest that the source has told of."""
        raise NotImplementedError

    async def duplicate(self, name: str) -> None:
        """Let the source tell of a document twice in one run, as a page that shifts while it is read does."""
        raise NotImplementedError

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        """Let only these e-mail addresses read a document; its text stays."""
        raise NotImplementedError

    async def spoil(self, name: str) -> None:
        """Let one document be unreadable, though it is listed."""
        raise NotImplementedError

    async def vanish(self, name: str) -> None:
        """Let a document be deleted between being listed and being read."""
        raise NotImplementedError

    async def break_page(self, status: int = 500) -> None:
        """Let the second page be answered with this status."""
        raise NotImplementedError

    async def rate_limit(self, seconds: int) -> None:
        """Let the second page be answered once with 429 and ``Retry-After: <seconds>``."""
        raise NotImplementedError

    async def expire_token(self) -> None:
        """Let the credential be refused from the second page on."""
        raise NotImplementedError

    async def truncate(self) -> None:
        """Let everything that lists or tells changes end early, after three documents at most, without an error."""
        raise NotImplementedError

    async def skew(self, seconds: int) -> None:
        """Set the source's clock this far from ours, from now on."""
        raise NotImplementedError

    async def break_form(self) -> None:
        """Let an HTML page come, with status 200, where the source's own form was due."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Be out of reach: no connection comes about."""
        raise NotImplementedError


ABILITIES = frozenset(
    name
    for name, value in vars(World).items()
    if not name.startswith("_")
    and callable(value)
    and not getattr(value, "__isabstractmethod__", False)
    and name not in {"identity", "text_of"}
)
