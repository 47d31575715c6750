"""What a sync run of a source tells: progress while it runs, and a report at its end."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ragcore.types import Usage


class Fault(StrEnum):
    """Of what kind the fault was that ended a run, as far as what to do next depends on it."""

    NONE = ""
    AUTH = "auth"
    """The credential was refused: the source pauses until it changes."""
    RATE_LIMITED = "rate_limited"
    GONE = "gone"
    """The place itself isn't there."""
    UNREACHABLE = "unreachable"
    """It may pass."""
    BAD_REPLY = "bad_reply"
    """It answered with something else than what was due."""
    OTHER = "other"
    """A model, a store, or a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    """So many documents are done, of about ``total`` (None: not known); ``document_id`` was the last of them.

    With a ``stage`` ("reading", "cutting", "embedding", "writing") ``document_id`` is the one under way, and ``share``
    of that stage is done, from 0 to 1. ``reached`` is ``done`` and what is done of those under way: it never falls,
    for a bar to show.
    """

    source: str
    done: int
    failed: int = 0
    total: int | None = None
    document_id: str = ""
    reached: float = 0.0
    stage: str = ""
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedDocument:
    """A document that could not be read, why, and what its owner can do. Its old version, if any, stays live.

    ``is_empty``: there is nothing in it to read, as this run has found. ``next_try_at`` is when it is tried again by
    itself, where that is known.
    """

    id: str
    reason: str
    mend: str
    is_empty: bool = False
    next_try_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a run did, or with ``dry_run`` would have done.

    ``failed`` names every document of the source that fails at present, also those not tried again in this run.
    ``warnings`` are remarks in words (deletions held back, and of documents that were read what could not be:
    hidden sheets, pages that are images). ``error`` is why the run as a whole ended early, "" when it
    did not, and ``fault`` of what kind that was; ``retry_after`` are the seconds that the source asked to wait.
    ``usage`` is what a model was asked to describe pictures; ``cached`` descriptions stood from before. In a dry run it
    is about what that would take. ``added_ids`` and the like are filled in a dry run alone.
    """

    source: str
    added: int = 0
    changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: tuple[FailedDocument, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    error: str = ""
    fault: Fault = Fault.NONE
    retry_after: float = 0.0
    usage: Usage = Usage()
    cached: int = 0
    dry_run: bool = False
    added_ids: tuple[str, ...] = ()
    changed_ids: tuple[str, ...] = ()
    deleted_ids: tuple[str, ...] = ()

    @property
    def is_success(self) -> bool:
        """Tell whether the run ended well and every document could be read."""
        return not self.error and not self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichProgress:
    """So many of ``total`` documents of a knowledge base are enriched, with so many calls of the model."""

    knowledge_base: str
    done: int
    total: int
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unenriched:
    """A document that lacks some of its enrichment, and can be found without.

    ``chunks`` are how many lack some, 0 where only the document as a whole does. Of what is made of many documents
    together ``document_id`` is the knowledge base.
    """

    document_id: str
    chunks: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why so many of something are lacking: the last ``reason`` in words, and the ``mend``, "" where none is known."""

    reason: str
    count: int
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Without:
    """What there is nothing of that a model was asked for.

    ``setting`` switches it on; ``count`` are so many of what ``of`` names ("chunk", "document"), of which the endpoint
    ``refused`` the content of some. ``reasons`` are why, the most frequent first. It is asked about no more, or with
    ``again`` at the next sync.
    """

    setting: str
    of: str
    count: int
    refused: int = 0
    reasons: tuple[Why, ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichReport:
    """What was added to a knowledge base by a model, or with ``dry_run`` about what it would take.

    ``documents`` were enriched, and ``summaries`` of many documents together written. ``usage`` is what the model was
    asked for; ``cached`` results stood from before. ``most_tag_calls``, with ``dry_run`` alone, may come on top:
    one for each chunk that is not indexed yet, which a tag set may leave to the model.
    ``failed`` documents are tried again at the next sync; ``without`` is what the knowledge base is done without, also
    from before. ``error`` is why it ended early, "" when it did not.
    """

    knowledge_base: str
    documents: int = 0
    chunks: int = 0
    summaries: int = 0
    usage: Usage = Usage()
    cached: int = 0
    most_tag_calls: int = 0
    failed: tuple[Unenriched, ...] = ()
    without: tuple[Without, ...] = ()
    seconds: float = 0.0
    error: str = ""
    dry_run: bool = False
