"""Which function parses which media type, and the one way in."""

import pathlib
from collections.abc import Callable
from dataclasses import replace

from ragcore.errors import EmptyDocument, ParseError
from ragcore.parsing.delimited import parse_delimited
from ragcore.parsing.detect import detect
from ragcore.parsing.epub import parse_epub
from ragcore.parsing.html.page import parse_html
from ragcore.parsing.json_data import parse_json, parse_jsonl
from ragcore.parsing.mail import parse_mail
from ragcore.parsing.markup.markdown import parse_markdown
from ragcore.parsing.markup.notebook import parse_notebook
from ragcore.parsing.markup.rst import parse_rst
from ragcore.parsing.media import Media
from ragcore.parsing.office.docx import parse_docx
from ragcore.parsing.office.pptx import parse_pptx
from ragcore.parsing.office.xlsx import parse_xlsx
from ragcore.parsing.options import DEFAULT_OPTIONS, Job, ParseOptions
from ragcore.parsing.pdf.document import parse_pdf
from ragcore.parsing.picture import parse_picture
from ragcore.parsing.text import parse_code, parse_text
from ragcore.parsing.titles import one_line, title_from_name
from ragcore.types import ParsedDocument, Section

PARSER_VERSION = "13"
"""Part of each document's hash: raised whenever the output for any document changes, so that it is parsed anew."""

PARSERS: dict[Media, Callable[[Job], ParsedDocument]] = {
    Media.MARKDOWN: parse_markdown,
    Media.TEXT: parse_text,
    Media.CODE: parse_code,
    Media.HTML: parse_html,
    Media.CSV: parse_delimited,
    Media.TSV: parse_delimited,
    Media.RST: parse_rst,
    Media.JSON: parse_json,
    Media.JSONL: parse_jsonl,
    Media.NOTEBOOK: parse_notebook,
    Media.MAIL: parse_mail,
    Media.EPUB: parse_epub,
    Media.PDF: parse_pdf,
    Media.PICTURE: parse_picture,
    Media.DOCX: parse_docx,
    Media.XLSX: parse_xlsx,
    Media.PPTX: parse_pptx,
}


def parse(
    content: bytes,
    *,
    name: str = "",
    media_type: str = "",
    options: ParseOptions = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    only: frozenset[Media] | None = None,
) -> ParsedDocument:
    """Read a document into sections that can be quoted and located. Blocks; call it in a thread.

    Args:
        content: The document's bytes.
        name: Its file name, a hint at the format and the title of last resort. A text that is no file has none, and
            its sections no line numbers.
        media_type: The media type that its source claims, a weaker hint. ``message/rfc822; attachments=apart`` is a
            mail whose attachments are documents of their own.
        options: Limits.
        progress: Called with (done, total) in the format's own unit (pages for PDF), often enough to move a bar.
        cancelled: Asked as often; True stops the work.
        only: The formats that are read; None: all.

    Returns:
        The title, what the content turned out to be, and its sections. Where a section has rows or lines, line k of
        its text after ``section.header`` is row or line ``first + k`` of the source.

    Raises:
        ParseError: It cannot be read, is beyond a limit, or was cancelled; EmptyDocument if it holds no text.
    """
    return parse_job(
        Job(
            content=content,
            name=name,
            media_type=media_type,
            options=options,
            progress=progress,
            cancelled=cancelled,
            only=only,
        )
    )


def recognise(content: bytes, *, name: str, media_type: str, options: ParseOptions = DEFAULT_OPTIONS) -> Media:
    """Return what a document is, without reading it; blocks for a moment.

    Raises:
        ParseError: It is beyond a limit, or of a kind that is not read; EmptyDocument if there is nothing in it.
    """
    if len(content) > options.max_bytes:
        size, limit = len(content) / 1e6, options.max_bytes / 1e6
        raise ParseError(f"it has {size:,.0f} MB, over the limit of {limit:,.0f}", mend="split it into smaller files")
    return detect(content, name=name, media_type=media_type, options=options)


def parse_job(job: Job) -> ParsedDocument:
    """Parse a job whose ``media_type`` is still the claimed one."""
    media = recognise(job.content, name=job.name, media_type=job.media_type, options=job.options)
    if job.only is not None and media not in job.only:
        raise ParseError(f"it is {media.value}, and not read here", mend="give what it says as text")
    parsed = PARSERS[media](
        replace(
            job,
            media_type=media,
            declared_encoding=_parameter(job.media_type, "charset"),
            is_apart=_parameter(job.media_type, "attachments") == "apart",
            parse_inner=parse_job,
        )
    )
    if not any(section.text.strip() or section.image for section in parsed.sections):
        if parsed.warnings:
            raise ParseError(f"nothing of it could be read: {'; '.join(parsed.warnings)}"[:500], mend="save it again")
        raise EmptyDocument("it holds no text", mend="nothing to do, or exclude it from the source")
    sections = parsed.sections if job.name else tuple(map(_without_lines, parsed.sections))
    own = one_line(parsed.title)[:300]
    return replace(parsed, title=own or _title_of_name(job.name, media), titled=bool(own), sections=sections)


def _title_of_name(name: str, media: str) -> str:
    """Return the title of last resort; source code goes by its file's very name, as programmers call it."""
    return pathlib.PurePosixPath(name.replace("\\", "/")).name if media == Media.CODE else title_from_name(name)[:300]


def _without_lines(section: Section) -> Section:
    """Take the line numbers off a section: in a text that is no file (a field, a message) they lead nowhere."""
    return replace(section, location=replace(section.location, first_line=0, last_line=0))


def _parameter(media_type: str, name: str) -> str:
    """Return a parameter of a claimed media type such as ``text/html; charset=big5``."""
    _, _, rest = media_type.partition(f"{name}=")
    return rest.split(";")[0].strip(" \"'")
