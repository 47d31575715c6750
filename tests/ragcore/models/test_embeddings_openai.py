import asyncio
import hashlib
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ModelAuthError, ModelBadOutput, ModelError, ModelUnreachable
from ragcore.models.openai_embeddings import OpenAIEmbedder, _spans
from ragcore.tokens import offline_tokenizer

TOKENS = offline_tokenizer()
DIMENSION = 24
KEY = "sk-very-secret"


def vector_of(text: str) -> list[float]:
    """Return a vector that is the sum of one random direction a word: what is cut away would show."""
    total = np.zeros(DIMENSION)
    for word in text.split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).normal(size=DIMENSION)
    return [float(value) for value in total]


class Endpoint(ThreadingHTTPServer):
    """An embeddings endpoint on the loopback that keeps OpenAI's limits, scaled down, and misbehaves when told to."""

    daemon_threads = True
    most_texts, text_tokens, request_tokens = 8, 50, 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.answers: list[tuple[int, dict[str, str], Any]] = []
        self.change: Callable[[dict[str, Any]], Any] = lambda body: body
        self.hang = 0.0
        self.dimension = DIMENSION

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that left before its answer: some tests stop the rest at the first failure."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def refusal(self, texts: list[str]) -> str:
        counts = [TOKENS.count(text) for text in texts]
        if len(texts) > self.most_texts or "" in texts:
            return "invalid input"
        if max(counts) > self.text_tokens or sum(counts) > self.request_tokens:
            return "This model's maximum context length is 50 tokens"
        return ""


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version: ClassVar[str] = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append({**body, "path": self.path, "authorization": self.headers["authorization"]})
        time.sleep(self.server.hang)
        if self.server.answers:
            self.reply(*self.server.answers.pop(0))
            return
        refusal = self.server.refusal(body["input"])
        if refusal:
            self.reply(400, {}, {"error": {"message": refusal}})
            return
        data = [
            {"object": "embedding", "index": index, "embedding": vector_of(text)[: self.server.dimension]}
            for index, text in enumerate(body["input"])
        ]
        random.shuffle(data)
        self.reply(200, {}, self.server.change({"object": "list", "data": data, "model": "m"}))

    def reply(self, status: int, headers: dict[str, str], body: Any) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def embedder_at(endpoint: Endpoint, **settings: Any) -> OpenAIEmbedder:
    chosen = {"batch_size": 8, "max_tokens": 50, "request_tokens": 200, "timeout": 5.0, **settings}
    return OpenAIEmbedder(model="m", base_url=endpoint.url, api_key=KEY, **chosen)


async def embed(endpoint: Endpoint, texts: list[str], **settings: Any) -> np.ndarray:
    embedder = embedder_at(endpoint, **settings)
    try:
        return await embedder.embed(texts)
    finally:
        await embedder.close()


async def test_vectors_come_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    texts = [f"text number {n}" for n in range(37)]
    vectors = await embed(endpoint, texts)
    expected = np.array([vector_of(text) for text in texts])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert vectors.dtype == np.float32
    assert all(request["path"] == "/v1/embeddings" for request in endpoint.requests)
    assert all(request["authorization"] == f"Bearer {KEY}" for request in endpoint.requests)


async def test_requests_stay_within_texts_and_tokens(endpoint: Endpoint) -> None:
    await embed(endpoint, ["word " * 45] * 9 + ["short"] * 20)
    sizes = [len(request["input"]) for request in endpoint.requests]
    assert sum(sizes) == 29
    assert max(sizes) <= 8
    assert not any(endpoint.refusal(request["input"]) for request in endpoint.requests)


async def test_an_endpoint_that_takes_fewer_texts_is_given_fewer(endpoint: Endpoint) -> None:
    embedder = embedder_at(endpoint, batch_size=40, request_tokens=1000)
    texts = [f"text number {n}" for n in range(60)]
    vectors = await embedder.embed(texts)
    np.testing.assert_allclose(vectors, await embed(endpoint, texts), atol=1e-5)
    endpoint.requests.clear()
    await embedder.embed(texts)
    assert not any(endpoint.refusal(request["input"]) for request in endpoint.requests)
    await embedder.close()


async def test_a_text_that_is_refused_by_itself_is_told_and_the_next_go_together(endpoint: Endpoint) -> None:
    embedder = embedder_at(endpoint)
    endpoint.refusal = lambda texts: "invalid input" if "bad" in texts else ""  # type: ignore[method-assign]
    with pytest.raises(ModelError, match="invalid input"):
        await embedder.embed(["a", "b", "c", "bad"])
    await embedder.embed([f"t{n}" for n in range(8)])
    assert len(endpoint.requests[-1]["input"]) == 8
    await embedder.close()


async def test_a_long_text_goes_in_windows_and_its_end_counts(endpoint: Endpoint) -> None:
    filler = "nothing to see here " * 20
    plain, with_fact = await embed(endpoint, [filler, filler + "volcano"])
    assert sum(len(request["input"]) for request in endpoint.requests) >= 4
    assert plain @ with_fact < 0.99999


@given(st.text(max_size=400), st.integers(4, 40))
def test_the_windows_cover_a_text(text: str, limit: int) -> None:
    reached = 0
    for start, end in _spans(text, limit, TOKENS):
        assert start <= reached < end <= len(text)
        assert TOKENS.count(text[start:end]) <= limit
        reached = end
    assert reached == len(text)


async def test_an_empty_text_and_a_lone_surrogate_are_sent_in_a_form_that_is_taken(endpoint: Endpoint) -> None:
    vectors = await embed(endpoint, ["", "\ud800x", "\x00"])
    assert vectors.shape == (3, DIMENSION)


async def test_the_dimension_is_learned_or_asked_for(endpoint: Endpoint) -> None:
    learning, asking = embedder_at(endpoint), embedder_at(endpoint, dimension=12)
    assert (learning.dimension, asking.dimension) == (0, 12)
    assert (await learning.embed([])).shape == (0, 0)
    await learning.embed(["x"])
    assert learning.dimension == DIMENSION
    assert "dimensions" not in endpoint.requests[-1]
    endpoint.dimension = 12
    await asking.embed(["x"])
    assert endpoint.requests[-1]["dimensions"] == 12
    assert learning.name != asking.name
    with pytest.raises(ModelBadOutput, match="12 dimensions, expected 24"):
        await learning.embed(["x"])
    await learning.close()
    await asking.close()


async def test_a_server_fault_is_tried_again(endpoint: Endpoint) -> None:
    endpoint.answers = [(500, {}, {"error": {}}), (503, {"retry-after": "0"}, b"busy")]
    await embed(endpoint, ["x"])
    assert len(endpoint.requests) == 3


async def test_a_fault_that_stays_ends_as_unreachable(endpoint: Endpoint) -> None:
    endpoint.answers = [(500, {"retry-after": "0"}, {})] * 3
    with pytest.raises(ModelUnreachable, match="500"):
        await embed(endpoint, ["x"], attempts=3)
    assert len(endpoint.requests) == 3


def without_last(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "data": body["data"][:-1]}


def with_value(value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda body: {**body, "data": [{**item, "embedding": value} for item in body["data"]]}


def one_shorter(body: dict[str, Any]) -> dict[str, Any]:
    first, *rest = body["data"]
    return {**body, "data": [{**first, "embedding": first["embedding"][:-1]}, *rest]}


@pytest.mark.parametrize(
    "change",
    [
        without_last,
        one_shorter,
        with_value([float("nan")] * DIMENSION),
        with_value([0.0] * DIMENSION),
        with_value([]),
        with_value("text"),
        with_value(None),
        lambda body: {**body, "data": body["data"] * 2},
        lambda body: {**body, "data": [{**item, "index": 0} for item in body["data"]]},
        lambda _: {"error": "odd"},
        lambda _: [1],
        lambda _: b"<html>gateway</html>",
    ],
)
async def test_a_bad_answer_is_bad_output(endpoint: Endpoint, change: Callable[[dict[str, Any]], Any]) -> None:
    endpoint.change = change
    with pytest.raises(ModelBadOutput):
        await embed(endpoint, ["one", "two", "three"])


async def test_the_first_failure_stops_the_rest(endpoint: Endpoint) -> None:
    endpoint.hang = 0.05
    endpoint.answers = [(401, {}, {"error": {}})]
    with pytest.raises(ModelAuthError):
        await embed(endpoint, [f"t{n}" for n in range(200)])
    assert len(endpoint.requests) < 12


async def test_a_question_does_not_wait_for_an_ingest(endpoint: Endpoint) -> None:
    endpoint.hang = 0.1
    embedder = embedder_at(endpoint)
    ingest = asyncio.create_task(embedder.embed([f"t{n}" for n in range(200)]))
    await asyncio.sleep(0.15)
    await embedder.embed(["question"])
    assert not ingest.done()
    ingest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ingest
    await embedder.close()


async def test_the_key_of_the_environment_is_not_sent(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    embedder = OpenAIEmbedder(model="m", base_url=endpoint.url)
    await embedder.embed(["x"])
    await embedder.close()
    assert "environment" not in endpoint.requests[0]["authorization"]
