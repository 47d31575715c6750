import pathlib
import re
import time
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import bots
from bots.app.embedders import SizedEmbedder, open_embedder
from bots.app.options import answer_options, enrich_options, ingest_options, link_hosts, retrieval_options
from bots.app.parts import chat_model_of, describing, enrich_identity, identity_of, open_parts
from bots.doctor import (
    check_data_dir,
    check_files,
    check_prompts,
    check_readers,
    check_settings,
    check_tasks,
    mend_stores,
)
from bots.settings import Settings, TaskSettings, load_settings
from ragcore.answer import AnswerOptions
from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.errors import ConfigError, ModelBadOutput, ModelInterrupted, ModelUnreachable
from ragcore.ingest import IngestOptions
from ragcore.models.llm import TASKS
from ragcore.models.openai_chat import ChatOptions, OpenAIChatModel
from ragcore.models.openai_embeddings import OpenAIEmbedder
from ragcore.retrieval import RetrievalOptions
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message
from tests.fakes.full_backlog import full_backlog
from tests.fakes.openai_server import Hang, OpenAIServer, Reply


def settings_of(folder: pathlib.Path, text: str) -> Settings:
    (folder / "citebot.toml").write_text(text)
    return load_settings(folder / "citebot.toml")


def test_what_is_left_out_keeps_the_core_s_default(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, "[knowledge_bases.a]\n")
    assert retrieval_options(settings) == RetrievalOptions()
    assert ingest_options(settings.all_knowledge_bases["a"]) == IngestOptions()
    assert answer_options(settings, ("a",)) == AnswerOptions()
    assert chat_model_of(settings, offline_tokenizer()) is None


def test_chunk_methods_by_file_pattern_arrive_with_the_star_last(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, '[knowledge_bases.a]\nchunking = {"*" = "naive", "*.md" = "naive"}\n')
    options = ingest_options(settings.all_knowledge_bases["a"])
    assert options == IngestOptions(methods=(("*.md", "naive"), ("*", "naive")))


@pytest.mark.parametrize("of", ['chunking = "qa"', 'chunking = {"*.csv" = "qa"}', 'preset = "customer_service"'])
def test_what_is_embedded_of_a_pair_arrives_where_there_are_pairs(of: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(f'[knowledge_bases.a]\n{of}\n[knowledge_bases.b]\n{of}\nqa_embed = "question"\n')
    bases = load_settings(file).knowledge_bases
    chunks = [ingest_options(base).chunk for base in bases.values()]
    assert [chunk.qa_embed for chunk in chunks] == ["both", "question"]


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
        [[sources]]
        name = "b"
        type = "web"
        start_urls = ["https://site.example/docs/"]
        sitemaps = ["https://maps.example/sitemap.xml"]
        """,
    )
    assert (retrieval_options(settings).top_n, retrieval_options(settings).similarity_threshold) == (3, 0.5)
    assert retrieval_options(settings).top_k == RetrievalOptions().top_k
    chunk = ingest_options(settings.all_knowledge_bases["a"]).chunk
    assert (chunk.chunk_tokens, chunk.delimiters) == (64, "!?")
    assert link_hosts(settings) == {"docs.example", "wiki.example", "site.example", "maps.example"}
    assert answer_options(settings, ("a",)).prompt_file == tmp_path / "own.j2"
    # Two knowledge bases that differ in their prompt are answered with the common one.
    assert answer_options(settings, ("a", "b")).prompt_file is None
    assert not answer_options(settings, ("a",)).quote
    model = chat_model_of(settings, offline_tokenizer())
    assert model is not None
    assert (model.name, model.context_window, model.max_tokens) == ("small", 4096, 300)


async def test_what_is_set_for_a_task_reaches_the_endpoint(tmp_path: pathlib.Path) -> None:
    async with OpenAIServer() as server:
        settings = settings_of(
            tmp_path,
            f"""
            [llm]
            base_url = "{server.base_url}"
            model = "large"
            temperature = 0.7
            max_tokens = 300
            extra_body = {{ top_k = 5 }}
            [llm.tasks.cite]
            model = "small"
            temperature = 0.0
            max_tokens = 30
            extra_body = {{ think = false }}
            """,
        )
        model = chat_model_of(settings, offline_tokenizer())
        assert isinstance(model, OpenAIChatModel)
        for task in ("answer", "cite"):
            await model.complete([Message(role="user", text="What is it?")], task=task)
        await model.close()
        sent = [request.body for request in server.requests]
    names = ("model", "temperature", "max_tokens", "top_k", "think")
    assert [tuple(body.get(name) for name in names) for body in sent] == [
        ("large", 0.7, 300, 5, None),
        ("small", 0.0, 30, None, False),
    ]


@pytest.mark.parametrize(
    ("limit", "behaviour"),
    [("first_token_timeout = 0.3", Hang()), ("total_timeout = 0.3", Reply(pieces=["a"] * 2000, delay=0.05))],
)
async def test_limits_of_time_are_a_matter_of_settings(
    tmp_path: pathlib.Path, limit: str, behaviour: Hang | Reply
) -> None:
    async with OpenAIServer() as server:
        server.queue(behaviour, behaviour)
        settings = settings_of(tmp_path, f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n{limit}\n')
        model = chat_model_of(settings, offline_tokenizer())
        assert isinstance(model, OpenAIChatModel)
        await model.warm_up()
        began = time.monotonic()
        with pytest.raises((ModelUnreachable, ModelInterrupted)):
            async for _ in model.stream([Message(role="user", text="What is it?")]):
                pass
        assert time.monotonic() - began < 30
        await model.close()


async def test_the_limit_of_connecting_is_a_matter_of_settings(tmp_path: pathlib.Path) -> None:
    with full_backlog() as base_url:
        settings = settings_of(tmp_path, f'[llm]\nbase_url = "{base_url}"\nmodel = "m"\nconnect_timeout = 0.3\n')
        model = chat_model_of(settings, offline_tokenizer())
        assert isinstance(model, OpenAIChatModel)
        await model.warm_up()
        began = time.monotonic()
        with pytest.raises(ModelUnreachable, match=r"takes no connection.*llm\.base_url"):
            await model.complete([Message(role="user", text="What is it?")], task="answer")
        assert 0.6 <= time.monotonic() - began < 9, "two tries of 0.3 s"
        await model.close()


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
    (_, shown) = check_readers(settings, ["telegram", "slack"])
    assert 'readers = ["telegram:@1234"]' in shown.mend
    assert check_settings(settings).state == "warn"


def test_a_schema_is_written_short_or_whole(tmp_path: pathlib.Path) -> None:
    text = """
[knowledge_bases.a]
contents = true
metadata = {department = " the one that\nwrote it", year = {description = "the year", type = "number"}}
"""
    settings = settings_of(tmp_path, text.replace("\nwrote", " wrote"))
    options = enrich_options(settings.all_knowledge_bases["a"])
    assert options == EnrichOptions(
        contents=True,
        metadata=(
            MetadataField(name="department", description="the one that wrote it"),
            MetadataField(name="year", description="the year", type="number"),
        ),
    )
    assert enrich_options(Settings.model_validate(settings.model_dump()).all_knowledge_bases["a"]) == options


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"year"', "must be fields"),
        ("{year = 3}", '"year" must be a description'),
        ('{year = ""}', "needs a name and a description"),
        ('{year = {description = "it", type = "yyyy"}}', "text, number, date"),
        ('{year = {describe = "it"}}', "`description` and `type`"),
        ("{" + ", ".join(f'f{n} = "it"' for n in range(25)) + "}", "at most 24"),
    ],
    ids=["text", "number", "empty", "type", "key", "many"],
)
def test_what_is_no_schema_is_refused_by_its_setting(value: str, said: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match=said) as raised:
        settings_of(tmp_path, f"[knowledge_bases.a]\nmetadata = {value}\n")
    assert "metadata" in str(raised.value)


def test_the_doctor_names_a_task_that_nobody_reads(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path, '[llm]\nmodel = "m"\n[llm.tasks.research]\n[llm.tasks.cite]\n')
    assert list(check_tasks(settings)) == []
    read = tuple(task for task in TASKS if task != "research")
    monkeypatch.setattr("bots.doctor.TASKS", read)
    (waiting,) = check_tasks(settings)
    assert (waiting.state, waiting.name) == ("warn", "[llm.tasks.research]")
    assert waiting.mend.endswith(", ".join(read))
    # Each name that some code asks by, so that the doctor calls none of them wrong.
    root = pathlib.Path(bots.__file__).parents[1]
    texts = [path.read_text("utf-8") for name in ("bots", "ragcore") for path in (root / name).rglob("*.py")]
    assert {task for text in texts for task in re.findall(r'(?:task=|\bTASK = )"(\w+)"', text)} == set(TASKS)
    assert sorted(re.findall(r"`(\w+)`", TaskSettings.__doc__ or "")) == sorted(TASKS)


def test_the_doctor_blames_the_server_that_stores_stand_on(tmp_path: pathlib.Path) -> None:
    assert "restore" in mend_stores(settings_of(tmp_path, ""))
    told = mend_stores(settings_of(tmp_path, '[chroma]\nurl = "http://localhost:1"\n'))
    assert told == "see that the server of [chroma] is up, and the url right"


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
        tmp_path, '[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://u:hidden@localhost:1/v1"\n'
    )
    asked = 0

    async def embed(self: OpenAIEmbedder, texts: list[str]) -> NDArray[np.float32]:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise ModelUnreachable("not up yet")
        return np.ones((len(texts), 7), dtype=np.float32)

    monkeypatch.setattr(OpenAIEmbedder, "embed", embed)
    first = await open_embedder(settings)
    with pytest.raises(ModelUnreachable, match=r"\[embedding\] at localhost:1: not up yet"):
        await first.embed(["a"])
    assert (first.dimension, asked) == (0, 1)
    assert (await first.embed(["a", "b"])).shape == (2, 7)
    assert first.dimension == 7
    assert (await open_embedder(settings)).dimension == 7
    assert asked == 2
    assert "hidden" not in (settings.data_dir / "dimensions.json").read_text()
    (settings.data_dir / "dimensions.json").write_text("[]")
    assert (await open_embedder(settings)).dimension == 0


def test_what_a_model_is_to_add_arrives(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(
        '[knowledge_bases.hr]\nraptor = "document"\ngraph = true\nauto_questions = 2\n[knowledge_bases.it]\n'
        "[knowledge_bases.law]\ngraph = true\ngraph_communities = true\n",
        encoding="utf-8",
    )
    bases = load_settings(file).knowledge_bases
    assert enrich_options(bases["hr"]) == EnrichOptions(raptor=True, auto_questions=2, graph=True)
    assert enrich_options(bases["it"]) == EnrichOptions()
    assert enrich_options(bases["law"]) == EnrichOptions(graph=True, graph_communities=True)
    file.write_text("[knowledge_bases.law]\ngraph_communities = true\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"\[knowledge_bases\.law\] graph_communities: needs graph = true"):
        load_settings(file)
    file.write_text('[knowledge_bases.hr]\nraptor = "knowledge_base"\n', encoding="utf-8")
    assert enrich_options(load_settings(file).knowledge_bases["hr"]) == EnrichOptions(raptor=True, overview=True)


def test_parents_are_larger_than_chunks(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, "[knowledge_bases.a]\nparent_tokens = 512\n")
    assert ingest_options(settings.all_knowledge_bases["a"]).chunk.parent_tokens == 512
    for sizes in ("parent_tokens = 160", "chunk_tokens = 300\nparent_tokens = 299"):
        with pytest.raises(ConfigError, match=r"\[knowledge_bases\.a\] parent_tokens: must be more than chunk_tokens"):
            settings_of(tmp_path, f"[knowledge_bases.a]\n{sizes}\n")


def test_the_doctor_looks_at_templates_of_ones_own(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "prompts"
    assert not list(check_prompts(None))
    (missing,) = check_prompts(folder)
    assert (missing.state, str(folder) in missing.found) == ("fail", True)
    folder.mkdir()
    (folder / "keywords.j2").write_text("{# inputs: count -#}\nName {{ count }}.")
    assert not list(check_prompts(folder))
    (folder / "keyword.j2").write_text("{# inputs: none -#}\n")
    (folder / "questions.j2").write_text("{# inputs: passage -#}\n{{ passage }}")
    misnamed, broken = check_prompts(folder)
    assert (misnamed.state, "keywords" in misnamed.mend) == ("warn", True)
    assert (broken.state, "'passage' is undefined" in broken.found) == ("fail", True)


def test_what_enriches_is_told_apart_by_its_options_alone(tmp_path: pathlib.Path) -> None:
    """What is kept of a model is kept under these words: a setting added later must not ask for all of it anew."""
    llm = '[llm]\nbase_url = "http://localhost:1/v1"\nmodel = "small"\n'
    plain = enrich_identity(settings_of(tmp_path, llm))
    assert plain == '{"extra_body": {}, "max_tokens": 1024, "model": "small", "temperature": 0.1}'
    assert (
        enrich_identity(settings_of(tmp_path, f"{llm}total_timeout = 9\n[llm.tasks.cite]\nmax_tokens = 5\n")) == plain
    )
    assert enrich_identity(settings_of(tmp_path, f"{llm}temperature = 0.1\n")) == plain
    others = ("temperature = 0", "max_tokens = 5", "extra_body = {a = [1, {b = 2}]}", 'model = "large"')
    told = [enrich_identity(settings_of(tmp_path, f"{llm}[llm.tasks.enrich]\n{one}\n")) for one in others]
    assert len({plain, *told}) == 5
    assert '{"a": [1, {"b": 2}]}' in told[2]


def test_an_option_that_is_new_changes_no_identity_until_it_is_set() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Later(ChatOptions):
        seed: int | None = None

    assert identity_of("m", Later()) == identity_of("m", ChatOptions())
    assert (
        identity_of("m", Later(seed=1))
        == '{"extra_body": {}, "max_tokens": 1024, "model": "m", "seed": 1, "temperature": 0.1}'
    )


def test_pictures_are_described_where_a_model_reads_them_and_anew_by_another(tmp_path: pathlib.Path) -> None:
    llm = '[llm]\nbase_url = "http://localhost:1/v1"\nmodel = "small"\n'
    seeing = 'vision_model = "eyes"\n'
    found = [
        describing(settings_of(tmp_path, text))
        for text in ("", llm, llm + seeing, llm + seeing + "[llm.tasks.vision]\nmax_tokens = 99\n", llm + seeing)
    ]
    assert found[:2] == ["", ""]
    assert found[2] != found[3]
    assert found[2] == found[4]
    base = settings_of(tmp_path, "[knowledge_bases.a]\n").all_knowledge_bases["a"]
    assert ingest_options(base, describe=found[2]).for_document("s:a.md", "a.md") == IngestOptions(describe=found[2])


async def test_a_folder_of_prompts_that_cannot_be_read_is_told_at_the_start(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_parts(settings_of(tmp_path, f'prompts = "{tmp_path / "missing"}"\n')):
        (told,) = [record.getMessage() for record in caplog.records if record.name == "bots.app.parts"]
    assert f"there is no folder {tmp_path / 'missing'}" in told
    assert "create it" in told
