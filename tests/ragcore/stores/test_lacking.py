"""A document that lacks something is left alone until it is time to try again, and its marks fit their columns."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from ragcore.stores.failures import FIRST_RETRY, LAST_RETRY
from ragcore.stores.lacking import (
    PIPELINE_DIGITS,
    attempts_of,
    holds,
    is_hash_of,
    is_lacking,
    lacking_hash,
    lacking_pipeline,
    whole_pipeline,
)
from ragcore.stores.rows import digest

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
pipelines = st.text().map(lambda text: digest(text)[:PIPELINE_DIGITS])
hashes = st.text().map(digest)


@given(pipelines, st.integers(1, 500))
def test_it_is_due_after_the_wait_and_not_before(pipeline: str, attempts: int) -> None:
    kept = lacking_pipeline(pipeline, attempts=attempts, now=NOW)
    assert len(kept) <= 64
    assert is_lacking(kept)
    assert whole_pipeline(kept) == pipeline
    assert attempts_of(kept) == min(attempts, 99)
    assert holds(kept, pipeline, NOW + FIRST_RETRY - timedelta(seconds=2))
    assert not holds(kept, pipeline, NOW + LAST_RETRY)
    assert holds(kept, pipeline, NOW + FIRST_RETRY) == (attempts > 1)
    assert not holds(kept, pipeline, NOW - LAST_RETRY), "the clock was wrong when it was tried"
    assert not holds(kept, "another", NOW)


@given(pipelines)
def test_what_lacks_nothing_holds_under_its_own_pipeline_alone(pipeline: str) -> None:
    assert holds(pipeline, pipeline, NOW)
    assert not holds(pipeline, "another", NOW)
    assert not is_lacking(pipeline)
    assert (attempts_of(pipeline), whole_pipeline(pipeline)) == (0, pipeline)


@given(hashes, hashes, st.lists(st.text()), st.lists(st.text()))
def test_a_marked_hash_tells_its_document_and_what_it_has(one: str, other: str, had: list[str], has: list[str]) -> None:
    marked = lacking_hash(one, had)
    assert len(marked) <= 64
    assert is_hash_of(one, one)
    assert is_hash_of(marked, one)
    assert marked != one
    assert is_hash_of(marked, other) == (one == other)
    assert (lacking_hash(one, has) == marked) == (had == has)
