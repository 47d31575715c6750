"""The parts that answer and index, built from the settings and opened together."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from pydantic import SecretStr

from bots.app.embedders import SizedEmbedder, open_embedder
from bots.app.options import known_languages, retrieval_options, with_given
from bots.settings import Settings
from ragcore.history import History
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.library.upkeep import followed
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.retrieval import Retriever
from ragcore.tokens import Tokenizer, offline_tokenizer, tokenizer_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything an operation needs."""

    library: Library
    embedder: Embedder
    tokenizer: Tokenizer
    chat_model: ChatModel | None
    retriever: Retriever
    history: History


@contextlib.asynccontextmanager
async def open_parts(settings: Settings) -> AsyncGenerator[Parts]:
    """Open the parts; whatever a crash left behind is mended first."""
    embedder = await open_embedder(settings)
    tokenizer = await tokenizer_for(settings.llm.model) if settings.llm else offline_tokenizer()
    chat_model = chat_model_of(settings, tokenizer)
    async with contextlib.AsyncExitStack() as closing:
        for client in (embedder, chat_model):
            if isinstance(client, SizedEmbedder | OpenAIChatModel):
                closing.push_async_callback(client.close)
        library = await Library.open(
            settings.data_dir,
            embedder=embedder,
            database_url=_secret(settings.database.url),
            chroma_url=settings.chroma.url,
        )
        closing.push_async_callback(library.close)
        await recover(library)
        history = History(library.database, tokenizer=tokenizer, days=settings.answer.history_days)
        await history.expire()
        yield Parts(
            library=library,
            embedder=embedder,
            tokenizer=tokenizer,
            chat_model=chat_model,
            retriever=Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=followed(library),
                embedder=embedder,
                options=retrieval_options(settings),
                known_languages=known_languages(settings),
            ),
            history=history,
        )


def chat_model_of(settings: Settings, tokenizer: Tokenizer) -> ChatModel | None:
    """Return the language model that the settings name, None without one."""
    llm = settings.llm
    if llm is None:
        return None
    options = with_given(
        ChatOptions(), temperature=llm.temperature, max_tokens=llm.max_tokens, extra_body=llm.extra_body or None
    )
    return OpenAIChatModel(
        base_url=llm.base_url,
        model=llm.model,
        api_key=_secret(llm.api_key),
        context_window=llm.context_window,
        options=options,
        tasks={
            name: with_given(
                options,
                model=task.model,
                temperature=task.temperature,
                max_tokens=task.max_tokens,
                extra_body=task.extra_body,
            )
            for name, task in llm.tasks.items()
        },
        limits=with_given(
            ChatLimits(),
            connect=llm.connect_timeout,
            first_token=llm.first_token_timeout,
            total=llm.total_timeout,
            max_concurrent=llm.max_concurrent,
        ),
        tokenizer=tokenizer,
    )


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
