"""The embedder behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, LM Studio, llama.cpp)."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelBadOutput, ModelContextTooLong, ModelError
from ragcore.models.embedding_windows import pool, unit
from ragcore.models.endpoint import ATTEMPTS, with_retries
from ragcore.models.openai_errors import CONNECT_SECONDS
from ragcore.tokens import Tokenizer, tokenizer_for

if TYPE_CHECKING:
    import openai

# OpenAI's limits: 2,048 texts and 300,000 tokens a request, 8,192 tokens a text (platform.openai.com, embeddings).
MOST_TEXTS = 2048
REQUEST_TOKENS = 300_000
TEXT_TOKENS = 8191
OVERLAP = 64
"""Tokens that the windows of a long text share."""
CONCURRENT = 4
"""Requests of one call under way at a time."""
_PERHAPS_TOO_MUCH = (ModelError, ModelContextTooLong)
"""What a refused batch ends as (400, 413, 422): these very types, not those below them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some text of text number ``owner``."""

    owner: int
    text: str
    tokens: int


class OpenAIEmbedder:
    """Embeds over HTTP, in batches within the endpoint's limits, texts over its length in windows.

    Tokens are counted with the model's own encoding where it is at hand, else with cl100k: for a model with another
    tokenizer set ``max_tokens`` below its true limit.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str = "",
        batch_size: int = 64,
        dimension: int = 0,
        max_tokens: int = TEXT_TOKENS,
        request_tokens: int = REQUEST_TOKENS,
        timeout: float = 60.0,
        connect_timeout: float = CONNECT_SECONDS,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Keep the settings; nothing is connected yet.

        Args:
            model: The model's name at the endpoint.
            base_url: The endpoint, up to and without ``/embeddings``.
            api_key: The key; empty for an endpoint that asks for none.
            batch_size: Most texts in a request; fewer where the endpoint turns out to take fewer.
            dimension: Asked of the endpoint when not 0, else learned from the first answer.
            max_tokens: Most tokens of one text in one piece.
            request_tokens: Most tokens of all texts of a request.
            timeout: Seconds for one request.
            connect_timeout: Seconds until a connection must stand.
            attempts: How often a request is tried at most.
        """
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._batch_size = max(1, min(batch_size, MOST_TEXTS))
        self._asked_dimension = dimension
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._request_tokens = max(request_tokens, max_tokens)
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._attempts = attempts
        self._client: openai.AsyncOpenAI | None = None
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        """Return the identity of the vectors: model, dimension asked for, length of a window."""
        return f"openai:{self._model}/{self._asked_dimension or 'full'}/{self._max_tokens}"

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 until the endpoint has answered once, unless it was set."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), dimension)``, L2-normalised, row i for ``texts[i]``.

        Raises:
            ModelError: Unreachable, auth, rate limited, too long, bad output (not finite, or another dimension).
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        tokenizer = await tokenizer_for(self._model)
        windows = await asyncio.to_thread(self._cut, texts, tokenizer)
        vectors = await self._requests(list(self._batches(windows)))
        owners, weights = [window.owner for window in windows], [window.tokens for window in windows]
        return pool(vectors, owners, weights, len(texts))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _cut(self, texts: Sequence[str], tokenizer: Tokenizer) -> list[Window]:
        return [
            Window(owner=owner, text=text[start:end], tokens=tokenizer.count(text[start:end]))
            for owner, text in enumerate(map(_sendable, texts))
            for start, end in _spans(text, self._max_tokens, tokenizer)
        ]

    def _batches(self, windows: Sequence[Window]) -> Iterator[list[Window]]:
        batch: list[Window] = []
        tokens = 0
        for window in windows:
            if batch and (len(batch) == self._batch_size or tokens + window.tokens > self._request_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(window)
            tokens += window.tokens
        if batch:
            yield batch

    async def _requests(self, batches: Sequence[list[Window]]) -> NDArray[np.float32]:
        """Send the batches, a few at a time; the first failure cancels the rest and is the one raised."""
        client = await self._connected()
        room = asyncio.Semaphore(CONCURRENT)

        async def send(batch: list[Window]) -> NDArray[np.float32]:
            async with room:
                return await self._request(client, [window.text for window in batch])

        tasks = [asyncio.create_task(send(batch)) for batch in batches]
        try:
            return np.concatenate(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _request(self, client: "openai.AsyncOpenAI", texts: list[str]) -> NDArray[np.float32]:
        """Ask for the vectors of a batch; one that is refused goes in halves, for many endpoints take fewer texts."""
        if len(texts) <= self._batch_size:
            try:
                return await self._ask(client, texts)
            except ModelError as error:
                if len(texts) == 1 or type(error) not in _PERHAPS_TOO_MUCH:
                    raise
        half = (len(texts) + 1) // 2
        parts = [await self._request(client, part) for part in (texts[:half], texts[half:])]
        self._batch_size = min(self._batch_size, half)
        return np.concatenate(parts)

    async def _ask(self, client: "openai.AsyncOpenAI", texts: list[str]) -> NDArray[np.float32]:
        asked: dict[str, Any] = {"dimensions": self._asked_dimension} if self._asked_dimension else {}

        async def post() -> bytes:
            raw = await client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float", **asked
            )
            return raw.content

        content = await with_retries(post, self._attempts, section="embedding", secrets=(self._api_key,), words=texts)
        vectors = await asyncio.to_thread(_read, content, len(texts))
        if self._dimension not in (0, vectors.shape[1]):
            message = f"the endpoint gave vectors of {vectors.shape[1]} dimensions, expected {self._dimension}"
            raise ModelBadOutput(message, raw="")
        self._dimension = vectors.shape[1]
        return vectors

    async def _connected(self) -> "openai.AsyncOpenAI":
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def _connect(self) -> "openai.AsyncOpenAI":
        import openai

        # Without a key the library would send the one in the environment, wherever base_url points.
        key = self._api_key or "none"
        timeout = openai.Timeout(self._timeout, connect=min(self._timeout, self._connect_timeout))
        return openai.AsyncOpenAI(base_url=self._base_url, api_key=key, timeout=timeout, max_retries=0)


def _sendable(text: str) -> str:
    """Return the text as JSON can carry it: lone surrogates replaced, and a blank for nothing, which is refused."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def _spans(text: str, limit: int, tokenizer: Tokenizer) -> Iterator[tuple[int, int]]:
    """Yield windows of at most ``limit`` tokens that cover the text; neighbours share at most ``OVERLAP`` tokens."""
    start = end = 0
    while end < len(text):
        part = tokenizer.head(text[start : start + limit * 16], limit) or text[start]
        if start + len(part) <= end:
            # What is shared left no room for the next character.
            start = end
            continue
        end = start + len(part)
        yield start, end
        start = end - len(tokenizer.tail(part, min(OVERLAP, limit // 4)))


def _read(content: bytes, count: int) -> NDArray[np.float32]:
    """Return the unit vectors of an answer in the order of the texts; ModelBadOutput if that cannot be."""
    raw = content[:200].decode("utf-8", "replace")
    try:
        data = json.loads(content)["data"]
        rows = {int(item["index"]): item["embedding"] for item in data}
        vectors = np.array([rows[index] for index in range(count)], dtype=np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise ModelBadOutput(f"the endpoint's answer does not hold {count} vectors as OpenAI's do", raw=raw) from error
    if len(data) != count or vectors.ndim != 2 or not vectors.shape[1]:
        raise ModelBadOutput(f"the endpoint gave {len(data)} vectors for {count} texts", raw=raw)
    if not np.isfinite(vectors).all() or not np.linalg.norm(vectors, axis=1).all():
        raise ModelBadOutput("the endpoint gave a vector that is not finite, or zero", raw=raw)
    return unit(vectors)
