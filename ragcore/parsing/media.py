"""The media types that documents turn out to have, and the file names that hint at them."""

import pathlib
from enum import StrEnum


class Media(StrEnum):
    """Every media type that Citebot reads; source code and configuration files share ``CODE``, pictures ``PICTURE``."""

    MARKDOWN = "text/markdown"
    TEXT = "text/plain"
    RST = "text/x-rst"
    HTML = "text/html"
    CSV = "text/csv"
    TSV = "text/tab-separated-values"
    JSON = "application/json"
    JSONL = "application/jsonl"
    MAIL = "message/rfc822"
    NOTEBOOK = "application/x-ipynb+json"
    CODE = "text/x-source"
    PDF = "application/pdf"
    EPUB = "application/epub+zip"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    PICTURE = "image/*"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


_CODE_ENDINGS = """
py pyi pyx js mjs cjs jsx ts tsx java kt kts scala groovy c h cc cpp cxx hpp hh cs go rs rb php pl pm lua r jl swift m
dart ex exs erl hs clj cljs lisp el ml mli fs vb f90 f95 asm s sql sh bash zsh fish ps1 bat cmd awk sed vim proto thrift
graphql gql tf hcl nix cmake mk gradle sbt css scss sass less xml xsd xsl xslt svg wsdl yaml yml toml ini cfg conf env
properties dockerfile tex bib vue svelte diff patch sol zig nim v sv vhd vhdl
"""

_BY_ENDING: dict[str, Media] = {
    **dict.fromkeys(_CODE_ENDINGS.split(), Media.CODE),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"), Media.MARKDOWN),
    **dict.fromkeys(("txt", "text", "log", "asc", "nfo", "srt", "vtt"), Media.TEXT),
    **dict.fromkeys(("rst", "rest"), Media.RST),
    **dict.fromkeys(("html", "htm", "xhtml", "shtml"), Media.HTML),
    **dict.fromkeys(("tsv", "tab"), Media.TSV),
    **dict.fromkeys(("json", "geojson", "webmanifest"), Media.JSON),
    **dict.fromkeys(("jsonl", "ndjson", "jsonlines"), Media.JSONL),
    **dict.fromkeys(("eml", "mht", "mhtml"), Media.MAIL),
    **dict.fromkeys(("docx", "docm", "dotx"), Media.DOCX),
    **dict.fromkeys(("xlsx", "xlsm", "xltx"), Media.XLSX),
    **dict.fromkeys(("pptx", "pptm", "potx", "ppsx"), Media.PPTX),
    "csv": Media.CSV,
    "ipynb": Media.NOTEBOOK,
    "pdf": Media.PDF,
    "epub": Media.EPUB,
}

PICTURE_ENDINGS = frozenset(("png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"))
"""Of files that are read as pictures, by OCR or by a model; no hint, for the first bytes tell."""

_BY_NAME: dict[str, Media] = {
    **dict.fromkeys(("makefile", "dockerfile", "jenkinsfile", "vagrantfile", "gemfile", "rakefile"), Media.CODE),
    **dict.fromkeys(("readme", "license", "changelog", "authors", "notice", "copying"), Media.TEXT),
}

_BY_CLAIM: dict[str, Media] = {
    **{str(media): media for media in Media},
    "text/x-markdown": Media.MARKDOWN,
    "application/xhtml+xml": Media.HTML,
    "application/csv": Media.CSV,
    "application/x-ndjson": Media.JSONL,
    "text/x-python": Media.CODE,
    "application/xml": Media.CODE,
    "text/xml": Media.CODE,
    "application/yaml": Media.CODE,
}

TEXTUAL = frozenset(
    {
        Media.MARKDOWN,
        Media.TEXT,
        Media.RST,
        Media.HTML,
        Media.CSV,
        Media.TSV,
        Media.JSON,
        Media.JSONL,
        Media.MAIL,
        Media.NOTEBOOK,
        Media.CODE,
    }
)
"""What is stored as text; the others have magic bytes of their own."""


def hinted(name: str, media_type: str) -> Media | None:
    """Return the media type that the file name, else the claimed media type, hints at; None when neither says."""
    path = pathlib.PurePosixPath(name.replace("\\", "/").partition("?")[0].lower())
    by_name = _BY_ENDING.get(path.suffix.lstrip(".")) or _BY_NAME.get(path.name)
    return by_name or _BY_CLAIM.get(media_type.partition(";")[0].strip().lower())
