"""What the row of a document says of how it was read, beyond the pipeline that all documents share.

Which readers it would have needed, for one: OCR that was not installed, a model that describes pictures, or one that
could not be reached. So another model, or OCR that is there now, makes those documents alone due that it concerns. It
stands as marks behind the pipeline. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragcore.stores.failures import FIRST_RETRY, LAST_RETRY
from ragcore.stores.rows import digest

PIPELINE_DIGITS = 32
"""Of the fingerprint of a pipeline: with its marks it stays under the 64 characters of its column."""
_MARK = "~"
_MOST_ATTEMPTS = 99
_MODEL_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """What reads documents besides the parser: a model for pictures by its fingerprint ("": none), and OCR."""

    describe: str = ""
    ocr: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HowRead:
    """How a document was read, as it stands in its row.

    ``described`` tells that it shows pictures, and by which model (``model_mark``) they were described, "" by none;
    None: it shows none.
    ``lacks_ocr``: it has words that only OCR reads, and that was not there. After ``attempts`` something of it is still
    to be had, and it is tried again ``until`` then (seconds since 1970); 0 attempts: nothing is.
    """

    pipeline: str
    described: str | None = None
    lacks_ocr: bool = False
    attempts: int = 0
    until: int = 0

    def trying_again(self, attempts: int, now: datetime) -> "HowRead":
        """Return the same with something that is still to be had after so many attempts.

        The wait for the next one doubles from an hour to a day, as for documents that can't be read.
        """
        wait = min(FIRST_RETRY * 2 ** min(attempts - 1, 10), LAST_RETRY)
        return replace(self, attempts=min(attempts, _MOST_ATTEMPTS), until=int((now + wait).timestamp()))

    def __str__(self) -> str:
        """Return it as it stands in the row; at most 64 characters."""
        marks = [
            *([f"p{self.described}"] if self.described is not None else []),
            *(["o"] if self.lacks_ocr else []),
            *([f"a{self.attempts}.{self.until}"] if self.attempts else []),
        ]
        return _MARK.join([self.pipeline, *marks])


def how_read(kept: str) -> HowRead:
    """Return how a document was read, by the pipeline of its row."""
    pipeline, *marks = kept.split(_MARK)
    found = HowRead(pipeline=pipeline)
    for mark in marks:
        if mark.startswith("p"):
            found = replace(found, described=mark[1:])
        elif mark == "o":
            found = replace(found, lacks_ocr=True)
        else:
            attempts, _, until = mark[1:].partition(".")
            found = replace(found, attempts=int(attempts), until=int(until))
    return found


def holds(kept: str, pipeline: str, readers: Readers, now: datetime) -> bool:
    """Tell whether a document that was read as its row says need not be read anew under this pipeline now."""
    if kept == pipeline:
        return True
    was = how_read(kept)
    if was.pipeline != pipeline or (was.lacks_ocr and readers.ocr):
        return False
    if was.described is not None and was.described != model_mark(readers.describe):
        return False
    until = datetime.fromtimestamp(was.until, UTC)
    return not was.attempts or now < until <= now + LAST_RETRY  # beyond that, the clock was wrong


def lacking_hash(hashed: str, had: Sequence[str]) -> str:
    """Return the hash of a document that lacks something; ``had`` is what it has of the kind."""
    return f"{_stem(hashed)}{digest(*had)[:20]}"


def is_hash_of(kept: str, hashed: str) -> bool:
    """Tell whether the hash of a row, marked or not, is that of a document."""
    return kept == hashed or kept.startswith(_stem(hashed))


def model_mark(name: str) -> str:
    """Return how a model's fingerprint stands in a row, "" for none."""
    return digest(name)[:_MODEL_DIGITS] if name else ""


def _stem(hashed: str) -> str:
    return f"{digest(hashed, 'lacking')[:40]}{_MARK}"
