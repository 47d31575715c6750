"""What Discord tells becomes ``Incoming``. Pure.

A conversation is a direct message channel, a thread, the chain of replies that began with one question, or what
somebody asks by slash commands in one channel. The channel of a thread's conversation is the one that it hangs on.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC

import discord

from bots.platform import Asker, Attachment, CommandName, Incoming, Reach
from bots.rendering.actions import read_action
from ragcore.types import ConversationKey

PLATFORM = "discord"
HERE = "here"
"""In ``Incoming.extra``: the channel that is written to, where it is a thread."""
REPLIES_TO = "replies_to"
"""In ``Incoming.extra``: the message that this one replies to."""
CLOSED = "closed"
"""In ``Incoming.extra``: the bot may write no messages where a command was used, so that all goes by its token."""
APPLICATION = "application"
"""In ``Incoming.extra``: whose token it is."""
_WRITTEN = {discord.MessageType.default, discord.MessageType.reply}
_THREAD = "thread "
_TO_SOMEBODY = re.compile(r"\s*(<@[!&]?\d+>|@everyone\b|@here\b)")
_CODES = re.compile(r"<(?P<kind>@!|@&|@|#)(?P<id>\d+)>|<a?(?P<emoji>:\w+:)\d+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something is said, as the settings name it: ``workspace`` is empty in direct messages."""

    workspace: str
    channel: str
    thread: str
    seen_by: frozenset[str]

    @property
    def written_to(self) -> str:
        """Return the id of the channel that a message here is sent to."""
        return self.thread or self.channel


def reader_of(user: int | str) -> str:
    """Return the reader that a person is."""
    return f"{PLATFORM}:@{user}"


def privately(user: int | str) -> frozenset[str]:
    """Return who sees what is shown to one person alone."""
    return frozenset({"*", reader_of(user)})


def place_of(channel: object, guild: discord.Guild | None) -> Place:
    """Return where a message stands. A channel or server that is not known is taken for one that outsiders see."""
    number = str(getattr(channel, "id", 0))
    workspace = str(guild.id if guild is not None else getattr(channel, "guild_id", None) or "")
    if not workspace:
        return Place(workspace="", channel=number, thread="", seen_by=frozenset({"*"}))
    if guild is None or not isinstance(channel, discord.Thread | discord.abc.GuildChannel):
        seen_by = {"*", f"{PLATFORM}:{workspace}/{number}"}
        return Place(workspace=workspace, channel=number, thread="", seen_by=frozenset(seen_by))
    parent = number
    if isinstance(channel, discord.Thread):
        parent = str(channel.parent_id)
    seen_by = {"*", f"{PLATFORM}:{workspace}/{parent}", f"{PLATFORM}:{workspace}/{number}"}
    if not _outsiders_see(channel, guild):
        seen_by.add(f"{PLATFORM}:{workspace}")
    return Place(
        workspace=workspace,
        channel=parent,
        thread=number if parent != number else "",
        seen_by=frozenset(seen_by),
    )


def _outsiders_see(channel: object, guild: discord.Guild) -> bool:
    """Tell whether somebody reads along who is no member: open to @everyone, in a server that anybody may look into."""
    if "DISCOVERABLE" not in guild.features:
        return False
    known = channel.parent if isinstance(channel, discord.Thread) else channel
    if isinstance(channel, discord.Thread) and channel.is_private():
        return False
    if not isinstance(known, discord.abc.GuildChannel) or guild.default_role is None:
        return True
    return known.permissions_for(guild.default_role).view_channel


def incoming_of(message: discord.Message, me: int) -> Incoming | None:
    """Return the message as a turn takes it, None for what nobody wrote (joins, pins, bots) or we may not read.

    Args:
        message: The message.
        me: The bot's own id.
    """
    if message.author.bot or message.webhook_id is not None or message.type not in _WRITTEN:
        return None
    text, files = words_of(message, me), _attachments(message)
    if not text and not files:
        return None
    place = place_of(message.channel, message.guild)
    private = not place.workspace
    return Incoming(
        keys=(f"message:{message.id}",),
        conversation=conversation_of(message, me),
        message=str(message.id),
        asker=asker_of(message.author),
        text=text,
        reach=_reach(message, me),
        sent_at=message.created_at.astimezone(UTC),
        edited_at=message.edited_at.astimezone(UTC) if message.edited_at else None,
        private=private,
        seen_by=privately(message.author.id) if private else place.seen_by,
        attachments=files,
        goes_on=turn_replied_to(message, me),
        replied_to=replied_id(message),
        to_others=_to_others(message, me),
        extra=_extra(place, replied_id(message)),
    )


def asked(
    interaction: discord.Interaction,
    command: CommandName | None,
    text: str,
    *,
    knowledge_base: str = "",
    ephemeral: bool = False,
    turn: str = "",
) -> Incoming:
    """Return what was asked by a slash command, or by pressing a suggested question."""
    place = place_of(interaction.channel, interaction.guild)
    user = interaction.user
    private = ephemeral or not place.workspace
    thread = f"{_THREAD}{place.thread}" if place.thread else f"commands {user.id}"
    return Incoming(
        keys=(f"interaction:{interaction.id}",),
        conversation=ConversationKey(
            platform=PLATFORM,
            workspace=place.workspace,
            channel=place.channel,
            thread=thread if place.workspace else "",
        ),
        message=str(interaction.id),
        asker=asker_of(user, language=str(interaction.locale)),
        text=text.strip(),
        reach=Reach.COMMAND if command else Reach.DIRECT,
        command=command,
        knowledge_bases=(knowledge_base,) if knowledge_base else (),
        sent_at=interaction.created_at.astimezone(UTC),
        private=private,
        seen_by=privately(user.id) if private else place.seen_by,
        token=interaction.token,
        goes_on=turn,
        extra=_extra(place, closed=not _may_write(interaction)) | {APPLICATION: str(interaction.application_id)},
    )


def _may_write(interaction: discord.Interaction) -> bool:
    """Return whether the bot may send messages of its own where an interaction began, as that tells."""
    allowed = interaction.app_permissions
    is_thread = isinstance(interaction.channel, discord.Thread)
    sends = allowed.send_messages_in_threads if is_thread else allowed.send_messages
    return interaction.guild_id is None or (allowed.view_channel and sends)


def stays_one(incoming: Incoming) -> bool:
    """Return whether further messages would go by a token, where nobody can look for them."""
    return is_ephemeral(incoming) or (bool(incoming.token) and CLOSED in incoming.extra)


def is_ephemeral(incoming: Incoming) -> bool:
    """Return whether the reply is shown to the asker alone, in a place that others see."""
    return incoming.private and bool(incoming.conversation.workspace)


def written_to(incoming: Incoming) -> str:
    """Return the id of the channel that a reply is sent to."""
    return incoming.extra.get(HERE) or incoming.conversation.channel


def channel_of(conversation: ConversationKey) -> str:
    """Return the id of the channel in which a conversation goes on."""
    return conversation.thread.removeprefix(_THREAD) if in_thread(conversation) else conversation.channel


def in_thread(conversation: ConversationKey) -> bool:
    """Return whether it goes on in a thread of its own."""
    return conversation.thread.startswith(_THREAD)


def conversation_of(message: discord.Message, me: int) -> ConversationKey:
    """Return the conversation that a message is part of, or begins; ``Incoming.goes_on`` may name another."""
    place = place_of(message.channel, message.guild)
    thread = ""
    if place.thread:
        thread = f"{_THREAD}{place.thread}"
    elif place.workspace:
        thread = f"reply {_root(message, me)}"
    return ConversationKey(platform=PLATFORM, workspace=place.workspace, channel=place.channel, thread=thread)


def _root(message: discord.Message, me: int) -> int:
    """Return the question that began a chain of replies, as far as a message shows it: one step over our answer."""
    answer = replied_to(message)
    if answer is not None and answer.author.id == me and answer.reference is not None:
        return answer.reference.message_id or message.id
    return message.id


def replied_to(message: discord.Message) -> discord.Message | None:
    """Return the message that this one replies to, where it is known."""
    found = message.reference.resolved if message.reference is not None else None
    return found if isinstance(found, discord.Message) else None


def turn_replied_to(message: discord.Message, me: int) -> str:
    """Return the reference of the turn whose answer is replied to; empty when it is none of ours."""
    answer = replied_to(message)
    return turn_of(answer) if answer is not None and answer.author.id == me else ""


def turn_of(message: discord.Message) -> str:
    """Return the reference that stands on the buttons of an answer."""
    for row in message.components:
        for item in row.children if isinstance(row, discord.ActionRow) else ():
            action = read_action(item.custom_id or "") if isinstance(item, discord.Button) else None
            if action is not None and action.reference:
                return action.reference
    return ""


def asker_of(user: discord.abc.User, *, language: str = "") -> Asker:
    """Return who asks; messages don't tell a language."""
    return Asker(id=str(user.id), name=user.display_name, language=language, is_bot=user.bot)


def words_of(message: discord.Message, me: int) -> str:
    """Return what was written, without the bot's own name, and with the names of others instead of their codes."""
    names = {f"@{user.id}": f"@{user.display_name}" for user in message.mentions}
    names |= {f"@&{role.id}": f"@{role.name}" for role in message.role_mentions}
    names |= {f"#{channel.id}": f"#{channel.name}" for channel in message.channel_mentions}

    def shown(code: re.Match[str]) -> str:
        return code["emoji"] or names.get(code["kind"].replace("!", "") + code["id"], code[0])

    own = "|".join(_own_codes(message, me))
    text = re.sub(rf"\A\s*+(?:{own})[\s,:;]*+|(?:(?<!\s)\s++)?(?:{own})", "", message.content)
    return _CODES.sub(shown, text).strip()


def _reach(message: discord.Message, me: int) -> Reach:
    if message.guild is None and not getattr(message.channel, "guild_id", None):
        return Reach.DIRECT
    if any(code in message.content for code in _own_codes(message, me)):
        return Reach.MENTION
    answer = replied_to(message)
    if answer is not None and answer.author.id == me:
        return Reach.REPLY
    return Reach.THREAD if isinstance(message.channel, discord.Thread) else Reach.CHANNEL


def _own_codes(message: discord.Message, me: int) -> tuple[str, ...]:
    """Return how a message may name the bot: itself, or the role that Discord made for it, which people pick."""
    roles = [role for role in message.role_mentions if role.tags is not None and role.tags.bot_id == me]
    return (f"<@{me}>", f"<@!{me}>", *(f"<@&{role.id}>" for role in roles))


def _to_others(message: discord.Message, me: int) -> bool:
    """Return whether it begins with the mention of somebody, a role or everybody, other than the bot."""
    found = _TO_SOMEBODY.match(message.content)
    return found is not None and found[1] not in _own_codes(message, me)


def _attachments(message: discord.Message) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(id=file.url, name=file.filename, media_type=file.content_type or "", size=file.size)
        for file in message.attachments
    )


def replied_id(message: discord.Message) -> str:
    """Return the id of the message that this one replies to; empty when there is none."""
    return str(message.reference.message_id or "") if message.reference is not None else ""


def _extra(place: Place, replies_to: str = "", *, closed: bool = False) -> dict[str, str]:
    found: Iterable[tuple[str, str]] = ((HERE, place.thread), (REPLIES_TO, replies_to), (CLOSED, "1" if closed else ""))
    return {key: value for key, value in found if value}
