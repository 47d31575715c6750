"""What an operator decides about turns, taken from the settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from bots.access import Audience, readable
from bots.platform import Incoming
from bots.settings import PEOPLE, Settings
from bots.turn.budget import Budget
from bots.turn.people.values import Owners, owners_of
from bots.turn.pictures import PictureLimits
from ragcore.research import Limits
from ragcore.types import ConversationKey

Respond = Literal["mention", "all", "questions", "off"]
"""What of a channel is answered beside direct addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """At most so many questions within so many seconds."""

    questions: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRule:
    """What one channel is answered; ``knowledge_bases`` None: all that it may read. ``filter`` "": all documents.

    ``web``: whether the web is searched beside them; None: as in channels without a rule.
    """

    respond: Respond = "mention"
    knowledge_bases: tuple[str, ...] | None = None
    filter: str = ""
    web: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """What is read of the files beside one question: how many, and of each how many bytes and characters.

    ``images``: whether a model is there that reads pictures. A picture travels whole and a third larger (Base64) in
    one request, and ``image_bytes`` keeps that below what endpoints with the smallest limits take (about 10 MB).
    """

    count: int = 5
    bytes: int = 10_000_000
    characters: int = 20_000
    images: bool = False
    image_bytes: int = 5_000_000


_ORDINARY = ChannelRule()
_USER_RATE = Rate(questions=15, seconds=60.0)
_CHANNEL_RATE = Rate(questions=60, seconds=60.0)
_RESEARCH_RATE = Rate(questions=10, seconds=3600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """How turns are taken. Times are in seconds unless they are timedeltas.

    Within ``patience`` an answer or a plain reason stands, unless words are being shown; what is being shown is ended
    after ``longest``. Messages of one asker ``merge_within`` each other are one question. Edits count
    ``edit_within`` the question; what is older than ``late_after`` when the bot comes back is not answered any more.
    ``files`` bounds what is read beside a question, ``pictures`` what is cut from pages (None: nothing). ``readers_of``
    are the readers of each knowledge base, of which ``tag_sets`` are asked by their names alone; ``channels`` is what
    differs in some, by ``place``. ``plain_chat``: without any knowledge base the model is asked all the same. ``web``:
    whether the web is searched where no rule says otherwise. ``research_rate`` is that of one person, with 0 questions
    research is off; one takes at most about ``research_seconds``. ``summaries``: whether what was said is summarised.
    ``owners`` look after knowledge bases, to whom one asker takes ``person_limit`` questions within a day; ``homes``
    tells the knowledge base of each source, ``kept_in`` the source of what they said.
    """

    patience: float = 40.0
    longest: float = 300.0
    merge_within: float = 2.0
    edit_within: timedelta = timedelta(minutes=1)
    late_after: timedelta = timedelta(minutes=15)
    look_back: timedelta = timedelta(hours=24)
    user_rate: Rate = _USER_RATE
    channel_rate: Rate = _CHANNEL_RATE
    research_rate: Rate = _RESEARCH_RATE
    research_seconds: float = 180.0
    summaries: bool = True
    thread_messages: int = 30
    files: FileLimits = FileLimits()
    pictures: PictureLimits | None = field(default_factory=PictureLimits)
    language: str = ""
    prompts: tuple[str, ...] = ()
    log_questions: bool = False
    admins: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    readers_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tag_sets: frozenset[str] = frozenset()
    plain_chat: bool = False
    channels: Mapping[str, ChannelRule] = field(default_factory=dict)
    web: bool = False
    owners: Mapping[str, Owners] = field(default_factory=dict)
    person_limit: int = 5
    homes: Mapping[str, str] = field(default_factory=dict)
    kept_in: Mapping[str, str] = field(default_factory=dict)

    @property
    def budget(self) -> Budget:
        """Return how long somebody waits for an answer."""
        return Budget(patience=self.patience, longest=self.longest)

    @property
    def researches(self) -> bool:
        """Return whether a question may be researched."""
        return self.research_rate.questions > 0

    def rule(self, conversation: ConversationKey) -> ChannelRule:
        """Return what the conversation's channel is answered."""
        return self.channels.get(place(conversation), _ORDINARY)

    def web_in(self, conversation: ConversationKey) -> bool:
        """Return whether the web is searched beside the documents in a conversation."""
        said = self.rule(conversation).web
        return self.web if said is None else said

    def readable_in(self, incoming: Incoming, audience: Audience) -> tuple[str, ...]:
        """Return the knowledge bases that a question is answered from: of those that may be asked those it names."""
        wanted = incoming.knowledge_bases
        asked = self.asked_in(incoming.conversation, audience, wanted)
        return tuple(name for name in asked if not wanted or name in wanted)

    def asked_in(self, conversation: ConversationKey, audience: Audience, named: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the knowledge bases that may be asked in a conversation: readable, and not narrowed away.

        A tag set, only where the settings of its channel or whoever asks has ``named`` it.
        """
        narrowed = self.rule(conversation).knowledge_bases
        usual = [name for name in self.readers_of if name not in self.tag_sets or name in named]
        asked = usual if narrowed is None else narrowed
        return tuple(name for name in readable(self.readers_of, audience) if name in asked)

    def owned(self, knowledge_bases: Sequence[str], documents: Sequence[str] = ()) -> str | None:
        """Return which of these knowledge bases has owners: the one of the first of these documents, else the first."""
        near = (self.homes.get(document.partition(":")[0]) for document in documents)
        mine = (name for name in (*near, *knowledge_bases) if name in self.owners and name in knowledge_bases)
        return next(mine, None)

    def is_admin(self, incoming: Incoming) -> bool:
        """Return whether an admin of the settings asks."""
        return person(incoming) in self.admins


def turn_options(settings: Settings) -> TurnOptions:
    """Return the options that the settings ask for."""
    turns = settings.turns
    return TurnOptions(
        patience=turns.patience,
        late_after=timedelta(minutes=turns.catch_up),
        user_rate=Rate(questions=turns.user_limit, seconds=60.0),
        channel_rate=Rate(questions=turns.channel_limit, seconds=60.0),
        research_rate=Rate(questions=turns.research_limit, seconds=3600.0),
        summaries=turns.summaries,
        research_seconds=settings.research.seconds or Limits().seconds,
        files=FileLimits(images=settings.llm is not None and bool(settings.llm.vision_model)),
        pictures=PictureLimits() if turns.pictures else None,
        prompts=turns.prompts,
        log_questions=settings.monitoring.log_questions,
        language=settings.answer.language,
        admins=settings.admins,
        sources=tuple(source.name for source in settings.sources),
        readers_of={name: base.readers for name, base in settings.all_knowledge_bases.items()},
        tag_sets=settings.tag_sets,
        plain_chat=settings.answer.plain_chat and settings.llm is not None,
        channels={
            channel.id: ChannelRule(
                respond=channel.respond,
                knowledge_bases=channel.knowledge_bases,
                filter=channel.filter,
                web=channel.web,
            )
            for channel in settings.channels
        },
        web=settings.web is not None and settings.web.everywhere,
        owners={
            name: owners
            for name, base in settings.all_knowledge_bases.items()
            if (owners := owners_of(base.owners)) is not None
        },
        person_limit=turns.person_limit,
        homes={source.name: source.knowledge_base for source in settings.sources},
        kept_in={source.knowledge_base: source.name for source in settings.sources if source.type == PEOPLE},
    )


def place(conversation: ConversationKey) -> str:
    """Return the reader (and the settings' id) of a conversation's channel."""
    within = f"{conversation.workspace}/" if conversation.workspace and conversation.platform != "telegram" else ""
    return f"{conversation.platform}:{within}{conversation.channel}"


def person(incoming: Incoming) -> str:
    """Return the reader (and the settings' id) of whoever asks."""
    platform = incoming.conversation.platform
    workspace = incoming.asker.workspace or incoming.conversation.workspace
    within = f"{workspace}/" if platform == "slack" else ""
    return f"{platform}:{within}@{incoming.asker.id}"
