"""A document that lacks something is left alone until that can be had, and its marks fit their columns."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from ragcore.stores.failures import FIRST_RETRY, LAST_RETRY
from ragcore.stores.lacking import (
    PIPELINE_DIGITS,
    HowRead,
    Readers,
    holds,
    how_read,
    is_hash_of,
    lacking_hash,
    model_mark,
)
from ragcore.stores.rows import digest

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
pipelines = st.text().map(lambda text: digest(text)[:PIPELINE_DIGITS])
hashes = st.text().map(digest)
models = st.sampled_from(["", "model-1", "model-2"])
read = st.builds(
    HowRead,
    pipeline=pipelines,
    described=st.none() | models.map(model_mark),
    lacks_ocr=st.booleans(),
    attempts=st.just(0),
    until=st.just(0),
)


@given(read, st.integers(0, 500))
def test_it_comes_back_from_its_row_and_fits_there(how: HowRead, attempts: int) -> None:
    how = how.trying_again(attempts, NOW) if attempts else how
    assert len(str(how)) <= 64
    assert how_read(str(how)) == how
    assert how.attempts == min(attempts, 99)


@given(read, models, st.booleans())
def test_it_is_due_where_a_reader_that_it_needs_is_another_one(how: HowRead, model: str, ocr: bool) -> None:
    due = (how.described is not None and how.described != model_mark(model)) or (how.lacks_ocr and ocr)
    assert holds(str(how), how.pipeline, Readers(describe=model, ocr=ocr), NOW) == (not due)
    assert not holds(str(how), "another", Readers(describe=model, ocr=ocr), NOW)


@given(pipelines, models, st.booleans())
def test_what_needs_no_reader_never_asks_for_one(pipeline: str, model: str, ocr: bool) -> None:
    assert holds(pipeline, pipeline, Readers(describe=model, ocr=ocr), NOW)
    assert how_read(pipeline) == HowRead(pipeline=pipeline)


@given(read, st.integers(1, 500))
def test_it_is_tried_again_after_the_wait_and_not_before(how: HowRead, attempts: int) -> None:
    how = replace(how, described=None, lacks_ocr=False).trying_again(attempts, NOW)

    def is_left(now: datetime) -> bool:
        return holds(str(how), how.pipeline, Readers(), now)

    assert is_left(NOW + FIRST_RETRY - timedelta(seconds=2))
    assert is_left(NOW + FIRST_RETRY) == (attempts > 1)
    assert not is_left(NOW + LAST_RETRY)
    assert not is_left(NOW - LAST_RETRY), "the clock was wrong when it was tried"


@given(hashes, hashes, st.lists(st.text()), st.lists(st.text()))
def test_a_marked_hash_tells_its_document_and_what_it_has(one: str, other: str, had: list[str], has: list[str]) -> None:
    marked = lacking_hash(one, had)
    assert len(marked) <= 64
    assert is_hash_of(one, one)
    assert is_hash_of(marked, one)
    assert marked != one
    assert is_hash_of(marked, other) == (one == other)
    assert (lacking_hash(one, has) == marked) == (had == has)
