"""What the guides say that a reader sees is what Citebot says, word by word."""

import functools
import pathlib
import re

import pytest

from tests.modules import modules_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAID_BY_PLATFORMS = {
    "Conflict: terminated by other getUpdates request",
    "Sending messages to this app has been turned off",
}


@functools.cache
def texts() -> str:
    """Return every text in the code, a line each; one in several pieces is whole, what is filled in stands as "…"."""
    modules = [module for package in ("bots", "ragcore") for module in modules_of(package).values()]
    return "\n".join(text for module in modules for text in module.texts)


def quoted(guide: str) -> list[str]:
    """Return what stands in quotes or as code in the first column under "When it doesn't answer"."""
    page = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    rows = page.partition("| what you see |")[2].splitlines()[2:]
    return [one or other for row in rows for one, other in re.findall(r'`([^`]+)`|"([^"]+)"', row.split(" | ")[0])]


@pytest.mark.parametrize("guide", ["slack", "discord", "telegram"])
def test_what_a_reader_sees_is_what_is_said(guide: str) -> None:
    said = texts()
    phrases = [phrase for phrase in quoted(guide) if phrase not in SAID_BY_PLATFORMS]
    assert phrases
    missing = [
        phrase
        for phrase in phrases
        if not all(part.strip().rstrip(":") in said for part in phrase.split("…") if part.strip())
    ]
    assert not missing
