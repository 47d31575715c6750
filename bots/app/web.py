"""What searches the web beside the documents, made of the settings."""

import contextlib
from collections.abc import AsyncGenerator

from bots.app.options import known_languages, retrieval_options
from bots.settings import Settings
from bots.settings.model import WebSettings
from ragcore.models.embeddings import Embedder
from ragcore.tokens import Tokenizer
from ragcore.web.brave import Brave
from ragcore.web.http import JsonHttp
from ragcore.web.judging import PassageJudge
from ragcore.web.pages import WebSearch
from ragcore.web.reading import PageReader
from ragcore.web.retriever import WebOptions, WebParts
from ragcore.web.searxng import SearXNG
from ragcore.web.tavily import Tavily


@contextlib.asynccontextmanager
async def open_web(settings: Settings, embedder: Embedder, tokenizer: Tokenizer) -> AsyncGenerator[WebParts | None]:
    """Open what searches the web and reads its pages, None where the settings name no engine.

    The engine's host was named by the operator, and may stand anywhere; pages are read of public addresses alone, and
    of the networks that the settings allow, each time with connections of their own.
    """
    web = settings.web
    if web is None:
        yield None
        return
    # Here, because HTTP takes a third of a second to import, and most search no web.
    from connectors.http import AddressRule, HttpClient, HttpOptions

    rule = AddressRule.of(web.networks)
    asking = HttpOptions(addresses=None, timeout=web.seconds, connecting=web.seconds)
    reading = HttpOptions(addresses=rule, timeout=web.seconds, connecting=web.seconds)
    async with contextlib.AsyncExitStack() as closing:
        http = await closing.enter_async_context(HttpClient(asking))
        reader = PageReader(tokenizer)
        closing.push_async_callback(reader.close)
        yield WebParts(
            search=engine_of(web, http),
            open_pages=lambda: HttpClient(reading),
            reader=reader,
            judge=PassageJudge(embedder, retrieval_options(settings), known_languages=known_languages(settings)),
            tokenizer=tokenizer,
        )


def engine_of(web: WebSettings, http: JsonHttp) -> WebSearch:
    """Return the engine that the settings name."""
    key = web.api_key.get_secret_value() if web.api_key else ""
    match web.provider:
        case "tavily":
            return Tavily(http, api_key=key, base_url=web.base_url)
        case "brave":
            return Brave(http, api_key=key, base_url=web.base_url)
        case "searxng":
            return SearXNG(http, base_url=web.base_url, api_key=key)


def web_options(web: WebSettings) -> WebOptions:
    """Return how the web is searched."""
    return WebOptions(results=web.results, seconds=web.seconds, inside=bool(web.networks))
