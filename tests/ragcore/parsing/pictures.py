"""Pictures, made without any library, and with words where Pillow is installed."""

import struct
import zlib


def white_png(width: int = 8, height: int = 8) -> bytes:
    """Return a white picture."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def empty_tiff(side: int) -> bytes:
    """Return a TIFF that says it is a grey square of this side, and holds no pixel."""
    tags = {256: side, 257: side, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: side, 279: 1}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)


def written(places: "list[tuple[int, int, str]]", *, form: str = "PNG", size: "tuple[int, int]" = (900, 400)) -> bytes:
    """Return a picture with words at places, from the upper left corner; needs Pillow."""
    return frames([places], form=form, size=size)


def frames(
    pages: "list[list[tuple[int, int, str]]]", *, form: str = "TIFF", size: "tuple[int, int]" = (900, 400)
) -> bytes:
    """Return a picture of several frames; needs Pillow."""
    import io

    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=32)
    drawn = []
    for places in pages:
        frame = Image.new("RGB", size, "white")
        for left, top, text in places:
            ImageDraw.Draw(frame).text((left, top), text, fill="black", font=font)
        drawn.append(frame)
    out = io.BytesIO()
    drawn[0].save(out, form, save_all=len(drawn) > 1, append_images=drawn[1:])
    return out.getvalue()
