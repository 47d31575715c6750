"""Which format a document is in: its first bytes, its zip members and its structure; the name only hints."""

import json
import re

from ragcore.errors import EmptyDocument, ParseError
from ragcore.parsing.container import open_zip
from ragcore.parsing.delimited import DELIMITERS, table_fit
from ragcore.parsing.encoding import decode
from ragcore.parsing.media import TEXTUAL, Media, hinted
from ragcore.parsing.options import ParseOptions

_HEAD = 1024
_SNIFFED = 20_000
_SHORT_CELL = 40
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")
_BITMAP_HEADERS = frozenset((12, 16, 40, 52, 56, 64, 108, 124))
"""Bytes of the second header of a BMP, in each of its versions: what stands behind "BM" and its first 12 bytes."""
_PDF = re.compile(rb"%PDF-\d")
_PDF_OBJECT = re.compile(rb"\d\s+\d+\s+obj\b")
_BEFORE_PDF = b"\xef\xbb\xbf\x00 \t\r\n"
_OTHER_IMAGES = (b"\x00\x00\x01\x00", b"8BPS")
_PROGRAMS = (
    b"MZ",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa",
    b"\x00asm",
    b"dex\n",
    b"!<arch>",
)
_ARCHIVES = (
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\xfd7zXZ",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"MSCF",
)
_MEDIA = (b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3", b"FLV\x01", b"\xff\xfb", b"MThd")
_DATABASES = (b"SQLite format 3", b"PAR1", b"\x89HDF", b"ARROW1")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_HTML = re.compile(
    # Possessive: forty comments in a row have 2^39 other divisions into comments.
    r"^\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAGS = re.compile(r"<(?:p|div|h[1-6]|table|ul|ol|span|a|br|td|li)[\s/>]", re.IGNORECASE)
_MAIL_FIELD = re.compile(
    r"^(?:From|To|Cc|Subject|Date|Received|Return-Path|Delivered-To|MIME-Version|Message-ID|Reply-To|X-[\w-]+|ARC-[\w-]+|"
    r"DKIM-Signature|Content-Type|Sender|List-[\w-]+):",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(r"^(?:#{1,6} \S|```|[ \t]*[-*] \[[ x]\] |\|.+\|$|\[[^\]]+\]: \S)|\]\(\S+\)|\*\*\w", re.MULTILINE)
_RST = re.compile(r"^(?:\.\. [\w-]+::|\S[^\n]*\n(={3,}|-{3,}|~{3,})$)", re.MULTILINE)
_OLD_OFFICE = (
    ("WordDocument", "an old Word file (.doc)", "save it as docx"),
    ("Workbook", "an old Excel file (.xls)", "save it as xlsx"),
    ("Book", "an old Excel file (.xls)", "save it as xlsx"),
    ("PowerPoint Document", "an old PowerPoint file (.ppt)", "save it as pptx"),
    ("__substg1.0_", "an Outlook message (.msg)", "save it as eml"),
)


def detect(content: bytes, *, name: str, media_type: str, options: ParseOptions) -> Media:
    """Return what the content is.

    Raises:
        ParseError: It is empty, or in a format that is not read; says which, and what to do.
    """
    if not content.strip(b"\x00 \t\r\n"):
        raise EmptyDocument(
            "it is empty" if not content else "it holds nothing but blanks", mend="nothing to do, or restore it"
        )
    if _is_pdf(content):
        return Media.PDF
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zipped(content, options)
    if _is_picture(content):
        return Media.PICTURE
    _refuse_binary(content)
    hint = hinted(name, media_type)
    return _textual(_sniffed_text(content), content, hint)


def _refuse_binary(content: bytes) -> None:
    if content.startswith(_OLE):
        raise _old_office(content)
    if content.startswith(b"{\\rtf"):
        raise ParseError("it is a rich text file (.rtf)", mend="save it as docx")
    box = content[4:12]
    if box in (b"ftypheic", b"ftypavif") or (content.startswith(_OTHER_IMAGES) and not _is_plain(content)):
        raise ParseError("it is a picture in a format that is not read", mend="save it as PNG or JPEG")
    if content.startswith(_PROGRAMS) and not _is_plain(content):
        raise ParseError("it is a program", mend="exclude it from the source")
    if content.startswith(_ARCHIVES) and not _is_plain(content):
        raise ParseError("it is a packed archive", mend="unpack it")
    is_sound = content.startswith((*_MEDIA, b"RIFF")) or box[:4] == b"ftyp"
    if is_sound and not _is_plain(content):
        raise ParseError("it is sound or video", mend="add a transcript as text")
    if content.startswith(_DATABASES) and not _is_plain(content):
        raise ParseError("it is a database file", mend="export what matters as csv")


def _is_picture(content: bytes) -> bool:
    webp = content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    bitmap = content[:2] == b"BM" and int.from_bytes(content[14:18], "little") in _BITMAP_HEADERS
    return bitmap or ((webp or content.startswith(_PICTURES)) and not _is_plain(content))


def _is_pdf(content: bytes) -> bool:
    """Tell a PDF from a text that speaks of one.

    Its header is the first that it says, or, behind what a printer or a server put before it, stands on a line of its
    own (unless what comes before is no text) and is followed by objects.
    """
    found = _PDF.search(content, 0, _HEAD)
    if found is None:
        return False
    before = content[: found.start()]
    if not before.strip(_BEFORE_PDF):
        return True
    begins_line = before.endswith((b"\n", b"\r")) or not _is_plain(before)
    goes_on = _PDF_OBJECT.search(content, found.end(), found.end() + _SNIFFED) is not None
    return begins_line and goes_on and not _is_mail(before.decode("latin-1"))


def _is_plain(content: bytes) -> bool:
    """Tell text in any encoding of single bytes, and in UTF-8, by what binary formats are full of: control bytes."""
    return not _CONTROL.search(content[:_HEAD])


def _old_office(content: bytes) -> ParseError:
    """Name what an OLE container holds by the stream names in its directory, which are UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        return ParseError("it is protected with a password", mend="save it without a password")
    for stream, what, mend in _OLD_OFFICE:
        if stream.encode("utf-16-le") in content:
            return ParseError(f"it is {what}", mend=mend)
    return ParseError("it is an old binary Office file", mend="save it as docx, xlsx or pptx")


def _zipped(content: bytes, options: ParseOptions) -> Media:
    members = open_zip(content, options)
    names = members.names
    if "mimetype" in names and members.read("mimetype").strip() == b"application/epub+zip":
        return Media.EPUB
    for member, media in (("word/", Media.DOCX), ("xl/", Media.XLSX), ("ppt/", Media.PPTX)):
        if "[Content_Types].xml" in names and any(name.startswith(member) for name in names):
            if "xl/workbook.bin" in names:
                raise ParseError("it is a binary Excel file (.xlsb)", mend="save it as xlsx")
            return media
    if "META-INF/container.xml" in names:
        return Media.EPUB
    if "content.xml" in names and "mimetype" in names:
        raise ParseError("it is an OpenDocument file", mend="save it as docx, xlsx or pptx")
    raise ParseError("it is a zip archive", mend="unpack it")


def _sniffed_text(content: bytes) -> str:
    head = content[:_SNIFFED]
    cut = head.rfind(b"\n")
    wide = b"\x00" in head
    return decode(head[: cut + 1] if len(content) > _SNIFFED and cut > 0 and not wide else head).text


def _textual(head: str, content: bytes, hint: Media | None) -> Media:
    """Tell the text formats apart; a hint holds unless the structure contradicts it."""
    if hint is not Media.CODE and _HTML.match(head):
        return Media.HTML
    if hint in (None, Media.JSON, Media.JSONL, Media.NOTEBOOK) or hint not in TEXTUAL:
        found = _json_kind(head, content, hint)
        if found is not None:
            return found
    if (hint in (None, Media.MAIL, Media.TEXT) or hint not in TEXTUAL) and _is_mail(head):
        return Media.MAIL
    if hint is not None and hint in TEXTUAL and _keeps_promise(head, hint):
        return hint
    if _HTML.match(head):
        return Media.HTML
    return _structured(head)


def _keeps_promise(head: str, hint: Media) -> bool:
    """Tell whether text can be in the hinted format at all."""
    if hint in (Media.JSON, Media.JSONL, Media.NOTEBOOK, Media.MAIL):
        return False
    if hint is Media.HTML:
        return bool(_HTML.match(head) or _HTML_TAGS.search(head) or "<" in head)
    return True


def _json_kind(head: str, content: bytes, hint: Media | None) -> Media | None:
    if head.lstrip()[:1] not in ("{", "["):
        return None
    text = decode(content).text
    try:
        value = json.loads(text)
    except RecursionError:
        raise ParseError("its JSON is nested too deep", mend="export it with fewer levels") from None
    except ValueError:
        if _is_json_lines(text):
            return Media.JSONL
        return hint if hint in (Media.JSON, Media.NOTEBOOK) else None  # its parser says what is broken
    is_notebook = isinstance(value, dict) and isinstance(value.get("cells"), list) and "nbformat" in value
    return Media.NOTEBOOK if is_notebook else Media.JSON


def _is_json_lines(text: str) -> bool:
    """Tell JSON lines: the first lines are objects, a broken one here and there aside."""
    lines = [line for line in text.split("\n", 20)[:20] if line.strip()]
    return len(lines) > 1 and sum(map(_is_record, lines)) > len(lines) / 2


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_mail(head: str) -> bool:
    """Tell a mail by its first lines: at least three header fields before the first empty line, nothing else."""
    fields = 0
    for line in head.lstrip("\r\n").splitlines()[:200]:
        if not line.strip():
            break
        if line[0] in " \t" and fields:
            continue
        if _MAIL_FIELD.match(line):
            fields += 1
        elif not re.match(r"^[\w-]+:", line) and not line.startswith("From "):
            return False
    return fields >= 3


def _is_prose(head: str) -> bool:
    """Tell sentences and Markdown from the rows of a table."""
    lines = [line.rstrip() for line in head.splitlines()[:50] if line.strip()]
    sentences = sum(line.endswith((".", "!", "?", ":", ",", ";", "。", "！", "？")) for line in lines)
    return sentences > 0.5 * len(lines) or bool(_MARKDOWN.search(head))


def _structured(head: str) -> Media:
    """Name the format of a text whose name says nothing, or the wrong thing."""
    fits = [table_fit(head, delimiter) for delimiter in DELIMITERS]
    best = max(fits, key=lambda fit: fit.score)
    if (
        best.width > 1
        and best.even_rows >= 3
        and best.share == 1.0
        and best.mean_cell < _SHORT_CELL
        and not _is_prose(head)
    ):
        return Media.TSV if best.delimiter == "\t" else Media.CSV
    if len(_HTML_TAGS.findall(head)) > 3 and head.lstrip().startswith("<"):
        return Media.HTML
    if len(_RST.findall(head)) >= 2:
        return Media.RST
    if _MARKDOWN.search(head):
        return Media.MARKDOWN
    return Media.TEXT
