"""Rerankers over HTTP: both requests, all answers, and whatever a server may do wrong."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import (
    ConfigError,
    ModelAuthError,
    ModelBadOutput,
    ModelError,
    ModelRateLimited,
    ModelUnreachable,
)
from ragcore.models.http_reranker import MOST_TEXTS, Endpoint, HttpReranker, _scores
from ragcore.models.rerankers import Reranked
from tests.fakes.ports import free_port
from tests.fakes.rerank_server import RerankServer, Row

KEY = "jina_very_secret_key"
TEXTS = ["#1# canteen", "#9# leave", "#5# travel"]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


async def reranked(server: RerankServer, texts: list[str] = TEXTS, **options: Any) -> Reranked:
    reranker = HttpReranker(Endpoint(**{"base_url": server.url, "model": "fake", "api_key": KEY} | options))
    try:
        return await reranker.rerank("How many days?", texts)
    finally:
        await reranker.close()


async def test_documents_are_asked_as_jina_and_cohere_take_them(server: RerankServer) -> None:
    found = await reranked(server, extra_body={"return_documents": False})
    assert (found.order, dict(found.scores)) == ((1, 2, 0), {0: 0.1, 1: 0.9, 2: 0.5})
    asked = server.requests[0]
    assert (asked.path, asked.headers["authorization"]) == ("/v1/rerank", f"Bearer {KEY}")
    assert asked.body == {
        "model": "fake", "query": "How many days?", "documents": TEXTS, "top_n": 3, "return_documents": False,
    }  # fmt: skip


async def test_texts_are_asked_as_tei_takes_them_some_at_a_time(server: RerankServer) -> None:
    server.change = lambda rows: rows
    texts = [f"#{number % 10}#" for number in range(MOST_TEXTS + 3)]
    found = await reranked(server, texts, style="texts", model="", api_key="")
    assert [len(request.body["texts"]) for request in server.requests] == [MOST_TEXTS, 3]
    assert server.requests[0].body.keys() == {"query", "texts", "raw_scores", "truncate"}
    assert "authorization" not in server.requests[0].headers
    assert sorted(found.order) == list(range(len(texts)))
    assert [found.scores[index] for index in found.order] == sorted(found.scores.values(), reverse=True)


@pytest.mark.parametrize(
    "change",
    [lambda rows: {"data": rows}, lambda rows: rows, lambda rows: {"results": [{**row, "document": "x"} for row in rows]}],
    ids=["data", "bare", "repeating"],
)  # fmt: skip
async def test_every_form_of_answer_is_read(server: RerankServer, change: Callable[[list[Row]], Any]) -> None:
    server.change = change
    assert (await reranked(server)).order == (1, 2, 0)


async def test_logits_become_shares_and_stay_in_order(server: RerankServer) -> None:
    reranker = HttpReranker(Endpoint(base_url=server.url, model="fake"))
    first = await reranker.rerank("q", ["#77#", "#-110#", "#4#"])
    assert first.order == (0, 2, 1)
    assert first.scores[0] == pytest.approx(1 / (1 + math.exp(-7.7)))
    # What lies between 0 and 1 is a logit, too, of an endpoint that has given one.
    assert (await reranker.rerank("q", ["#4#", "#5#"])).scores[0] == pytest.approx(1 / (1 + math.exp(-0.4)))
    await reranker.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: {"results": rows[:-1]},
        lambda rows: {"results": [rows[0], *rows[:-1]]},
        lambda rows: {"results": [{**row, "index": row["index"] + 1} for row in rows]},
        lambda rows: {"results": [{**row, "index": str(row["index"])} for row in rows]},
        lambda rows: {"results": [{**row, "relevance_score": math.nan} for row in rows]},
        lambda rows: {"results": [{**row, "relevance_score": math.inf} for row in rows]},
        lambda rows: {"results": [{**row, "relevance_score": None} for row in rows]},
        lambda rows: {"results": [{**row, "relevance_score": True} for row in rows]},
        lambda rows: {"results": [1, 2, 3]},
        lambda rows: {"results": None},
        lambda rows: {"detail": "no such model"},
        lambda rows: {},
        lambda rows: None,
        lambda rows: "fine",
    ],
    ids=["few", "twice", "beyond", "text", "nan", "infinite", "none", "true", "numbers", "null", "other", "empty", "no", "word"],
)  # fmt: skip
async def test_an_answer_that_is_no_answer_is_refused(server: RerankServer, change: Callable[[list[Row]], Any]) -> None:
    server.change = change
    with pytest.raises(ModelBadOutput):
        await reranked(server)


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>502</html>",
        b"\xff\xfe",
        b"[" * 5_000,
        b'{"results": [{"index": 0, ',
        b'[{"index": 0, "score": 1' + b"0" * 400 + b"}]",
    ],
)
async def test_rubbish_is_refused(server: RerankServer, raw: bytes) -> None:
    server.raw = raw
    with pytest.raises(ModelBadOutput):
        await reranked(server)


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (429, {"Retry-After": "3"}, ModelRateLimited),
        (401, {}, ModelAuthError),
        (403, {}, ModelAuthError),
        (404, {}, ModelError),
        (307, {"Location": "/elsewhere"}, ModelError),
        (422, {}, ModelError),
        (503, {}, ModelUnreachable),
    ],
)
async def test_a_refusal_is_typed_and_tells_no_secret(
    server: RerankServer, status: int, headers: dict[str, str], kind: type[ModelError]
) -> None:
    server.status, server.headers = status, headers
    server.change = lambda rows: {"message": f"{KEY} may not ask: How many days?"}
    with pytest.raises(kind) as caught:
        await reranked(server)
    assert KEY not in str(caught.value)
    assert "How many days" not in str(caught.value)
    assert len(server.requests) == 1, "nobody waits for a second try"


async def test_where_nobody_listens_it_is_told_so() -> None:
    reranker = HttpReranker(Endpoint(base_url=f"http://127.0.0.1:{free_port()}", model="fake"))
    with pytest.raises(ModelUnreachable, match=r"rerank\.base_url"):
        await reranker.rerank("q", TEXTS)
    await reranker.close()


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", "http://h/v1/rerank"])
def test_the_address_may_name_the_endpoint_or_not(base: str) -> None:
    assert Endpoint(base_url=base).url == "http://h/v1/rerank"
    assert HttpReranker(Endpoint(base_url=base, model="m")).name == "m at h"


def test_an_address_that_is_none_is_refused_and_the_key_is_never_shown() -> None:
    with pytest.raises(ConfigError, match="base_url"):
        Endpoint(base_url="ftp://h")
    assert KEY not in repr(Endpoint(base_url="http://h", api_key=KEY))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 4) | st.floats() | st.sampled_from(["index", "score", "results"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["index", "score", "relevance_score", "results", "data"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, st.integers(1, 3))
def test_any_json_is_scores_of_all_texts_or_refused(answer: object, count: int) -> None:
    try:
        scores = _scores(json.dumps(answer).encode(), count)
    except ModelBadOutput:
        return
    assert set(scores) == set(range(count))
    assert all(map(math.isfinite, scores.values()))


@pytest.mark.parametrize("order", [(0, 0), (-1,)])
def test_an_order_names_each_text_once(order: tuple[int, ...]) -> None:
    with pytest.raises(ModelBadOutput):
        Reranked(order=order)


@pytest.mark.parametrize("score", [math.nan, 1.1, -0.1, math.inf])
def test_a_score_is_from_0_to_1(score: float) -> None:
    with pytest.raises(ModelBadOutput):
        Reranked(order=(0,), scores={0: score})
