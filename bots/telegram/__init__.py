"""Telegram: long polling or a webhook, drafts in private chats, edits in groups. Imports aiogram, which takes seconds.

An update is confirmed only when its message is claimed: one update after the other, by a handler that records and no
more (aiogram would confirm the others while their handlers still run); the work goes on in tasks of the turn.
"""

import asyncio
import contextlib
import logging
import zlib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from aiogram import Dispatcher
from aiogram.enums import ChatAction
from aiogram.methods import DeleteWebhook, GetChat, GetChatMember, GetMe, SetMyCommands, SetWebhook
from aiogram.types import BotCommand, CallbackQuery, MessageGenerationStopped
from aiogram.types import Message as TelegramText
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import web

from bots.listening import listen
from bots.manner import Manner
from bots.platform import Asker, Attachment, Call, Inbox, Incoming, Limit, Sent, View
from bots.presses import Presses
from bots.remembered import Remembered
from bots.rendering.parse import parse_markdown
from bots.rendering.telegram import (
    TelegramMessage,
    render_telegram,
    render_telegram_partial,
)
from bots.retrying import until_kept
from bots.talk import Span, Talk, local_zone
from bots.telegram.calling import TELEGRAM_URL, open_calls
from bots.telegram.polling import Watch
from bots.telegram.pressing import press, pressed_by
from bots.telegram.rich import RichMessages
from bots.telegram.translating import (
    PLATFORM,
    Self,
    address,
    conversation_of,
    incoming_of,
    joined_in,
    pressed_question,
)
from bots.words.commands import COMMANDS, LANGUAGES, description
from ragcore.errors import BusyError, PlatformError, PlatformRefused, StoreError
from ragcore.types import ConversationKey, Message

log = logging.getLogger(__name__)

_TYPING_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where updates are received: the public address, and what is listened on behind it."""

    url: str
    host: str = "127.0.0.1"
    port: int = 8081
    path: str = "/telegram"


class TelegramPlatform:
    """One bot; implements ``Platform[TelegramMessage]``."""

    name = PLATFORM

    def __init__(
        self, *, token: str, api_url: str = TELEGRAM_URL, webhook: Webhook | None = None, chats: Sequence[str] = ()
    ) -> None:
        """Hold the token; nothing is called yet.

        Args:
            token: The bot's.
            api_url: Of the Bot API server; at its default the library is left as it is.
            webhook: Where updates come; without it they are polled for.
            chats: The groups that the settings name as readers: whether an asker is in one is asked of Telegram.

        Raises:
            PlatformAuthError: The token doesn't look like one.
        """
        self._calls = open_calls(token, api_url)
        self._webhook = webhook
        self._chats = tuple(chats)
        self._self = Self(id=0, username="", reads_groups=False)
        self._rich = RichMessages(self._calls)
        self._memberships = Remembered(self._is_member)
        self._presses = Presses()
        self._working: set[asyncio.Task[None]] = set()
        self.connected = asyncio.Event()

    @property
    def limited(self) -> int:
        """Return how many calls Telegram has refused with 429."""
        return self._calls.refusals.count

    async def serve(self, inbox: Inbox) -> None:
        """Receive updates until cancelled; PlatformError when the token is refused or the network is away."""
        try:
            await self._introduce()
            dispatcher = self._dispatcher(inbox)
            if self._webhook is None:
                await self._poll(dispatcher, inbox)
            else:
                await self._listen(dispatcher, self._webhook, inbox)
        finally:
            self.connected.clear()
            self._memberships.close()
            for task in self._working:
                task.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)
            await self._calls.bot.session.close()

    async def _introduce(self) -> None:
        me = await self._calls.do(GetMe())
        self._self = Self(id=me.id, username=me.username or "", reads_groups=me.can_read_all_group_messages or False)
        if not await self._rich.ask():
            self._aside(self._rich.learn())
        for language in LANGUAGES:
            commands = [BotCommand(command=name, description=description(name, language)) for name in COMMANDS]
            code = None if language == "en" else language  # who has none of the others reads English
            await self._calls.do(SetMyCommands(commands=commands, language_code=code))

    async def _poll(self, dispatcher: Dispatcher, inbox: Inbox) -> None:
        await self._calls.do(DeleteWebhook())
        polling = asyncio.create_task(
            dispatcher.start_polling(
                self._calls.bot, handle_as_tasks=False, handle_signals=False, close_bot_session=False
            )
        )
        self.connected.set()
        watch = Watch()
        middlewares = self._calls.bot.session.middleware
        middlewares.register(watch)
        try:
            await inbox.connected()
            await asyncio.wait({polling, watch.failed}, return_when=asyncio.FIRST_COMPLETED)
            await (watch.failed if watch.failed.done() else polling)
        finally:
            middlewares.unregister(watch)
            # Cancelled itself it would leave its loop behind.
            with contextlib.suppress(RuntimeError):
                await dispatcher.stop_polling()
            watch.failed.cancel()
            await asyncio.gather(polling, watch.failed, return_exceptions=True)

    async def _listen(self, dispatcher: Dispatcher, webhook: Webhook, inbox: Inbox) -> None:
        secret = self._calls.webhook_secret()
        handler = SimpleRequestHandler(dispatcher, self._calls.bot, handle_in_background=False, secret_token=secret)
        app = web.Application()
        app.router.add_post(webhook.path, handler.handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await listen(runner, webhook.host, webhook.port, key="[telegram] webhook_port")
            await self._calls.do(
                SetWebhook(url=webhook.url, secret_token=secret, allowed_updates=dispatcher.resolve_used_update_types())
            )
            self.connected.set()
            await inbox.connected()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    def _dispatcher(self, inbox: Inbox) -> Dispatcher:
        dispatcher = Dispatcher()

        @dispatcher.message()
        @dispatcher.edited_message()
        async def wrote(message: TelegramText) -> None:
            topic = message.message_thread_id if message.is_topic_message else ""
            self._calls.newest.saw(f"{message.chat.id}/{topic}", message.message_id)
            if joined_in(message, self._self):
                group, number = conversation_of(message, self._self), str(message.message_id)
                await until_kept(lambda: inbox.joined(group, number, message.date), StoreError, BusyError)
            incoming = incoming_of(message, self._self)
            if incoming is not None:
                await self._receive(incoming, inbox)

        @dispatcher.callback_query()
        async def pressed(query: CallbackQuery) -> None:
            incoming = pressed_question(query, self._self)
            if incoming is not None:
                with self._presses.one(*pressed_by(query)) as is_first:
                    if is_first:
                        await self._receive(incoming, inbox)
            self._aside(press(query, inbox, self._calls, self._groups_of, self._presses))

        @dispatcher.stopped_message_generation()
        async def stopped(event: MessageGenerationStopped) -> None:
            thread = f"topic {event.message_thread_id}" if event.message_thread_id else ""
            key = ConversationKey(platform=PLATFORM, channel=str(event.chat.id), thread=thread)
            await inbox.stop_in(key, str(event.chat.id))

        return dispatcher

    async def _receive(self, incoming: Incoming, inbox: Inbox) -> None:
        """Claim it, as often as it takes: aiogram confirms an update whatever becomes of its handler."""
        # Also while we are being stopped: the next process gets it.
        await until_kept(lambda: inbox.receive(incoming), StoreError, BusyError)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what calls Telegram beside the updates: they come one after the other, and none waits for a call."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    def manner(self, incoming: Incoming) -> Manner:
        """Return drafts in private chats, edits in groups, where all that is said shares 20 messages a minute."""
        if incoming.private:
            return Manner(streaming="draft", every=1.0, finds_sent=False, status_lasts=_TYPING_SECONDS)
        hidden = "topic" in incoming.extra and not self._self.reads_groups
        return Manner(
            streaming="edit",
            every=4.0,
            finds_sent=False,
            status_lasts=_TYPING_SECONDS,
            reads_threads=False,
            notice="mention_needed" if hidden else "",
        )

    def limits(self, incoming: Incoming, call: Call, begun: Sent | None = None) -> tuple[Limit, ...]:
        """Return what the documents ask for: one a second and chat, 20 a minute and group, 30 a second in all."""
        whole = Limit(bucket="bot", calls=28, seconds=1.0, kept=8, shared=True)
        if call is Call.STATUS:
            return (whole,)
        chat = incoming.conversation.channel
        if incoming.private:
            return (whole, Limit(bucket=f"chat {chat}", calls=4, seconds=5.0, kept=1))
        return (whole, Limit(bucket=f"chat {chat}", calls=4, seconds=5.0, kept=1), _group(chat))

    def render(self, view: View) -> tuple[TelegramMessage, ...]:
        """Return the whole reply; as one rich message where it has a table or is long, and the server has them."""
        return render_telegram(view, rich=self._rich.there and not view.simple)

    def render_partial(self, view: View) -> TelegramMessage:
        """Return what is written so far."""
        return render_telegram_partial(view)

    async def status(self, incoming: Incoming, words: str) -> None:
        """Show "typing …": Telegram has no words for it."""
        topic = incoming.extra.get("topic")
        await self._calls.quietly(
            lambda: self._calls.bot.send_chat_action(
                incoming.conversation.channel, ChatAction.TYPING, message_thread_id=int(topic) if topic else None
            )
        )

    async def show(self, incoming: Incoming, part: TelegramMessage, *, begun: Sent | None, key: str) -> Sent:
        """Show a draft in a private chat; in a group send, then edit."""
        if incoming.private and (begun is None or begun.draft):
            sent = begun or Sent(channel=incoming.conversation.channel, id=str(_draft_number(key)), draft=True)
            await self._calls.draft(sent.channel, int(sent.id), part, topic=incoming.extra.get("topic", ""))
            return sent
        if begun is None:
            return await self._post(incoming, part, first=True)
        await self._calls.change(begun, part)
        return begun

    async def send(
        self, incoming: Incoming, part: TelegramMessage, *, begun: Sent | None, key: str, number: int
    ) -> Sent:
        """Send, which ends a draft, or edit what was begun in a group."""
        try:
            if begun is not None and not begun.draft:
                await self._calls.change(begun, part)
                return begun
            return await self._post(incoming, part, first=number == 0)
        except PlatformRefused as error:
            self._rich.was_refused(error)
            raise

    async def _post(self, incoming: Incoming, part: TelegramMessage, *, first: bool) -> Sent:
        """Send a message as a reply to the question, unless that stands right above in a private chat.

        It rings nobody's telephone but that of a person who asked in private, and that once.
        """
        chat, topic, asked = incoming.conversation.channel, incoming.extra.get("topic", ""), incoming.message
        replies = first and (not incoming.private or self._calls.newest.is_after(f"{chat}/{topic}", int(asked)))
        silent = not (first and incoming.private)
        return await self._calls.post(chat, part, topic=topic, reply_to=asked if replies else "", silent=silent)

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return None: a bot can't read what it sent."""
        return None

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        """Delete a message; a draft goes by itself."""
        if not sent.draft:
            await self._calls.delete(sent)

    async def thread(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        """Return the message that was replied to: Telegram lets a bot read no more than it was told."""
        if not incoming.replied_text or limit < 1:
            return ()
        return (Message(role="user", text=incoming.replied_text, author=incoming.replied_author),)

    def in_thread(self, incoming: Incoming) -> bool:
        """Return whether it stands in a topic, or replies to what was heard in a group."""
        return "topic" in incoming.extra or (not incoming.private and not incoming.opens)

    async def zone(self, incoming: Incoming) -> tzinfo:
        """Return the time zone of this machine: Telegram tells nobody's."""
        return local_zone()

    async def said(self, incoming: Incoming, span: Span) -> Talk:
        """Return nothing: a bot can't read back. In groups what was heard is kept; privacy mode hides the rest."""
        hidden = not (incoming.private or self._self.reads_groups)
        return Talk(messages=(), heard=True, hidden=hidden, open_past=await self._is_past_open(incoming))

    async def _is_past_open(self, incoming: Incoming) -> bool:
        """Return whether who joins a group later reads what was said before; of most groups only admins are told."""
        if incoming.private:
            return True
        try:
            chat = await self._calls.do(GetChat(chat_id=int(incoming.conversation.channel)))
        except PlatformError as error:
            log.info("whether a group shows its past could not be asked: %s", error)
            return False
        return bool(chat.username or chat.has_visible_history)

    def permalink(self, incoming: Incoming, message: str) -> str:
        """Return a message's address, which only supergroups have."""
        return address(incoming, message)

    async def readers(self, incoming: Incoming) -> frozenset[str]:
        """Return the asker and the groups among ``chats`` that they are in, in a private chat."""
        if not incoming.private:
            return incoming.seen_by
        return incoming.seen_by | await self._groups_of(incoming.asker.id)

    async def _groups_of(self, user: str) -> frozenset[str]:
        """Return the groups among ``chats`` that somebody is in now."""
        return frozenset([f"{PLATFORM}:{chat}" for chat in self._chats if await self._is_in(chat, user)])

    async def _is_in(self, chat: str, user: str) -> bool:
        """Tell whether somebody is in a group now; not confirmed means no."""
        try:
            return await self._memberships.get((chat, user))
        except (PlatformError, ValueError):
            return False

    async def _is_member(self, asked: tuple[str, str]) -> bool:
        chat, user = asked
        member = await self._calls.do(GetChatMember(chat_id=int(chat), user_id=int(user)))
        return member.status in {"creator", "administrator", "member"} or bool(getattr(member, "is_member", False))

    async def fetch(self, incoming: Incoming, attachment: Attachment, *, limit: int) -> bytes:
        """Return a file's content; Telegram gives bots at most 20 MB."""
        return await self._calls.download(attachment.id, limit)

    async def tell(self, person: str, words: str) -> None:
        """Write to ``telegram:@USER``; they must have written to the bot before."""
        user = person.removeprefix(f"{PLATFORM}:@")
        for part in render_telegram(View(document=parse_markdown(words), reference="")):
            await self._calls.post(user, part)

    async def direct(self, person: str) -> ConversationKey:
        """Return the private chat with ``telegram:@USER``."""
        return ConversationKey(platform=PLATFORM, channel=person.removeprefix(f"{PLATFORM}:@"))

    async def seen_in(self, conversation: ConversationKey) -> frozenset[str]:
        """Return the chat: nothing is known around it."""
        return frozenset({"*", f"{PLATFORM}:{conversation.channel}"})

    async def called(self, asker: Asker) -> str:
        """Return the name that came with what they wrote."""
        return asker.name or asker.id

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        """Return nothing: Telegram keeps what the bot has not confirmed for 24 hours, and hands it over again."""
        return ()


def _group(chat: str) -> Limit:
    return Limit(bucket=f"group {chat}", calls=19, seconds=60.0, kept=8)


def _draft_number(key: str) -> int:
    """Return a number for the draft, never 0: the same for the same key."""
    return zlib.crc32(key.encode()) & 0x7FFFFFFF or 1
