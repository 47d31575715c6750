"""The parts that answer and index, built from the settings and opened together."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, fields

from pydantic import SecretStr

from bots.app.embedders import SizedEmbedder, open_embedder
from bots.app.options import (
    homes,
    known_languages,
    rank_features,
    refine_options,
    retrieval_options,
    tag_sources,
    with_given,
)
from bots.app.web import open_web
from bots.doctor import check_prompts
from bots.settings import LLMSettings, Settings, TaskSettings
from ragcore.enrich.asking import AT_ONCE, Asker
from ragcore.enrich.describing import ATTEMPTS, ModelDescriber, describer_name
from ragcore.enrich.describing import TASK as VISION
from ragcore.errors import ConfigError
from ragcore.history import History
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.library.upkeep import followed
from ragcore.models.embeddings import Embedder
from ragcore.models.listwise import ListwiseReranker
from ragcore.models.llm import ChatModel
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.models.recent import RecentEmbedder
from ragcore.models.recorded import RecordedCallingModel, RecordedModel
from ragcore.models.rerankers import Reranker
from ragcore.prompts import Prompts, prompts_in
from ragcore.refine.refining import Refiner
from ragcore.retrieval import Retriever
from ragcore.stores.languages import HeldLanguages
from ragcore.stores.model_results import ModelResults
from ragcore.stores.research_steps import ResearchSteps
from ragcore.tagging.feature import TagFeature
from ragcore.tagging.sets import TagSets
from ragcore.tokens import Tokenizer, offline_tokenizer, tokenizer_for
from ragcore.web.retriever import WebParts

log = logging.getLogger(__name__)

_ALWAYS_TOLD = ("temperature", "max_tokens", "extra_body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything an operation needs.

    ``background`` are the places of calls that nobody waits for, of enriching and describing together: whoever asks a
    question waits behind no more than half of what the endpoint takes. ``web`` is None where no engine is set up.
    """

    library: Library
    embedder: Embedder
    tokenizer: Tokenizer
    chat_model: ChatModel | None
    vision_model: ChatModel | None
    reranker: Reranker | None
    retriever: Retriever
    history: History
    prompts: Prompts
    tag_sets: TagSets
    background: asyncio.Semaphore
    web: WebParts | None = None


@contextlib.asynccontextmanager
async def open_parts(settings: Settings) -> AsyncGenerator[Parts]:
    """Open the parts; whatever a crash left behind is mended first."""
    for check in check_prompts(settings.prompts):
        log.warning("%s: %s: %s", check.name, check.found, check.mend)
    embedder = await open_embedder(settings)
    tokenizer = await tokenizer_for(settings.llm.model) if settings.llm else offline_tokenizer()
    client, vision_model = chat_model_of(settings, tokenizer), vision_model_of(settings, tokenizer)
    chat_model = RecordedCallingModel(client) if client is not None else None
    reranker = reranker_of(settings, chat_model, tokenizer)
    background = asyncio.Semaphore(max(1, min(AT_ONCE, most_calls(settings) // 2)))
    async with contextlib.AsyncExitStack() as closing:
        if close := getattr(reranker, "close", None):
            closing.push_async_callback(close)
        for closes in (embedder, client, vision_model):
            if isinstance(closes, SizedEmbedder | OpenAIChatModel):
                closing.push_async_callback(closes.close)
        library = await Library.open(
            settings.data_dir,
            embedder=embedder,
            database_url=_secret(settings.database.url),
            chroma_url=settings.chroma.url,
        )
        closing.push_async_callback(library.close)
        if vision_model is not None:
            library.describer = ModelDescriber(
                Asker(
                    model=vision_model,
                    identity=_vision_identity(settings),
                    results=ModelResults(library.database),
                    prompts=prompts_in(settings.prompts),
                    tokenizer=tokenizer,
                    places=background,
                    task=VISION,
                    attempts=ATTEMPTS,
                )
            )
        await recover(library)
        history = History(library.database, tokenizer=tokenizer, days=settings.answer.history_days)
        await history.expire()
        await ResearchSteps(library.database).expire()
        sources = tag_sources(settings)
        tag_sets = TagSets(library, known_languages=known_languages(settings))
        closing.push_async_callback(tag_sets.close)
        # Where questions are tagged, or the web is searched, their vectors are needed twice.
        asking: Embedder = RecentEmbedder(embedder) if sources or settings.web else embedder
        tags = (TagFeature(tag_sets, sources, asking),) if sources else ()
        yield Parts(
            library=library,
            embedder=embedder,
            tokenizer=tokenizer,
            chat_model=chat_model,
            vision_model=vision_model,
            reranker=reranker,
            retriever=Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=followed(library),
                embedder=asking,
                options=retrieval_options(settings),
                known_languages=known_languages(settings),
                homes=homes(settings),
                reranker=reranker,
                features=(*rank_features(settings), *tags),
            ),
            history=history,
            prompts=prompts_in(settings.prompts),
            tag_sets=tag_sets,
            background=background,
            web=await closing.enter_async_context(open_web(settings, asking, tokenizer)),
        )


def chat_model_of(settings: Settings, tokenizer: Tokenizer) -> OpenAIChatModel | None:
    """Return the language model that the settings name, None without one."""
    llm = settings.llm
    if llm is None:
        return None
    tasks = {name: _task_options(llm, task) for name, task in llm.tasks.items()}
    return _model_of(llm, llm.model, _options(llm), tasks, tokenizer)


def client_of(model: ChatModel | None) -> OpenAIChatModel | None:
    """Return the client behind a model of the parts, None where there is none."""
    inner = model.inner if isinstance(model, RecordedModel) else model
    return inner if isinstance(inner, OpenAIChatModel) else None


def most_calls(settings: Settings) -> int:
    """Return how many calls of the language model may run side by side."""
    asked = settings.llm.max_concurrent if settings.llm else None
    return asked or ChatLimits().max_concurrent


def enrich_identity(settings: Settings) -> str:
    """Return the model's name with its options for enriching: another of these, and it is asked anew."""
    llm = settings.llm
    assert llm is not None
    return identity_of(llm.model, _task_options(llm, llm.tasks.get("enrich", TaskSettings())))


def vision_model_of(settings: Settings, tokenizer: Tokenizer) -> OpenAIChatModel | None:
    """Return the model that the settings name for pictures, None without one."""
    llm = settings.llm
    if llm is None or not llm.vision_model:
        return None
    task = llm.tasks.get("vision", TaskSettings())
    return _model_of(llm, llm.vision_model, _task_options(llm, task), {}, tokenizer)


def reranker_of(settings: Settings, chat_model: ChatModel | None, tokenizer: Tokenizer) -> Reranker | None:
    """Return what puts relevant chunks in order, None where their relevance does.

    Raises:
        ConfigError: The language model is to do it, and there is none.
    """
    rerank = settings.rerank
    if rerank is None or rerank.provider == "similarity":
        return None
    if rerank.provider == "llm":
        if chat_model is None:
            raise ConfigError(
                '[rerank] provider = "llm" needs the table [llm] with a model; add it, or leave [rerank] out'
            )
        return ListwiseReranker(chat_model, tokenizer, prompts_in(settings.prompts))
    # Here, because HTTP takes a quarter of a second to import, and most have no such endpoint.
    from ragcore.models.http_reranker import Endpoint, HttpReranker

    endpoint = Endpoint(
        base_url=rerank.base_url,
        model=rerank.model,
        api_key=_secret(rerank.api_key),
        style="texts" if rerank.provider == "tei" else "documents",
        extra_body=rerank.extra_body,
    )
    return HttpReranker(endpoint)


def refiner_of(settings: Settings, parts: Parts) -> Refiner | None:
    """Return what puts questions in other words before the search, None without a model that can."""
    if parts.chat_model is None:
        return None
    return Refiner(
        model=parts.chat_model,
        tokenizer=parts.tokenizer,
        languages=HeldLanguages(parts.library.database),
        options=refine_options(settings),
        prompts=parts.prompts,
    )


def describing(settings: Settings) -> str:
    """Return the fingerprint of what describes the pictures of documents, "" where nothing does."""
    identity = _vision_identity(settings)
    return describer_name(identity, prompts_in(settings.prompts)) if identity else ""


def _vision_identity(settings: Settings) -> str:
    """Return the name of the model for pictures with its options: another of these, and it is asked anew."""
    llm = settings.llm
    if llm is None or not llm.vision_model:
        return ""
    return identity_of(llm.vision_model, _task_options(llm, llm.tasks.get("vision", TaskSettings())))


def identity_of(model: str, options: ChatOptions) -> str:
    """Return a model with its options in words that stay the same while what it is asked with does.

    An option that is added later counts only where it is set, so that it asks for nothing anew; the first ones are
    always told, so that another default of one does.
    """
    told = {
        one.name: getattr(options, one.name)
        for one in fields(options)
        if one.name in _ALWAYS_TOLD or getattr(options, one.name) != one.default
    }
    return json.dumps(told | {"model": options.model or model}, sort_keys=True, default=dict)


def _model_of(
    llm: LLMSettings, model: str, options: ChatOptions, tasks: Mapping[str, ChatOptions], tokenizer: Tokenizer
) -> OpenAIChatModel:
    return OpenAIChatModel(
        base_url=llm.base_url,
        model=options.model or model,
        api_key=_secret(llm.api_key),
        context_window=llm.context_window,
        options=options,
        tasks=tasks,
        limits=with_given(
            ChatLimits(),
            connect=llm.connect_timeout,
            first_token=llm.first_token_timeout,
            total=llm.total_timeout,
            max_concurrent=llm.max_concurrent,
        ),
        tokenizer=tokenizer,
    )


def _options(llm: LLMSettings) -> ChatOptions:
    return with_given(
        ChatOptions(), temperature=llm.temperature, max_tokens=llm.max_tokens, extra_body=llm.extra_body or None
    )


def _task_options(llm: LLMSettings, task: TaskSettings) -> ChatOptions:
    return with_given(
        _options(llm),
        model=task.model,
        temperature=task.temperature,
        max_tokens=task.max_tokens,
        extra_body=task.extra_body,
    )


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
