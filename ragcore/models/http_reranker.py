"""The reranker behind a ``/rerank`` endpoint: Jina, Cohere, vLLM, llama.cpp, LiteLLM, Infinity, or Hugging Face's TEI.

Two requests are in use (docs.jina.ai, docs.cohere.com/reference/rerank, the API of text-embeddings-inference):

- ``{"model", "query", "documents", "top_n"}``, as Jina and Cohere take it; ``top_n`` is sent because some servers
  return only a few results without it.
- ``{"query", "texts", "raw_scores", "truncate"}``, as TEI takes it. Without ``truncate`` it refuses long texts.

And several answers: a list of ``{"index", "relevance_score"}`` under ``results`` (Jina, Cohere) or ``data`` (Voyage),
or a bare list of ``{"index", "score"}`` (TEI). Any of them is read, whatever was asked. llama.cpp gives logits and no
shares (ggml-org/llama.cpp#8555): scores outside 0..1 are brought there by the logistic function.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

import httpx

from ragcore.errors import ConfigError, ModelAuthError, ModelBadOutput, ModelError, ModelUnreachable
from ragcore.models.openai_errors import clean, of_status, retry_after
from ragcore.models.rerankers import Reranked

Style = Literal["documents", "texts"]

MOST_TEXTS = 32
"""Texts of one request in TEI's form: its own default for ``--max-client-batch-size``. Others take a thousand."""
CONNECT_SECONDS = 1.0
LONGEST_ANSWER = 8_000_000
"""Bytes of an answer that are read: a server that repeats 24 chunks sends a hundredth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a reranker is, and how it is asked.

    ``base_url`` stands without ``/rerank``; ``model`` may be empty where the server has one alone. ``style`` names the
    field that holds the texts. ``extra_body`` are further fields of the request. ``timeout`` is in seconds, of one
    request.

    Raises:
        ConfigError: The address is none of HTTP.
    """

    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    style: Style = "documents"
    extra_body: Mapping[str, object] = field(default_factory=dict, repr=False)
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Refuse an address that cannot be asked."""
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise ConfigError("rerank.base_url must begin with http:// or https://")

    @property
    def url(self) -> str:
        """Return the address of the requests."""
        return f"{self.base_url.rstrip('/').removesuffix('/rerank')}/rerank"


class HttpReranker:
    """Asks one endpoint; safe for concurrent calls within one event loop.

    Nothing is tried again: whoever waits has the fused order to fall back on.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Keep the address; nothing is connected yet."""
        self._endpoint = endpoint
        self._client: httpx.AsyncClient | None = None
        self._connecting = asyncio.Lock()
        self._gives_logits = False

    @property
    def name(self) -> str:
        """Return the model and the host."""
        host = urlsplit(self._endpoint.base_url).hostname or "?"
        return f"{self._endpoint.model} at {host}" if self._endpoint.model else host

    @property
    def calls(self) -> int:
        """Return 0: it is no language model."""
        return 0

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        """Return the order of the texts with a score for each of them.

        Raises:
            ModelError: Unreachable, refused, rate limited; bad output, also where a text has no score, or one that is
                no finite number.
        """
        size = MOST_TEXTS if self._endpoint.style == "texts" else max(1, len(texts))
        raw: dict[int, float] = {}
        for first in range(0, len(texts), size):
            batch = [_sendable(text) for text in texts[first : first + size]]
            found = _scores(await self._ask(_sendable(query), batch), len(batch))
            raw |= {first + index: score for index, score in found.items()}
        # Once an endpoint has given a logit, all that it gives are: 0.4 among them is no share either.
        self._gives_logits = self._gives_logits or any(not 0.0 <= score <= 1.0 for score in raw.values())
        scores = {index: _share(score) if self._gives_logits else score for index, score in raw.items()}
        return Reranked(order=tuple(sorted(raw, key=lambda index: (-raw[index], index))), scores=scores)

    async def close(self) -> None:
        """Close the connections; another call opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _ask(self, query: str, texts: Sequence[str]) -> bytes:
        """Send one request and return what is answered."""
        endpoint = self._endpoint
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            client = self._client
        secrets, words = (endpoint.api_key,), (query, *texts)
        try:
            async with client.stream("POST", endpoint.url, json=self._body(query, texts)) as response:
                content = await _read(response)
                status, headers_sent = response.status_code, response.headers
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            text = clean(f"{type(error).__name__}: {error}", secrets, words)
            raise ModelUnreachable(
                f"the reranker did not answer; check that it runs, and rerank.base_url ({text})"
            ) from None
        if status == httpx.codes.OK:
            return content
        raise _refusal(status, content, headers_sent, secrets, words)

    def _connect(self) -> httpx.AsyncClient:
        """Make the client: reading the certificates takes 50 ms."""
        endpoint = self._endpoint
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        timeout = httpx.Timeout(endpoint.timeout, connect=min(endpoint.timeout, CONNECT_SECONDS))
        return httpx.AsyncClient(headers=headers, timeout=timeout)

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, object]:
        """Return the request in the endpoint's form."""
        if self._endpoint.style == "texts":
            body: dict[str, object] = {"query": query, "texts": list(texts), "raw_scores": False, "truncate": True}
        else:
            body = {"query": query, "documents": list(texts), "top_n": len(texts)}
        named = {"model": self._endpoint.model} if self._endpoint.model else {}
        return {**named, **body, **self._endpoint.extra_body}


async def _read(response: httpx.Response) -> bytes:
    """Return an answer's content, of no more bytes than an answer can have."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > LONGEST_ANSWER:
            raise ModelBadOutput(f"the reranker's answer is over {LONGEST_ANSWER:,} bytes long", raw="")
    return bytes(content)


def _refusal(
    status: int, content: bytes, headers: Mapping[str, str], secrets: Sequence[str], words: Sequence[str]
) -> ModelError:
    """Return what a status other than 200 means."""
    said = content[:2_000].decode("utf-8", "replace")
    if status in (401, 403):
        return ModelAuthError(f"{clean(f'HTTP {status}: {said}', secrets, words)}; check rerank.api_key")
    asked = retry_after(headers)
    return of_status(status, said, section="rerank", asked=asked, secrets=secrets, words=words).error


def _scores(content: bytes, count: int) -> dict[int, float]:
    """Return the score of each of ``count`` texts as it was given; ModelBadOutput where one is missing or no number."""
    raw = content[:200].decode("utf-8", "replace")
    try:
        answer = json.loads(content)
        rows = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
        pairs = [(_index(row), _number(row)) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ModelBadOutput("the reranker's answer is no list of results with index and score", raw=raw) from error
    scores = dict(pairs)
    if len(pairs) != count or set(scores) != set(range(count)):
        raise ModelBadOutput(f"the reranker gave {len(pairs)} results for {count} texts, or some twice", raw=raw)
    if not all(map(math.isfinite, scores.values())):
        raise ModelBadOutput("the reranker gave a score that is no finite number", raw=raw)
    return scores


def _index(row: Mapping[str, object]) -> int:
    index = row["index"]
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError("an index is a whole number")
    return index


def _number(row: Mapping[str, object]) -> float:
    score = row["relevance_score"] if "relevance_score" in row else row["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError("a score is a number")
    return float(score)


def _share(logit: float) -> float:
    """Return the logistic function of a number: from 0 to 1, for any."""
    return 0.5 * (1.0 + math.tanh(logit / 2.0))


def _sendable(text: str) -> str:
    """Return the text as JSON can carry it: lone surrogates replaced, and a blank for nothing, which may be refused."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "
