"""Channels, people, what they see, and what stands in a workspace, in the JSON of Slack's Web API."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.servers.faults import Faults, Window
from tests.servers.slack.rules import Json, Refused


@dataclass(kw_only=True)
class Rates:
    """Calls by method and workspace in a minute (tiers 2, 3, 4), and messages by channel."""

    start: int = 20
    change: int = 50
    append: int = 100
    read: int = 50
    status: int = 600
    posts: int = 300
    channel: tuple[int, float] = (5, 5.0)
    minute: float = 60.0
    """Seconds in which so many calls are taken; a shorter one lets a test see its end."""


@dataclass(kw_only=True)
class Channel:
    """One channel or direct message."""

    id: str
    messages: dict[str, Json] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    shared: bool = False
    org_shared: bool = False
    has_bot: bool = True
    name: str = ""
    private: bool = False
    archived: bool = False

    @property
    def kind(self) -> str:
        return {"D": "im", "G": "mpim"}.get(self.id[0], "group" if self.private else "channel")

    @property
    def told(self) -> Json:
        """What the API tells of it."""
        kind = self.kind
        return {
            "id": self.id,
            "name": self.name or self.id.lower(),
            "is_channel": kind == "channel",
            "is_group": kind == "group",
            "is_im": kind == "im",
            "is_mpim": kind == "mpim",
            "is_private": kind != "channel",
            "is_archived": self.archived,
            "is_ext_shared": self.shared,
            "is_org_shared": self.org_shared,
            "is_member": self.has_bot,
        }


@dataclass(kw_only=True)
class Shown:
    """What one person alone sees in a channel."""

    channel: str
    user: str
    text: str
    blocks: list[Json]
    thread: str = ""
    url: str = ""
    acknowledges: bool = False
    """Whether it is what a command was acknowledged with; nothing takes that away."""


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """What stands in the workspace, and how this Slack behaves."""

    url: str = ""
    team: str = "T0001"
    organisation: str = ""
    """That of an Enterprise Grid, whose workspaces may have channels together."""
    bot_token: str = "xoxb-local"
    app_token: str = "xapp-local"
    signing_secret: str = "a-secret"
    user: str = "U0BOT"
    bot_id: str = "B0BOT"
    agent: bool = True
    scopes: tuple[str, ...] | None = None
    """What the app was granted, told with each answer; None: not told, as by some proxies."""
    subscribed: bool = True
    """To the event that tells of Slack's own Stop button."""
    page: int = 999
    """The most items of one page; 15 messages for apps that are sold outside of the Marketplace."""
    ahead: float = 0.0
    """Seconds that its clock goes before ours."""
    html: bool = False
    """A page to log in comes in the place of every answer, as from a proxy."""
    cut: bool = False
    """Lists end after three items, as if nothing followed."""
    twice: set[str] = field(default_factory=set)
    """Messages that a channel's history shows twice, as when a page shifts while it is read."""
    spoiled: set[str] = field(default_factory=set)
    """Threads that Slack fails to show."""
    vanishing: set[str] = field(default_factory=set)
    """Threads that are deleted just before they are asked for."""
    groups: list[Json] = field(default_factory=list)
    stream_seconds: float = 300.0
    ack_seconds: float = 3.0
    redelivery: tuple[float, ...] = (0.05, 0.2, 0.5)
    """Seconds until an unacknowledged event comes again; the real ones are about 0, 60 and 300."""
    response_seconds: float = 1_800.0
    request_url: str = ""
    """Where events are posted, signed; empty: Socket Mode."""
    delivers: bool = True
    """Off: events are lost, as when nobody listens for long."""
    channels: dict[str, Channel] = field(default_factory=dict)
    users: dict[str, Json] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, Any] = field(default_factory=dict)
    """What the app uploaded (``uploads.Upload``), by id."""
    upload_seconds: float = 0.0
    """How long an uploaded file can't be shown yet; only users report it."""
    calls: list[tuple[float, str, Json]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    statuses: list[tuple[str, str, str]] = field(default_factory=list)
    sessions: dict[tuple[str, str], str] = field(default_factory=dict)
    prompts: list[Json] = field(default_factory=list)
    views: dict[str, Json] = field(default_factory=dict)
    acknowledged: list[tuple[str, int]] = field(default_factory=list)
    """Event or envelope, and at which attempt."""
    unacknowledged: list[str] = field(default_factory=list)
    opened: int = 0
    """Sockets, until now."""
    faults: Faults = field(default_factory=Faults)
    watch: Callable[[str, str], None] = lambda when, method: None
    """Told of each call, ``before`` and ``after`` it takes effect."""
    rates: Rates = field(default_factory=Rates)
    windows: dict[str, Window] = field(default_factory=dict)
    triggers: dict[str, float] = field(default_factory=dict)
    """When each was given out; one opens one modal."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a process finds this server."""
        tokens = {"SLACK_BOT_TOKEN": self.bot_token, "SLACK_APP_TOKEN": self.app_token}
        return {**tokens, "CITEBOT_SLACK__API_URL": f"{self.url}/api/"}

    def channel(self, channel: str) -> Channel:
        """Return the channel, made when it is new."""
        return self.channels.setdefault(channel, Channel(id=channel))

    def person(self, user: str, **more: Any) -> Json:
        """Return a user, made when they are new: a full member with a confirmed address."""
        profile = {"email": f"{user.lower()}@example.org", "display_name": f"name of {user}"}
        made = {"id": user, "team_id": self.team, "name": user.lower(), "profile": profile, "is_email_confirmed": True}
        return self.users.setdefault(user, {**made, "locale": "en-US", **more})

    def ts(self, at: float = 0.0) -> str:
        """Return a new time stamp, later than all before of its second; that of now, or ``at`` a time."""
        return f"{int(at or time.time() + self.ahead)}.{self.number():06d}"

    def number(self) -> int:
        """Return a number that nothing here has yet."""
        return next(self.numbers)

    def trigger(self) -> str:
        """Return a new trigger, for the modal that an action may open."""
        trigger = f"trigger-{self.number()}"
        self.triggers[trigger] = time.monotonic()
        return trigger

    def direct(self, user: str) -> str:
        """Return the channel of the app's direct messages with somebody."""
        channel = f"D{user[1:]}"
        self.channel(channel).members.add(user)
        return channel

    def place(self, params: Json, name: str = "channel") -> Channel:
        """Return the channel that a call names, or raise Refused where the bot can't be."""
        place = self.channels.get(params.get(name, ""))
        if place is None:
            raise Refused("channel_not_found")
        if not place.has_bot:
            raise Refused("not_in_channel")
        return place

    def own(self, place: Channel, params: Json, error: str) -> Json:
        """Return the message that a call names; raise Refused, with the error, if the bot did not write it."""
        message = place.messages.get(params.get("ts", ""))
        if message is None:
            raise Refused("message_not_found")
        if message.get("bot_id") != self.bot_id:
            raise Refused(error)
        return message

    def said(self, place: Channel, thread: str, **content: Any) -> Json:
        """Let the bot's message stand."""
        message: Json = {"type": "message", "user": self.user, "bot_id": self.bot_id, "ts": self.ts(), **content}
        if thread:
            message["thread_ts"] = thread
            self.statuses.append((place.id, thread, ""))
        place.messages[message["ts"]] = message
        return message

    def is_streaming(self, message: Json) -> bool:
        """Tell whether a stream still takes more: it ends by age."""
        started = message.get("streaming")
        if started is not None and time.monotonic() - started > self.stream_seconds:
            del message["streaming"]
        return "streaming" in message

    def pace(self, bucket: str, calls: int, seconds: float) -> None:
        """Count a call, or raise Refused beyond the limit."""
        wait = self.windows.setdefault(bucket, Window(calls, seconds)).take(time.monotonic())
        if wait > 0:
            raise Refused("ratelimited", status=429, wait=max(1.0, wait))
