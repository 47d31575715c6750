"""Slack: Socket Mode or signed HTTP, streams in threads. Imports slack_bolt, which takes half a second."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, tzinfo

from bots.manner import Manner
from bots.platform import Asker, Attachment, Call, Inbox, Incoming, Limit, Sent, View
from bots.rendering.parse import parse_markdown
from bots.rendering.slack import SlackMessage, render_slack, render_slack_partial
from bots.rendering.slack.messages import MAX_MESSAGE
from bots.retrying import until_kept
from bots.slack.calling import SLACK_URL, Calls
from bots.slack.limits import STATUS, slack_limits
from bots.slack.listening import Commands, Listen, Listener, serve_http, serve_sockets
from bots.slack.people import People
from bots.slack.reading import Reader
from bots.slack.sessions import Sessions
from bots.slack.talk import Talker
from bots.slack.translating import PLATFORM, Self, replaces, seen_in
from bots.talk import Span, Talk
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformRefused,
    StoreError,
    StreamEnded,
)
from ragcore.types import ConversationKey, Message

__all__ = ["SLACK_URL", "Commands", "Listen", "SlackPlatform"]

log = logging.getLogger(__name__)

_STATUS_SECONDS = 120.0
_ACKNOWLEDGED_SECONDS = 0.25
MOST_STREAMS = 2_000
"""So many are remembered, the newest: of a turn that another process took over nobody tells us the end."""
_COMMANDS = Commands()


class SlackPlatform:
    """One app in one workspace; implements ``Platform[SlackMessage]``."""

    name = PLATFORM

    def __init__(
        self,
        *,
        bot_token: str,
        app_token: str = "",
        signing_secret: str = "",
        api_url: str = SLACK_URL,
        listen: Listen | None = None,
        channels: Sequence[str] = (),
        commands: Commands = _COMMANDS,
    ) -> None:
        """Hold the tokens; nothing is called yet.

        Args:
            bot_token: ``xoxb-…``.
            app_token: ``xapp-…``: events come by Socket Mode; without it by HTTP, signed with ``signing_secret``.
            signing_secret: The app's, for HTTP.
            api_url: Of the Web API.
            listen: Where signed requests are listened for.
            channels: The channels that the settings name as readers (``slack:T0123/C0456``): whether an asker is in
                one is asked of Slack.
            commands: The names of the slash commands, as the manifest has them.

        Raises:
            PlatformAuthError: There is neither an app token nor a signing secret.
        """
        if not app_token and not signing_secret:
            raise PlatformAuthError("Slack needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)")
        self._calls = Calls(bot_token, api_url)
        self._app_token = app_token
        self._signing_secret = signing_secret
        self._listen = listen or Listen()
        self._commands = commands
        self._people = People(self._calls, channels)
        self._sessions = Sessions(self._calls)
        self._reader = Reader(self._calls, self._people)
        self._talker = Talker(self._reader, self._people)
        self._streamed: OrderedDict[tuple[str, str], SlackMessage] = OrderedDict()
        self.connected = asyncio.Event()

    @property
    def limited(self) -> int:
        """Return how many calls Slack has refused with 429."""
        return self._calls.refusals.count

    async def serve(self, inbox: Inbox) -> None:
        """Receive events until cancelled; PlatformError when a token is refused or the network is away."""
        missing: asyncio.Task[None] | None = None

        async def connected() -> None:
            nonlocal missing
            self.connected.set()
            missing = asyncio.create_task(until_kept(inbox.connected, StoreError))

        async with self._calls.connection():
            try:
                await self._introduce()
                listener = Listener(self._calls, self._people, self._sessions, inbox, self._commands)
                app = listener.app(self._signing_secret)
                if self._app_token:
                    await serve_sockets(app, self._calls, self._app_token, connected)
                else:
                    await serve_http(app, self._listen, connected)
            finally:
                self.connected.clear()
                self._people.close()
                await self._sessions.close()
                if missing is not None:
                    missing.cancel()
                    await asyncio.gather(missing, return_exceptions=True)

    async def _introduce(self) -> None:
        me = await self._calls.do(self._calls.client.auth_test())
        self._people.bot = Self(
            team=str(me["team_id"]),
            user=str(me["user_id"]),
            bot=str(me.get("bot_id") or ""),
            organised=bool(me.get("enterprise_id")),
            url=str(me.get("url") or ""),
        )

    def manner(self, incoming: Incoming) -> Manner:
        """Return streams in threads; what answers a command stands for one person and can't grow."""
        if incoming.token:
            return Manner(
                streaming="none",
                every=1.0,
                finds_sent=False,
                shares=not incoming.conversation.channel.startswith("D"),
                paged=True,
                doubtful=not replaces(incoming),
            )
        return Manner(
            streaming="stream", every=1.0, finds_sent=True, status_lasts=_STATUS_SECONDS, status_has_words=True
        )

    def limits(self, incoming: Incoming, call: Call, begun: Sent | None = None) -> tuple[Limit, ...]:
        """Return the least that Slack promises."""
        return slack_limits(incoming, call, begun)

    def render(self, view: View) -> tuple[SlackMessage, ...]:
        """Return the whole reply in blocks."""
        return render_slack(view)

    def render_partial(self, view: View) -> SlackMessage:
        """Return what is written so far, in blocks and as a stream takes it."""
        return render_slack_partial(view)

    async def status(self, incoming: Incoming, words: str) -> None:
        """Show a status line under the question, and Slack's Stop button where the app has it; take away both."""
        if incoming.token:
            return  # the command was acknowledged with words of its own
        if self._calls.client.delay(STATUS) <= 0:
            channel, thread = incoming.conversation.channel, incoming.conversation.thread
            ask = self._calls.client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=words)
            await self._calls.quietly(ask)
        if words:
            await self._sessions.begin(incoming)
        else:
            await self._sessions.end(incoming.conversation)

    async def show(self, incoming: Incoming, part: SlackMessage, *, begun: Sent | None, key: str) -> Sent:
        """Begin a stream, or add to it; a message whose stream has ended is rewritten."""
        if incoming.token:
            raise PlatformRefused("the answer to a command can't grow")
        if begun is None:
            return await self._begin(incoming, part, key)
        if not _streams(begun):
            await self._calls.change(begun, part, key)
            return begun
        shown = self._streamed.get((begun.channel, begun.id))
        if shown is None:
            raise StreamEnded("the stream was begun by another process")
        if not part.stream.startswith(shown.stream) or len(part.stream) > MAX_MESSAGE:
            return begun  # the final message sets it right
        added, tasks = part.stream[len(shown.stream) :], [task for task in part.tasks if task not in shown.tasks]
        if added or tasks:
            try:
                await self._calls.append(begun, added, tasks)
            except (StreamEnded, MessageGone):
                self._streamed.pop((begun.channel, begun.id), None)
                raise
            self._streamed[begun.channel, begun.id] = part
        return begun

    async def _begin(self, incoming: Incoming, part: SlackMessage, key: str) -> Sent:
        here = incoming.conversation
        # Slack's own Stop button, or ours as long as it is being written.
        own = () if self._sessions.has_stop(incoming) else tuple(b for b in part.blocks if b["type"] == "actions")
        try:
            sent = await self._calls.start_stream(
                here.channel,
                here.thread,
                part.stream,
                own,
                team=incoming.asker.workspace or here.workspace,
                user=incoming.asker.id,
                tasks=part.tasks,
            )
        except PlatformRefused as error:
            log.info("Slack takes no stream in %s (%s); the reply grows by edits", here.channel, error)
            return await self._calls.post(here.channel, part, thread=here.thread, key=key)
        self._streamed[sent.channel, sent.id] = part
        while len(self._streamed) > MOST_STREAMS:
            self._streamed.popitem(last=False)
        return sent

    async def send(self, incoming: Incoming, part: SlackMessage, *, begun: Sent | None, key: str, number: int) -> Sent:
        """Send a final part: a stream is ended, and its message rewritten with the blocks."""
        here = incoming.conversation
        if incoming.token:
            return await self._answer(incoming, part, begun=begun)
        if begun is None:
            sent = await self._calls.post(here.channel, part, thread=here.thread, key=key)
        else:
            sent = await self._rewrite(incoming, part, begun, key)
        await self._sessions.end(here)
        return sent

    async def _rewrite(self, incoming: Incoming, part: SlackMessage, begun: Sent, key: str) -> Sent:
        if _streams(begun):
            self._streamed.pop((begun.channel, begun.id), None)
            is_open = self._sessions.is_open(incoming.conversation)
            if await self._calls.stop_stream(begun, session_status="active" if is_open else None):
                self._sessions.closed(incoming.conversation)
        await self._calls.change(begun, part, key)
        return Sent(channel=begun.channel, id=begun.id)

    async def _answer(self, incoming: Incoming, part: SlackMessage, *, begun: Sent | None) -> Sent:
        """Answer a command or a press by its address; when that takes no more, in its channel to the asker alone.

        What one person alone sees can be changed "only in response to an interaction with the message itself"
        (https://docs.slack.dev/messaging): a press's address replaces what was pressed, as often as it is called, while
        a command's replaces nothing (https://github.com/slackapi/bolt-python/issues/1268), not the words that it was
        acknowledged with either.
        """
        channel = incoming.conversation.channel
        # The words of the acknowledgement, which leaves once the turn is claimed, come first.
        await asyncio.sleep(_ACKNOWLEDGED_SECONDS)
        try:
            await self._calls.respond(incoming.token, part, replace=replaces(incoming))
        except MessageGone as error:
            log.info("an answer goes to its asker without the command's address: %s", error)
            await self._whisper(channel, incoming.asker.id, part)
        return begun or Sent(channel=channel, id=f"{incoming.message}/0")

    async def _whisper(self, channel: str, user: str, part: SlackMessage) -> None:
        try:
            await self._calls.whisper(channel, user, part.text, part.blocks)
        except MessageGone:  # the bot isn't in that channel
            await self._calls.post(await self._calls.direct(user), part)

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return the message that was sent under the key, or the stream that was begun."""
        return None if incoming.token else await self._reader.find(incoming, key)

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        """Delete a message; a command's answer only goes when it is pressed itself (``Presser``)."""
        if incoming.token:
            if replaces(incoming):
                await self._calls.respond(incoming.token)
            return
        if _streams(sent):
            self._streamed.pop((sent.channel, sent.id), None)
            try:
                await self._calls.stop_stream(sent)
            except MessageGone:
                return
        await self._calls.delete(sent)
        await self._sessions.end(incoming.conversation)

    async def thread(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        """Return what was said in the thread before the message."""
        return () if incoming.token else await self._reader.thread(incoming, limit)

    def in_thread(self, incoming: Incoming) -> bool:
        """Return whether it stands in a thread that another message began; commands stand in none."""
        return not incoming.token and not incoming.opens

    async def zone(self, incoming: Incoming) -> tzinfo:
        """Return the time zone that the asker has set."""
        return await self._talker.zone(incoming.asker.id)

    async def said(self, incoming: Incoming, span: Span) -> Talk:
        """Return what was said in the thread or the channel; who writes there, or uses a command there, reads it."""
        return await self._talker.said(incoming, span)

    def permalink(self, incoming: Incoming, message: str) -> str:
        """Return a message's address."""
        thread = incoming.conversation.thread if self.in_thread(incoming) else ""
        return self._talker.permalink(incoming.conversation.channel, message, thread)

    async def readers(self, incoming: Incoming) -> frozenset[str]:
        """Return the asker, and the workspace, e-mail address and channels that Slack confirms."""
        if not incoming.private:
            return incoming.seen_by
        return incoming.seen_by | await self._people.readers(incoming.asker.id)

    async def fetch(self, incoming: Incoming, attachment: Attachment, *, limit: int) -> bytes:
        """Return a file's content."""
        return await self._calls.download(attachment.id, limit)

    async def tell(self, person: str, words: str) -> None:
        """Write to ``slack:T/@U`` directly."""
        user = person.rpartition("@")[2]
        channel = await self._calls.direct(user)
        for part in render_slack(View(document=parse_markdown(words), reference="")):
            await self._calls.post(channel, part)

    async def direct(self, person: str) -> ConversationKey:
        """Return the direct messages with ``slack:T/@U``."""
        channel = await self._calls.direct(person.rpartition("@")[2])
        return ConversationKey(platform=PLATFORM, workspace=self._people.bot.team, channel=channel)

    async def seen_in(self, conversation: ConversationKey) -> frozenset[str]:
        """Return the channel, and its workspace unless others see it."""
        shared = await self._people.is_shared(conversation.channel)
        return seen_in(self._people.bot.team, conversation.channel, shared=shared)

    async def called(self, asker: Asker) -> str:
        """Return the name in somebody's profile: messages tell none."""
        return asker.name or await self._people.name(asker.id)

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        """Return what was asked in these channels and threads since then."""
        return await self._reader.missed(conversations, since)


def _streams(sent: Sent) -> bool:
    return "stream" in sent.extra and not sent.ended
