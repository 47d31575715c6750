"""Which replies of the web are read as documents, and under which name and media type."""

from connectors.http.client import Reply
from connectors.http.urls import file_name
from ragcore.parsing.media import Media, hinted

_TAKEN = frozenset(
    (
        *(Media.HTML, Media.PDF, Media.DOCX, Media.XLSX, Media.PPTX, Media.EPUB, Media.NOTEBOOK),
        *(Media.MARKDOWN, Media.TEXT, Media.RST, Media.CSV, Media.TSV),
    )
)
_UNTOLD = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/force-download"))
_ENDINGS = {
    **{Media.HTML: ".html", Media.PDF: ".pdf", Media.DOCX: ".docx", Media.XLSX: ".xlsx", Media.PPTX: ".pptx"},
    **{Media.EPUB: ".epub", Media.MARKDOWN: ".md", Media.TEXT: ".txt", Media.CSV: ".csv", Media.TSV: ".tsv"},
    **{Media.RST: ".rst", Media.NOTEBOOK: ".ipynb"},
}


def media_of(reply: Reply) -> Media | None:
    """Return the format of a reply that is read as a document, None for any other, by what its headers say."""
    name = file_name(reply.url)
    found = hinted(name, "") if reply.media_type in _UNTOLD else hinted("", reply.media_type)
    return found if found in _TAKEN else None


def name_of(url: str, media: Media) -> str:
    """Return a file name whose ending tells the format that the headers told."""
    name = file_name(url)
    if hinted(name, "") is media:
        return name
    return f"{name or 'index'}{_ENDINGS[media]}"


def media_type_of(reply: Reply, media: Media) -> str:
    """Return a format as a media type, with the charset that the headers told."""
    return f"{media.value}; charset={reply.charset}" if reply.charset else media.value
