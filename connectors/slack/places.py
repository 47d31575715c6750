"""The channels that are read, and who may read them. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from connectors.slack.options import SlackOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel, with who may read it."""

    id: str
    name: str
    readers: frozenset[str]


def place_of(channel: Mapping[str, Any], team: str) -> Place | None:
    """Return a channel as Slack tells of it; None for direct messages, which are never read.

    Whoever is in the workspace can open its public channels. What isn't told to be public isn't; nor is a channel that
    another organisation shares, or is invited to: its words are theirs, too, and who is in it is known from itself.
    """
    if channel.get("is_im") or channel.get("is_mpim") or str(channel.get("id") or "D")[0] not in "CG":
        return None
    native = str(channel["id"])
    here = f"slack:{team}/{native}"
    shared = channel.get("is_ext_shared") or channel.get("is_pending_ext_shared")
    is_public = channel.get("is_private") is False and not shared
    readers = frozenset({here, f"slack:{team}"} if is_public else {here})
    return Place(id=native, name=str(channel.get("name") or native), readers=readers)


def chosen(options: SlackOptions, places: Iterable[Place]) -> tuple[list[Place], list[str]]:
    """Return the channels to read, by id, and what of the settings names none of them."""
    known = list(places)
    taken = sorted((place for place in known if options.takes(place.id, place.name)), key=lambda place: place.id)
    found = {name for place in known for name in (place.id, place.name)}
    return taken, [name for name in options.channels if name not in found]
