"""What bounds parsing, and the one value that every parser gets."""

from collections.abc import Callable
from dataclasses import dataclass

from ragcore.errors import ParseError
from ragcore.types import ParsedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """Limits of parsing, all checked before the work that they bound.

    Args:
        max_bytes: Largest document, in bytes.
        max_members: Most members of a zip container (docx, xlsx, pptx, epub).
        max_unpacked_bytes: Most bytes that all members of a container, or one image of a page, may unpack to.
        max_tree_bytes: Largest web page or XML part, as its tree takes about ten times as much memory.
        max_ratio: Largest unpacked / packed size of a member over 1 MB; deflate cannot exceed about 1,032,
            and XML of real office files stays under 100.
        max_cells: Most cells of a workbook or delimited file.
        page_batch: PDF pages that are read in one go: what is kept of them in memory before it becomes text, and how
            long another document waits for its turn.
        max_depth: How deep documents inside documents (mail attachments) are followed.
        ocr: Whether pictures and scanned pages are read by OCR when the extra is installed.
        images: Whether pictures go along with their sections, for a model to describe.
    """

    max_bytes: int = 200_000_000
    max_members: int = 20_000
    max_unpacked_bytes: int = 500_000_000
    max_tree_bytes: int = 80_000_000
    max_ratio: int = 300
    max_cells: int = 5_000_000
    page_batch: int = 32
    max_depth: int = 3
    ocr: bool = True
    images: bool = False


DEFAULT_OPTIONS = ParseOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One document to parse: its bytes, what is said about it, and whom to tell.

    ``media_type`` is what detection found, never what was claimed. ``depth`` counts the documents around this one,
    and ``parse_inner`` parses one that stands inside it (an attachment). ``is_apart``: what is attached is a document
    of its own, and isn't read here. ``only``: the formats that are read, None for all.
    """

    content: bytes
    name: str = ""
    media_type: str = ""
    declared_encoding: str = ""
    options: ParseOptions = DEFAULT_OPTIONS
    progress: Callable[[int, int], None] | None = None
    cancelled: Callable[[], bool] | None = None
    depth: int = 0
    is_apart: bool = False
    parse_inner: Callable[["Job"], ParsedDocument] | None = None
    only: frozenset[str] | None = None

    def step(self, done: int, total: int) -> None:
        """Tell the progress, and stop here when asked to.

        Raises:
            ParseError: The caller cancelled.
        """
        if self.progress is not None:
            self.progress(done, total)
        if self.cancelled is not None and self.cancelled():
            raise ParseError("reading it was stopped", mend="sync again to read it")
