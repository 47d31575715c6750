"""One server as a run sees it: its channels, which of them are taken, and who may read each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from connectors.discord.api import Api, NoAccess
from connectors.discord.options import DiscordOptions
from connectors.discord.payloads import CATEGORY, PARENTS, PRIVATE_THREAD, THREADS, Channel, Guild
from connectors.discord.permissions import (
    MANAGE_THREADS,
    VIEW_CHANNEL,
    Holder,
    everyone_of,
    may_read,
    member_of,
    permissions_in,
    readers_of,
)
from connectors.discord.wording import Names
from ragcore.errors import SourceAuthError, SourceGone


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel that is taken: who may read it, and how far the bot may look into its threads."""

    channel: Channel
    readers: frozenset[str]
    manages_threads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server: its taken channels by id, those among the chosen ones that are ``closed`` to the bot, and all names."""

    guild: Guild
    names: Names
    places: Mapping[int, Place]
    closed: Mapping[int, Channel]
    matched: frozenset[str]
    """Which of the names and ids that the settings take are there."""

    @property
    def id(self) -> int:
        """Its id."""
        return self.guild.id

    def readers_in(self, thread: Channel) -> frozenset[str]:
        """Return who may read a thread of a taken channel: whoever reads that, a private one those in it alone."""
        if thread.type == PRIVATE_THREAD:
            return readers_of(self.id, thread.id, is_open=False)
        return self.places[thread.parent].readers

    def takes(self, thread: Channel, options: DiscordOptions) -> bool:
        """Tell whether a thread is one of a taken channel, and not private where these are left out."""
        is_private = thread.type == PRIVATE_THREAD
        return thread.type in THREADS and thread.parent in self.places and (options.private_threads or not is_private)


async def who_asks(api: Api) -> int:
    """Return the bot's own id; SourceAuthError when it isn't let read what people write."""
    application = await api.application()
    if not application.reads_content:
        raise SourceAuthError(
            "the bot isn't let read what people write: Discord would show every message empty",
            mend="switch on Message Content Intent in the Developer Portal, under Bot; then run `citebot sync`",
        )
    return application.bot


async def server_of(api: Api, options: DiscordOptions, server: int, bot: int) -> Server:
    """Return a server as it is now, by three requests.

    Raises:
        SourceGone: there is none of this id that the bot is in.
        SourceError: it can't be read.
    """
    try:
        guild = await api.guild(server)
        roles = await api.roles_of(server, bot)
    except (SourceGone, NoAccess):
        raise SourceGone(
            f"there is no server {server} that the bot is in",
            mend="check the id in `servers`, and invite the bot (`citebot doctor` prints the address)",
        ) from None
    channels = await api.channels(server)
    by_role = [(role.id, role.permissions) for role in guild.roles]
    every, own = everyone_of(server, by_role), member_of(server, by_role, roles, member=bot)
    chosen = {one.id: one for one in channels if one.type in PARENTS and _is_chosen(one, channels, options)}
    readable = {number for number, one in chosen.items() if may_read(permissions_in(one.overwrites, own))}
    return Server(
        guild=guild,
        names=Names(
            server=server,
            # The name of a channel that not everybody sees is not for everybody: its link stands for it.
            channels={one.id: one.name for one in channels if permissions_in(one.overwrites, every) & VIEW_CHANNEL},
            roles={role.id: role.name for role in guild.roles},
            zone=ZoneInfo(options.timezone),
        ),
        places={number: _place(server, chosen[number], every, own) for number in sorted(readable)},
        closed={number: one for number, one in chosen.items() if number not in readable},
        matched=frozenset(entry for entry in options.channels if any(_is_named(one, entry) for one in channels)),
    )


def _place(server: int, channel: Channel, every: Holder, own: Holder) -> Place:
    # Who may look into an age-restricted channel Discord decides by age, which no permission tells.
    is_open = may_read(permissions_in(channel.overwrites, every)) and not channel.is_restricted
    return Place(
        channel=channel,
        readers=readers_of(server, channel.id, is_open=is_open),
        manages_threads=bool(permissions_in(channel.overwrites, own) & MANAGE_THREADS),
    )


def _is_chosen(channel: Channel, channels: Iterable[Channel], options: DiscordOptions) -> bool:
    """Tell whether the settings take a channel, by its own name or by that of its category."""
    above = [one for one in channels if one.type == CATEGORY and one.id == channel.parent]
    named = [
        entry for one in (channel, *above) for entry in (*options.channels, *options.exclude) if _is_named(one, entry)
    ]
    is_in = not options.channels or any(entry in options.channels for entry in named)
    return is_in and not any(entry in options.exclude for entry in named)


def _is_named(channel: Channel, entry: str) -> bool:
    """Tell whether an entry of the settings means a channel: its id, or its name with or without the #."""
    return entry.strip() == str(channel.id) or entry.strip().removeprefix("#").casefold() == channel.name.casefold()
