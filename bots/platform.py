"""What a chat platform gives and takes: the values of a turn, and the Protocols on both sides of it.

    SDK event -> Incoming -> (bots.turn) -> View -> Rendered -> Sent

A platform (``bots.slack``, ``bots.discord``, ``bots.telegram``) only translates: its events become ``Incoming`` and go
to the ``Inbox``; what the turn has to show comes back as a ``View``, is rendered (``bots.rendering``, no I/O) and sent.
Whether to answer, when, once, and in which order is the turn's business alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar

from bots.limits import Call, Limit
from bots.manner import Manner
from bots.pictures import Picturing
from bots.rendering.tree import Document
from bots.talk import Talking
from bots.votes import AskedPerson, Side, Vote
from bots.whose import Words
from ragcore.types import ConversationKey, Message

__all__ = ["Call", "Limit", "Side", "Vote"]  # beside what is defined here


class Reach(StrEnum):
    """How a message reached the bot; the gate decides by it."""

    DIRECT = "direct"
    """In a direct message."""
    MENTION = "mention"
    """In a channel, naming the bot."""
    REPLY = "reply"
    """In a channel, as a reply to a message of the bot."""
    THREAD = "thread"
    """In a thread, without naming the bot; it is answered in threads that the bot takes part in, as the turn knows."""
    CHANNEL = "channel"
    """In a channel, not addressed to the bot at all."""
    COMMAND = "command"
    """A slash command."""


CommandName = Literal["ask", "research", "summarise", "search", "sources", "sync", "why", "reset", "help", "start"]
"""``start`` is what a client sends by itself when somebody opens a conversation: they are greeted."""
ASKING: frozenset[CommandName | None] = frozenset({None, "ask", "research"})
"""What is followed by a question; None: no command, but a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks. ``language`` is what the platform tells of them (``de``, ``zh-TW``), else empty.

    ``workspace`` is their own where it differs from the conversation's (Slack Connect).
    """

    id: str
    name: str = ""
    language: str = ""
    workspace: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file beside a question, not fetched yet; ``size`` in bytes, 0 when unknown."""

    id: str
    name: str
    media_type: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One thing somebody wrote, as far as a turn needs to know it; can be written down as JSON and read again.

    ``keys`` are all the names under which it may arrive again: the claim holds each of them once. An edit
    (``edited_at``) has those of its message; the turn tells the two apart. ``message`` is its id within the channel.
    ``text`` is what was written, without the mention of the bot, unescaped. ``private``: nobody but the asker sees the
    reply. ``seen_by`` are the readers (settings, ``knowledge_bases.*.readers``) that see the reply, as far as the event
    tells; for a private one the platform adds more (``Platform.readers``).
    ``goes_on`` is the reference of the turn to whose answer it replies: it belongs to that one's conversation.
    ``replied_to`` is the id of the message that it replies to, where the platform has such replies; ``replied_text``
    are its words and ``replied_author`` is who wrote them, where they come with this one alone.
    ``to_others``: it begins with the mention of somebody other than the bot.
    ``token`` lets the platform answer this event (an interaction's token, a response URL): never shown or logged.
    """

    keys: tuple[str, ...]
    conversation: ConversationKey
    message: str
    asker: Asker
    text: str
    reach: Reach
    sent_at: datetime
    command: CommandName | None = None
    knowledge_bases: tuple[str, ...] = ()
    edited_at: datetime | None = None
    private: bool = False
    seen_by: frozenset[str] = frozenset()
    attachments: tuple[Attachment, ...] = ()
    goes_on: str = ""
    replied_to: str = ""
    replied_text: str = ""
    replied_author: str = ""
    to_others: bool = False
    token: str = field(default="", repr=False)
    words: Words = Words.OWN
    extra: Mapping[str, str] = field(default_factory=dict)
    """What else the platform needs to answer, in its own words."""

    @property
    def opens(self) -> bool:
        """Whether it opens a conversation, whose thread is then named after it (``1.5``, ``reply 5``)."""
        return self.conversation.thread.rpartition(" ")[2] == self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message of ours that stands on the platform (or a stream or draft that has begun).

    ``ended``: its stream takes no more text; it is changed as a message from then on. ``draft``: it only shows what a
    message will take the place of.
    """

    channel: str
    id: str
    ended: bool = False
    draft: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    """What else the platform needs to change it, such as that it is a stream."""


class Button(StrEnum):
    """What a reader can press under an answer; a platform shows those that it has."""

    FEEDBACK = "feedback"
    """Two: helpful, not helpful."""
    QUOTES = "quotes"
    """Show the cited passages, with the words that support each sentence."""
    STOP = "stop"
    SHOW = "show"
    """Show the whole answer in place of this message."""
    SHARE = "share"
    """Let the channel see what only the asker sees."""
    DELETE = "delete"
    PERSON = "person"
    """Take the question to a person."""
    KEEP = "keep"
    """Let a person's reply be a document, and the other way round."""
    DROP = "drop"
    RESEARCH = "research"
    """Research the same question, for whoever presses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that one reply shows, before any platform's markup.

    ``reference`` names the turn in buttons, logs and plain reasons (8 hex digits). ``prompts`` are questions to go on
    with. ``language`` is that of buttons and headings. ``simple``: the platform refused its best form (Telegram's rich
    messages), so an older one is to be taken, where there is one. ``page`` (from 0) is what is shown of a reply that
    stays one message, with buttons to its other pages; None: all of it, in as many messages as it takes.
    """

    document: Document
    reference: str
    buttons: tuple[Button, ...] = ()
    prompts: tuple[str, ...] = ()
    language: str = "en"
    simple: bool = False
    page: int | None = None


R = TypeVar("R")
"""One message as a platform takes it, frozen and comparable; opaque to the turn."""


class Platform(Talking, Protocol[R]):
    """One chat platform, connected by one token. Errors of its SDK leave as ``ragcore.errors`` (PlatformError tree).

    Whoever implements it passes the conformance suite (tests/bots/platform_conformance.py).
    """

    @property
    def name(self) -> str:
        """Return ``slack``, ``discord`` or ``telegram``."""
        ...

    @property
    def limited(self) -> int:
        """Return how many calls the platform has refused for their number (429), also where its SDK called again."""
        ...

    async def serve(self, inbox: "Inbox") -> None:
        """Connect, and hand over every event, until cancelled or the platform fails for good (PlatformError)."""
        ...

    def manner(self, incoming: Incoming) -> Manner:
        """Return how the reply to this message can grow."""
        ...

    def limits(self, incoming: Incoming, call: Call, begun: Sent | None = None) -> tuple[Limit, ...]:
        """Return the limits that one such call counts against; the turn keeps to them. Pure.

        A call that isn't possible at all right now (a stream in an ephemeral reply) is no matter of limits: ``manner``.
        """
        ...

    def render(self, view: View) -> tuple[R, ...]:
        """Return the whole reply as one message, or as its parts in order where the length forces a split. Pure.

        Of a view with a ``page`` it is that one alone, the last one where there are fewer.
        """
        ...

    def render_partial(self, view: View) -> R:
        """Return what is written so far as one message, its end left out where it is too long. Pure."""
        ...

    async def status(self, incoming: Incoming, words: str) -> None:
        """Show that something is under way (typing, a status line); nothing that stays. Never raises.

        Where it has words (``Manner.status_has_words``), empty ones take it away again.
        """
        ...

    async def show(self, incoming: Incoming, part: R, *, begun: Sent | None, key: str) -> Sent:
        """Show what is written so far: begin (``begun`` is None) or go on; return what stands now.

        Raises:
            StreamEnded: The stream takes no more. Called again with ``begun.ended`` it goes on as a message's edits.
            PlatformRateLimited: Try later; nothing has changed.
            PlatformRefused: This reply can't grow here; its final message still can be sent.
            MessageGone: What was begun is no longer there.
        """
        ...

    async def send(self, incoming: Incoming, part: R, *, begun: Sent | None, key: str, number: int) -> Sent:
        """Send one final part: over what was begun, or as a message of its own; ends a stream.

        ``key`` names this part across crashes (a nonce of at most 25 letters and digits); ``number`` counts from 0.
        Over a message that says the same already it does nothing. Raises as ``show`` does.
        """
        ...

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return the message that was sent under the key, None when there is none or nobody can tell."""
        ...

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        """Take a message of ours back; nothing happens when it is gone."""
        ...

    async def thread(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        """Return what was said in the thread before the message, oldest first, as far as the bot may read it."""
        ...

    async def readers(self, incoming: Incoming) -> frozenset[str]:
        """Return the readers of a private reply that the platform confirms now; for others ``incoming.seen_by``."""
        ...

    async def fetch(self, incoming: Incoming, attachment: Attachment, *, limit: int) -> bytes:
        """Return the content of an attachment of at most ``limit`` bytes."""
        ...

    async def tell(self, person: str, words: str) -> None:
        """Write to an admin (``settings.admins`` entry of this platform) directly."""
        ...

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        """Return what was asked in these conversations since then, read back from the platform; empty if it can't."""
        ...

    async def direct(self, person: str) -> ConversationKey:
        """Return the conversation in which somebody (as in ``tell``) is written to directly, without a thread."""
        ...

    async def seen_in(self, conversation: ConversationKey) -> frozenset[str]:
        """Return the readers of what is said in a channel, as ``Incoming.seen_by``; not confirmed means the fewest."""
        ...

    async def called(self, asker: Asker) -> str:
        """Return what somebody is called, else their id; never raises."""
        ...


Sharing = Literal["now", "going", "done", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What becomes of a press on Share.

    ``now``: the ``view`` is to be shown, each part under its ``key``, and ``Inbox.shared`` to be told how that ended.
    ``going``: an earlier press is doing it. ``done``: it was shared before. ``refused``: it isn't theirs, or not for
    all who would see it. ``since``: an earlier press came to no known end since then, so what it showed is looked for.
    ``lease`` tells this press from one that goes on with it later.
    """

    state: Sharing
    view: View | None = None
    since: datetime | None = None
    lease: float = 0.0

    @staticmethod
    def key(reference: str, number: int) -> str:
        """Return the key of a part across crashes: at most 25 letters and digits; ``number`` counts from 0."""
        return f"{reference}share{number}"


class Inbox(Picturing, Protocol):
    """Where a platform hands over what happened; implemented by the turn."""

    async def receive(self, incoming: Incoming) -> bool:
        """Begin a message's turn, its claim committed on return (it is received); False when it was claimed before."""
        ...

    async def connected(self) -> None:
        """Answer what was asked while nobody listened; called once the platform can be read and written."""
        ...

    async def joined(self, conversation: ConversationKey, message: str, at: datetime) -> None:
        """Keep when somebody came to a group whose past they may not see; ``message`` tells of it."""
        ...

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Withdraw the answer to a message that its asker deleted."""
        ...

    def saw(self, event: Mapping[str, Any]) -> None:
        """Take a raw event, as a source type wants it (``SourceType.touched``); it is acknowledged after that."""
        ...

    async def withdraw(self, reference: str, by: str) -> bool:
        """Withdraw an answer that its asker wants away (a button); False when it isn't theirs, or is gone."""
        ...

    async def stop(self, reference: str, by: str) -> bool:
        """Stop the turn that this asker pressed Stop for; False when there is nothing to stop, or it isn't theirs."""
        ...

    async def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        """Stop what is being written in the conversation, where the platform tells no more than that."""
        ...

    async def vote(self, vote: Vote) -> None:
        """Keep a judgement; a later one of the same voter takes its place."""
        ...

    async def may_ask_person(self, reference: str, by: str) -> bool:
        """Return whether this asker may take the question of a turn to a person."""
        ...

    async def ask_person(self, reference: str, by: str) -> AskedPerson:
        """Take the question of a turn to the owners of what was searched, once; committed when this returns."""
        ...

    async def keep_reply(self, reply: str, by: str, where: str, *, kept: bool) -> bool:
        """Let an owner's reply be a document, or no longer; False unless an owner (a reader) pressed it there."""
        ...

    async def quotes(self, reference: str, readers: frozenset[str]) -> View | None:
        """Return the cited passages of an answer, None when it is gone or these readers may not read them."""
        ...

    async def page(self, reference: str, by: str, number: int, readers: frozenset[str]) -> View | None:
        """Return a page of a reply that stays one message, None when it is gone or these readers may not read it."""
        ...

    async def share(self, reference: str, by: str, readers: frozenset[str]) -> Share:
        """Begin to share an answer with these readers, once; return what is to be done."""
        ...

    async def shared(self, reference: str, *, lease: float, done: bool) -> None:
        """Record that what ``share`` gave under its ``lease`` is shown; not ``done``: a further press may go on."""
        ...

    async def knowledge_bases(self, conversation: ConversationKey, readers: frozenset[str]) -> tuple[str, ...]:
        """Return the names of what these readers may ask in the conversation's channel, for autocompletion."""
        ...

    def sources(self, person: str) -> tuple[str, ...]:
        """Return the names of the sources that somebody (``discord:@U``) may sync, for autocompletion."""

    def language(self, told: str, text: str = "") -> str:
        """Return in which language somebody reads our own sentences.

        Args:
            told: That of their client, as the platform tells it; empty when it doesn't.
            text: What they wrote, if it is about that.
        """
        ...

    async def welcome(self, language: str) -> View:
        """Return what greets somebody who opens a conversation: what the bot does, and prompts to begin with."""
        ...
