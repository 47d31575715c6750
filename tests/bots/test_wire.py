from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots import requests, wire
from bots.requests import Ask, Check, Event
from ragcore import errors
from ragcore.errors import CitebotError, ModelBadOutput, SourceRateLimited, StoreError
from ragcore.reports import SyncReport
from ragcore.types import Answer, Chunk, Citation, ConversationKey, Location, ScoredChunk, SectionKind, Support, Usage

TEXT = st.text(max_size=40)
CHUNK = Chunk(
    id="g-0",
    document_id="docs:a",
    knowledge_base="kb",
    ordinal=0,
    text="年假\n5 days \x1b",
    title="Leave",
    token_count=3,
    kind=SectionKind.TABLE,
    heading_path=("A", "B"),
    location=Location(page=3),
    updated_at=datetime(2026, 1, 2, tzinfo=UTC),
)
ANSWER = Answer(
    question="?",
    raw_text="x [ID:0]",
    support=Support.CITED,
    citations=(
        Citation(number=1, id=0, chunk_id="g-0", document_id="docs:a", title="T", url="u", location="p. 3", quote="q"),
    ),
    chunks=(ScoredChunk(chunk=CHUNK, score=0.5, ranks=MappingProxyType({"dense": 1}), matched=("days",)),),
    notes=("n",),
    usage=Usage(calls=1),
    timings_ms=MappingProxyType({"search": 1.5}),
    allowed_urls=frozenset({"u"}),
)


@given(st.data())
def test_requests_cross_whole(data: st.DataObject) -> None:
    request = data.draw(st.one_of(*(st.from_type(kind) for kind in wire._REQUESTS.values())))
    line = wire.encode_request(request)
    assert line.count(b"\n") == 1
    assert wire.decode_request(line) == request


@given(st.data())
def test_events_cross_whole(data: st.DataObject) -> None:
    kinds = [kind for name, kind in wire._EVENTS.items() if name not in {"Answer", "Found"}]
    aware = st.datetimes(timezones=st.just(UTC))
    st.register_type_strategy(datetime, aware)
    st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))  # no figure of ours is either
    event: Event = data.draw(st.one_of(*(st.from_type(kind) for kind in kinds)))
    assert wire.decode_event(wire.encode_event(event)) == event


@pytest.mark.parametrize("event", [ANSWER, requests.Found(chunks=ANSWER.chunks)])
def test_answers_cross_whole(event: Event) -> None:
    assert wire.decode_event(wire.encode_event(event)) == event


def test_the_end_is_no_event() -> None:
    assert wire.decode_event(wire.encode_end()) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.ConfigError("mend it"), errors.ConfigError),
        (SourceRateLimited("wait", retry_after=3.0), errors.SourceError),
        (ModelBadOutput("no", raw="x"), errors.ModelError),
        (CitebotError("plain"), CitebotError),
    ],
)
def test_errors_arrive_as_errors(error: CitebotError, kind: type[CitebotError]) -> None:
    with pytest.raises(kind, match=str(error)):
        wire.decode_event(wire.encode_error(error))


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"nonsense", b'{"protocol": 0, "request": "Ask", "value": {}}'])
def test_other_versions_are_told(line: bytes) -> None:
    with pytest.raises(StoreError):
        wire.decode_request(line)
    with pytest.raises(StoreError):
        wire.decode_event(line)


def test_a_wrong_value_is_told() -> None:
    line = wire.encode_request(Ask(question="?")).replace(b'"question":"?"', b'"question":{}')
    with pytest.raises(StoreError):
        wire.decode_request(line)


def test_a_conversation_crosses() -> None:
    asked = Ask(question="?", conversation=ConversationKey(platform="terminal", thread="1"))
    assert wire.decode_request(wire.encode_request(asked)) == asked
    assert wire.decode_event(wire.encode_event(Check(name="a", state="ok", found="b"))) is not None
    assert wire.decode_event(wire.encode_event(SyncReport(source="a"))) == SyncReport(source="a")
