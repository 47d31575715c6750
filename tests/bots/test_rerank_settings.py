"""``[rerank]`` and ``pagerank``: what may be written, what arrives, and what the doctor says of it."""

import pathlib

import pytest

from bots.app.options import rank_features, retrieval_options
from bots.app.parts import chat_model_of, reranker_of
from bots.doctor import check_reranker
from bots.requests import Found, Search, Sync
from bots.settings import Settings, load_settings
from ragcore.errors import ConfigError
from ragcore.models.http_reranker import HttpReranker
from ragcore.models.listwise import ListwiseReranker
from ragcore.retrieval.features import PageRank
from ragcore.tokens import offline_tokenizer
from tests.bots.handbook import SETTINGS, opened, told
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.rerank_server import RerankServer

ENDPOINT = 'base_url = "http://localhost:1/v1"\n'


def settings_of(folder: pathlib.Path, text: str) -> Settings:
    (folder / "citebot.toml").write_text(text)
    return load_settings(folder / "citebot.toml")


def test_what_is_left_out_asks_nobody(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, "[knowledge_bases.a]\n")
    assert reranker_of(settings, None, offline_tokenizer()) is None
    assert rank_features(settings) == ()


@pytest.mark.parametrize("provider", ["", 'provider = "cohere"\n', 'provider = "tei"\n'])
def test_an_endpoint_is_asked(tmp_path: pathlib.Path, provider: str) -> None:
    more = "candidates = 12\ntimeout = 0.7\nthreshold = 0.3\n"
    settings = settings_of(tmp_path, f'[rerank]\n{provider}{ENDPOINT}model = "m"\napi_key = "jina-key"\n{more}')
    assert isinstance(reranker_of(settings, None, offline_tokenizer()), HttpReranker)
    options = retrieval_options(settings)
    assert (options.rerank_candidates, options.rerank_seconds, options.rerank_threshold) == (12, 0.7, 0.3)
    assert options.ranking == "fused"
    assert "jina-key" not in repr(settings)


def test_the_language_model_is_asked_and_given_more_time(tmp_path: pathlib.Path) -> None:
    llm = f'[llm]\n{ENDPOINT}model = "gpt"\n'
    settings = settings_of(tmp_path, f'{llm}[rerank]\nprovider = "llm"\n')
    model = chat_model_of(settings, offline_tokenizer())
    assert isinstance(reranker_of(settings, model, offline_tokenizer()), ListwiseReranker)
    assert retrieval_options(settings).rerank_seconds == 5.0
    slower = settings_of(tmp_path, f'{llm}[rerank]\nprovider = "llm"\ntimeout = 9\n')
    assert retrieval_options(slower).rerank_seconds == 9
    with pytest.raises(ConfigError, match=r"needs the table \[llm\]"):
        reranker_of(settings_of(tmp_path, '[rerank]\nprovider = "llm"\n'), None, offline_tokenizer())


def test_similarity_needs_nothing_else(tmp_path: pathlib.Path) -> None:
    settings = settings_of(tmp_path, '[rerank]\nprovider = "similarity"\n')
    assert reranker_of(settings, None, offline_tokenizer()) is None
    assert retrieval_options(settings).ranking == "similarity"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('model = "m"', "base_url is missing"),
        (ENDPOINT, "model is missing"),
        ('provider = "tei"', "base_url is missing"),
        ('provider = "llm"\nthreshold = 0.5', "gives none"),
        ('provider = "llm"\nmodel = "m"', r"model is for a /rerank endpoint.*\[llm.tasks.rerank\]"),
        (f'provider = "llm"\n{ENDPOINT}', r"base_url is for a /rerank endpoint.*\[llm.tasks.rerank\]"),
        ('provider = "llm"\nextra_body = {a = 1}', r"extra_body is for a /rerank endpoint.*\[llm.tasks.rerank\]"),
        ('provider = "similarity"\napi_key = "k"', "api_key is for a /rerank endpoint.*asks no model"),
        ('provider = "similarity"\nmodel = "m"', "model is for a /rerank endpoint.*asks no model"),
        ('provider = "similarity"\ntimeout = 2.0', "asks nobody"),
        ('provider = "bge"', "provider"),
        (f'{ENDPOINT}model = "m"\ntimeout = 0', "timeout"),
        (f'{ENDPOINT}model = "m"\nthreshold = 7', "threshold"),
        (f'{ENDPOINT}model = "m"\ntop_n = 7', "top_n"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: pathlib.Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        settings_of(tmp_path, f"[rerank]\n{text}\n")


def test_page_ranks_arrive(tmp_path: pathlib.Path) -> None:
    source = '[[sources]]\nname = "{}"\ntype = "files"\npath = "."\nknowledge_base = "a"\n'
    sources = f"{source.format('wiki')}pagerank = 70\n{source.format('mail')}pagerank = 0\n{source.format('web')}"
    settings = settings_of(tmp_path, f"[knowledge_bases.a]\npagerank = 30\n[knowledge_bases.b]\n{sources}")
    assert rank_features(settings) == (PageRank(knowledge_bases={"a": 30}, sources={"wiki": 70, "mail": 0}),)
    for wrong in ("pagerank = 101", "pagerank = -1"):
        with pytest.raises(ConfigError, match="pagerank"):
            settings_of(tmp_path, f"[knowledge_bases.a]\n{wrong}\n")


async def test_the_doctor_asks_the_reranker(tmp_path: pathlib.Path) -> None:
    with RerankServer() as server:
        text = f'[rerank]\nbase_url = "{server.url}"\nmodel = "m"\napi_key = "secret-key-of-jina"\n'
        reranker = reranker_of(settings_of(tmp_path, text), None, offline_tokenizer())
        assert isinstance(reranker, HttpReranker)
        server.change = lambda rows: [{**row, "relevance_score": row["index"] / 2} for row in rows]
        well = await check_reranker(reranker, 1.5)
        slow = await check_reranker(reranker, 0.0)
        server.change = lambda rows: [{**row, "relevance_score": 1 - row["index"]} for row in rows]
        wrong = await check_reranker(reranker, 1.5)
        server.status = 401
        refused = await check_reranker(reranker, 1.5)
        server.status = 404
        missing = await check_reranker(reranker, 1.5)
        await reranker.close()
    assert [check.state for check in (well, slow, wrong, refused, missing)] == ["ok", "warn", "warn", "fail", "fail"]
    assert "timeout under [rerank]" in slow.mend
    assert "lunch" in wrong.found
    assert "api_key under [rerank]" in refused.mend
    assert "rerank.base_url" in missing.found


async def test_the_doctor_asks_the_language_model_that_sorts(tmp_path: pathlib.Path) -> None:
    async with OpenAIServer() as server:
        text = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n[rerank]\nprovider = "llm"\n'
        settings = settings_of(tmp_path, text)
        model = chat_model_of(settings, offline_tokenizer())
        assert model is not None
        reranker = reranker_of(settings, model, offline_tokenizer())
        assert reranker is not None
        server.queue(Reply(text="[1, 0]"), Reply(text="The second one."))
        well, ill = await check_reranker(reranker, 5.0), await check_reranker(reranker, 5.0)
        await model.close()
    assert (well.state, ill.state) == ("ok", "fail")


async def test_a_search_asks_no_language_model(home: pathlib.Path) -> None:
    """Where it sorts what an answer is written from, a search is in the order of the search."""
    async with OpenAIServer(default=Reply(text="[1, 0]")) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n[rerank]\nprovider = "llm"\n'
        (home / "citebot.toml").write_text(SETTINGS + llm)
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            (found,) = await told(operations, Search(query="unused leave days merger"))
            assert isinstance(found, Found)
            assert len(found.chunks) > 1
            assert not server.requests


async def test_a_search_asks_the_reranker(home: pathlib.Path) -> None:
    with RerankServer() as server:
        (home / "citebot.toml").write_text(SETTINGS + f'[rerank]\nbase_url = "{server.url}"\nmodel = "m"\n')
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            await told(operations, Search(query="unused leave days merger"))
            assert server.requests
