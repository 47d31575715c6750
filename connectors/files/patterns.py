"""Which files of a folder count as documents: glob patterns, and what is left out unless asked for.

Patterns are compared without regard to case with paths relative to the folder, ``/`` between their parts. ``*`` and
``?`` stop at a ``/``, ``**`` does not, ``[abc]`` is one of these characters. A pattern without a ``/`` is compared with
names at any depth; one that names a folder means all that is in it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    """Tells which relative paths are documents. ``hidden`` lets hidden ones in."""

    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, include: Sequence[str], exclude: Sequence[str], *, hidden: bool) -> "Selection":
        """Return the selection for these patterns; without any in ``include``, everything but media."""
        left_out = [*LITTER, *([] if hidden else HIDDEN), *([] if include else MEDIA), *exclude]
        return cls(tuple(map(compiled, include)), tuple(map(compiled, left_out)))

    def enters(self, folder: str) -> bool:
        """Tell whether a folder may hold documents."""
        return not any(pattern.fullmatch(folder) for pattern in self.exclude)

    def takes(self, path: str) -> bool:
        """Tell whether a file is a document, given that its folder is entered."""
        if any(pattern.fullmatch(path) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.fullmatch(path) for pattern in self.include)

    def reaches_folder(self, folder: str) -> bool:
        """Tell whether a walk from the top comes into a folder."""
        parts = folder.split("/")
        return all(self.enters("/".join(parts[:end])) for end in range(1, len(parts) + 1))

    def reaches(self, path: str) -> bool:
        """Tell whether a walk from the top comes to a file and takes it."""
        folder, _, _ = path.rpartition("/")
        return (not folder or self.reaches_folder(folder)) and self.takes(path)


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a glob pattern as a regular expression for whole relative paths."""
    text = pattern.removeprefix("./").removeprefix("/").rstrip("/")
    inside = text.endswith("/**")
    text = text.removesuffix("/**")
    if "/" not in text and text != "**" and not pattern.startswith(("/", "./")):
        text = f"**/{text}"
    body = "".join(_translate(token) for token in re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", text, re.DOTALL))
    # A folder means what is in it, too.
    return re.compile(f"(?:{body})(?:/.*)?" if not inside else f"(?:{body})/.*|(?:{body})", re.IGNORECASE | re.DOTALL)


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
