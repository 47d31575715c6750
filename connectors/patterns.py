"""Which paths of a place count as documents: glob patterns, and what is left out unless asked for.

Patterns are compared without regard to case with paths relative to the place, ``/`` between their parts. ``*`` and
``?`` stop at a ``/``, ``**`` does not, ``[abc]`` is one of these characters. A pattern without a ``/`` is compared with
names at any depth; one that names a folder means all that is in it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

HIDDEN = (".*",)
"""Hidden files and folders, among them those of version control and editors."""

LITTER = (
    "~$*",  # Office, while a document is open
    "*~",
    "*.tmp",
    "*.temp",
    "*.swp",
    "*.part",
    "*.partial",
    "*.crdownload",
    "Thumbs.db",
    "desktop.ini",
    "CVS",
    "__MACOSX",
    "__pycache__",
    "node_modules",
    "$RECYCLE.BIN",
)
"""What programs leave behind; never documents."""

MEDIA = (
    *("*.png", "*.jpg", "*.jpeg", "*.gif", "*.bmp", "*.tif", "*.tiff", "*.webp", "*.ico", "*.svg", "*.heic", "*.avif"),
    *("*.mp3", "*.m4a", "*.wav", "*.flac", "*.ogg", "*.aac", "*.mp4", "*.m4v", "*.mov", "*.avi", "*.mkv", "*.webm"),
    *("*.psd", "*.ttf", "*.otf", "*.woff", "*.woff2"),
)
"""Pictures, sound, film and fonts: left out unless a pattern of ``include`` asks for them."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Tells which relative paths are documents; ``include`` of None takes all that ``exclude`` doesn't leave out."""

    include: re.Pattern[str] | None
    exclude: re.Pattern[str]

    @classmethod
    def of(cls, include: Sequence[str], exclude: Sequence[str], *, hidden: bool) -> "Selection":
        """Return the selection for these patterns; without any in ``include``, everything but media.

        Args:
            include: What to take.
            exclude: What to leave out, besides litter.
            hidden: Whether hidden files and folders may be taken.
        """
        left_out = [*LITTER, *([] if hidden else HIDDEN), *([] if include else MEDIA), *exclude]
        return cls(compiled(*include) if include else None, compiled(*left_out))

    def enters(self, folder: str) -> bool:
        """Tell whether a folder may hold documents."""
        return self.exclude.fullmatch(folder) is None

    def takes(self, path: str) -> bool:
        """Tell whether a file is a document, given that its folder is entered."""
        if self.exclude.fullmatch(path):
            return False
        return self.include is None or self.include.fullmatch(path) is not None

    def reaches_folder(self, folder: str) -> bool:
        """Tell whether a walk from the top comes into a folder."""
        parts = folder.split("/")
        return all(self.enters("/".join(parts[:end])) for end in range(1, len(parts) + 1))

    def reaches(self, path: str) -> bool:
        """Tell whether a walk from the top comes to a file and takes it."""
        folder, _, _ = path.rpartition("/")
        return (not folder or self.reaches_folder(folder)) and self.takes(path)


def compiled(*patterns: str) -> re.Pattern[str]:
    """Return glob patterns as one regular expression, which matches whole relative paths that any of them means."""
    # Those that mean names at any depth share their beginning: trying it anew for each took most of a walk's time.
    anywhere: list[str] = []
    exact: list[str] = []
    for pattern in patterns:
        text = pattern.removeprefix("./").removeprefix("/").rstrip("/").removesuffix("/**")
        is_name = "/" not in text and text != "**" and not pattern.startswith(("/", "./"))
        tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", text, re.DOTALL)
        (anywhere if is_name else exact).append("".join(map(_translate, tokens)))
    if anywhere:
        exact.append(f"(?:.*/)?(?:{'|'.join(anywhere)})")
    # A folder means what is in it, too.
    return re.compile(f"(?:{'|'.join(exact)})(?:/.*)?", re.IGNORECASE | re.DOTALL)


def _translate(token: str) -> str:
    if token == "**/":
        return "(?:.*/)?"
    if token in {"**", "*", "?"}:
        return {"**": ".*", "*": "[^/]*", "?": "[^/]"}[token]
    if len(token) > 1:  # [abc] or [!abc]
        negated, inner = token[1] == "!", token[1:-1].removeprefix("!")
        inner = re.sub(r"([\\\[&~|^])", r"\\\1", inner).replace("--", r"-\-")
        return f"[{'^' if negated else ''}{inner}]"
    return re.escape(token)


def checked(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns of a setting; ValueError that names the first that is none."""
    for pattern in patterns:
        try:
            compiled(pattern)
        except re.error as error:
            raise ValueError(f'"{pattern}" is no pattern: {error}') from error
    return patterns


Patterns = Annotated[tuple[str, ...], AfterValidator(checked)]
"""A setting of glob patterns."""
