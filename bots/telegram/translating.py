"""What Telegram tells becomes ``Incoming``. Pure.

A conversation is a private chat, a topic of one, a topic of a forum, or in a group the chain of replies that began with
one question; the platform shows one step of a chain, so the message that is replied to names its turn on its buttons.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from aiogram.types import CallbackQuery, Chat, Message, MessageEntity, User

from bots.platform import Asker, Attachment, CommandName, Incoming, Reach
from bots.rendering.actions import Act, read_action
from bots.whose import Words
from bots.words.commands import NAMED
from ragcore.types import ConversationKey

PLATFORM = "telegram"
START: Literal["start"] = "start"
"""What Telegram sends by itself when somebody opens a chat with the bot; in groups it is a word for help."""
_LONGEST_REPLIED = 4_000
_SUPERGROUP = "-100"
"""With what the numbers of supergroups begin, where a bot is told of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """The bot as Telegram knows it."""

    id: int
    username: str
    reads_groups: bool


def reader_of(user: int) -> str:
    """Return the reader that a person is."""
    return f"{PLATFORM}:@{user}"


def seen_by(chat: Chat, user: int | None) -> frozenset[str]:
    """Return who sees what is said in a chat: the group, or the one person in a private one."""
    if chat.type == "private":
        return frozenset({"*", reader_of(user if user is not None else chat.id)})
    return frozenset({"*", f"{PLATFORM}:{chat.id}"})


def incoming_of(message: Message, bot: Self) -> Incoming | None:
    """Return the message as a turn takes it, None for what nobody wrote (joins, pins) and commands of other bots."""
    asker = asker_of(message)
    if asker is None:
        return None
    text, entities = (message.text or message.caption or ""), (message.entities or message.caption_entities or [])
    private = message.chat.type == "private"
    command, addressed, rest = _command(text, entities, bot, alone=private)
    if command is None and addressed is False:
        return None
    if command == START:
        rest = ""  # what a link to the chat brought along; nobody wrote it
    files = tuple(_attachments(message))
    words, author = _replied(message, bot)
    if not text.strip() and not files:
        return None
    return Incoming(
        keys=(f"message:{message.chat.id}/{message.message_id}",),
        conversation=conversation_of(message, bot),
        message=str(message.message_id),
        asker=asker,
        text=rest if command else without_name(text, entities, bot),
        words=Words.ANOTHERS if message.forward_origin else Words.OWN,
        reach=Reach.COMMAND if command else _reach(message, entities, bot),
        command=_known(command, asks=bool(rest or files), alone=private) if command else None,
        sent_at=message.date.astimezone(UTC),
        edited_at=datetime.fromtimestamp(message.edit_date, UTC) if message.edit_date else None,
        private=private,
        seen_by=seen_by(message.chat, message.from_user.id if message.from_user else None),
        attachments=files,
        goes_on=turn_replied_to(message, bot),
        replied_to=str(message.reply_to_message.message_id) if message.reply_to_message else "",
        replied_text=words,
        replied_author=author,
        to_others=_to_others(text, entities, bot),
        extra=_extra(message),
    )


def pressed_question(query: CallbackQuery, bot: Self) -> Incoming | None:
    """Return the question that stands on a pressed button, asked by whoever pressed it; None on any other button.

    To research, it is the question of the turn, and has no words yet.
    """
    action, message = read_action(query.data or ""), query.message
    if action is None or action.act not in (Act.ASK, Act.RESEARCH) or not isinstance(message, Message):
        return None
    research = action.act is Act.RESEARCH
    rows = message.reply_markup.inline_keyboard if message.reply_markup else []
    texts = [button.text for row in rows for button in row if button.callback_data == query.data]
    if not texts:
        return None
    private = message.chat.type == "private"
    return Incoming(
        keys=(f"press:{query.id}",),
        conversation=conversation_of(message, bot),
        message=str(message.message_id),
        asker=_person(query.from_user),
        text="" if research else texts[0],
        words=Words.OFFERED,
        reach=Reach.DIRECT if private and not research else Reach.COMMAND,
        command="research" if research else None if private else "ask",
        sent_at=datetime.now(UTC),
        private=private,
        seen_by=seen_by(message.chat, query.from_user.id),
        goes_on=action.reference,
        extra=_extra(message),
    )


def conversation_of(message: Message, bot: Self) -> ConversationKey:
    """Return the conversation that a message is part of, or begins; ``Incoming.goes_on`` may name another."""
    thread = ""
    if message.is_topic_message and message.message_thread_id:
        thread = f"topic {message.message_thread_id}"
    elif message.chat.type != "private":
        thread = f"reply {message.message_id}"
    return ConversationKey(platform=PLATFORM, channel=str(message.chat.id), thread=thread)


def turn_replied_to(message: Message, bot: Self) -> str:
    """Return the reference of the turn whose answer is replied to; empty when it is none of ours."""
    replied = message.reply_to_message
    if replied is None or replied.from_user is None or replied.from_user.id != bot.id or not replied.reply_markup:
        return ""
    for row in replied.reply_markup.inline_keyboard:
        for button in row:
            action = read_action(button.callback_data or "")
            if action is not None and action.reference:
                return action.reference
    return ""


def asker_of(message: Message) -> Asker | None:
    """Return who wrote a message; None when it was nobody (a channel's or an anonymous post has no person)."""
    if message.from_user is not None and message.sender_chat is None:
        return _person(message.from_user)
    if message.sender_chat is not None:
        return Asker(id=str(message.sender_chat.id), name=message.sender_chat.title or "")
    return None


def without_name(text: str, entities: Iterable[MessageEntity], bot: Self) -> str:
    """Return the text without the bot's own name in it."""
    for entity in sorted(entities, key=lambda found: found.offset, reverse=True):
        if _names(entity, text, bot):
            start, end = _span(entity, text)
            text = text[:start] + text[end:]
    return text.strip(" ,:;")


def joined_in(message: Message, bot: Self) -> bool:
    """Return whether a message tells that somebody came to a group, the bot itself aside."""
    return any(one.id != bot.id for one in message.new_chat_members or ())


def address(incoming: Incoming, message: str) -> str:
    """Return the address of a message of the same chat, "" in a chat that has none: only supergroups do.

    The number of the chat without the mark of a supergroup, as https://core.telegram.org/api/links has it ("Private
    message links"); members alone can follow it.
    """
    chat = incoming.conversation.channel
    if not chat.startswith(_SUPERGROUP):
        return ""
    topic = f"{incoming.extra['topic']}/" if "topic" in incoming.extra else ""
    return f"https://t.me/c/{chat.removeprefix(_SUPERGROUP)}/{topic}{message}"


def _person(user: User) -> Asker:
    return Asker(id=str(user.id), name=user.full_name, language=user.language_code or "", is_bot=user.is_bot)


def _reach(message: Message, entities: Iterable[MessageEntity], bot: Self) -> Reach:
    text = message.text or message.caption or ""
    if message.chat.type == "private":
        return Reach.DIRECT
    if any(_names(entity, text, bot) for entity in entities):
        return Reach.MENTION
    replied = message.reply_to_message
    if replied is not None and replied.from_user is not None and replied.from_user.id == bot.id:
        return Reach.REPLY
    return Reach.THREAD if message.is_topic_message else Reach.CHANNEL


def _known(command: str, *, asks: bool, alone: bool) -> CommandName:
    """Return what is done for a command; the menu of commands sends them bare, and then nothing is asked."""
    if alone and command == START:
        return START
    name = NAMED.get(command, "help")
    return "help" if name in ("ask", "research") and not asks else name


def _command(
    text: str, entities: Iterable[MessageEntity], bot: Self, *, alone: bool
) -> tuple[str | None, bool | None, str]:
    """Return the command that the text begins with, whether it is for us (None: there is none), and what follows.

    One that we don't have is another bot's, where we are not ``alone`` with whoever wrote it and it doesn't name us.
    """
    for entity in entities:
        if entity.type == "bot_command" and entity.offset == 0:
            start, end = _span(entity, text)
            name, at, whom = text[start + 1 : end].partition("@")
            ours = whom.lower() == bot.username.lower() if at else alone or name.lower() in (*NAMED, START)
            return (name.lower(), True, text[end:].strip()) if ours else (None, False, "")
    return None, None, text


def _names(entity: MessageEntity, text: str, bot: Self) -> bool:
    if entity.type == "text_mention":
        return entity.user is not None and entity.user.id == bot.id
    start, end = _span(entity, text)
    return entity.type == "mention" and text[start:end].lower() == f"@{bot.username.lower()}"


def _to_others(text: str, entities: Iterable[MessageEntity], bot: Self) -> bool:
    """Return whether it begins with the mention of somebody other than the bot."""
    begins = len(text) - len(text.lstrip())
    named = (one for one in entities if one.type in ("mention", "text_mention") and _span(one, text)[0] <= begins)
    return any(not _names(one, text, bot) for one in named)


def _span(entity: MessageEntity, text: str) -> tuple[int, int]:
    """Return where an entity stands in code points; Telegram counts UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    start = len(raw[: entity.offset * 2].decode("utf-16-le", "ignore"))
    end = len(raw[: (entity.offset + entity.length) * 2].decode("utf-16-le", "ignore"))
    return start, end


def _attachments(message: Message) -> Iterable[Attachment]:
    if message.document is not None:
        file = message.document
        yield Attachment(
            id=file.file_id, name=file.file_name or "file", media_type=file.mime_type or "", size=file.file_size or 0
        )
    if message.photo:
        largest = message.photo[-1]
        yield Attachment(id=largest.file_id, name="photo.jpg", media_type="image/jpeg", size=largest.file_size or 0)
    for kind, other in (("audio", message.audio), ("voice", message.voice), ("video", message.video)):
        if other is not None:
            media_type = other.mime_type or ""
            yield Attachment(id=other.file_id, name=kind, media_type=media_type, size=other.file_size or 0)


def _extra(message: Message) -> dict[str, str]:
    topic = message.message_thread_id if message.is_topic_message else None
    return {"topic": str(topic)} if topic else {}


def _replied(message: Message, bot: Self) -> tuple[str, str]:
    """Return what somebody else said in the message that this one replies to, and who."""
    replied = message.reply_to_message
    if replied is None or replied.from_user is None or replied.from_user.id == bot.id:
        return "", ""
    words = (replied.text or replied.caption or "")[:_LONGEST_REPLIED]
    return (words, replied.from_user.full_name) if words else ("", "")
