"""Zip containers (docx, xlsx, pptx, epub), read so that none can fill memory or reach outside itself."""

import io
import posixpath
import zipfile
import zlib
from urllib.parse import unquote

from lxml import etree

from ragcore.errors import ParseError
from ragcore.parsing.options import ParseOptions

_RATIO_MATTERS_FROM = 1_000_000
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_READ_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    OverflowError,
)
"""What zipfile raises on damaged members: RuntimeError for an encrypted one, NotImplementedError for an odd method."""


class Container:
    """The members of a checked zip file."""

    def __init__(self, archive: zipfile.ZipFile, options: ParseOptions) -> None:
        self._archive = archive
        self._options = options
        self._unpacked = 0
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        """Return a member's bytes, reading no more than its entry promises.

        Raises:
            ParseError: It is missing, damaged, encrypted, or larger than promised.
        """
        try:
            promised = self._archive.getinfo(name).file_size
            with self._archive.open(name) as member:
                content = member.read(promised + 1)
        except KeyError:
            raise ParseError(f"its part {name} is missing", mend="open and save it again") from None
        except _READ_ERRORS as error:
            raise _unreadable(name, error) from None
        self._unpacked += len(content)
        if len(content) > promised or self._unpacked > 4 * self._options.max_unpacked_bytes:
            raise ParseError("it unpacks to more than it says: a zip bomb", mend="exclude it from the source")
        return content

    def xml(self, name: str) -> etree._Element:
        """Return a member parsed as XML: no entities, no network, no huge trees.

        Raises:
            ParseError: As ``read``, or it is not well-formed.
        """
        content = self.read(name)
        if len(content) > self._options.max_tree_bytes:
            size, limit = len(content) / 1e6, self._options.max_tree_bytes / 1e6
            raise ParseError(f"its part {name} has {size:,.0f} MB, over the limit of {limit:,.0f}", mend="split it")
        return parse_xml(content, name)

    def relations(self, part: str) -> dict[str, str]:
        """Return the targets of a part's relationships by id, as member names; those outside are left out."""
        folder, base = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{base}.rels")
        if rels not in self.names:
            return {}
        found: dict[str, str] = {}
        for relation in self.xml(rels).iter(_RELATIONSHIP):
            target = relation.get("Target", "")
            if relation.get("TargetMode") != "External" and target:
                found[relation.get("Id", "")] = resolve(folder, target)
        return found

    def related(self, part: str, kind: str) -> list[str]:
        """Return the parts that a part points to with a relationship type ending in ``kind``, if they are there."""
        folder, base = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{base}.rels")
        if rels not in self.names:
            return []
        targets = [
            resolve(folder, relation.get("Target", ""))
            for relation in self.xml(rels).iter(_RELATIONSHIP)
            if relation.get("Type", "").endswith("/" + kind) and relation.get("TargetMode") != "External"
        ]
        return [target for target in targets if target in self.names]


def resolve(folder: str, target: str) -> str:
    """Return the member name that a relative or absolute target means inside the container."""
    path = unquote(target.partition("#")[0])
    joined = path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
    return posixpath.normpath(joined)


def open_zip(content: bytes, options: ParseOptions) -> Container:
    """Open a zip file after checking what it would unpack to.

    Raises:
        ParseError: It is damaged or cut off, or passes a limit of the options.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _READ_ERRORS as error:
        raise _unreadable("", error) from None
    entries = archive.infolist()
    if len(entries) > options.max_members:
        raise ParseError(f"it holds {len(entries):,} files, over the limit of {options.max_members:,}", mend="split it")
    total = sum(entry.file_size for entry in entries)
    if total > options.max_unpacked_bytes:
        raise ParseError(
            f"it would unpack to {total / 1e6:,.0f} MB, over the limit of {options.max_unpacked_bytes / 1e6:,.0f}",
            mend="split it, or exclude it from the source",
        )
    for entry in entries:
        if entry.file_size > _RATIO_MATTERS_FROM and entry.file_size > options.max_ratio * max(1, entry.compress_size):
            raise ParseError("it is packed too tight to be a document: a zip bomb", mend="exclude it from the source")
    if any(entry.flag_bits & 1 for entry in entries):
        raise ParseError("it is protected with a password", mend="save it without a password")
    return Container(archive, options)


def parse_xml(content: bytes, name: str = "") -> etree._Element:
    """Parse XML without expanding entities, loading a DTD or using the network.

    Raises:
        ParseError: It is not well-formed, or nested or sized beyond libxml2's own limits.
    """
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(content, parser)
    except (etree.LxmlError, ValueError):
        where = f"its part {name}" if name else "its XML"
        raise ParseError(f"{where} is damaged", mend="open and save it again, or restore it from a backup") from None


def _unreadable(name: str, error: Exception) -> ParseError:
    if "password" in str(error):
        return ParseError("it is protected with a password", mend="save it without a password")
    what = f"its part {name} is damaged" if name else "it is damaged or cut off (no readable zip directory)"
    return ParseError(what, mend="copy it again, or restore it from a backup")
