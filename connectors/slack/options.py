"""The settings of the source type ``slack``."""

import re
from datetime import UTC, date, datetime, timedelta

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.slack.ids import day_start

_ID = re.compile(r"[A-Z][A-Z0-9]+")
"""Names are in small letters, ids in capitals."""
_DAYS = 365


class SlackOptions(Options):
    """The channels of a Slack workspace that its bot is in, public and private, as far back as `days` tells.

    A thread is one document, its first message with the replies, that grows. What is said in a channel outside of
    threads belongs together in the order it was said: the messages of a day (UTC) are one document, so that the answer
    below a question stands beside it, and a busy channel costs a few documents and not thousands. Each message keeps
    its own link. People, channels and groups are shown by name, files by their titles; a file's content isn't read.
    Direct messages are never read. Left out are what joins, leaves and apps say (apps' messages on `bots = true`), what
    this bot says, and what is said to it with a mention.

    Who may read: a public channel is open to its workspace and to the channel, a private one to the channel alone, and
    so is one that is shared with another organisation (Slack Connect). When a channel is made private, its documents
    are taken away by the next run, and come back, for the channel alone, as they are read again.

    Each run reads each channel's last `look_back_days` again, and the replies of those threads in it whose count, last
    reply or first message has changed; every `recheck_hours` the whole kept history likewise, and besides all replies
    of threads that were replied to within `look_back_days`. So this is seen:

    | what | when |
    |---|---|
    | a message, a reply, an edit or deletion outside of threads or of a thread's first message, a deleted reply | by \
the next run if the thread's first message, or the message, is younger than `look_back_days`; else after \
`recheck_hours` |
    | an edited reply | after `recheck_hours`, in a thread that was replied to within `look_back_days` |
    | another name of a person | after `recheck_hours`: their messages, the first ones of threads and what mentions \
them there, and threads among whose first repliers they are; elsewhere as the thread changes |
    | another name or privacy of a channel, or that the bot left it | by the next run |

    An edited reply in an older thread is seen by `citebot sync NAME --full`. Where the running bot receives Slack's
    events of the channel, messages, replies, edits and deletions are seen within moments, however old the thread is.
    """

    token: SecretStr = Field(description="the bot's token (`xoxb-…`), such as `${SLACK_BOT_TOKEN}`")
    channels: tuple[str, ...] = Field(
        default=(), description="ids (`C0123`) or names of channels; default: all that the bot is in"
    )
    exclude_channels: tuple[str, ...] = Field(default=(), description="ids or names of channels to leave out")
    days: int | None = Field(
        default=None, ge=0, le=36_500, description=f"how many days are kept; default {_DAYS}, 0 means all"
    )
    since: date | None = Field(
        default=None, description="from which day on, in the place of `days`: `2026-01-31` (UTC)"
    )
    look_back_days: int = Field(
        default=7, ge=1, le=3_650, description="how many days before a channel's newest message each run reads again"
    )
    recheck_hours: float = Field(
        default=24, gt=0, description="hours after which the whole kept history is looked through again"
    )
    bots: bool = Field(default=False, description="whether the messages of apps count, this bot's own aside")
    api_url: str = Field(
        default="https://slack.com/api/", description="the Web API's address; another one for GovSlack or a proxy"
    )

    @field_validator("channels", "exclude_channels")
    @classmethod
    def _are_channels(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        plain = (name.strip().removeprefix("#") for name in named)
        channels = tuple(name if _ID.fullmatch(name) else name.lower() for name in plain)
        for channel in channels:
            if not channel:
                raise ValueError("a channel has no name")
            if _ID.fullmatch(channel) and channel[0] not in "CG":
                raise ValueError(f'"{channel}" is no channel\'s id, which begins with C; direct messages are not read')
        return channels

    @field_validator("api_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if not re.fullmatch(r"https?://[^\s?#@]+", url):
            raise ValueError('it is no address such as "https://slack.com/api/"')
        return url.rstrip("/") + "/"

    @model_validator(mode="after")
    def _one_beginning(self) -> "SlackOptions":
        if self.days is not None and self.since is not None:
            raise ValueError("name `days` or `since`, not both")
        return self

    def oldest(self) -> float:
        """Return when the kept history begins now, in seconds since 1970: at the beginning of a day."""
        if self.since is not None:
            return datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC).timestamp()
        days = _DAYS if self.days is None else self.days
        return day_start((datetime.now(UTC) - timedelta(days=days)).timestamp()) if days else 0.0

    def takes(self, channel: str, name: str = "") -> bool | None:
        """Tell whether a channel is to be read; None where only its name, which isn't given, can tell."""
        known = {channel, name} - {""}
        names_matter = not name

        def listed(wanted: tuple[str, ...]) -> bool | None:
            if known & set(wanted):
                return True
            return None if names_matter and any(not _ID.fullmatch(one) for one in wanted) else False

        left_out = listed(self.exclude_channels)
        taken = listed(self.channels) if self.channels else True
        if left_out or taken is False:
            return False
        return None if left_out is None or taken is None else True
