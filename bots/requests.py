"""What can be asked of the process that holds the data, and what it answers: one set, in-process and over the socket.

Each request is answered by a stream of events. ``Ask`` gives ``Status``, ``Delta`` and one ``Answer``; ``Search`` one
``Found``; ``Sync`` gives ``SyncProgress`` and one ``SyncReport`` a source; ``ListSources`` one ``SourceState`` a
source; ``ListFeedback`` one ``Judgement`` a vote and one ``Unanswered`` a question; ``Diagnose`` one ``Check`` each;
``Backup`` one ``BackedUp``; ``Forget`` one ``Forgotten``; ``Recall`` one ``Recalled``, or none; ``Describe`` one
``Described``; ``Show`` one ``Shown`` a chunk; ``Why`` one ``Explained``, or none, as does ``Ask`` before its ``Answer``
where it is to tell ``why``; ``ListPeople`` one ``PersonReply`` a reply, ``DropReply`` one.
``Summarise`` gives ``Status`` and one ``Answer``, without words where there was nothing to tell; the stage ``read``
tells how many of the messages, the newest, were read.

Long because it is the one set of what can be asked and answered, each a few lines.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bots.counting import DocumentCount
from ragcore.gist.values import Said
from ragcore.reports import EnrichReport, FailedDocument, Fault, SyncProgress, SyncReport
from ragcore.research.values import Progress
from ragcore.trace import Trace
from ragcore.types import Answer, Citation, ConversationKey, Delta, Image, Message, ScoredChunk, Status, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Answer a question.

    ``knowledge_bases`` narrows what is searched, empty means all that may be read, and so does ``filter``, written as
    ``ragcore.filter_grammar`` reads it. ``audience`` are the readers that see the answer (bots.access); None is the
    operator. Who ``may_mend`` the settings is told what to change in them.

    With a ``conversation`` its history is recalled (as far as it was said to the same audience, and not to a question
    ``of_its_own``), and the turn is remembered under its ``reference``, in place of what that had. ``private_to`` is
    who alone sees the answer, where it is one person. ``thread`` is what else was said there before: it follows the
    history. ``attached`` are the texts of files beside the question, ``author`` is who asked, by name. ``typed_by``
    tells who typed it from others, "" where nobody did: what somebody typed here before may go to the web along with
    a question of theirs that leans on it. ``web``: whether the web may be searched beside the documents, where an
    engine is set up. With ``research`` it is searched for in rounds, each step of which is told as ``Progress``; one
    with a ``reference`` goes on after a crash. ``why`` is for the operator alone: nothing of the trace is left out.
    """

    question: str
    knowledge_bases: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    filter: str = ""
    audience: frozenset[str] | None = None
    may_mend: bool = False
    private_to: str = ""
    conversation: ConversationKey | None = None
    of_its_own: bool = False
    reference: str = ""
    author: str = ""
    typed_by: str = ""
    thread: tuple[Message, ...] = ()
    attached: tuple[Message, ...] = ()
    web: bool = False
    research: bool = False
    why: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Find chunks that the audience may read (None: the operator), without a model; ``limit`` chunks at most."""

    query: str
    knowledge_bases: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    filter: str = ""
    limit: int = 10
    audience: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """Run sources, all of them when none is named.

    ``full`` reads everything anew and deletes whatever is missing without waiting for a second run to agree; with
    ``ask_first`` a ``Doubt`` comes before it deletes much, and waits for a ``Decide``. ``dry_run`` changes nothing.
    ``scheduled``: the timetable asks, and holds the lease; failed documents are tried when they are due, not now.
    ``enrich``: what a model is to add to the documents is a part of it, and ends in an ``EnrichReport`` a knowledge
    base; else that goes on in the background, where the process does such things.
    """

    sources: tuple[str, ...] = ()
    full: bool = False
    dry_run: bool = False
    ask_first: bool = False
    scheduled: bool = False
    enrich: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """Answer a ``Doubt``."""

    doubt: str
    agreed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSources:
    """Tell how each source stands whose documents the audience may read; None: the operator."""

    audience: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFeedback:
    """Tell how readers judged answers, and which questions were left without one, each newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnose:
    """Check everything; ``repair`` mends what can be mended."""

    repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """Write all of the data directory to one file; ``path`` is absolute."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Forget a conversation, or of it the turn with the reference alone."""

    conversation: ConversationKey
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Return the turn with this reference, as far as the audience may read what it rests on.

    ``knowledge_bases`` narrows what may be read, empty means all that the audience may. ``chunks`` are those that the
    answer was written from: what they allow to be linked is told again.
    """

    reference: str
    audience: frozenset[str] | None = None
    knowledge_bases: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe:
    """Put a picture that stands beside a question (perhaps an empty one) into words, by ``llm.vision_model``."""

    image: Image
    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """Draw these chunks as they stand on their pages, as far as the audience (None: the operator) may read them."""

    chunks: tuple[str, ...]
    audience: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Tell how an answer came about: the one with the reference, else the newest of the conversation or its channel.

    As far as the ``audience`` (None: the operator) may read it in these knowledge bases (empty: all that it may), and
    what one person alone saw only to that ``person``.
    """

    conversation: ConversationKey
    reference: str = ""
    audience: frozenset[str] | None = None
    knowledge_bases: tuple[str, ...] = ()
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPeople:
    """Tell what people replied where the documents did not know, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropReply:
    """Let the reply of this id be no document any longer."""

    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Summarise these messages, which whoever sees the answer may read; nothing of them is kept.

    Each ``sent_at`` has the time zone in which it is told; ``language`` is that of the summary, as a code.
    """

    messages: tuple[Said, ...]
    language: str = "en"


AtOnce = (
    Search | Decide | ListSources | ListFeedback | Forget | Recall | Backup | Describe | Why | ListPeople | DropReply
)
"""What is answered without progress to tell of."""

Request = (
    Ask
    | Summarise
    | Search
    | Sync
    | Decide
    | ListSources
    | ListFeedback
    | Diagnose
    | Backup
    | Forget
    | Recall
    | Describe
    | Show
    | Why
    | ListPeople
    | DropReply
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first; ``notes`` are remarks for whoever asked, in words."""

    chunks: tuple[ScoredChunk, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A full run is about to delete so many documents of a source; ``id`` is what a ``Decide`` names."""

    id: str
    source: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """How a source stands.

    ``fault`` is of what kind the last run's fault was, where it broke off. ``failed`` are the documents that could not
    be read, for the operator alone. ``is_paused``: it isn't run before its credential changes. ``is_stale``: it has
    missed three of its runs.
    """

    name: str
    type: str
    knowledge_base: str
    documents: int
    chunks: int
    last_success: datetime | None = None
    last_error: str = ""
    next_run: datetime | None = None
    fault: Fault = Fault.NONE
    failed: tuple[FailedDocument, ...] = ()
    is_paused: bool = False
    is_stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """A passage that the prompt of an answer held: ``[ID:id]`` names it; ``number`` is what readers saw, 0: uncited."""

    id: int
    number: int
    chunk_id: str
    document_id: str
    title: str
    url: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A reader's vote on one answer, with what was asked and answered as it was then, ``[ID:n]`` markers included.

    Question, answer and chunks are empty when they had been forgotten before the vote.
    """

    reference: str
    platform: str
    voter: str
    side: Literal["up", "down"]
    reason: str
    question: str
    answer: str
    chunks: tuple[ReadChunk, ...]
    voted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A question that got no answer; ``outcome`` says why (``bots.turn.claims.claim.Outcome``)."""

    reference: str
    platform: str
    asker: str
    question: str
    outcome: str
    asked_at: datetime


CheckState = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of the doctor: what was found, and, unless all is well, how to mend it."""

    name: str
    state: CheckState
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup was written; ``size`` in bytes."""

    path: str
    size: int
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The conversation is forgotten; ``turns`` were dropped."""

    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A turn as it was: ``answer`` with markers, the citations that may be read, how many documents may not.

    ``withheld`` counts all that it may repeat, cited or not, also by way of what was recalled into it.
    ``allowed_urls`` are the addresses that may be links in it, as far as its chunks are still known. ``given`` tells
    how many passages of each document it was written from, of those that may be read.
    """

    question: str
    answer: str
    citations: tuple[Citation, ...] = ()
    withheld: int = 0
    allowed_urls: frozenset[str] = frozenset()
    given: tuple[DocumentCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a picture shows, its words first, and what that took; empty when there is nothing to tell."""

    text: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A chunk as a picture cut from its pages, and which these are; without one, why, in words for the operator."""

    chunk_id: str
    image: Image | None = None
    pages: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How the answer with this reference ("" on the terminal) came about."""

    reference: str
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReply:
    """What a person replied to a question (``reference``, that of its turn); ``is_kept``: it is a document."""

    id: str
    reference: str
    knowledge_base: str
    question: str
    text: str
    author: str
    said_at: datetime
    document_id: str
    is_kept: bool


Event = (
    Status
    | Progress
    | Delta
    | Answer
    | Found
    | SyncProgress
    | Doubt
    | SyncReport
    | EnrichReport
    | SourceState
    | Judgement
    | Unanswered
    | Check
    | BackedUp
    | Forgotten
    | Recalled
    | Described
    | Shown
    | Explained
    | PersonReply
)
