"""The settings of a source of the type ``discord``."""

from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from connectors.base import Options, TimeZoneName
from connectors.cursors import basis_of

_RENDERING = "1"
"""Raised when documents are written another way: then all is read again."""


class DiscordOptions(Options):
    """What was said on servers of Discord: text and announcement channels, threads, forums.

    A thread, or a post of a forum, is one document that grows, whether it is active or archived, with the message that
    it began from. What is said in a channel outside of threads is put together by the day: one document holds what a
    channel said on a day of `timezone`, and a reply repeats, in a line, what it answers. Each passage is linked by the
    message that it stands in. Names stand for the codes of people, roles, channels and emoji; files are named, not
    read; the titles and texts of previews are kept.

    Taken are the channels that the bot may see and read the history of, or those of them that `channels` names, each
    with its threads. Voice channels aren't read. What bots and webhooks write is left out unless `bots` says
    otherwise, and what Discord itself writes (who joined, what was pinned) always.

    Readers are told from the permissions: the server and the channel where @everyone may see the channel and its
    history, else, and where it is age-restricted, the channel alone. Threads are read by whoever reads their channel,
    private ones in the thread alone. A changed permission is seen by the next run, which reads the channel again; a
    channel that is closed to the bot loses its documents at once, as nobody can tell any more who may read them.

    A run reads what is new, and once more the last `look_back_days` of each channel, and each thread in which somebody
    wrote within them: edits and deletions there are seen. Of older threads a new message, a deleted one and a new name
    are seen, not an edit. While `citebot run` is connected to the server its events tell the rest. What is never
    seen before a `citebot sync --full`: an edit or deletion of an older message while nobody listened, and, in a reply
    on another day, the quoted line of a message that was edited or deleted since.

    An unchanged run makes six requests for a server, and for each of its channels one for each hundred threads that
    were archived within the history (in a text channel also one for the private ones), one for each hundred messages
    of the look-back, where something was said in it, and one for each hundred messages of a thread in which somebody
    wrote within it.
    """

    token: SecretStr = Field(description="the bot's token: `${DISCORD_TOKEN}`")
    servers: tuple[str, ...] = Field(
        min_length=1, description="the servers' ids: right-click one, Copy Server ID, with Developer Mode on"
    )
    channels: tuple[str, ...] = Field(
        default=(), description="ids or names of the channels, or of the categories, to take; default: all"
    )
    exclude: tuple[str, ...] = Field(default=(), description="ids or names of channels or categories to leave out")
    history_days: int = Field(
        default=365,
        ge=0,
        le=36_500,
        description="how far back channels are read, and how long ago somebody must have written in a thread; 0: all",
    )
    look_back_days: int = Field(
        default=1, ge=0, le=365, description="how many of the last days each run reads again, for edits and deletions"
    )
    private_threads: bool = Field(
        default=True, description="whether private threads are taken that the bot may see; they are read there alone"
    )
    bots: bool = Field(default=False, description="whether what bots and webhooks write is taken, too")
    timezone: TimeZoneName = Field(default="UTC", description="whose days and times are meant, such as `Europe/Berlin`")
    max_messages: int = Field(
        default=10_000, gt=0, description="threads with more messages are reported instead of read"
    )
    api_url: str = Field(default="https://discord.com/api/v10", description="where the API is; for a proxy")

    @field_validator("token")
    @classmethod
    def _is_token(cls, token: SecretStr) -> SecretStr:
        value = token.get_secret_value()
        if not value.isascii() or not value.isprintable() or not value.strip() or " " in value.strip():
            raise ValueError("must be the token alone, as the Developer Portal shows it under Bot")
        return SecretStr(value.strip())

    @field_validator("servers")
    @classmethod
    def _are_ids(cls, servers: tuple[str, ...]) -> tuple[str, ...]:
        for server in servers:
            if not (server.isascii() and server.isdigit()) or len(server) > 20:
                raise ValueError(f'"{server}" is no id of a server, which is a number such as 123456789012345678')
        return servers

    @field_validator("api_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or "@" in url:
            raise ValueError('must be an address such as "https://discord.com/api/v10"')
        return url.rstrip("/")

    def basis(self) -> str:
        """Return what changes when others would be taken, or be written another way: then a cursor is of no use."""
        return basis_of(self.manner(), self.history_days, self.private_threads)

    def manner(self) -> str:
        """Return what changes when a document would be written another way."""
        return basis_of(_RENDERING, self.bots, self.timezone)
