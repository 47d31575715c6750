"""What is to be added to the chunks of a knowledge base by a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from ragcore.errors import ConfigError

MOST_KEYWORDS = 30
MOST_QUESTIONS = 10
"""RAGFlow's own limits of the two settings; more of either buries the text that they stand for."""
MOST_TAGS = 10
"""RAGFlow's own limit, too."""


MOST_FIELDS = 24
"""Fields that documents are asked for: a model that fills in more of them at once passes some over."""

SETTINGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "keywords": ("auto_keywords", "chunk"),
        "questions": ("auto_questions", "chunk"),
        "tags": ("tags_from", "chunk"),
        "graph": ("graph", "chunk"),
        "graph_same": ("graph", "group"),
        "community": ("graph_communities", "report"),
        "contents": ("contents", "passage"),
        "document_metadata": ("metadata", "document"),
        "summary": ("raptor", "part"),
        "overview": ("raptor", "part"),
    }
)
"""By template the setting that switches it on, and what it is asked about, or for, each time."""


def setting_of(template: str) -> str:
    """Return the name of the setting that switches on what a template asks for."""
    return SETTINGS.get(template, (template, ""))[0]


FieldType = Literal["text", "number", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataField:
    """A fact that a model is to read out of a document: what belongs in it, and of which type it is.

    Raises:
        ConfigError: It has no name, no description or no such type.
    """

    name: str
    description: str
    type: FieldType = "text"

    def __post_init__(self) -> None:
        """Refuse what cannot be asked for."""
        if not self.name.strip() or not self.description.strip():
            raise ConfigError("a field of metadata needs a name and a description")
        if self.type not in get_args(FieldType):
            raise ConfigError(f"the type of the field {self.name} must be one of {', '.join(get_args(FieldType))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichOptions:
    """The steps, all off by default.

    ``auto_keywords`` and ``auto_questions`` are how many of each a chunk gets at most, 0 for none, for one call of the
    model each. ``contents``: a document whose headings do not tell its sections gets a table of contents, for one call
    about 1,024 tokens. ``tags_from`` names the tag knowledge bases from which chunks get tags, at most ``topn_tags``
    each; none without it. Only for a chunk that resembles none of their rows is a model asked, where there is one.
    ``raptor``: each document gets a summary tree, for one call about six chunks; ``overview``: those of the same
    readers get one over all of theirs besides, for one call about five documents. It needs ``raptor``.
    ``metadata`` are facts that are read out of each document, all by one call. ``graph``: each chunk gets its part of a
    knowledge graph, for one call each. ``graph_communities``: of its things that belong together a report is written,
    for one call each.

    Raises:
        ConfigError: A value is out of its range.
    """

    auto_keywords: int = 0
    auto_questions: int = 0
    contents: bool = False
    tags_from: tuple[str, ...] = ()
    topn_tags: int = 3
    raptor: bool = False
    overview: bool = False
    metadata: tuple[MetadataField, ...] = ()
    graph: bool = False
    graph_communities: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if len(self.metadata) > MOST_FIELDS:
            raise ConfigError(f"metadata has {len(self.metadata)} fields, and must have at most {MOST_FIELDS}")
        for name, most in (("auto_keywords", MOST_KEYWORDS), ("auto_questions", MOST_QUESTIONS)):
            if not 0 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} is {getattr(self, name)}, and must be from 0 to {most}")
        if self.graph_communities and not self.graph:
            raise ConfigError("graph_communities needs graph: the communities are those of the knowledge graph")
        if self.overview and not self.raptor:
            raise ConfigError("an overview is made of the summaries of documents: raptor must be on for it, too")
        if not 1 <= self.topn_tags <= MOST_TAGS:
            raise ConfigError(f"topn_tags is {self.topn_tags}, and must be from 1 to {MOST_TAGS}")

    @property
    def works_without_model(self) -> bool:
        """Tell whether something of it can be done without a model."""
        return bool(self.tags_from)

    @property
    def needs_model(self) -> bool:
        """Tell whether something of it can only be done by a model."""
        whole = self.contents or self.raptor or self.metadata
        return bool(self.auto_keywords or self.auto_questions or self.graph or whole)
