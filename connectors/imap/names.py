"""Names of folders, as people read them and as the server writes them (RFC 3501, section 5.1.3). Pure."""

from collections.abc import Iterable

from connectors.rows import clean


def named(written: Iterable[bytes]) -> dict[str, bytes]:
    """Return how the server writes each folder's name, by the name that people read; each has one of its own."""
    found: dict[str, bytes] = {}
    for one in sorted(set(written), key=lambda one: (not _is_right(one), one)):
        name = readable(one)
        while name in found:  # "R&D" and "R&-D" are two folders, and read the same
            name += "~"
        found[name] = one
    return found


def readable(written: bytes) -> str:
    """Return a folder's name as people read it; where it isn't written as the protocol has it, as it stands."""
    from imapclient.imap_utf7 import decode

    if not written.isascii():
        return clean(written.decode("utf-8", "backslashreplace"))
    try:
        name: str = decode(written)
        name.encode()  # fails at half of a character
    except ValueError:
        name = written.decode("ascii")
    return clean(name)


def is_plain(written: bytes) -> bool:
    """Tell whether a name can be sent as it is: printable characters of ASCII alone."""
    return all(0x20 <= char < 0x7F for char in written)


def _is_right(written: bytes) -> bool:
    from imapclient.imap_utf7 import encode

    return bool(encode(readable(written)) == written)
