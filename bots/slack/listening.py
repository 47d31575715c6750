"""How Slack's events reach the inbox: bolt, by Socket Mode or signed HTTP.

A global middleware of bolt runs before the event is acknowledged: there a message is claimed. When the claim fails
nothing is acknowledged, and Slack delivers it again.
"""

import asyncio
import logging
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse

from bots.listening import listen as listen_at
from bots.platform import Inbox, Incoming
from bots.slack.calling import SDK_LOG, Calls, mapped, settled
from bots.slack.modals import CALLBACK
from bots.slack.people import People
from bots.slack.pressing import Presser, read_press
from bots.slack.sessions import Sessions
from bots.slack.translating import PLATFORM, command_of, deleted_of, incoming_of
from bots.words.gist import begun
from bots.words.sentences import word
from ragcore.errors import CitebotError, PlatformAuthError, PlatformError, PlatformRefused, PlatformUnreachable
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

Json = Mapping[str, Any]

SOCKETS = 2
"""Slack closes sockets now and then; while one is made anew the other listens. Each event comes by one of them."""
_CONNECT_SECONDS = 20.0
_LOOK_SECONDS = 1.0
_LOST_SECONDS = 30.0
_AGAIN_SECONDS = 10.0
"""So long one socket's next try waits: Slack lets few be opened in a minute."""
_MOST_PROMPTS = 4
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where signed requests are listened for, behind the address that the app's settings name."""

    host: str = "127.0.0.1"
    port: int = 8082
    path: str = "/slack/events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The names of the slash commands: ``ask`` takes a question, ``more`` the name of a command and its text."""

    ask: str = "/ask"
    more: str = "/citebot"


class Listener:
    """Hands over what happens on Slack."""

    def __init__(self, calls: Calls, people: People, sessions: Sessions, inbox: Inbox, commands: Commands) -> None:
        self._calls = calls
        self._people = people
        self._sessions = sessions
        self._inbox = inbox
        self._commands = commands
        self._presser = Presser(calls, people)
        self._handed: OrderedDict[str, asyncio.Future[bool]] = OrderedDict()

    def app(self, signing_secret: str) -> AsyncApp:
        """Return bolt's app with everything that we listen for."""
        bot = self._people.bot

        async def authorize() -> AuthorizeResult:
            """Return who we are: bolt would ask Slack again, once for each event that comes before the first answer."""
            return AuthorizeResult(
                enterprise_id=None,
                team_id=bot.team,
                bot_user_id=bot.user,
                bot_id=bot.bot,
                bot_token=self._calls.client.token,
            )

        app = AsyncApp(
            client=self._calls.client,
            authorize=authorize,
            signing_secret=signing_secret,
            logger=SDK_LOG,
            attaching_conversation_kwargs_enabled=False,
        )
        app.middleware(self._claim)
        app.event("app_home_opened")(self._opened)
        app.event("assistant_thread_started")(self._opened_thread)
        app.event("agent_session_stopped")(self._stopped)
        app.event(re.compile(".*"))(_nothing)
        for command in (self._commands.ask, self._commands.more):
            app.command(command)(self._command)
        app.action(re.compile("^cb:"))(self._pressed)
        app.view_closed(CALLBACK)(self._closed)
        return app

    async def _claim(
        self,
        body: dict[str, Any],
        next: Callable[[], Awaitable[BoltResponse]],
    ) -> BoltResponse:
        event = body.get("event") or {}
        if body.get("type") != "event_callback" or event.get("type") not in ("message", "app_mention"):
            return await next()
        if event["type"] == "message":  # a mention comes as a message as well
            self._inbox.saw({**event, "team": str(body.get("team_id") or self._people.bot.team)})
        try:
            await self._hand_over(body, event)
        except CitebotError as error:
            log.warning("a message could not be claimed; Slack will deliver it again: %s", error)
            return BoltResponse(status=503, body="")
        return BoltResponse(status=200, body="")

    async def _hand_over(self, body: Json, event: Json) -> None:
        bot = self._people.bot
        gone = deleted_of(event, bot)
        if gone is not None:
            await self._inbox.deleted(*gone)
            return
        shared = bool(body.get("is_ext_shared_channel"))
        if bot.organised and not shared and event.get("channel_type") != "im":
            # An event doesn't tell that a channel belongs to several workspaces of an organisation.
            shared = await self._people.is_shared(str(event["channel"]))
        incoming = incoming_of(event, bot, event_id=str(body.get("event_id") or ""), shared=shared)
        if incoming is not None:
            await self._receive(incoming)

    async def _receive(self, incoming: Incoming) -> None:
        """Hand a message over once: a mention comes as two events at once, and one claim is enough for both."""
        name = f"{incoming.keys[0]} {incoming.edited_at or ''}"
        known = self._handed.get(name)
        if known is None:
            known = self._handed[name] = asyncio.ensure_future(self._inbox.receive(incoming))
            while len(self._handed) > _REMEMBERED:
                self._handed.popitem(last=False)
        try:
            await asyncio.shield(known)
        finally:
            failed = known.done() and (known.cancelled() or known.exception() is not None)
            if failed and self._handed.get(name) is known:
                del self._handed[name]  # when it is delivered again, it is claimed anew

    async def _command(self, ack: Callable[..., Awaitable[object]], command: dict[str, Any]) -> None:
        incoming = command_of(command, self._people.bot, asks=self._commands.ask)
        try:
            taken = await self._inbox.receive(incoming)
        except CitebotError as error:
            log.warning("a command could not be claimed: %s", error)
            await ack(response_type="ephemeral", text=word("index_down", self._inbox.language("", incoming.text)))
            return
        if not taken:
            await ack()  # it came twice, and whoever took it has said so
            return
        await ack(response_type="ephemeral", text=begun(incoming.command, self._inbox.language("", incoming.text)))

    async def _pressed(self, ack: Callable[..., Awaitable[object]], body: dict[str, Any]) -> None:
        await ack()
        press = read_press(body)
        if press is not None:
            await self._presser.press(press, self._inbox)

    async def _closed(self, ack: Callable[..., Awaitable[object]], view: dict[str, Any]) -> None:
        await ack()
        await self._presser.modals.closed(view)

    async def _opened(self, event: dict[str, Any]) -> None:
        if event.get("tab") == "messages":
            await self._suggest(str(event["user"]), str(event["channel"]), None)

    async def _opened_thread(self, event: dict[str, Any]) -> None:
        """Greet in apps that still have the older assistant view, where each conversation is a thread."""
        thread = event["assistant_thread"]
        await self._suggest(str(thread["user_id"]), str(thread["channel_id"]), str(thread["thread_ts"]))

    async def _suggest(self, user: str, channel: str, thread: str | None) -> None:
        try:
            view = await self._inbox.welcome(await self._people.language(user))
            prompts = [{"title": text[:75], "message": text} for text in view.prompts[:_MOST_PROMPTS]]
            if prompts:
                ask = self._calls.client.assistant_threads_setSuggestedPrompts
                await self._calls.do(ask(channel_id=channel, thread_ts=thread, prompts=prompts))
        except CitebotError as error:
            log.warning("questions to begin with could not be shown: %s", error)

    async def _stopped(self, event: dict[str, Any]) -> None:
        channel = str(event.get("channel") or event.get("channel_id") or "")
        thread = str(event.get("thread_ts") or "")
        key = ConversationKey(platform=PLATFORM, workspace=self._people.bot.team, channel=channel, thread=thread)
        try:
            stopped = await self._inbox.stop_in(key, str(event.get("user") or event.get("user_id") or ""))
        except CitebotError as error:
            log.warning("a reply could not be stopped: %s", error)
            stopped = False
        if not stopped:
            await self._sessions.end(key, anyway=True)


async def _nothing() -> None:
    """Take an event that somebody subscribed to beyond the manifest."""


async def serve_sockets(
    app: AsyncApp, calls: Calls, app_token: str, connected: Callable[[], Awaitable[None]], *, count: int = SOCKETS
) -> None:
    """Listen by Socket Mode until cancelled; PlatformError when the token is refused or Slack stays away."""
    handlers: list[AsyncSocketModeHandler] = []
    try:
        for _ in range(count):
            address = await _address(calls, app_token)
            handler = AsyncSocketModeHandler(app, app_token, logger=SDK_LOG)
            handlers.append(handler)
            handler.client.wss_uri = address
            async with mapped(), asyncio.timeout(_CONNECT_SECONDS):
                await handler.connect_async()  # type: ignore[no-untyped-call]
        await connected()
        await _watch(handlers)
    finally:
        for handler in handlers:
            await _close(handler)


async def _address(calls: Calls, app_token: str) -> str:
    try:
        return str((await calls.do(calls.client.apps_connections_open(app_token=app_token)))["url"])
    except PlatformAuthError as error:
        raise PlatformAuthError(
            "Slack refused SLACK_APP_TOKEN; it is an app-level token (xapp-…) with the scope connections:write"
        ) from error
    except PlatformRefused as error:
        raise PlatformAuthError(f"Slack opens no socket for this app ({error}); enable Socket Mode in it") from error


async def _watch(handlers: list[AsyncSocketModeHandler]) -> None:
    """Return never; bolt connects again by itself, and who stays away too long is told.

    A connection that broke off without a word bolt notices at its next ping only, after 10 seconds: here within one.
    Slack delivers messages again, but not the commands and presses of these seconds.
    """
    last = time.monotonic()
    again: dict[int, float] = {}
    connecting: set[asyncio.Task[None]] = set()
    try:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            alive = [await handler.client.is_connected() for handler in handlers]
            now = time.monotonic()
            if any(alive):
                last = now
            elif now - last > _LOST_SECONDS:
                raise PlatformUnreachable("Slack's sockets are closed and none opens")
            for number, handler in enumerate(handlers):
                if not alive[number] and now - again.get(number, -math.inf) > _AGAIN_SECONDS:
                    again[number] = now
                    task = asyncio.create_task(_connect_again(handler))
                    connecting.add(task)
                    task.add_done_callback(connecting.discard)
    finally:
        for task in connecting:
            task.cancel()
        await settled(*connecting)


async def _connect_again(handler: AsyncSocketModeHandler) -> None:
    """Connect, unless bolt does so already."""
    try:
        async with mapped():
            await handler.client.connect_to_new_endpoint()
    except PlatformError as error:
        log.info("a socket was not opened again yet: %s", error)


async def _close(handler: AsyncSocketModeHandler) -> None:
    client = handler.client
    tasks = (client.message_processor, client.current_session_monitor, client.message_receiver)
    try:
        async with mapped():
            await handler.close_async()  # type: ignore[no-untyped-call]
    except PlatformError as error:
        log.debug("a socket was not closed in order: %s", error)
    await settled(*tasks)


async def serve_http(app: AsyncApp, listen: Listen, connected: Callable[[], Awaitable[None]]) -> None:
    """Listen for signed requests until cancelled."""
    server = app.server(port=listen.port, path=listen.path, host=listen.host)
    runner = web.AppRunner(server.web_app, access_log=None)
    await runner.setup()
    try:
        await listen_at(runner, listen.host, listen.port, key="[slack] http_port")
        await connected()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
