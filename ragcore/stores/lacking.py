"""How the row of a document says that something of it is still to be had, and from when on that is tried again.

The words of a picture, for one, while the model that describes it can't be reached: the document is live without, and
stands in its row under a marked pipeline and a marked hash. Pure.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from ragcore.stores.failures import FIRST_RETRY, LAST_RETRY
from ragcore.stores.rows import digest

PIPELINE_DIGITS = 40
"""Of the fingerprint of a pipeline: with a mark it stays under the 64 characters of its column."""
_MARK = "~"
_MOST_ATTEMPTS = 99


def lacking_pipeline(pipeline: str, *, attempts: int, now: datetime) -> str:
    """Return a pipeline with the mark that its document lacks something after so many attempts.

    The wait for the next one doubles from an hour to a day, as for documents that can't be read.
    """
    wait = min(FIRST_RETRY * 2 ** min(attempts - 1, 10), LAST_RETRY)
    return f"{pipeline}{_MARK}{min(attempts, _MOST_ATTEMPTS)}{_MARK}{int((now + wait).timestamp())}"


def lacking_hash(hashed: str, had: Sequence[str]) -> str:
    """Return the hash of a document that lacks something; ``had`` is what it has of the kind."""
    return f"{_stem(hashed)}{digest(*had)[:20]}"


def is_lacking(pipeline: str) -> bool:
    """Tell whether a document lacks something, by the pipeline of its row."""
    return _MARK in pipeline


def whole_pipeline(pipeline: str) -> str:
    """Return the pipeline of a row without a mark."""
    return pipeline.partition(_MARK)[0]


def attempts_of(pipeline: str) -> int:
    """Return after how many attempts a document lacks something; 0 where it lacks nothing."""
    return int(pipeline.split(_MARK)[1]) if is_lacking(pipeline) else 0


def is_hash_of(kept: str, hashed: str) -> bool:
    """Tell whether the hash of a row, marked or not, is that of a document."""
    return kept == hashed or kept.startswith(_stem(hashed))


def holds(kept: str, pipeline: str, now: datetime) -> bool:
    """Tell whether a document that was read under the pipeline of its row need not be read anew under this one now."""
    if kept == pipeline:
        return True
    alone, *mark = kept.split(_MARK)
    if alone != pipeline or not mark:
        return False
    until = datetime.fromtimestamp(int(mark[1]), UTC)
    return now < until <= now + LAST_RETRY  # beyond that, the clock was wrong


def _stem(hashed: str) -> str:
    return f"{digest(hashed, 'lacking')[:40]}{_MARK}"
