"""Which addresses of pages belong to a source."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from yarl import URL

from connectors.http.urls import normalised
from connectors.patterns import MEDIA, compiled

_PARTS_OF_PAGES = (
    "*.css",
    "*.js",
    "*.mjs",
    "*.map",
    "*.zip",
    "*.gz",
    "*.tgz",
    "*.exe",
    "*.dmg",
    "*.iso",
    "*.rss",
    "*.atom",
)
_NOTHING = re.compile(r"(?!)")
_HOST = re.compile(r"[^/]*[.:][^/]*/")


def twin(url: str) -> str:
    """Return the key that a page has with and without a slash at the end of its path."""
    path, mark, query = url.partition("?")
    return f"{path.rstrip('/')}{mark}{query}"


def _folder(url: str, *, whole_host: bool = False) -> str:
    address = URL(url, encoded=True)
    path = "" if whole_host else address.path.rpartition("/")[0]
    return f"{address.host_port_subcomponent}{path}/"


@dataclass(frozen=True, slots=True)
class Places:
    """Patterns of pages: some are compared with paths, those that begin with a host with host and path."""

    paths: re.Pattern[str]
    places: re.Pattern[str]

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Places":
        """Part patterns into the two kinds; a host has a dot or a port (``docs.example.org/guide/**``)."""
        named = {pattern for pattern in patterns if not pattern.startswith("/") and _HOST.match(pattern)}
        return cls(_compiled(pattern for pattern in patterns if pattern not in named), _compiled(named))

    def hold(self, host: str, path: str, *, own_host: bool = True) -> bool:
        """Tell whether a page is one of these; paths count on hosts of the source alone."""
        by_path = own_host and self.paths.fullmatch(path.removeprefix("/")) is not None
        return by_path or self.places.fullmatch(f"{host}{path}") is not None


def _compiled(patterns: Iterable[str]) -> re.Pattern[str]:
    found = sorted(patterns)
    return compiled(*found) if found else _NOTHING


@dataclass(slots=True, kw_only=True)
class Scope:
    """Which addresses are pages of a source. ``folders`` are those of the starts, as host and path."""

    include: Places | None
    exclude: Places
    ignored: re.Pattern[str]
    folders: list[str] = field(default_factory=list)
    secure: set[str] = field(default_factory=set)
    """Hosts that are known by https: a link to http means the same page there."""

    @classmethod
    def of(cls, include: Sequence[str], exclude: Sequence[str], ignored: Sequence[str]) -> "Scope":
        """Return the scope for these patterns, without any folder yet."""
        left_out = [*exclude, *([] if include else (*MEDIA, *_PARTS_OF_PAGES))]
        return cls(
            include=Places.of(include) if include else None, exclude=Places.of(left_out), ignored=_compiled(ignored)
        )

    def widen(self, url: str, *, whole_host: bool = False, instead_of: str = "") -> None:
        """Let the folder of a page belong to the source, or all of its host; ``instead_of`` was one that led to it."""
        if instead_of:
            self.folders.remove(_folder(instead_of))
        self.folders.append(_folder(url, whole_host=whole_host))
        address = URL(url, encoded=True)
        if address.scheme == "https":
            self.secure.add(address.host_port_subcomponent or "")

    def page(self, url: str, base: str = "") -> str:
        """Return an address in its one form, "" when it isn't a page of this source."""
        found = normalised(url, base, ignored=self.ignored)
        if not found:
            return ""
        address = URL(found, encoded=True)
        host, path = address.host_port_subcomponent or "", address.path
        if address.scheme == "http" and host in self.secure:
            found = str(address.with_scheme("https"))
        return found if self._takes(host, path) else ""

    def _takes(self, host: str, path: str) -> bool:
        if self.exclude.hold(host, path):
            return False
        if self.include is not None:
            return self.include.hold(host, path, own_host=any(f.partition("/")[0] == host for f in self.folders))
        place = f"{host}{path}"
        return any(place.startswith(folder) or f"{place}/" == folder for folder in self.folders)
