"""What the clients of chat and of embeddings both make of an endpoint's failures: one mapping, run through each."""

import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ragcore.errors import (
    ModelAuthError,
    ModelContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.models.endpoint import with_retries
from ragcore.models.error_text import RUN, TELLING
from ragcore.models.openai_chat import OpenAIChatModel
from ragcore.models.openai_embeddings import OpenAIEmbedder
from ragcore.models.openai_errors import clean, retry_after, transport_errors
from tests.fakes.full_backlog import full_backlog
from tests.fakes.openai_server import Behaviour, Drop, Failure, Hang, OpenAIServer
from tests.ragcore.models.llm_calls import FAST, KEY, collect

AT_ONCE = {"Retry-After": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How one of the two clients is asked."""

    section: str
    ask: Callable[..., Awaitable[object]]
    queue: Callable[[OpenAIServer, Sequence[Behaviour]], None]


async def chat(base_url: str, *, attempts: int = 2, seconds: float = 5.0, connect: float = 5.0) -> object:
    limits = replace(FAST, attempts=attempts, first_token=seconds, connect=connect)
    model = OpenAIChatModel(base_url=base_url, model="m", api_key=KEY, limits=limits)
    try:
        return await collect(model)
    finally:
        await model.close()


async def embeddings(base_url: str, *, attempts: int = 2, seconds: float = 5.0, connect: float = 5.0) -> object:
    model = OpenAIEmbedder(
        base_url=base_url, model="m", api_key=KEY, attempts=attempts, timeout=seconds, connect_timeout=connect
    )
    try:
        return await model.embed(["What is it?"])
    finally:
        await model.close()


CHAT = Calls(section="llm", ask=chat, queue=lambda server, behaviours: server.queue(*behaviours))
EMBEDDINGS = Calls(
    section="embedding", ask=embeddings, queue=lambda server, behaviours: server.queue_embeddings(*behaviours)
)


@pytest.fixture(params=[CHAT, EMBEDDINGS], ids=lambda calls: calls.section)
def calls(request: pytest.FixtureRequest) -> Calls:
    chosen = request.param
    assert isinstance(chosen, Calls)
    return chosen


async def failing(calls: Calls, server: OpenAIServer, *behaviours: Behaviour, **limits: float) -> ModelError:
    """Return the error that the behaviours end in."""
    calls.queue(server, behaviours)
    with pytest.raises(ModelError) as raised:
        await calls.ask(server.base_url, **limits)
    return raised.value


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=401, message=f"Incorrect API key provided: {KEY}"), ModelAuthError),
        (Failure(status=403, message="no access"), ModelAuthError),
        (Failure(status=402, message="Insufficient Balance"), ModelAuthError),
        (Failure(status=403, message="Your input was flagged: requires moderation"), ModelRefused),
        (Failure(status=400, message="x", code="context_length_exceeded"), ModelContextTooLong),
        (Failure(status=400, message="This model's maximum context length is 4096 tokens."), ModelContextTooLong),
        (
            Failure(
                status=400,
                body={"object": "error", "message": "The decoder prompt (length 9000) is longer than the maximum "
                      "model length of 8192.", "type": "BadRequestError", "code": 400},
            ),
            ModelContextTooLong,
        ),
        (
            Failure(
                status=400,
                body={"error": {"code": 400, "message": "the request exceeds the available context size. try "
                      "increasing the context size", "type": "exceed_context_size_error", "n_ctx": 4096}},
            ),
            ModelContextTooLong,
        ),
        (Failure(status=500, message="the input length exceeds the context length"), ModelContextTooLong),
        (Failure(status=400, message="prompt is too long: 200001 tokens > 200000 maximum"), ModelContextTooLong),
        (Failure(status=413, body="payload too large"), ModelContextTooLong),
        (Failure(status=400, message="blocked", code="content_filter"), ModelRefused),
        (Failure(status=404, message="model 'fake' not found"), ModelError),
        (Failure(status=422, body={"detail": "bad field"}), ModelError),
        (Failure(status=400, body="<html>Bad Gateway of sorts</html>"), ModelError),
        (Failure(status=429, message="You exceeded your current quota", code="insufficient_quota"), ModelRateLimited),
        (Failure(status=400, message="x", code="content_policy_violation"), ModelRefused),
    ],
)  # fmt: skip
async def test_final_at_once(calls: Calls, server: OpenAIServer, failure: Failure, kind: type[ModelError]) -> None:
    error = await failing(calls, server, failure)
    assert type(error) is kind
    assert len(server.requests) == 1
    assert KEY not in repr(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


ASKED = "What is it?"
REPEATED = {"type": "missing", "loc": ["body", "n"], "msg": "Field required", "input": {"content": ASKED}}


@pytest.mark.parametrize(
    "failure",
    [
        Failure(status=422, body={"detail": [REPEATED]}),
        Failure(status=400, message=f"Field required in {json.dumps(REPEATED)}"),
        Failure(status=400, body=f"Field required: {ASKED}"),
        Failure(status=429, message=f"Field required, {ASKED!r}", code="insufficient_quota"),
    ],
)
async def test_an_error_does_not_repeat_what_was_asked(calls: Calls, server: OpenAIServer, failure: Failure) -> None:
    """Errors go to the log, and a question does not."""
    error = await failing(calls, server, failure)
    assert "Field required" in str(error)
    assert ASKED not in str(error)


def twice(form: Callable[[str], str], other: Callable[[str], str]) -> Callable[[str], str]:
    """Return what writes a text within quotes within quotes."""
    return lambda text: other(f"input: {form(text)}")


FORMS = (str, json.dumps, repr, lambda text: json.dumps(text, ensure_ascii=False))


@given(
    words=st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=8, max_size=60),
    form=st.sampled_from((*FORMS, *(twice(one, other) for one in FORMS for other in FORMS))),
)
@example(words="everything\\", form=json.dumps)
@example(words="公司的年假政策是什么？", form=twice(json.dumps, repr))
@example(words="""What's "flexible" here?""", form=twice(json.dumps, repr))
def test_no_line_of_what_was_sent_is_left(words: str, form: Callable[[str], str]) -> None:
    assume(len(words.replace("\\", "")) >= 8)
    told = clean(f"<<{form(words)}>>", words=[f"Before.\n{words}\nAfter."])
    assert told.replace("[…]", "").replace("input: ", "").strip("<>'\"\\") == ""


def test_a_line_that_is_repeated_in_part_is_hidden_but_for_its_last_words() -> None:
    asked = " ".join(f"thing-{number}" for number in range(2_000))
    for length in (100, 1_000, 10_000):
        told = clean(f"invalid input: {asked[:length]}", words=[asked])
        assert told.startswith("invalid input: […]")
        assert len(told) < 120


@given(
    sent=st.lists(st.text("ab ", max_size=90) | st.text("年假ñ", max_size=30), max_size=3),
    quoted=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 90), st.integers(0, 90)), max_size=3),
    other=st.text("ab年 ", max_size=30),
)
@example(sent=["How much does Jane Doe earn per year in Berlin?"], quoted=[(0, 0, 35)], other="refused")
@example(sent=["公司的年假政策是什么？我想知道。"], quoted=[(0, 2, 12)], other="refused")
def test_of_what_was_sent_no_part_is_left_that_tells_it_and_nothing_else_is_hidden(
    sent: list[str], quoted: list[tuple[int, int, int]], other: str
) -> None:
    parts = [sent[line][start:end] for line, start, end in quoted if line < len(sent)]
    said = " ".join("'…".join([other, *parts, other]).split())
    told = clean(said, words=sent)
    lines = [" ".join(line.split()).encode() for line in sent]
    for shown in told.encode().split("[…]".encode()):
        grams = {shown[at : at + RUN + 6] for at in range(len(shown) - RUN - 5)}
        assert not any(gram in line for gram in grams for line in lines)
        assert shown in said.encode()
    telling = {line[at : at + TELLING] for line in lines for at in range(len(line) - TELLING + 1)}
    if not any(gram in said.encode() for gram in telling):
        assert told == said


@pytest.mark.parametrize("cut", [slice(0, 35), slice(9, 40), slice(20, None)])
def test_a_short_question_that_is_cut_is_hidden(cut: slice) -> None:
    asked = "How much does Jane Doe earn per year in the Berlin office?"
    assert clean(f"refused: '{asked[cut]}...'", words=[asked]).startswith("refused: '[…]")


def test_words_that_any_error_has_are_left() -> None:
    refusal = "the model does not take this many tokens"
    assert clean(refusal, words=["Which model does the plant use?", "Is this many tokens?"]) == refusal


def test_a_whole_prompt_that_is_repeated_keeps_nobody_waiting() -> None:
    """It is read on the event loop; with each line sought in all of it, this took 16 s."""
    prompt = "\n".join(f"Passage {number} says that {number * 7} things are to be told." for number in range(20_000))
    began = time.process_time()
    assert clean(json.dumps({"messages": [{"content": prompt}]}), words=[prompt]) == '{"messages": [{"content": "[…]'
    assert time.process_time() - began < 4.0


@pytest.mark.parametrize(
    "failure", [Failure(status=500, headers=AT_ONCE), Failure(status=503, body="down"), Failure(status=408), Drop()]
)
async def test_what_may_pass_is_tried_again(calls: Calls, server: OpenAIServer, failure: Behaviour) -> None:
    calls.queue(server, [failure])
    await calls.ask(server.base_url)
    assert len(server.requests) == 2
    assert type(await failing(calls, server, failure, failure)) is ModelUnreachable
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_wait_of_over_twenty_seconds_ends_the_call_and_is_told(
    calls: Calls, server: OpenAIServer, status: int
) -> None:
    error = await failing(calls, server, Failure(status=status, headers={"Retry-After": "21"}))
    assert isinstance(error, ModelRateLimited)
    assert error.retry_after == 21
    assert len(server.requests) == 1


async def test_a_short_wait_is_honoured(calls: Calls, server: OpenAIServer) -> None:
    calls.queue(server, [Failure(status=503, headers={"Retry-After": "7", "retry-after-ms": "300"})])
    began = time.monotonic()
    await calls.ask(server.base_url)
    assert 0.3 <= time.monotonic() - began < 5
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "mend"), [(401, "OPENAI_API_KEY or {}.api_key"), (404, "{}.model")])
async def test_the_operator_is_told_what_to_mend(calls: Calls, server: OpenAIServer, status: int, mend: str) -> None:
    assert mend.format(calls.section) in str(await failing(calls, server, Failure(status=status)))


async def test_no_error_tells_a_key(calls: Calls, server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    said = f"bad key {KEY}, {KEY[:12]}***, Bearer abc, gsk_another-key, http://me:word@gateway/v1"
    with caplog.at_level(logging.INFO):
        for status in (400, 401, 403, 422, 429, 500):
            error = await failing(calls, server, Failure(status=status, message=said), attempts=1)
            told = str(error) + repr(error.args) + caplog.text
            assert not [word for word in ("sk-secret", "abc", "another", "me:word") if word in told]
            assert "gateway" in told


async def test_nobody_listens(calls: Calls) -> None:
    """Whoever asked is kept waiting for one more try, whatever the limits allow, and no longer."""
    with pytest.raises(ModelUnreachable, match=rf"no connection.*{calls.section}\.base_url"):
        await calls.ask("http://127.0.0.1:9/v1", attempts=9)


async def test_a_connection_that_hangs_is_given_up_at_its_own_limit(calls: Calls) -> None:
    with full_backlog() as base_url:
        began = time.monotonic()
        with pytest.raises(ModelUnreachable, match=rf"no connection.*{calls.section}\.base_url"):
            await calls.ask(base_url, seconds=15.0, connect=0.3)
        assert 0.6 <= time.monotonic() - began < 10, "two tries of 0.3 s; importing the SDK may come before"


async def test_an_endpoint_that_hangs_is_tried_once_more(calls: Calls, server: OpenAIServer) -> None:
    error = await failing(calls, server, *[Hang()] * 3, attempts=3, seconds=0.3)
    assert type(error) is ModelUnreachable
    assert "in time" in str(error)
    assert len(server.requests) == 2


@pytest.mark.parametrize("cls", transport_errors())
async def test_what_lies_under_the_sdk_becomes_ours(cls: type[Exception]) -> None:
    async def call() -> None:
        raise cls.__new__(cls)

    with pytest.raises(ModelError):
        await with_retries(call, 1, section="embedding")


def test_forms_of_retry_after() -> None:
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "250", "retry-after": "7"}) == 0.25
    assert retry_after({"retry-after-ms": "soon", "retry-after": "7"}) == 7
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None
    then = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)})
    assert then is not None
    assert 85 < then <= 90
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text() | st.floats().map(str)))
def test_a_wait_is_a_number_of_seconds_or_none(headers: Mapping[str, str]) -> None:
    wait = retry_after(headers)
    assert wait is None or (wait >= 0 and math.isfinite(wait))
