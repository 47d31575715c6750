"""Settings become the option values of the core; what a setting leaves open keeps the core's default."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bots.settings import KnowledgeBaseSettings, Settings
from ragcore.answer import AnswerOptions
from ragcore.chunking import ChunkOptions
from ragcore.enrich.options import EnrichOptions
from ragcore.ingest import IngestOptions
from ragcore.prompts import prompts_in
from ragcore.retrieval.options import RetrievalOptions

T = TypeVar("T")


def ingest_options(base: KnowledgeBaseSettings) -> IngestOptions:
    """Return how documents of a knowledge base are cut."""
    named = base.chunking
    chunk = with_given(
        ChunkOptions(method=named) if isinstance(named, str) else ChunkOptions(),
        chunk_tokens=base.chunk_tokens,
        overlap=base.chunk_overlap,
        delimiters=base.delimiters,
        parent_tokens=base.parent_tokens,
    )
    return IngestOptions(chunk=chunk, methods=() if isinstance(named, str) else tuple(named.items()))


def enrich_options(base: KnowledgeBaseSettings) -> EnrichOptions:
    """Return what a model is to add to the chunks of a knowledge base."""
    return EnrichOptions(
        auto_keywords=base.auto_keywords,
        auto_questions=base.auto_questions,
        contents=base.contents,
        tags_from=tuple(dict.fromkeys(base.tags_from)),
        topn_tags=base.topn_tags,
        raptor=base.raptor == "document",
    )


def with_tagged_by(settings: Settings, names: Collection[str]) -> list[str]:
    """Return these knowledge bases, and then those whose tags come from one of them."""
    bases = settings.all_knowledge_bases
    tagged = (name for name, base in bases.items() if not frozenset(base.tags_from).isdisjoint(names))
    return list(dict.fromkeys([*names, *tagged]))


def retrieval_options(settings: Settings) -> RetrievalOptions:
    """Return how questions are searched."""
    answer = settings.answer
    return with_given(
        RetrievalOptions(),
        top_k=answer.top_k,
        top_n=answer.top_n,
        similarity_threshold=answer.similarity_threshold,
        vector_similarity_weight=answer.vector_similarity_weight,
        synonyms=answer.synonyms,
    )


def answer_options(settings: Settings, knowledge_bases: tuple[str, ...]) -> AnswerOptions:
    """Return how a question to these knowledge bases is answered: their own prompt, if they all have the same one."""
    answer = settings.answer
    prompts = {settings.all_knowledge_bases[name].prompt for name in knowledge_bases}
    prompt = next(iter(prompts)) if len(prompts) == 1 else None
    return AnswerOptions(
        empty_response=answer.empty_response,
        unsupported=answer.unsupported,
        language=answer.language,
        quote=answer.quote,
        citation_plus=answer.citation_plus,
        hosts=link_hosts(settings),
        prompt_file=prompt,
        known_languages=known_languages(settings),
        prompts=prompts_in(settings.prompts),
    )


def known_languages(settings: Settings) -> frozenset[str] | None:
    """Return which languages the embedder reads, None: all.

    The embedded model was trained on English; an endpoint is chosen for the languages at hand.
    """
    return frozenset({"en"}) if settings.embedding.provider == "minilm" else None


def homes(settings: Settings) -> dict[str, str]:
    """Return the knowledge base of each source: where the settings move one, what was read before is in no other."""
    return {source.name: source.knowledge_base for source in settings.sources}


def link_hosts(settings: Settings) -> frozenset[str]:
    """Return the hosts whose addresses may become links: those of the sources, and those named."""
    addresses = [address for source in settings.sources for address in _addresses(source.options)]
    hosts = (urlsplit(address).hostname for address in addresses if isinstance(address, str))
    return frozenset({host for host in hosts if host} | {host.lower() for host in settings.answer.link_hosts})


def _addresses(options: Mapping[str, Any]) -> list[object]:
    """Return what may be the addresses of a source, whatever its type."""
    several = [options.get(key) for key in ("start_urls", "sitemaps")]
    listed = [address for found in several if isinstance(found, list | tuple) for address in found]
    return [options.get("base_url") or options.get("url"), *listed]


def with_given(options: T, **values: object) -> T:
    """Return the options with those values that are not None."""
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return replace(options, **given)  # type: ignore[type-var]
