"""URLs of places: what kind of place they name, and how they may be shown."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|[A-Za-z][A-Za-z0-9+.-]+::")
_LOCAL = ("file", "local")
_USER = re.compile(r"(?<=://)[^/@]*@")


def is_url(path: str) -> bool:
    """Tell whether a path is the URL of a place, and not a folder of this machine."""
    return bool(_URL.match(path)) and ("::" in path or scheme_of(path) not in _LOCAL)


def local_path(path: str) -> str:
    """Return a path of this machine without the ``file://`` that it may begin with."""
    scheme, mark, rest = path.partition("://")
    return unquote(rest) if mark and scheme.lower() in _LOCAL else path


def scheme_of(url: str) -> str:
    """Return the scheme of a URL, or of the outermost of a chain such as ``zip://docs::s3://bucket/docs.zip``."""
    return re.split(r"://|::", url, maxsplit=1)[0].lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The URL of a place and the options of its file system, which hold secrets."""

    url: str = field(repr=False)
    options: Mapping[str, object] = field(repr=False)

    @classmethod
    def of(cls, url: str, options: Mapping[str, object], *, folder: Path) -> "Address":
        """Return the address of a place; a path of this machine that ends a chain is relative to a folder."""
        *outer, inner = url.split("::")
        outer = [part if "://" in part else f"{part}://" for part in outer]
        if outer and ("://" not in inner or scheme_of(inner) in _LOCAL):
            url = "::".join([*outer, str(folder / os.path.expanduser(local_path(inner)))])
        return cls(url=url, options=options)

    @property
    def scheme(self) -> str:
        """Return the scheme, in lower case."""
        return scheme_of(self.url)

    @property
    def schemes(self) -> list[str]:
        """Return the schemes of a chain, outermost first; a part without one is a path of this machine."""
        named = [scheme_of(part) for part in self.url.split("::") if "://" in part]
        return [scheme for scheme in named if scheme not in _LOCAL]

    @property
    def parts(self) -> SplitResult:
        """Return the parts of the URL."""
        return urlsplit(self.url)

    def shown(self) -> str:
        """Return the URL for people: without who logs in, and without a query, which may sign it."""
        if self.scheme == "github":  # there the first parts are no login, but whose repository it is
            return self.url.partition("?")[0]
        return _USER.sub("", self.url).partition("?")[0]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of nested options."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)
