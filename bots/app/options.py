"""Settings become the option values of the core; what a setting leaves open keeps the core's default."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bots.settings import KnowledgeBaseSettings, Settings
from bots.settings.model.values import metadata_field
from ragcore.answer import AnswerOptions
from ragcore.chunking import ChunkOptions
from ragcore.enrich.options import EnrichOptions
from ragcore.filter_grammar import parse_filter
from ragcore.filters import Filter
from ragcore.ingest import IngestOptions
from ragcore.prompts import prompts_in
from ragcore.refine.refining import RefineOptions
from ragcore.retrieval.features import PageRank, RankFeature
from ragcore.retrieval.options import RetrievalOptions
from ragcore.tagging.feature import TagSource

T = TypeVar("T")

_LLM_SECONDS = 5.0
"""How long the language model may take for an order: it reads some 6,000 tokens and writes 60."""


def ingest_options(base: KnowledgeBaseSettings, *, describe: str = "") -> IngestOptions:
    """Return how documents of a knowledge base are cut, and by what their pictures are described."""
    named = base.chunking
    chunk = with_given(
        ChunkOptions(method=named) if isinstance(named, str) else ChunkOptions(),
        chunk_tokens=base.chunk_tokens,
        overlap=base.chunk_overlap,
        delimiters=base.delimiters,
        parent_tokens=base.parent_tokens,
        qa_embed=base.qa_embed,
    )
    return IngestOptions(chunk=chunk, methods=() if isinstance(named, str) else tuple(named.items()), describe=describe)


def enrich_options(base: KnowledgeBaseSettings) -> EnrichOptions:
    """Return what a model is to add to the chunks of a knowledge base."""
    return EnrichOptions(
        auto_keywords=base.auto_keywords,
        auto_questions=base.auto_questions,
        contents=base.contents,
        tags_from=tuple(dict.fromkeys(base.tags_from)),
        topn_tags=base.topn_tags,
        raptor=base.raptor != "off",
        overview=base.raptor == "knowledge_base",
        graph=base.graph,
        graph_communities=base.graph_communities,
        metadata=tuple(metadata_field(name, table) for name, table in base.metadata.items()),
    )


def tag_sources(settings: Settings) -> dict[str, TagSource]:
    """Return where the tags of each knowledge base come from, of those that have any."""
    bases = settings.all_knowledge_bases.items()
    wanted = ((name, enrich_options(base)) for name, base in bases)
    return {name: TagSource(tags_from=o.tags_from, topn_tags=o.topn_tags) for name, o in wanted if o.tags_from}


def with_tagged_by(settings: Settings, names: Collection[str]) -> list[str]:
    """Return these knowledge bases, and then those whose tags come from one of them."""
    bases = settings.all_knowledge_bases
    tagged = (name for name, base in bases.items() if not frozenset(base.tags_from).isdisjoint(names))
    return list(dict.fromkeys([*names, *tagged]))


def retrieval_options(settings: Settings) -> RetrievalOptions:
    """Return how questions are searched."""
    answer, rerank = settings.answer, settings.rerank
    options = RetrievalOptions()
    if rerank is not None:
        options = with_given(
            replace(options, rerank_seconds=_LLM_SECONDS) if rerank.provider == "llm" else options,
            ranking="similarity" if rerank.provider == "similarity" else None,
            rerank_candidates=rerank.candidates,
            rerank_seconds=rerank.timeout,
            rerank_threshold=rerank.threshold,
        )
    return with_given(
        options,
        top_k=answer.top_k,
        top_n=answer.top_n,
        similarity_threshold=answer.similarity_threshold,
        vector_similarity_weight=answer.vector_similarity_weight,
        synonyms=answer.synonyms,
    )


def rank_features(settings: Settings) -> tuple[RankFeature, ...]:
    """Return what counts besides relevance in the order of chunks, nothing where no weight is set."""
    bases = {name: base.pagerank for name, base in settings.all_knowledge_bases.items() if base.pagerank}
    sources = {source.name: source.pagerank for source in settings.sources if source.pagerank is not None}
    return (PageRank(knowledge_bases=bases, sources=sources),) if bases or any(sources.values()) else ()


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
        related_questions=answer.related_questions,
        plain_chat=answer.plain_chat and not settings.all_knowledge_bases,
        prompts=prompts_in(settings.prompts),
    )


def refine_options(settings: Settings) -> RefineOptions:
    """Return what is done to a question before the search."""
    answer = settings.answer
    return RefineOptions(
        multiturn=answer.refine_multiturn,
        languages=answer.cross_languages,
        keyword=answer.keyword,
        seconds=answer.refine_seconds,
    )


def filters_of(settings: Settings, knowledge_bases: Sequence[str], text: str = "") -> dict[str, tuple[Filter, ...]]:
    """Return what documents of each knowledge base must meet: its own filter, and the one that was asked with.

    Raises:
        ConfigError: the text is no filter.
    """
    asked = (parse_filter(text),) if text.strip() else ()
    own = {name: settings.all_knowledge_bases[name].filter for name in knowledge_bases}
    found = {name: (*((parse_filter(said),) if said else ()), *asked) for name, said in own.items()}
    return {name: filters for name, filters in found.items() if filters}


def drawn_fields(settings: Settings, knowledge_bases: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for which knowledge bases a model draws a filter from the question, and over which fields; (): all."""
    bases = {name: settings.all_knowledge_bases[name] for name in knowledge_bases}
    return {name: base.filter_fields for name, base in bases.items() if base.metadata_filter != "off"}


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
