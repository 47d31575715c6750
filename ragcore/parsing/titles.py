"""A title for a document that has none of its own."""

import pathlib
from urllib.parse import unquote


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def title_from_name(name: str) -> str:
    """Make a file name readable: ``annual-leave_policy.md`` becomes ``Annual leave policy``; "" stays ""."""
    path = pathlib.PurePosixPath(unquote(name.replace("\\", "/").partition("?")[0]).rstrip("/"))
    stem = path.stem if path.suffix[1:].isalnum() and not path.suffix[1:].isdigit() else path.name
    words = one_line(stem if " " in stem else stem.replace("_", " ").replace("-", " "))
    return words[:1].upper() + words[1:] if words.islower() else words


def same_title(first: str, second: str) -> bool:
    """Tell whether two headings read the same, case and white space aside."""
    return one_line(first).casefold() == one_line(second).casefold()
