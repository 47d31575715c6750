import pathlib

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.app.embedders import SizedEmbedder, open_embedder
from bots.app.options import answer_options, ingest_options, link_hosts, retrieval_options
from bots.app.parts import chat_model_of
from bots.doctor import check_data_dir, check_files, check_readers, check_settings
from bots.settings import Settings, load_settings
from ragcore.answer import AnswerOptions
from ragcore.errors import ModelBadOutput, ModelUnreachable
from ragcore.ingest import IngestOptions
from ragcore.models.openai_embeddings import OpenAIEmbedder
from ragcore.retrieval import RetrievalOptions
from ragcore.tokens import offline_tokenizer


def settings_of(folder: pathlib.Path, text: str) -> Settings:
    (folder / "citebot.toml").write_text(text)
    return load_settings(folder / "citebot.toml")


def test_what_is_left_out_keeps_the_core_s_default(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, "[knowledge_bases.a]\n")
    assert retrieval_options(settings) == RetrievalOptions()
    assert ingest_options(settings.all_knowledge_bases["a"]) == IngestOptions()
    assert answer_options(settings, ("a",)) == AnswerOptions()
    assert chat_model_of(settings, offline_tokenizer()) is None


def test_what_is_set_arrives(tmp_path: pathlib.Path) -> None:
    (tmp_path / "own.j2").write_text("{# inputs: none -#}\nAnswer like a pirate.")
    settings = settings_of(
        tmp_path,
        """
        [llm]
        base_url = "http://localhost:1/v1"
        model = "small"
        context_window = 4096
        max_tokens = 300
        [llm.tasks.rewrite]
        temperature = 0.0
        [answer]
        top_n = 3
        similarity_threshold = 0.5
        link_hosts = ["Docs.Example"]
        quote = false
        [knowledge_bases.a]
        prompt = "own.j2"
        chunk_tokens = 64
        delimiters = "!?"
        [knowledge_bases.b]
        [[sources]]
        name = "a"
        type = "files"
        path = "."
        base_url = "https://wiki.example/{path}"
        """,
    )
    assert (retrieval_options(settings).top_n, retrieval_options(settings).similarity_threshold) == (3, 0.5)
    assert retrieval_options(settings).top_k == RetrievalOptions().top_k
    chunk = ingest_options(settings.all_knowledge_bases["a"]).chunk
    assert (chunk.chunk_tokens, chunk.delimiters) == (64, "!?")
    assert link_hosts(settings) == {"docs.example", "wiki.example"}
    assert answer_options(settings, ("a",)).prompt_file == tmp_path / "own.j2"
    # Two knowledge bases that differ in their prompt are answered with the common one.
    assert answer_options(settings, ("a", "b")).prompt_file is None
    assert not answer_options(settings, ("a",)).quote
    model = chat_model_of(settings, offline_tokenizer())
    assert model is not None
    assert (model.name, model.context_window, model.max_tokens) == ("small", 4096, 300)


def test_the_doctor_names_missing_files_and_closed_knowledge_bases(tmp_path: pathlib.Path) -> None:
    text = '[answer]\nsynonyms = "gone.txt"\n[knowledge_bases.a]\nprompt = "gone.j2"\n[knowledge_bases."文档"]\n'
    settings = settings_of(tmp_path, text)
    missing = list(check_files(settings))
    assert [check.state for check in missing] == ["fail", "fail"]
    assert "gone.txt" in missing[0].found
    assert "gone.j2" in missing[1].found
    closed = list(check_readers(settings))
    assert [check.name for check in closed] == ["readers of a", "readers of 文档"]
    assert '[knowledge_bases."文档"]: readers = ["slack:T0123"]' in closed[1].mend
    assert check_settings(settings).state == "warn"


def test_the_doctor_looks_at_the_data_directory(tmp_path: pathlib.Path) -> None:
    assert check_data_dir(tmp_path / "new" / "deep").state == "ok"
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    assert check_data_dir(tmp_path / "file").state == "fail"


class Growing:
    """Vectors that are longer every time."""

    name = "growing"

    def __init__(self, dimension: int) -> None:
        self.dimension = 0
        self._next = dimension

    async def embed(self, texts: list[str]) -> NDArray[np.float32]:
        self._next += 1
        return np.ones((len(texts), self._next - 1), dtype=np.float32)


async def test_an_endpoint_may_not_change_its_dimension() -> None:
    embedder = SizedEmbedder(Growing(4), 4)  # type: ignore[arg-type]
    assert (await embedder.embed([])).shape == (0, 4)
    assert (await embedder.embed(["a", "b"])).shape == (2, 4)
    with pytest.raises(ModelBadOutput, match="5 numbers now"):
        await embedder.embed(["a"])


async def test_an_endpoint_s_dimension_is_asked_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(
        tmp_path, '[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://localhost:1/v1"\n'
    )
    asked = 0

    async def embed(self: OpenAIEmbedder, texts: list[str]) -> NDArray[np.float32]:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise ModelUnreachable("not up yet")
        return np.ones((len(texts), 7), dtype=np.float32)

    monkeypatch.setattr(OpenAIEmbedder, "embed", embed)
    with pytest.raises(ModelUnreachable):
        await open_embedder(settings)
    assert (await open_embedder(settings)).dimension == 7
    assert (await open_embedder(settings)).dimension == 7
    assert asked == 2
    (settings.data_dir / "dimensions.json").write_text("[]")
    assert (await open_embedder(settings)).dimension == 7
    assert asked == 3
