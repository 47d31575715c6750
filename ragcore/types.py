"""The values that flow through Citebot, all frozen; imports the standard library and filters only.

One way through:

    bytes (SourceDocument) -> Section -> Chunk -> vectors -> SQL -> indexes
    Question -> ScoredChunk -> Message -> raw text -> Answer

Long because it holds every value of that way, each a few lines, and whoever reads one reads its neighbours.

Scores: higher is better, everywhere. Ranks and page, row, line and slide numbers count from 1.
Vectors are float32 ``(n, dim)``, L2-normalised, and never a field of a chunk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from ragcore.filters import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Permalink:
    """From this line of a document on (counted from 1), until the next one's, a reader finds it at this address."""

    line: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDocument:
    """One document as its source system gave it, before parsing.

    ``id`` is ``<source name>:<native id>``. ``version`` is whatever the source has to tell that nothing changed
    (an ETag, a modification time and size); empty means that only the content can tell.
    ``name`` is a file name (or the last part of a URL) and only hints at the format; the content decides.
    ``readers`` is None when the source says nothing about who may read it (then the knowledge base decides); written
    as in the settings (``email:A``, ``slack:T/C``, ``*``), with groups expanded. ``permalinks`` are the addresses of
    its parts (the messages of a thread), by line, in order; for text and Markdown that have a ``name``.
    """

    id: str
    source: str
    content: bytes
    name: str = ""
    media_type: str = ""
    title: str = ""
    url: str = ""
    author: str = ""
    version: str = ""
    updated_at: datetime | None = None
    readers: frozenset[str] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    permalinks: tuple[Permalink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page (from 1), in points from the upper left corner of the page as it is shown, to 0.1."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """``text[start:end]`` of a section, which is printed there; lines of one ``column`` of a page follow each other."""

    start: int
    end: int
    box: Box
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a section or chunk stands in its document; 0 or "" means: the format has no such thing.

    ``anchor`` is the fragment of the nearest heading, as the published page has it (``carry-over``). ``permalinks``
    are the addresses of what stands here, where it has ones of its own: the first is that of the first line.
    ``boxes`` are the rectangles that its lines fill, in reading order; ``page`` is that of the first.
    """

    page: int = 0
    slide: int = 0
    sheet: str = ""
    first_row: int = 0
    last_row: int = 0
    first_line: int = 0
    last_line: int = 0
    anchor: str = ""
    permalinks: tuple[Permalink, ...] = ()
    boxes: tuple[Box, ...] = ()


ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
"""What models that read pictures take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture for a model; ``data`` is its content in Base64, as it stands in JSON."""

    media_type: ImageType
    data: str = field(repr=False)


class SectionKind(StrEnum):
    """What a section holds, because a chunker must treat each differently."""

    TEXT = "text"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a parsed document: Markdown text under one heading path, on one page, in one table or sheet.

    ``heading_path`` runs from the outermost heading inwards and does not repeat the document's title.
    ``header`` is, for a table, the Markdown lines (column names and rule, each with its newline) with which ``text``
    begins and which every later chunk of the table repeats. ``lines`` tell where its text is printed, in order, for
    formats with pages. ``image`` is what it shows, where a model is to describe it: then ``text`` may be empty, and
    else never is.
    """

    text: str
    kind: SectionKind = SectionKind.TEXT
    heading_path: tuple[str, ...] = ()
    location: Location = Location()
    header: str = ""
    lines: tuple[PrintedLine, ...] = field(default=(), repr=False)
    image: Image | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser made of a document. ``media_type`` is what the content turned out to be.

    ``titled``: the title is the document's own, and not made of its file's name. ``has_pictures``: it shows pictures
    that a model can describe. ``lacks_ocr``: it has words that only OCR reads, and that is not installed.
    """

    title: str
    media_type: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    updated_at: datetime | None = None
    author: str = ""
    titled: bool = True
    has_pictures: bool = False
    lacks_ocr: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """Which chunks of its document are quoted with a chunk: those with the ordinals ``first`` to ``last``, itself too.

    ``goes_on``: its own text begins right where that of the chunk before it ends, in the same section.
    """

    first: int
    last: int
    goes_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPart:
    """From character ``start`` of a parent's text on, until the next part, it is that of the chunk ``ordinal``."""

    start: int
    ordinal: int
    kind: SectionKind
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A chunk on which a summary in another document rests, and the document that it stands in."""

    chunk_id: str
    document_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A retrievable piece of one section; ``text`` is what is quoted, and stands so in the document.

    ``overlap`` counts the leading characters of ``text`` that an earlier chunk of the same section holds already
    (overlap, or a repeated table header): dropping them, the chunks of a section rejoin to its text.
    ``keywords``, ``questions`` and ``tags`` come from enrichment (the tags of a tag set from its rows) and take part
    in search, never in quotes. ``tag_scores`` are tags that a chunk was given from a tag set, each with a score of 1 to
    10, the best first: they count in the order of what is relevant, and are not searched.
    ``reader_set`` names the readers that the document's source told; empty: it told none, the knowledge base decides.
    ``parent`` names the chunks that it is quoted with, None: it stands alone. ``parts`` are those of a chunk whose text
    was widened to its parent's, in order; all else, such as id and location, stays that of the chunk that was found.
    ``leaves`` are the ordinals of the chunks that a summary rests on, in order; empty: it is no summary. The text of a
    summary stands nowhere in the document: it is searched and read by models, and its leaves are quoted and cited.
    ``rests_on`` are, in their place, the leaves of a summary of many documents: it is live, and may be read, as long as
    all of them are.
    """

    id: str
    document_id: str
    knowledge_base: str
    ordinal: int
    text: str
    title: str
    token_count: int
    url: str = ""
    media_type: str = ""
    kind: SectionKind = SectionKind.TEXT
    heading_path: tuple[str, ...] = ()
    location: Location = Location()
    overlap: int = 0
    updated_at: datetime | None = None
    keywords: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tag_scores: tuple[tuple[str, int], ...] = ()
    reader_set: str = ""
    parent: Parent | None = None
    parts: tuple[ChunkPart, ...] = ()
    leaves: tuple[int, ...] = ()
    rests_on: tuple[Leaf, ...] = ()

    @property
    def is_summary(self) -> bool:
        """Tell whether a model wrote its text, which rests on other chunks."""
        return bool(self.leaves or self.rests_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunk:
    """A chunk with its score for one question.

    ``score`` is the absolute relevance in 0..1 that the gate judges; it orders one result list, unless a rank feature
    or a reranker does. ``ranks`` holds the chunk's place in each leg that found it, and with the reranker that read it:
    ``{"dense": 3, "keyword": 1, "rerank": 2}``.
    ``matched`` holds the question's terms that the chunk contains, as written in the chunk. ``copies`` are chunks of
    the same text, up to small differences, that were found too and are left out of the list.
    ``leaves`` are, of a summary, the chunks that it rests on, as they stand in the document.
    """

    chunk: Chunk
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    matched: tuple[str, ...] = ()
    copies: tuple[Chunk, ...] = ()
    leaves: tuple["ScoredChunk", ...] = ()


Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that a model asks for; ``arguments`` are as it wrote them: a JSON object, where it wrote well."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a prompt or a conversation; pictures stand in prompts alone, never in what is remembered.

    ``typed_by`` names who typed a remembered question, ``rests_on`` are the documents that a remembered answer may
    repeat. In prompts alone, too, an assistant's message
    may ask for tools (``calls``); right behind it stands for each of them a message of role "tool" with its result,
    which ``answers`` the call of that id.
    """

    role: Role | Literal["tool"]
    text: str
    author: str = ""
    sent_at: datetime | None = None
    typed_by: str = ""
    images: tuple[Image, ...] = ()
    rests_on: frozenset[str] = frozenset()
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKey:
    """Which conversation a turn belongs to; opaque strings of the platform."""

    platform: str
    workspace: str = ""
    channel: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: the asker's words, what was said before, and where to look.

    ``knowledge_bases`` names all that may be searched, already decided by who asks; empty means none. ``readers`` are
    those who see the answer: a document whose source told who may read it must be open to one of them. None sees all.
    ``document_ids``, when given, narrows the search to these documents, and so do the ``filters`` of a knowledge base,
    all of them: nothing widens what the readers may read. ``beside`` are the words of what stands beside
    the question and in its history too, such as a screenshot: searched for where the question itself finds nothing.
    ``wordings``, where there are any, are what is searched for in place of ``text``: first the question itself, in
    words that stand alone, and then the same in other languages. ``keywords`` are words that are searched for besides.
    ``typed_by`` names who typed it, "" where nobody did, or nobody knows who.
    """

    text: str
    knowledge_bases: tuple[str, ...]
    readers: frozenset[str] | None = None
    history: tuple[Message, ...] = ()
    document_ids: tuple[str, ...] = ()
    filters: Mapping[str, tuple[Filter, ...]] = field(default_factory=dict)
    beside: str = ""
    wordings: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    typed_by: str = ""

    @property
    def asked(self) -> str:
        """Return the question in the words that it is searched by, in the asker's language."""
        return self.searched[0]

    @property
    def searched(self) -> tuple[str, ...]:
        """Return all the words that it is searched by, those in the asker's language first."""
        return self.wordings or (self.text,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Model calls and tokens spent."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Add two usages, field by field."""
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One cited chunk of an answer.

    ``number`` is what the reader sees, from 1 in order of first use; ``id`` is the n of ``[ID:n]`` in the raw text,
    an index into the answer's chunks. ``url`` points as deep as the source allows. ``quote`` stands so in the chunk.
    ``updated_at`` is when the document last changed, None when its source doesn't tell. ``read_at`` is when its source
    was last read, told only where that is longer ago than it should be.
    """

    number: int
    id: int
    chunk_id: str
    document_id: str
    title: str
    url: str
    location: str
    quote: str
    updated_at: datetime | None = None
    read_at: datetime | None = None


class Support(StrEnum):
    """How an answer stands towards the documents."""

    CITED = "cited"
    """At least one sentence is verified against a chunk."""
    UNSUPPORTED = "unsupported"
    """The model answered, and no sentence could be verified: shown marked, or withheld."""
    NEAREST = "nearest"
    """Nothing answers directly, or nothing bears out what a research's model wrote: the text says so first, and then
    quotes what comes nearest, with its citations."""
    ABSTAINED = "abstained"
    """Nothing relevant was found; the text is the fixed empty response."""
    EXEMPT = "exempt"
    """Greetings and small talk: nothing to support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A stage of answering has begun (``rewrite``, ``search``, ``read``, ``write``, ``cite``)."""

    stage: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of the raw text as it is written; never half a marker, link or fence."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A finished answer: the raw text with ``[ID:n]`` markers, repaired and verified, and what it rests on.

    ``chunks`` are those of the prompt, in prompt order, and behind them what is cited in the place of a summary:
    ``[ID:n]`` is ``chunks[n]``.
    ``notes`` are remarks for the reader (cut at the length limit, no model configured), already in words.
    ``timings_ms`` has one entry a stage. ``related`` are questions to go on with, which some of the chunks answer.
    """

    question: str
    raw_text: str
    support: Support
    citations: tuple[Citation, ...] = ()
    chunks: tuple[ScoredChunk, ...] = ()
    notes: tuple[str, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    allowed_urls: frozenset[str] = frozenset()
    related: tuple[str, ...] = ()

    @property
    def abstained(self) -> bool:
        """Whether it claims no answer: nothing relevant was found, or only something near."""
        return self.support in {Support.ABSTAINED, Support.NEAREST}


AnswerEvent = Status | Delta | Answer
