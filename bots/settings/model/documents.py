"""The tables of documents: where they come from, how they are kept, who may read them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from bots.settings.grammar import normal_schedule, one_channel
from bots.settings.model.values import (
    ChunkMethods,
    FilePath,
    FilterText,
    JsonTable,
    MetadataSchema,
    Name,
    OptionalUrl,
    Reader,
    Secret,
    Section,
)
from bots.settings.presets import known_preset, with_preset
from ragcore.chunk_methods import CHUNK_TOKENS
from ragcore.enrich.options import MOST_KEYWORDS, MOST_QUESTIONS, MOST_TAGS


class ChromaSettings(Section):
    """Where the vectors stand."""

    url: OptionalUrl = Field(default="", description='a Chroma server, such as `"http://host:8000"`; default: embedded')


class DatabaseSettings(Section):
    """Where documents, history and state stand."""

    url: Secret | None = Field(
        default=None,
        description="such as `postgresql+asyncpg://user:${PGPASSWORD}@host/citebot`; default: SQLite in `data_dir`",
    )


class SyncSettings(Section):
    """How sources are run."""

    at_once: int = Field(default=4, ge=1, le=64, description="how many sources are run side by side")


class KnowledgeBaseSettings(Section):
    """One knowledge base: documents that are searched, and read, together."""

    description: str = Field(default="", description="what is in it, in one sentence")
    preset: Annotated[str, AfterValidator(known_preset)] = Field(
        default="",
        description="a kind of documents, one of those below: stands for the four settings that follow, as far as they "
        "are left out",
    )
    chunking: ChunkMethods = Field(
        default="naive",
        description="the chunk method, one of those below; or one by file pattern, the first that matches: "
        '`{"*.pptx" = "presentation", "letters/*" = "one", "*" = "naive"}`',
    )
    chunk_tokens: int | None = Field(default=None, ge=16, le=8192, description="the largest chunk, in tokens")
    chunk_overlap: float | None = Field(
        default=None, ge=0, le=0.5, description="how much of a chunk the next one repeats, as a share of it"
    )
    delimiters: str | None = Field(
        default=None,
        description="the characters after which text may be cut, as one string; default: paragraphs, lines, sentences",
    )
    parent_tokens: int = Field(
        default=0,
        ge=0,
        le=16384,
        description="search small, quote large: how many tokens of the chunks around a found one, under the same "
        "heading or in the same table, are quoted with it; more than `chunk_tokens`; 0: it is quoted alone",
    )
    qa_embed: Literal["both", "question"] = Field(
        default="both",
        description="what the chunk method `qa` embeds of each pair: question and answer, or the `question` alone, as "
        "RAGFlow does; both are quoted and searched by words either way; a change embeds the pairs anew",
    )
    auto_keywords: int = Field(
        default=0,
        ge=0,
        le=MOST_KEYWORDS,
        description="how many keywords a model names for each chunk, which take part in the search by words: one call "
        "a chunk; default: none",
    )
    auto_questions: int = Field(
        default=0,
        ge=0,
        le=MOST_QUESTIONS,
        description="how many questions a model writes that each chunk answers, which take part in the search by "
        "words: one call a chunk; default: none",
    )
    contents: bool = Field(
        default=False,
        description="let a model find where sections begin in documents whose headings do not tell, for "
        "`answer.toc_enhance`: one call about 1,024 tokens",
    )
    tags_from: tuple[Name, ...] = Field(
        default=(),
        description='knowledge bases with `chunking = "tag"` whose tags the chunks get: from similar rows without a '
        "model, and where there are none by one, if one is set; relevant chunks with the question's tags count up to "
        "a tenth more; default: none",
    )
    topn_tags: int = Field(default=3, ge=1, le=MOST_TAGS, description="how many tags a chunk gets at most")
    raptor: Literal["off", "document", "knowledge_base"] = Field(
        default="off",
        description="let a model write a tree of summaries of each `document`, which are searched and read beside its "
        "chunks; an answer cites the chunks: one call about six chunks; with `knowledge_base` also one over all "
        "documents that the same people may read: one call about five documents more",
    )
    graph: bool = Field(
        default=False,
        description="let a model read out of each chunk which things it names and how they are related, for "
        "`answer.use_kg`: one call a chunk, and one about a few names that may mean the same",
    )
    graph_communities: bool = Field(
        default=False,
        description="let a model write a report of things of the knowledge graph that belong together (`graph`), from "
        "documents with the same readers; they are searched and read beside the chunks, and an answer cites the "
        "chunks: one call a community",
    )
    metadata: MetadataSchema = Field(
        default_factory=dict,
        description="facts that a model reads out of each document, for filters, by field with what belongs in it: "
        '`{department = "the one that wrote it", year = {description = "the year it is about", type = "number"}}`; '
        "types: `text`, `number`, `date`; what the source tells of a field counts before; one call a document",
    )
    readers: tuple[Reader, ...] = Field(
        default=(),
        description="who may be answered from it: `*`, `slack:T0123`, `slack:T0123/C0456`, `slack:T0123/@U0789`, "
        "`discord:GUILD`, `discord:GUILD/CHANNEL`, `discord:@USER`, `telegram:CHAT`, `telegram:@USER`, "
        "`email:ADDRESS`; default: nobody but the operator",
    )
    owners: tuple[Reader, ...] = Field(
        default=(),
        description="who looks after it: one channel, and the people in it who decide, where not all there do, such as "
        '`["slack:T0123/C0456", "slack:T0123/@U0789"]`; "Ask a person" under an uncertain answer takes the question '
        "there, and a reply that is kept becomes a document; default: nobody, without the button",
    )
    pagerank: int = Field(
        default=0,
        ge=0,
        le=100,
        description="how much its documents count beside others that are relevant too: at 100 half as much again",
    )
    filter: FilterText = Field(
        default="",
        description="search only documents that meet this, such as `status = active and year >= 2024`; default: all. "
        "No protection: who may read is for `readers` to say",
    )
    metadata_filter: Literal["off", "auto", "semi_auto"] = Field(
        default="off",
        description="let the model draw a filter from each question, by what is known of the documents: `auto` over "
        "all fields, `semi_auto` over `filter_fields`; one call before the search",
    )
    filter_fields: tuple[Name, ...] = Field(
        default=(), description='the fields that `semi_auto` may use, such as `["year", "status"]`'
    )
    prompt: FilePath | None = Field(
        default=None,
        description="a file with this knowledge base's own system prompt; how to cite is added where it does not say",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_preset(cls, table: object) -> object:
        return with_preset(table)

    @field_validator("owners")
    @classmethod
    def _are_in_one_channel(cls, owners: tuple[str, ...]) -> tuple[str, ...]:
        return one_channel(owners)

    @field_validator("parent_tokens")
    @classmethod
    def _is_larger(cls, tokens: int, info: ValidationInfo) -> int:
        if 0 < tokens <= (info.data.get("chunk_tokens") or CHUNK_TOKENS):
            usual = f"chunk_tokens ({CHUNK_TOKENS} where it is left out)"
            raise ValueError(f"must be more than {usual}, or 0 to quote each chunk alone")
        return tokens

    @field_validator("qa_embed")
    @classmethod
    def _has_pairs(cls, wanted: str, info: ValidationInfo) -> str:
        named = info.data.get("chunking", "qa")
        if wanted != "both" and "qa" not in ([named] if isinstance(named, str) else named.values()):
            raise ValueError('needs chunking = "qa", or a file pattern with it: no other method finds pairs')
        return wanted

    @field_validator("graph_communities")
    @classmethod
    def _has_a_graph(cls, wanted: bool, info: ValidationInfo) -> bool:
        if wanted and not info.data.get("graph"):
            raise ValueError("needs graph = true: the communities are those of the knowledge graph")
        return wanted

    @model_validator(mode="after")
    def _fields_are_named(self) -> "KnowledgeBaseSettings":
        if (self.metadata_filter == "semi_auto") is not bool(self.filter_fields):
            raise ValueError(
                'filter_fields and metadata_filter = "semi_auto" go together: '
                + ("name the fields" if not self.filter_fields else "set both, or leave filter_fields out")
            )
        return self

    @property
    def needing_model(self) -> tuple[str, ...]:
        """Return the settings that are on and that do nothing without a model."""
        switches = ("auto_keywords", "auto_questions", "contents", "graph", "graph_communities", "metadata")
        found = tuple(name for name in switches if getattr(self, name))
        return (*found, "raptor") if self.raptor != "off" else found

    @property
    def holds_tags(self) -> bool:
        """Return whether documents of it may be tag sets."""
        return self.chunking == "tag" or (not isinstance(self.chunking, str) and "tag" in self.chunking.values())


class SourceSettings(Section):
    """One source of documents. Keys not listed here belong to its type."""

    name: Name = Field(description="unique; the first part of its documents' ids")
    type: str = Field(min_length=1, description="the kind of source, such as `files`")
    knowledge_base: Name = Field(
        default="", validate_default=False, description="where its documents go; default: the source's name"
    )
    schedule: Annotated[str, AfterValidator(normal_schedule)] | None = Field(
        default=None,
        description='how often `citebot run` syncs it: `"15m"`, or a cron line such as '
        '`"0 6 * * mon-fri Europe/Berlin"`; default: only by hand',
    )
    pagerank: int | None = Field(
        default=None, ge=0, le=100, description="as that of a knowledge base, for this source; default: that one's"
    )
    options: JsonTable = Field(default_factory=dict, repr=False, exclude=True, description="the keys of its type")

    @model_validator(mode="before")
    @classmethod
    def _split(cls, table: object) -> object:
        """Set the keys that belong to the type apart, and name the knowledge base."""
        if not isinstance(table, Mapping):
            return table
        own = {key: value for key, value in table.items() if key in cls.model_fields and key != "options"}
        if "name" in own:
            own.setdefault("knowledge_base", own["name"])
        return own | {"options": {key: value for key, value in table.items() if key not in own}}

    @field_validator("name")
    @classmethod
    def _no_colon(cls, name: str) -> str:
        if ":" in name:
            raise ValueError('must not hold ":", which parts the name from the document in an id')
        return name
