"""Small documents made by hand, so that a test knows every word and every place in them."""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PERMISSIONS = -4


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A line of text on a page: where it begins in points from the bottom left corner, and its font."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 11
    bold: bool = False


def lines(texts: Sequence[str], *, x: float = 72, top: float = 700, size: float = 11) -> list[Words]:
    """Set lines under each other as one paragraph."""
    return [Words(text=text, x=x, y=top - 1.2 * size * number, size=size) for number, text in enumerate(texts)]


def pdf(
    pages: Sequence[Sequence[Words]],
    *,
    title: str = "",
    password: str | None = None,
    image: bool = False,
    entries: str = "",
    drawing: Sequence[str] = (),
) -> bytes:
    """Make a PDF of 612 x 792 points a page.

    Args:
        pages: The lines of each page.
        title: The title property.
        password: The user password of its encryption (40-bit RC4); None leaves it open.
        image: Whether each page shows an image.
        entries: More entries of each page, such as ``/Rotate 90``.
        drawing: Operators that draw on each page, one string a page.
    """
    maker = _PdfMaker(password)
    fonts = "/F1 3 0 R /F2 4 0 R"
    maker.add(1, "<< /Type /Catalog /Pages 2 0 R >>")
    maker.add(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    maker.add(4, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
    maker.add_string(5, "Title", title)
    maker.add_stream(
        6, b"\x80", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    )
    numbers = [10 + 2 * number for number in range(len(pages))]
    maker.add(2, f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] >>")
    for number, page, operators in zip_longest(numbers, pages, drawing, fillvalue=""):
        resources = f"<< /Font << {fonts} >> /XObject << /Im 6 0 R >> >>"
        box = "/MediaBox [0 0 612 792]"
        maker.add(
            number, f"<< /Type /Page /Parent 2 0 R {box} /Resources {resources} /Contents {number + 1} 0 R {entries} >>"
        )
        drawn = "q 400 0 0 500 100 100 cm /Im Do Q " if image else ""
        drawn += f"q {operators} Q " if operators else ""
        content = drawn + " ".join(
            f"BT /F{2 if words.bold else 1} {words.size} Tf {words.x} {words.y} Td ({_escaped(words.text)}) Tj ET"
            for words in page
        )
        maker.add_stream(number + 1, content.encode("cp1252"), "")
    return maker.finish()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


class _PdfMaker:
    """Writes objects, encrypting strings and streams when there is a password."""

    def __init__(self, password: str | None) -> None:
        self._out = bytearray(b"%PDF-1.4\n")
        self._offsets: dict[int, int] = {}
        self._password = password
        self._id = bytes(range(16))
        owner = (password or "").encode("latin-1")
        self._owner = _rc4(hashlib.md5((owner + _PADDING)[:32]).digest()[:5], (owner + _PADDING)[:32])
        seed = (owner + _PADDING)[:32] + self._owner + (_PERMISSIONS & 0xFFFFFFFF).to_bytes(4, "little") + self._id
        self._key = hashlib.md5(seed).digest()[:5]

    def add(self, number: int, body: str) -> None:
        self._write(number, body.encode())

    def add_string(self, number: int, key: str, value: str) -> None:
        self._write(
            number, f"<< /{key} <".encode() + self._sealed(number, value.encode("latin-1")).hex().encode() + b"> >>"
        )

    def add_stream(self, number: int, content: bytes, entries: str) -> None:
        sealed = self._sealed(number, content)
        self._write(number, f"<< /Length {len(sealed)} {entries} >>\nstream\n".encode() + sealed + b"\nendstream")

    def finish(self) -> bytes:
        encrypt = ""
        if self._password is not None:
            user = _rc4(self._key, _PADDING)
            self._offsets[7] = len(self._out)
            self._out += (
                f"7 0 obj\n<< /Filter /Standard /V 1 /R 2 /P {_PERMISSIONS} /O <{self._owner.hex()}> /U <{user.hex()}> >>\nendobj\n"
            ).encode()
            encrypt = f"/Encrypt 7 0 R /ID [<{self._id.hex()}> <{self._id.hex()}>]"
        start = len(self._out)
        size = max(self._offsets) + 1
        self._out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        for number in range(1, size):
            offset = self._offsets.get(number)
            self._out += (f"{offset:010d} 00000 n \n" if offset else "0000000000 65535 f \n").encode()
        self._out += (
            f"trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R {encrypt} >>\nstartxref\n{start}\n%%EOF".encode()
        )
        return bytes(self._out)

    def _sealed(self, number: int, content: bytes) -> bytes:
        if self._password is None:
            return content
        return _rc4(hashlib.md5(self._key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], content)

    def _write(self, number: int, body: bytes) -> None:
        self._offsets[number] = len(self._out)
        self._out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"


def _rc4(key: bytes, content: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in content:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """Make a zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def epub(chapters: Mapping[str, str], *, title: str = "A Book") -> bytes:
    """Make an EPUB 3 book of XHTML bodies by file name; the table of contents names each after its file."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    links = "".join(f'<li><a href="{name}">Chapter {name}</a></li>' for name in chapters)
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
      <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>Ada</dc:creator></metadata>
      <manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{items}</manifest>
      <spine>{spine}</spine></package>"""
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    pages = {f"OEBPS/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/nav.xhtml": f"<html><body><nav><ol>{links}</ol></nav></body></html>",
            **pages,
        }
    )
