"""The steps that ask a model: what each adds to an index, and how a question is searched with and without it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks._judged_sets import JudgedSet, read_set
from benchmarks._pictured import pictured
from benchmarks._step_sets import TAGGED_BY, by_tags, fill_tags, untagged
from ragcore.enrich.community_step import WORDS
from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, retriever_over
from ragcore.library import Library
from ragcore.models.listwise import ListwiseReranker
from ragcore.models.llm import ChatModel
from ragcore.models.rerankers import Reranked, Reranker
from ragcore.prompts import OWN
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.by_contents import ContentsRetriever
from ragcore.retrieval.by_graph import GraphRetriever
from ragcore.retrieval.drawn_filter import FilteringRetriever
from ragcore.retrieval.retriever import Retrieving
from ragcore.tokens import offline_tokenizer
from ragcore.types import Usage

PATIENT = 600.0
"""Seconds that a step of a question waits: how long a model takes is measured, and cuts nothing off."""
SPEECH = "state_of_the_union"
"""The text of ``chunking-dev`` that is prose without headings: long enough for a table of contents and a tree."""
BEGINNING = 12_000
"""Characters of it that are taken."""

LATE = 0.05
"""Seconds that no endpoint which reads 24 passages keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """What a step asks: a chat model, or what puts passages in order; None where no such endpoint was named."""

    chat: ChatModel | None = None
    reranker: Reranker | None = None


Search = Callable[[Library, RetrievalOptions, Endpoints], Retrieving]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """A step: what it adds to a new index, and how is searched with it; ``share`` of the usual sample is taken.

    ``prepare`` is done to the index before, without the model. ``form`` is the JSON schema of what is asked for,
    but for calls with the rules ``prose``. ``is_pictured``: the model is shown the pictures of the documents, while
    these are read again. ``is_reranked``: what is asked is the endpoint of a reranker.
    """

    name: str
    enrich: EnrichOptions = field(default_factory=EnrichOptions)
    search: Search = lambda library, options, endpoints: retriever_over(library, options)
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    data: Callable[[int, int], JudgedSet] = lambda documents, questions: sample("faq-zoomcamp", documents, questions)
    is_tagged: bool = False
    is_pictured: bool = False
    is_reranked: bool = False
    form: Mapping[str, object] = field(default_factory=dict)
    prose: str = ""


def sample(name: str, documents: int, questions: int) -> JudgedSet:
    """Return so many documents of a set: those that answer the questions, and others, by the hash of their ids."""
    return read_set(name, documents=documents, questions=questions)


def entries_to_tag(documents: int, questions: int) -> JudgedSet:
    """Return a sample of the entries that are no part of the tag set."""
    whole = untagged(read_set("faq-zoomcamp"))
    asked = [one.id for one in sample("faq-zoomcamp", documents, 3 * questions).questions]
    kept = tuple(one for one in whole.questions if one.id in asked)[:questions]
    gold = {f"bench:{place}" for query in kept for place in query.grades}
    others = [one for one in whole.documents if one.id not in gold][: max(0, documents - len(gold))]
    chosen = gold | {one.id for one in others}
    return replace(whole, questions=kept, documents=tuple(one for one in whole.documents if one.id in chosen))


def speech(documents: int, questions: int) -> JudgedSet:
    """Return the beginning of one long speech, and some of the questions that it answers."""
    data = read_set("chunking-dev")
    (whole,) = (one for one in data.documents if one.id.endswith(f":{SPEECH}"))
    begins = whole.content.decode()[:BEGINNING]
    asked = (one for one in data.questions if all(_is_within(place) for place in one.grades))
    document = replace(whole, content=begins.encode())
    return replace(data, documents=(document,), questions=tuple(asked)[:questions])


def _is_within(place: str) -> bool:
    """Return whether a stretch, ``text:start-end``, lies in the beginning of the speech."""
    name, _, span = place.rpartition(":")
    return name == SPEECH and int(span.partition("-")[2]) <= BEGINNING


def passages(documents: int, questions: int) -> JudgedSet:
    """Return a sample of short passages about people, places and works."""
    return sample("multihop-dev", documents, questions)


def _by_contents(library: Library, options: RetrievalOptions, endpoints: Endpoints) -> Retrieving:
    retriever = retriever_over(library, options)
    return ContentsRetriever(
        retriever,
        registry=library.registry,
        values=retriever.values,
        model=endpoints.chat,
        prompts=OWN,
        tokenizer=offline_tokenizer(),
        seconds=PATIENT,
    )


def _by_filter(library: Library, options: RetrievalOptions, endpoints: Endpoints) -> Retrieving:
    assert endpoints.chat is not None
    retriever = retriever_over(library, options)
    return FilteringRetriever(
        retriever,
        registry=library.registry,
        values=retriever.values,
        model=endpoints.chat,
        tokenizer=offline_tokenizer(),
        fields={KNOWLEDGE_BASE: ()},
        seconds=PATIENT,
    )


def by_graph(library: Library, options: RetrievalOptions, endpoints: Endpoints) -> Retrieving:
    """Compose a retriever that adds what the knowledge graph says."""
    retriever = retriever_over(library, options)
    return GraphRetriever(retriever, registry=library.registry, values=retriever.values, tokenizer=offline_tokenizer())


def _judged(library: Library, options: RetrievalOptions, endpoints: Endpoints) -> Retrieving:
    assert endpoints.chat is not None
    return _ordered_by(ListwiseReranker(endpoints.chat, offline_tokenizer()), library, options)


def _reranked(library: Library, options: RetrievalOptions, endpoints: Endpoints) -> Retrieving:
    assert endpoints.reranker is not None
    return _ordered_by(Counted(endpoints.reranker), library, options)


def _ordered_by(reranker: Reranker, library: Library, options: RetrievalOptions) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=options,
        reranker=reranker,
    )


class Counted:
    """A reranker whose requests are told as calls, with the tokens of what was sent: the product tells of models alone.

    Of a request that was not waited for, the call is told without its tokens.
    """

    calls = 1

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self.name = reranker.name

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        found = await self._reranker.rerank(query, texts)
        tokens = sum(map(offline_tokenizer().count, (query, *texts)))
        return replace(found, usage=Usage(calls=self.calls, prompt_tokens=tokens))


FIELDS = (
    MetadataField(name="subject", description="the program, tool or part of the course that it is about"),
    MetadataField(name="kind", description="what it is: an error, an installation, a deadline, or another question"),
)


def _text(longest: int) -> Mapping[str, object]:
    return {"type": "string", "maxLength": longest}


def _object(**fields: object) -> Mapping[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list(item: object, least: int, most: int) -> Mapping[str, object]:
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


_CONDITION = _object(field={"enum": ["subject", "kind"]}, operator={"enum": ["=", "contains"]}, value=_text(40))
_FILTER = _object(join={"enum": ["and", "or"]}, conditions=_list(_CONDITION, 0, 1))
CARD_OR_FILTER: Mapping[str, object] = {"anyOf": [_object(subject=_text(40), kind=_text(40)), _FILTER]}
PLACES = _list({"enum": list(range(8))}, 2, 8)
SECTIONS = _list(_object(piece={"type": "integer"}, level={"enum": [1, 2]}, title=_text(60)), 1, 6)
_ENTITY = _object(name=_text(40), type=_text(20), description=_text(80))
_RELATION = _object(source=_text(40), target=_text(40), description=_text(80), weight={"type": "integer"})
_SAME = _object(same=_list({"type": "integer"}, 0, 3))
GRAPH = _object(entities=_list(_ENTITY, 2, 4), relations=_list(_RELATION, 1, 2))
GRAPH_OR_SAME: Mapping[str, object] = {"anyOf": [GRAPH, _SAME]}
STEPS: Sequence[ModelStep] = (
    ModelStep(name="`auto_keywords = 5`", enrich=EnrichOptions(auto_keywords=5)),
    ModelStep(name="`auto_questions = 3`", enrich=EnrichOptions(auto_questions=3)),
    ModelStep(
        name="`tags_from`, with a model for the rest",
        enrich=TAGGED_BY,
        search=lambda library, options, endpoints: by_tags(library, options),
        data=entries_to_tag,
        is_tagged=True,
    ),
    ModelStep(
        name='`metadata`, `metadata_filter = "auto"`',
        enrich=EnrichOptions(metadata=FIELDS),
        search=_by_filter,
        form=CARD_OR_FILTER,
    ),
    ModelStep(
        name='`[rerank] provider = "llm"`, 8 candidates',
        search=_judged,
        retrieval=RetrievalOptions(rerank_candidates=8, rerank_seconds=PATIENT),
        form=PLACES,
    ),
    *(
        ModelStep(
            name=f"`[rerank]`, a `/rerank` endpoint, {told}",
            search=_reranked,
            retrieval=RetrievalOptions(rerank_seconds=seconds),
            data=passages,
            is_reranked=True,
        )
        for told, seconds in (("waited for", PATIENT), (f"waited for {LATE} s", LATE))
    ),
    ModelStep(
        name="`llm.vision_model`",
        data=lambda documents, questions: pictured(sample("faq-zoomcamp", documents, questions)),
        is_pictured=True,
    ),
    ModelStep(
        name="`contents`, `toc_enhance`",
        enrich=EnrichOptions(contents=True),
        search=_by_contents,
        data=speech,
        form=SECTIONS,
    ),
    ModelStep(name='`raptor = "document"`', enrich=EnrichOptions(raptor=True), data=speech),
    ModelStep(name='`raptor = "knowledge_base"`', enrich=EnrichOptions(raptor=True, overview=True), data=passages),
    ModelStep(name="`graph`, `use_kg`", enrich=EnrichOptions(graph=True), search=by_graph, data=passages, form=GRAPH),
    ModelStep(
        name="`graph_communities`, `use_kg`",
        enrich=EnrichOptions(graph=True, graph_communities=True),
        search=by_graph,
        data=speech,
        form=GRAPH_OR_SAME,
        prose=OWN.render("community", words=WORDS),
    ),
)


async def prepare(library: Library, step: ModelStep) -> None:
    """Do to a new index what the step needs beside the model."""
    if step.is_tagged:
        await fill_tags(library)
