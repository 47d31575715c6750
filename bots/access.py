"""Who may read which knowledge base: an audience, a set of readers, meets the readers that the settings name. Pure.

A reader is ``*`` (anyone who can reach the bot), a workspace (``slack:T``, ``discord:G``), a channel (``slack:T/C``,
``discord:G/C``, ``telegram:CHAT``) or a person (``slack:T/@U``, ``discord:@U``, ``telegram:@U``, ``email:A``).
"""

import json
import re
from collections.abc import Mapping, Sequence

Audience = frozenset[str] | None
"""Everyone who sees a reply, as readers; None is the operator, who reads everything."""

OPERATOR: Audience = None
"""The audience of the terminal."""

EVERYONE = "*"


def audience_of(reader: str) -> frozenset[str]:
    """Return the audience of a reply that this one reader sees, taken as an ordinary member of their workspace."""
    workspace, slash, _ = reader.partition("/")
    return frozenset({reader, EVERYONE, workspace} if slash else {reader, EVERYONE})


def narrowest(audience: frozenset[str]) -> str:
    """Return the reader of an audience that means the fewest people: a person, else a channel, else a workspace."""
    return min(audience, key=lambda one: (one == EVERYONE, "@" not in one, "/" not in one, one), default="")


def readable(readers_of: Mapping[str, Sequence[str]], audience: Audience) -> tuple[str, ...]:
    """Return the knowledge bases whose readers meet the audience, in their order; no readers means the operator's."""
    if audience is None:
        return tuple(readers_of)
    return tuple(name for name, readers in readers_of.items() if not audience.isdisjoint(readers))


def unread(readers_of: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the knowledge bases that nobody but the operator can read."""
    return tuple(name for name, readers in readers_of.items() if not readers)


def line_to_add(knowledge_base: str, readers: Sequence[str] = (), reader: str = "slack:T0123") -> str:
    """Return where, and the very line of the settings, that lets this reader read beside those who do already."""
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", knowledge_base)
    key = knowledge_base if bare else json.dumps(knowledge_base, ensure_ascii=False)
    listed = json.dumps([*readers, reader], ensure_ascii=False)
    return f"under [knowledge_bases.{key}]: readers = {listed}"
