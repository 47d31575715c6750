"""The values of questions that go to people: who looks after documents, what was asked, what was said, what stands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bots.platform import Asker, Incoming, Reach, Sent
from bots.rendering.clean import clean_line
from ragcore.types import ConversationKey

LONGEST_TITLE = 200
"""Characters of a question as the title of a document."""
LONGEST_QUESTION = 4_000
"""Characters of a question that are kept: what is longer is a document itself."""
LONGEST_REPLY = 20_000
"""Characters of a reply that are kept: more than any platform takes in one message but Slack's longest."""

LONGEST_NAME, MOST_NAMED = 120, 10
"""Characters of a file's name, and files, that are named where one is attached to a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """Who looks after a knowledge base: a channel (as a reader), and the people in it who decide; empty: all there."""

    place: str
    people: frozenset[str] = frozenset()

    @property
    def platform(self) -> str:
        """Return the platform of their channel."""
        return self.place.partition(":")[0]

    @property
    def conversation(self) -> ConversationKey:
        """Return their channel as a conversation without a thread."""
        platform, _, where = self.place.partition(":")
        workspace, slash, channel = where.rpartition("/")
        return ConversationKey(platform=platform, workspace=workspace if slash else "", channel=channel)

    def has(self, person: str, where: str) -> bool:
        """Return whether somebody who wrote or pressed in a channel is one of them there (both are readers)."""
        return where == self.place and (not self.people or person in self.people)


def owners_of(named: Sequence[str]) -> Owners | None:
    """Return the owners that the settings name, the channel first; None: nobody."""
    return Owners(place=named[0], people=frozenset(named[1:])) if named else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question that was taken to owners. ``asker`` is a reader; ``incoming`` is what it is answered by, tokenless.

    ``direct``: they are written to directly, for where they asked others would see it.
    """

    reference: str
    knowledge_base: str
    asker: str
    question: str
    incoming: Incoming
    asked_at: datetime
    direct: bool = False

    @property
    def title(self) -> str:
        """Return the question on one line, as a title."""
        return title_of(self.question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an owner said to a question; ``is_kept``: it is a document."""

    id: str
    reference: str
    knowledge_base: str
    title: str
    author: str
    text: str
    incoming: Incoming
    said_at: datetime
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    accepted_at: datetime | None = None
    removed_at: datetime | None = None

    @property
    def is_kept(self) -> bool:
        """Return whether it was accepted, and neither removed nor deleted since."""
        return self.accepted_at is not None and self.removed_at is None and self.deleted_at is None


class Kind(StrEnum):
    """What is to stand, or to be done."""

    CARD = "card"
    """The question, in the owners' channel."""
    COPY = "copy"
    """A reply, where the question was asked."""
    NOTE = "note"
    """What became of a reply, below it, with the button that keeps it."""
    SORRY = "sorry"
    """That the owners could not be reached, where the question was asked."""
    KEPT = "kept"
    """The document in the index, there or gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Something that is to stand, as whoever took it found it.

    ``wanted`` is how often it was wanted until then, and ``lease`` tells its taker from a later one. ``sent`` is what
    stands of it, part by part. ``doubtful``: an earlier try came to no known end. ``faults`` counts the tries in vain.
    """

    key: str
    kind: Kind
    reference: str
    reply: str
    wanted: int
    lease: float
    sent: tuple[Sent, ...] = field(default=())
    doubtful: bool = False
    faults: int = 0


def title_of(question: str) -> str:
    """Return a question on one line, shortened to a title."""
    line = clean_line(question)
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1].rstrip()}…"


def said_in(incoming: Incoming) -> str:
    """Return what an owner said, as Markdown: their words, and the names of what is attached; empty for nothing."""
    names = [clean_line(file.name or file.media_type or "?").replace("`", "'") for file in incoming.attachments]
    attached = f"\U0001f4ce {', '.join(f'`{name[:LONGEST_NAME]}`' for name in names[:MOST_NAMED])}" if names else ""
    words = incoming.text.strip()[: LONGEST_REPLY - len(attached) - 2]
    return "\n\n".join(filter(None, (words, attached)))


def written_in(conversation: ConversationKey, moment: datetime, seen_by: frozenset[str] = frozenset()) -> Incoming:
    """Return what a message of our own accord answers, as far as a platform needs to know: its place alone."""
    return Incoming(
        keys=(),
        conversation=conversation,
        message="",
        asker=Asker(id=""),
        text="",
        reach=Reach.COMMAND,
        sent_at=moment,
        seen_by=seen_by,
    )
