"""What an ingest takes as options, and what it tells of each document."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from ragcore.chunking import CHUNKER_VERSION, ChunkOptions
from ragcore.parsing import PARSER_VERSION, ParseOptions
from ragcore.parsing.ocr import has_ocr
from ragcore.stores.failures import Failure
from ragcore.stores.lacking import PIPELINE_DIGITS, Readers
from ragcore.stores.rows import digest
from ragcore.stores.together import Cursor
from ragcore.types import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """How documents become chunks.

    ``methods`` are pairs of a file pattern and a chunk method: the first pattern that a document matches decides, and
    where none does ``chunk.method``. ``describe`` is the fingerprint of the model that describes pictures, of its
    options and its template (``Describer.name``), "" without one. ``seconds_per_step`` is how long reading one may take
    without getting on by a page before it counts as failed.
    """

    parse: ParseOptions = field(default_factory=ParseOptions)
    chunk: ChunkOptions = field(default_factory=ChunkOptions)
    methods: tuple[tuple[str, str], ...] = ()
    describe: str = ""
    seconds_per_step: float = 900.0

    @property
    def readers(self) -> Readers:
        """Return what reads documents besides the parser."""
        return Readers(describe=self.describe, ocr=self.parse.ocr and has_ocr())

    def for_document(self, document_id: str, name: str) -> "IngestOptions":
        """Return the options of one document, by its id and its file's name: they hold its method, and no patterns."""
        if not self.methods:
            return self
        found = (method for pattern, method in self.methods if matches(pattern, document_id, name))
        chunk = replace(self.chunk, method=next(found, self.chunk.method))
        return replace(self, chunk=chunk, methods=())


def matches(pattern: str, document_id: str, name: str) -> bool:
    """Tell whether a file pattern (``*``, ``?``, ``[a-z]``; case aside) means a document.

    A pattern with a slash is compared with the whole of what stands behind the source's name in the id (a path or an
    address), and its ``*`` takes slashes too; any other with the file's name, or the last part of the id without one.
    """
    native = document_id.partition(":")[2] or document_id
    compared = native if "/" in pattern else name or native.rstrip("/").rpartition("/")[2]
    return fnmatchcase(compared.casefold(), pattern.casefold())


@lru_cache(maxsize=256)
def pipeline_of(options: IngestOptions, *, tokenizer: str) -> str:
    """Return the fingerprint of parser, chunker and their options: part of every document's hash.

    That of ``options.for_document`` is a document's own: another method for other files changes nothing of it.
    ``registry.known_versions`` wants these too: under another pipeline a document is due. What else reads documents
    (``options.readers``) is no part of it: whether that concerns a document stands in its row.
    """
    methods = [part for pair in options.methods for part in pair]
    chunk = (repr(options.chunk), tokenizer, *options.chunk.of_method)
    told = digest(PARSER_VERSION, CHUNKER_VERSION, repr(options.parse), *chunk, *methods)
    return told[:PIPELINE_DIGITS]


class Change(StrEnum):
    """What became of a document."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A document is live; ``embedded`` counts the different texts in it that had to be embedded."""

    document_id: str
    change: Change
    chunks: int = 0
    embedded: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A document could not be indexed; its old version, if there was one, stays live.

    ``is_empty``: it was read, and holds nothing any more. Whether its old version goes is for the caller to decide.
    ``was_deleted``: its old version went, because it was open to somebody who may not read the document any more.
    """

    document_id: str
    reason: str
    mend: str
    is_empty: bool = False
    was_deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Stands among the documents that are to be indexed: what becomes true with those before it, in one commit.

    That commit is the one of the last document before it, or a later one. ``failed`` are documents that couldn't be
    read, ``gone`` those to be deleted, ``cursor`` is how far the source has been read.
    """

    failed: tuple[Failure, ...] = ()
    gone: tuple[str, ...] = ()
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What a mark says is true now; ``deleted`` are those that it names and that were live until then."""

    mark: Mark
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Stands at the end where a model described pictures: what that took; ``cached`` descriptions stood from before."""

    usage: Usage
    cached: int = 0


class Stage(StrEnum):
    """What is being done with a document, in this order; none of it changes what is answered before the end."""

    READING = "reading"
    CUTTING = "cutting"
    EMBEDDING = "embedding"
    WRITING = "writing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """How far one document is, or ``documents`` of them that are written together: ``done`` of ``total`` pieces.

    Pieces are pages, sheets or slides while reading (0 of 0 at its beginning), sections while cutting, then chunks.
    Reading and cutting run ahead of the rest, so two documents may be told of by turns.
    """

    document_id: str
    stage: Stage
    done: int = 0
    total: int = 0
    documents: int = 1


Outcome = Indexed | Failed
IngestEvent = Underway | Outcome | Marked | Asked
